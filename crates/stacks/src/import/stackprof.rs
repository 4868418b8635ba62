//! stackprof's results: the dump, or the JSON made of one.

use serde_json::{Map, Value};

use crate::import::{ImportError, Imported, marshal};
use crate::profile::{Frame, FrameId, Location, Profile, Sample, State, ThreadId, ThreadOf, Unit};

/// Reads a dump (`StackProf.run(out: …)`).
///
/// # Errors
/// When it is none.
pub fn read_dump(bytes: &[u8]) -> Result<Imported, ImportError> {
    let value = marshal::read(bytes).ok_or_else(|| {
        ImportError("this Ruby dump ends early, or is none of stackprof's".to_owned())
    })?;
    read(&value)
}

/// Reads the JSON of `stackprof --json`.
///
/// # Errors
/// When it is none.
pub fn read_json(text: &str) -> Result<Imported, ImportError> {
    let value =
        serde_json::from_str(text).map_err(|error| ImportError(format!("not JSON: {error}")))?;
    read(&value)
}

fn read(value: &Value) -> Result<Imported, ImportError> {
    let Some(frames) = value["frames"].as_object() else {
        return Err(ImportError(
            "no `frames` in it: this is no result of stackprof's".to_owned(),
        ));
    };
    let mode = value["mode"].as_str().unwrap_or("wall").to_owned();
    let mut reading = Reading::new(mode, value["interval"].as_u64().unwrap_or(1));
    let mut left_out = Vec::new();
    match value["raw"].as_array().filter(|raw| !raw.is_empty()) {
        Some(raw) => reading.stacks(raw, value["raw_lines"].as_array(), frames)?,
        None => {
            reading.own_only(frames);
            left_out.push(
                "it has no stacks (made without `raw: true`): only self times are known".to_owned(),
            );
        }
    }
    let missed = value["missed_samples"].as_u64().unwrap_or(0);
    if missed > 0 {
        left_out.push(format!("stackprof missed {missed} samples"));
        reading.profile.cost.dropped = missed;
    }
    reading.profile.duration = reading.profile.total();
    Ok(Imported {
        profile: reading.profile,
        left_out,
    })
}

struct Reading {
    profile: Profile,
    thread: ThreadId,
    /// Weight of one sample.
    weight: u64,
}

impl Reading {
    fn new(mode: String, interval: u64) -> Reading {
        // Microseconds for time, "every so many" for objects.
        let (unit, weight) = match mode.as_str() {
            "wall" | "cpu" => (Unit::Nanos, interval.saturating_mul(1000)),
            "object" => (Unit::Objects, interval),
            _ => (Unit::Samples, 1),
        };
        let mut profile = Profile {
            unit,
            mode,
            interval: weight,
            ..Profile::default()
        };
        let thread = profile.thread_id(ThreadOf::default());
        Reading {
            profile,
            thread,
            weight,
        }
    }

    /// `raw` is `depth, outermost…innermost, count`, again and again; `raw_lines` has lines in the
    /// same places.
    fn stacks(
        &mut self,
        raw: &[Value],
        lines: Option<&Vec<Value>>,
        frames: &Map<String, Value>,
    ) -> Result<(), ImportError> {
        let damaged = || ImportError("its `raw` stacks make no sense".to_owned());
        let mut at = 0;
        let mut passed = 0u64;
        while at < raw.len() {
            let depth = raw[at].as_u64().ok_or_else(damaged)? as usize;
            let end = at.checked_add(depth + 1).ok_or_else(damaged)?;
            let stack = raw.get(at + 1..end).ok_or_else(damaged)?;
            let count = raw.get(end).and_then(Value::as_u64).ok_or_else(damaged)?;
            let mut located: Vec<Location> = stack
                .iter()
                .enumerate()
                .map(|(index, id)| Location {
                    frame: self.frame(&id.to_string(), frames),
                    line: lines
                        .and_then(|lines| lines.get(at + 1 + index))
                        .map_or(0, line),
                })
                .collect();
            located.reverse();
            self.add(&located, count, passed);
            passed = passed.saturating_add(count.saturating_mul(self.weight));
            at = end + 1;
        }
        Ok(())
    }

    fn own_only(&mut self, frames: &Map<String, Value>) {
        for (id, frame) in frames {
            let count = frame["samples"].as_u64().unwrap_or(0);
            if count > 0 {
                let frame = self.frame(id, frames);
                self.add(&[Location { frame, line: 0 }], count, 0);
            }
        }
    }

    fn frame(&mut self, id: &str, frames: &Map<String, Value>) -> FrameId {
        let known = frames.get(id);
        let text = |key: &str| {
            let value = known
                .and_then(|frame| frame[key].as_str())
                .unwrap_or_default();
            value.to_owned()
        };
        let file = text("file");
        self.profile.frame_id(Frame {
            name: text("name"),
            file: if file == "<cfunc>" {
                String::new()
            } else {
                file
            },
            line: known.map_or(0, |frame| line(&frame["line"])),
        })
    }

    fn add(&mut self, stack: &[Location], count: u64, at: u64) {
        let stack = self.profile.stack_id(stack);
        self.profile.samples.push(Sample {
            stack,
            state: State::Running,
            thread: self.thread,
            weight: count.saturating_mul(self.weight),
            bytes: 0,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            at,
            request: 0,
        });
    }
}

fn line(value: &Value) -> u32 {
    value
        .as_u64()
        .and_then(|line| u32::try_from(line).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::collapsed;

    const JSON: &str = r#"{"version":1.2,"mode":"cpu","interval":1000,"samples":5,"missed_samples":1,
        "frames":{"7":{"name":"main","file":"/a.rb","line":1,"samples":1,"total_samples":5},
                  "8":{"name":"Integer#to_s","file":"<cfunc>","samples":4,"total_samples":4}},
        "raw":[2,7,8,4,1,7,1]}"#;

    #[test]
    fn stacks_of_raw_are_read_from_the_outside_in() {
        let read = read_json(JSON).expect("stackprof's");
        assert_eq!(
            collapsed::write(&read.profile),
            "main 1000\nmain;Integer#to_s 4000\n"
        );
        assert_eq!(read.profile.duration, 5_000_000);
        assert_eq!(read.left_out, ["stackprof missed 1 samples"]);
        assert_eq!(read.profile.frames()[1].file, "");
    }

    #[test]
    fn without_raw_there_are_self_times_and_a_word_about_it() {
        let read = read_json(&JSON.replace("\"raw\"", "\"other\"")).expect("stackprof's");
        assert_eq!(
            collapsed::write(&read.profile),
            "Integer#to_s 4000\nmain 1000\n"
        );
        assert!(
            read.left_out[0].contains("raw: true"),
            "{:?}",
            read.left_out
        );
    }

    #[test]
    fn other_json_is_refused() {
        assert!(read_json("{}").is_err());
        assert!(read_json(r#"{"frames":{},"raw":[9,1]}"#).is_err());
        assert!(read_dump(&[4, 8, b'o']).is_err());
    }
}
