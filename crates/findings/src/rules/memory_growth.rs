//! Memory of the app that grows to the end of the run.

use std::collections::BTreeMap;

use recording::ProcessRole;

use crate::context::Context;
use crate::numbers;
use crate::text::title;
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Shorter runs show the heap on its way to its size. A run of the default length, 20 s, is long enough.
const SECONDS_MIN: f64 = 15.0;
/// Growth in the second half, below which it may be the allocator's grain.
const GROWN_BYTES_MIN: f64 = 16.0 * 1024.0 * 1024.0;
/// … and relative to what the process had.
const GROWN_SHARE_MIN: f64 = 0.05;
/// Growth in the second half relative to the first, below which it is settling.
const STEADY_MIN: f64 = 0.6;
/// Runs as long as this say it with more right.
const SECONDS_SURE: f64 = 120.0;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let window = context.recording.window;
    let mut by_process: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    let inside = context
        .recording
        .host
        .iter()
        .filter(|sample| window.contains(sample.at));
    for sample in inside {
        let at = sample.at.since(window.start).as_secs_f64();
        let app = sample
            .processes
            .iter()
            .filter(|process| process.role == ProcessRole::App);
        for process in app {
            // Not what it has of its own (PSS): that is halved for as long as a child lives that it forked.
            let bytes = process.rss as f64;
            by_process.entry(process.pid).or_default().push((at, bytes));
        }
    }
    let grown: Vec<Growth> = by_process
        .values()
        .filter_map(|points| growth(points))
        .collect();
    let Some(most) = grown.iter().max_by(|a, b| a.second.total_cmp(&b.second)) else {
        return Vec::new();
    };
    vec![finding(context, most, grown.len())]
}

/// How a process grew, bytes.
struct Growth {
    seconds: f64,
    begun: f64,
    first: f64,
    second: f64,
}

/// The growth of a process that grows steadily; `None` of any other.
fn growth(points: &[(f64, f64)]) -> Option<Growth> {
    let (first, last) = (points.first()?, points.last()?);
    let middle = (first.0 + last.0) / 2.0;
    let half = points
        .iter()
        .min_by(|a, b| (a.0 - middle).abs().total_cmp(&(b.0 - middle).abs()))?;
    let growth = Growth {
        seconds: last.0 - first.0,
        begun: first.1,
        first: half.1 - first.1,
        second: last.1 - half.1,
    };
    let steady = growth.second >= STEADY_MIN * growth.first.max(0.0);
    let much = growth.second >= GROWN_BYTES_MIN && growth.second >= GROWN_SHARE_MIN * growth.begun;
    (growth.seconds >= SECONDS_MIN && steady && much).then_some(growth)
}

fn finding(context: &Context<'_>, most: &Growth, processes: usize) -> Finding {
    let bytes = |bytes: f64| numbers::bytes(bytes.max(0.0) as u64);
    let minute = (most.first + most.second) / most.seconds * 60.0;
    let arenas = context.setting("MALLOC_ARENA_MAX").is_none();
    Finding {
        rule: "memory-growth",
        route: String::new(),
        title: title(&format!("the app's memory grows by {} a minute", bytes(minute))),
        why: "at the limit of its container a process is killed with all the requests it has".to_owned(),
        evidence: vec![format!(
            "of {processes} growing, the one that grew most: {} at first, {} more after half of {:.0} s, {} more at the end",
            bytes(most.begun),
            bytes(most.first),
            most.seconds,
            bytes(most.second),
        )],
        remedy: Remedy {
            text: "run longer to see whether it ends; then look for what only grows: caches without a limit, \
                   arrays and hashes in constants, objects that subscribe and never leave (ObjectSpace.dump_all \
                   twice, and the difference)"
                .to_owned(),
            exact: arenas.then(|| "MALLOC_ARENA_MAX=2".to_owned()),
            safety: Safety::Careful,
        },
        estimated_gain: "no time; the app is not killed, and more workers fit".to_owned(),
        gain_share: 0.0,
        gain: None,
        confidence: if most.seconds >= SECONDS_SURE { Confidence::Medium } else { Confidence::Low },
    }
}
