//! The load, with an eye on the app and on Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use findings::numbers;
use recording::Nanos;
use scenario::Scenario;
use target::Running;

use super::Loaded;
use super::recorder::Recorder;
use crate::settings::Settings;
use crate::signals;
use crate::talk::{self, Progress};

/// Runs the load to its end, to Ctrl-C, or to the app's death.
pub(crate) fn load(
    settings: &Settings,
    scenario: &Scenario,
    app: &mut Running,
    recorder: &Recorder,
    stop: &Arc<AtomicBool>,
) -> Loaded {
    let plan = &settings.plan;
    talk::say(announcement(settings));
    // Its own flag: the app's death ends the load, but is no Ctrl-C.
    let over = AtomicBool::new(false);
    let (begin, whole) = (Instant::now(), plan.warmup + plan.duration);
    let mut progress = Progress::new();
    let (mut requests, mut failed) = (0u64, 0u64);
    load::run(plan, scenario, &over, &mut |batch| {
        requests += batch.exchanges.len() as u64;
        failed += batch
            .exchanges
            .iter()
            .filter(|exchange| exchange.outcome != recording::Outcome::Ok)
            .count() as u64;
        progress.show(format!(
            "  {:>4.0} s of {:.0} s   {requests} requests   {failed} failed",
            begin.elapsed().as_secs_f64(),
            whole.as_secs_f64(),
        ));
        recorder.take(batch);
        let died = !app.is_attached() && app.exited().is_some();
        if signals::raised(stop) || died {
            over.store(true, Ordering::Relaxed);
        }
    })
}

fn announcement(settings: &Settings) -> String {
    let plan = &settings.plan;
    let load = match &plan.pace {
        load::Pace::Closed => numbers::counted(u64::from(plan.connections), "connection"),
        load::Pace::Constant { per_second } => {
            format!(
                "{per_second} requests/s over at most {} connections",
                plan.connections
            )
        }
        load::Pace::Scheduled(schedule) => format!("{schedule} requests/s"),
    };
    let warmup = match plan.warmup {
        Nanos(0) => String::new(),
        warmup => format!(" after {} s of warm-up", seconds(warmup)),
    };
    format!(
        "loading {}: {load} for {} s{warmup}; Ctrl-C ends it with what was measured",
        settings.endpoint.authority(),
        seconds(plan.duration),
    )
}

/// Without digits that say nothing: `20`, `0.5`.
fn seconds(length: Nanos) -> String {
    let text = format!("{:.2}", length.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
