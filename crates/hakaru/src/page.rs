//! From facts to the page: breakdown, findings, and the exit code.

use recording::{Outcome, Recording};
use store::{RunRef, Store};

use crate::cli::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::run::recorder::NOT_KEPT;
use crate::talk;

/// `hakaru report`: shows a run that was kept.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let wanted: RunRef = args
        .run
        .parse()
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let folder = std::env::current_dir().map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("the current folder cannot be read: {error}"),
        )
    })?;
    if !Store::path_in(&folder).exists() {
        return Err(Failure::new(
            Exit::Usage,
            "no run was kept in this folder; `hakaru run` makes one",
        ));
    }
    let stored = Store::open(&folder)
        .and_then(|store| store.load(wanted))
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    print(&stored.recording, Some(stored.entry.number), args.json);
    Ok(Exit::Ok)
}

/// Prints the page of a run, or its JSON.
pub(crate) fn print(recording: &Recording, number: Option<i64>, json: bool) {
    let breakdown = breakdown::of(recording);
    let findings = findings::all(findings::Facts {
        recording,
        breakdown: &breakdown,
    });
    let view = report::View {
        recording,
        breakdown: &breakdown,
        findings: &findings,
        number,
    };
    if json {
        talk::data(&report::json::run(&view));
    } else {
        let style = report::terminal::Style {
            colour: talk::colour(),
            ..report::terminal::Style::default()
        };
        talk::data(&report::terminal::run(&view, style));
    }
}

/// How the program ends after a run that was measured.
pub(crate) fn exit_of(recording: &Recording) -> Exit {
    let measured = |outcome| {
        recording
            .exchanges
            .iter()
            .any(|exchange| recording.window.contains(exchange.due) && exchange.outcome == outcome)
    };
    let failed = Outcome::ALL
        .into_iter()
        .filter(|outcome| !matches!(outcome, Outcome::Ok | Outcome::Unanswered))
        .any(measured);
    match recording.meta.ended_early.as_deref() {
        Some("interrupted") => Exit::Interrupted,
        Some(_) => Exit::TargetDied,
        None if failed => Exit::RequestsFailed,
        None if recording
            .troubles
            .iter()
            .any(|trouble| trouble.what.starts_with(NOT_KEPT)) =>
        {
            Exit::NotKept
        }
        None => Exit::Ok,
    }
}
