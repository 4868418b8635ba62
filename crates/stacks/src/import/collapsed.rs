//! Collapsed stacks: `outer;inner weight`, one a line.

use crate::import::{ImportError, Imported};
use crate::profile::{Frame, Location, Profile, Sample, State, ThreadOf, Unit};

/// Reads collapsed lines. Weights are samples: the format does not say what they are.
///
/// # Errors
/// When no line can be read.
pub fn read(text: &str) -> Result<Imported, ImportError> {
    let mut profile = Profile {
        unit: Unit::Samples,
        mode: "imported".to_owned(),
        ..Profile::default()
    };
    let thread = profile.thread_id(ThreadOf::default());
    let (mut unread, mut first_unread) = (0u64, String::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((frames, weight)) = split(line) else {
            if unread == 0 {
                first_unread = line.chars().take(60).collect();
            }
            unread += 1;
            continue;
        };
        let mut stack: Vec<Location> = frames
            .split(';')
            .map(|name| Location {
                frame: profile.frame_id(Frame {
                    name: name.to_owned(),
                    ..Frame::default()
                }),
                line: 0,
            })
            .collect();
        stack.reverse();
        let stack = profile.stack_id(&stack);
        profile.samples.push(Sample {
            stack,
            state: State::Running,
            thread,
            weight,
            bytes: 0,
            count: u32::try_from(weight).unwrap_or(u32::MAX),
            at: 0,
            request: 0,
        });
    }
    if profile.samples.is_empty() {
        return Err(ImportError(
            "no line is a collapsed stack (`outer;inner 42`)".to_owned(),
        ));
    }
    let left_out =
        (unread > 0).then(|| format!("{unread} lines are no stacks, the first: {first_unread}"));
    Ok(Imported {
        profile,
        left_out: left_out.into_iter().collect(),
    })
}

/// The weight may be a decimal fraction, as some tools write.
fn split(line: &str) -> Option<(&str, u64)> {
    let (frames, weight) = line.rsplit_once(' ')?;
    let weight: f64 = weight.parse().ok()?;
    let fits = weight.is_finite() && weight >= 0.0 && !frames.is_empty();
    fits.then_some((frames, weight.round() as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_counted_and_shown() {
        let read = read("main;a b 3\n# comment\nmain 1\n").expect("two stacks");
        assert_eq!(read.profile.total(), 4);
        assert_eq!(
            read.left_out,
            ["1 lines are no stacks, the first: # comment"]
        );
        assert!(super::read("nothing here").is_err());
    }

    proptest! {
        #[test]
        fn import_of_export_is_the_same(stacks in prop::collection::vec(("[a-c](;[a-c]){0,4}", 1u64..1000), 1..20)) {
            let text: String = stacks.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect();
            let once = crate::export::collapsed::write(&read(&text).unwrap().profile);
            let twice = crate::export::collapsed::write(&read(&once).unwrap().profile);
            prop_assert_eq!(once, twice);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,200}") {
            let _ = read(&text);
        }
    }
}
