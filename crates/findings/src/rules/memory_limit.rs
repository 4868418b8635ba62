//! Memory near the limit of the app's control group.

use crate::context::Context;
use crate::numbers;
use crate::text::{percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the limit from which one large answer or one more worker is too much.
const SHARE_MIN: f64 = 0.9;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let window = context.recording.window;
    let samples = context.recording.host.iter();
    let fullest = samples
        .filter(|sample| window.contains(sample.at))
        .filter_map(|sample| Some((sample.memory_used?, sample.memory_limit?)))
        .max_by_key(|(used, _)| *used);
    let Some((used, limit)) = fullest else {
        return Vec::new();
    };
    let share = used as f64 / limit.max(1) as f64;
    if share < SHARE_MIN {
        return Vec::new();
    }
    let (used, limit) = (mebibytes(used), mebibytes(limit));
    vec![Finding {
        rule: "memory-limit",
        route: String::new(),
        title: title(&format!(
            "{used} MiB of {limit} MiB of memory are used ({})",
            percent(share)
        )),
        why: "at the limit the kernel first takes back pages that are needed, which is slow, and then \
              kills a process"
            .to_owned(),
        evidence: vec![format!(
            "the app's control group used {used} MiB at most, file pages that can be dropped not counted; \
             it may use {limit} MiB"
        )],
        remedy: Remedy {
            text: "raise the limit, run fewer workers, or lose less memory to fragmentation with fewer \
                   arenas of the allocator"
                .to_owned(),
            exact: Some("MALLOC_ARENA_MAX=2".to_owned()),
            safety: Safety::Careful,
        },
        estimated_gain: "no time; the app is not killed when it needs a little more".to_owned(),
        gain_share: 0.0,
        confidence: Confidence::High,
    }]
}

fn mebibytes(bytes: u64) -> String {
    numbers::count(bytes >> 20)
}
