//! JSON for profiler.firefox.com, in the processed form: tables as columns, one set per thread.
//!
//! Version 47 of that form is written: the viewer upgrades older ones, never reads newer ones.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::filter::is_library;
use crate::profile::{FrameId, Location, Profile, Sample, ThreadId};

const PROCESSED_VERSION: u32 = 47;
const GECKO_VERSION: u32 = 28;

/// Indexes into the categories below.
const APP: usize = 0;
const LIBRARY: usize = 1;
const NATIVE: usize = 2;
const WAITING: usize = 3;

/// The document.
pub fn write(profile: &Profile) -> String {
    let threads: Vec<Value> = (0..profile.threads().len())
        .map(|index| thread(profile, ThreadId(index as u32)))
        .collect();
    let category =
        |name: &str, color: &str| json!({"name": name, "color": color, "subcategories": ["Other"]});
    let document = json!({
        "meta": {
            "interval": millis(profile.interval),
            "startTime": 0,
            "processType": 0,
            "product": format!("hakaru: {}", profile.command),
            "stackwalk": 1,
            "debug": false,
            "version": GECKO_VERSION,
            "preprocessedProfileVersion": PROCESSED_VERSION,
            "symbolicated": true,
            "markerSchema": [],
            "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
            "categories": [
                category("App", "blue"),
                category("Library", "green"),
                category("C code", "orange"),
                category("Waiting", "grey"),
            ],
        },
        "libs": [],
        "pages": [],
        "threads": threads,
    });
    document.to_string()
}

fn thread(profile: &Profile, id: ThreadId) -> Value {
    let of = profile.thread(id);
    let mut tables = Tables::default();
    let mut samples: Vec<&Sample> = profile
        .samples
        .iter()
        .filter(|sample| sample.thread == id)
        .collect();
    samples.sort_by_key(|sample| sample.at);
    let stacks: Vec<Option<usize>> = samples
        .iter()
        .map(|sample| tables.stack(profile, profile.stack(sample.stack)))
        .collect();
    let nanos = profile.unit == crate::Unit::Nanos;
    let weights: Vec<Value> = samples
        .iter()
        .map(|sample| {
            if nanos {
                json!(millis(sample.weight))
            } else {
                json!(sample.weight)
            }
        })
        .collect();
    json!({
        "name": format!("process {} thread {}", of.pid, of.tid),
        "isMainThread": of.pid == of.tid,
        "processType": "default",
        "processName": profile.command,
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "pid": of.pid.to_string(),
        "tid": of.tid,
        "samples": {
            "stack": stacks,
            "time": samples.iter().map(|sample| millis(sample.at)).collect::<Vec<_>>(),
            "weight": weights,
            "weightType": if nanos { "tracing-ms" } else { "samples" },
            "length": samples.len(),
        },
        "markers": {"data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [], "length": 0},
        "stackTable": tables.stack_table(),
        "frameTable": tables.frame_table(),
        "funcTable": tables.func_table(profile),
        "nativeSymbols": {"libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0},
        "resourceTable": {"lib": [], "name": [], "host": [], "type": [], "length": 0},
        "stringArray": tables.strings,
    })
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

/// The columns of one thread, filled while the stacks are walked.
#[derive(Default)]
struct Tables {
    strings: Vec<String>,
    string_ids: HashMap<String, usize>,
    funcs: Vec<FrameId>,
    func_ids: HashMap<FrameId, usize>,
    /// Method and line.
    frames: Vec<(usize, u32, usize)>,
    frame_ids: HashMap<Location, usize>,
    /// Frame and the calling stack.
    stacks: Vec<(usize, Option<usize>)>,
    stack_ids: HashMap<(usize, Option<usize>), usize>,
}

impl Tables {
    fn stack(&mut self, profile: &Profile, stack: &[Location]) -> Option<usize> {
        let mut below = None;
        for location in stack.iter().rev() {
            let key = (self.frame(profile, *location), below);
            let fresh = self.stacks.len();
            let id = *self.stack_ids.entry(key).or_insert(fresh);
            if id == fresh {
                self.stacks.push(key);
            }
            below = Some(id);
        }
        below
    }

    fn frame(&mut self, profile: &Profile, location: Location) -> usize {
        if let Some(known) = self.frame_ids.get(&location) {
            return *known;
        }
        let fresh = self.funcs.len();
        let func = *self.func_ids.entry(location.frame).or_insert(fresh);
        if func == fresh {
            self.funcs.push(location.frame);
            let frame = profile.frame(location.frame).clone();
            self.string(frame.name);
            self.string(frame.file);
        }
        self.frames
            .push((func, location.line, category(profile, location.frame)));
        self.frame_ids.insert(location, self.frames.len() - 1);
        self.frames.len() - 1
    }

    fn string(&mut self, text: String) -> usize {
        if let Some(known) = self.string_ids.get(&text) {
            return *known;
        }
        self.strings.push(text.clone());
        self.string_ids.insert(text, self.strings.len() - 1);
        self.strings.len() - 1
    }

    fn stack_table(&self) -> Value {
        let category: Vec<usize> = self
            .stacks
            .iter()
            .map(|(frame, _)| self.frames[*frame].2)
            .collect();
        json!({
            "frame": self.stacks.iter().map(|(frame, _)| *frame).collect::<Vec<_>>(),
            "prefix": self.stacks.iter().map(|(_, below)| *below).collect::<Vec<_>>(),
            "subcategory": vec![0; category.len()],
            "length": category.len(),
            "category": category,
        })
    }

    fn frame_table(&self) -> Value {
        let count = self.frames.len();
        let nothing = vec![Value::Null; count];
        json!({
            "address": vec![-1; count],
            "inlineDepth": vec![0; count],
            "category": self.frames.iter().map(|frame| frame.2).collect::<Vec<_>>(),
            "subcategory": vec![0; count],
            "func": self.frames.iter().map(|frame| frame.0).collect::<Vec<_>>(),
            "nativeSymbol": nothing,
            "innerWindowID": nothing,
            "implementation": nothing,
            "line": self.frames.iter().map(|frame| (frame.1 > 0).then_some(frame.1)).collect::<Vec<_>>(),
            "column": nothing,
            "length": count,
        })
    }

    fn func_table(&self, profile: &Profile) -> Value {
        let count = self.funcs.len();
        let frames: Vec<_> = self.funcs.iter().map(|id| profile.frame(*id)).collect();
        let id = |text: &str| self.string_ids.get(text).copied();
        json!({
            "name": frames.iter().map(|frame| id(&frame.name)).collect::<Vec<_>>(),
            "isJS": vec![false; count],
            "relevantForJS": vec![false; count],
            "resource": vec![-1; count],
            "fileName": frames.iter().map(|frame| id(&frame.file).filter(|_| !frame.file.is_empty())).collect::<Vec<_>>(),
            "lineNumber": frames.iter().map(|frame| (frame.line > 0).then_some(frame.line)).collect::<Vec<_>>(),
            "columnNumber": vec![Value::Null; count],
            "length": count,
        })
    }
}

fn category(profile: &Profile, id: FrameId) -> usize {
    let frame = profile.frame(id);
    if frame.file.is_empty() && frame.name.starts_with('[') {
        WAITING
    } else if frame.file.is_empty() {
        NATIVE
    } else if is_library(frame) {
        LIBRARY
    } else {
        APP
    }
}
