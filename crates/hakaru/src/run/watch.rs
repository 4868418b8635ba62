//! The load, with an eye on the app and on Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use figures::counted;
use recording::Nanos;
use scenario::Scenario;
use target::Running;
use words::{Text, text};

use super::Loaded;
use super::live::Live;
use super::recorder::Recorder;
use crate::settings::Settings;
use crate::signals;
use crate::talk::{self, Progress};

/// Runs the load to its end, to Ctrl-C, or to the app's death. `over` ends it too, and is set by what ends it.
pub(crate) fn load(
    settings: &Settings,
    scenario: &Scenario,
    app: &mut Running,
    recorder: &Recorder,
    over: &AtomicBool,
    stop: &Arc<AtomicBool>,
) -> Loaded {
    let plan = &settings.plan;
    talk::say(announcement(settings));
    let begin = Instant::now();
    let mut progress = Progress::new();
    let mut live = Live::new(plan.warmup, plan.duration);
    load::run(plan, scenario, over, &mut |batch| {
        if progress.is_live() {
            let passed = Nanos(begin.elapsed().as_nanos() as u64);
            live.add(&batch.exchanges, passed);
            progress.show_all(&live.lines(passed));
        }
        recorder.take(batch);
        let died = !app.is_attached() && app.exited().is_some();
        if signals::raised(stop) || died {
            over.store(true, Ordering::Relaxed);
        }
    })
}

fn announcement(settings: &Settings) -> Text {
    let plan = &settings.plan;
    let load = match &plan.pace {
        load::Pace::Closed => counted!(u64::from(plan.connections), "connection"),
        load::Pace::Constant { per_second } => text!(
            "{rate} requests/s over at most {connections}",
            rate = per_second.to_string(),
            connections = counted!(u64::from(plan.connections), "connection")
        ),
        load::Pace::Scheduled(schedule) => {
            text!("{rate} requests/s", rate = schedule.to_string())
        }
    };
    let (url, duration) = (settings.endpoint.authority(), seconds(plan.duration));
    match plan.warmup {
        Nanos(0) => text!(
            "loading {url}: {load} for {duration} s; Ctrl-C ends it with what was measured",
            url,
            load,
            duration
        ),
        warmup => text!(
            "loading {url}: {load} for {duration} s after {warmup} s of warm-up; Ctrl-C ends it with what was measured",
            url,
            load,
            duration,
            warmup = seconds(warmup)
        ),
    }
}

/// Without digits that say nothing: `20`, `0.5`.
fn seconds(length: Nanos) -> String {
    let text = format!("{:.2}", length.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
