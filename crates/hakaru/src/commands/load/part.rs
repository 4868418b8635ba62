//! The result of one generator of several.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use generators::GeneratorResult;
use load_report::StepLabel;

use super::Kept;
use super::settings::Settings;
use crate::cli::LoadArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::html::{check_writable, is_stdout, write_html};

/// Refuses what could not be written when all has been measured, or two documents on one standard
/// output.
pub(super) fn check(args: &LoadArgs) -> Result<(), Failure> {
    let Some(path) = &args.result else {
        return Ok(());
    };
    let taken = args.form.json || args.html.as_deref().is_some_and(is_stdout);
    match is_stdout(path) && taken {
        true => Err(Failure::new(
            Exit::Usage,
            "--result - takes standard output for itself; leave --json or --html - out, or write --result FILE",
        )),
        false => Ok(check_writable(path)?),
    }
}

/// Writes the result.
pub(super) fn keep(
    path: &Path,
    settings: &Settings,
    steps: &[StepLabel],
    kept: &Kept,
) -> Result<(), Failure> {
    let text = result(settings, steps, kept).to_text();
    match is_stdout(path) {
        true => output::data(&text),
        false => write_html(path, &text)?,
    }
    Ok(())
}

/// Returns all figures of the part, with the plan of the whole load.
pub(super) fn result(settings: &Settings, steps: &[StepLabel], kept: &Kept) -> GeneratorResult {
    let plan = &settings.plan;
    // How long ago it started is known by the monotonic clock, which nobody sets.
    let window = kept.measured.window.start.monotonic_nanos();
    let started = window.saturating_sub(plan.warmup.0);
    let ago = load::now().monotonic_nanos().saturating_sub(started);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_nanos() as u64);
    GeneratorResult {
        part: plan.part,
        host: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
        started_unix_ns: now.saturating_sub(ago),
        url: settings.url.clone(),
        plan: plan.clone(),
        steps: steps.to_vec(),
        expectations: settings.goals.iter().map(ToString::to_string).collect(),
        score: settings.scenario.score().cloned(),
        measured: kept.measured.clone(),
        intervals: kept.intervals.clone(),
        every: kept.length,
    }
}
