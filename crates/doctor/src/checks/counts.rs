//! Numbers of an app's configuration: workers, threads, connections, and the cores for these
//! numbers.
//!
//! A variable counts where a line reads it. A number that is written wins over any variable, since
//! Puma takes its own variables only for what its file does not set.

use words::{Text, text};

use crate::snapshot::{Origin, Snapshot};

/// Variable with Puma's workers.
const WORKERS: &str = "WEB_CONCURRENCY";
/// Variables with Puma's threads, the first one wins. Of `RAILS_MAX_THREADS` Puma knows nothing.
const THREADS: [&str; 2] = ["PUMA_MAX_THREADS", "MAX_THREADS"];

/// Returns Puma's workers; `None` where unknown, such as `auto`.
pub(super) fn workers(s: &Snapshot) -> Option<u32> {
    let app = s.app.as_ref()?;
    resolved(s, app.workers, &app.workers_origin, &[WORKERS])
}

/// Returns Puma's workers; 0, a single process, if nothing is set.
pub(super) fn workers_or_single(s: &Snapshot) -> Option<u32> {
    let is_unset =
        s.app.as_ref()?.workers_origin == Origin::Unset && !s.process.env.contains_key(WORKERS);
    workers(s).or(is_unset.then_some(0))
}

/// Returns Puma's threads of a worker.
pub(super) fn threads(s: &Snapshot) -> Option<u32> {
    let app = s.app.as_ref()?;
    resolved(s, app.threads, &app.threads_origin, &THREADS)
}

/// Returns the connections of Active Record's pool.
pub(super) fn pool(s: &Snapshot) -> Option<u32> {
    let app = s.app.as_ref()?;
    resolved(s, app.pool, &app.pool_origin, &[])
}

/// Returns a number by origin; `own` are the variables read without a line.
fn resolved(s: &Snapshot, number: Option<u32>, origin: &Origin, own: &[&str]) -> Option<u32> {
    let variable = match origin {
        Origin::Literal => None,
        Origin::Computed => return None,
        Origin::Variable(name) => s.process.env.get(name),
        Origin::Unset => own.iter().find_map(|name| s.process.env.get(*name)),
    };
    match variable {
        Some(text) => text.trim().parse().ok(),
        None => number,
    }
}

/// Returns the change to a number of workers, where a change has an effect.
pub(super) fn set_workers(s: &Snapshot, workers: u32) -> Text {
    let origin = s.app.as_ref().map(|app| &app.workers_origin);
    changed(origin, WORKERS, workers, format!("workers {workers}"))
}

/// Returns the change to a number of threads, where a change has an effect.
pub(super) fn set_threads(s: &Snapshot, threads: u32) -> Text {
    let origin = s.app.as_ref().map(|app| &app.threads_origin);
    changed(
        origin,
        THREADS[0],
        threads,
        format!("threads {threads}, {threads}"),
    )
}

fn changed(origin: Option<&Origin>, variable: &str, number: u32, line: String) -> Text {
    match origin {
        Some(Origin::Literal | Origin::Computed) => text!("{line} in config/puma.rb", line),
        Some(Origin::Variable(name)) => format!("{name}={number}").into(),
        Some(Origin::Unset) | None => format!("{variable}={number}").into(),
    }
}

/// Returns the cores available to all workers together.
pub(super) fn cores(s: &Snapshot) -> Option<f64> {
    let allowed = f64::from(s.process.cores_allowed.or(s.machine.cores)?);
    let quota = s.process.group.as_ref().and_then(|group| group.quota_cores);
    Some(quota.map_or(allowed, |quota| quota.min(allowed)))
}
