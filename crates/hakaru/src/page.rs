//! From facts to the page: breakdown, findings, and the exit code.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use recording::{Outcome, Recording};
use store::RunRef;

use crate::cli::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::language;
use crate::run::recorder::NOT_KEPT;
use crate::talk::{self, look};

/// `hakaru report`: shows a run that was kept.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let wanted: RunRef = args
        .run
        .parse()
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let stored = crate::log::open()?
        .load(wanted)
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    let form = match (&args.html, args.json) {
        (Some(_), false) => None,
        (_, true) => Some(Form::Json),
        (None, false) => Some(Form::Page),
    };
    let outputs = Outputs {
        print: form,
        html: args.html.as_deref(),
    };
    show(&stored.recording, Some(stored.entry.number), outputs)?;
    Ok(Exit::Ok)
}

/// What is printed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The page for people.
    Page,
    /// The JSON for programs.
    Json,
}

/// Where a run goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outputs<'a> {
    /// On standard output.
    pub(crate) print: Option<Form>,
    /// Into a file as HTML.
    pub(crate) html: Option<&'a Path>,
}

/// Explains a run and puts it where it is wanted. It is printed even when the file cannot be written.
pub(crate) fn show(
    recording: &Recording,
    number: Option<i64>,
    outputs: Outputs<'_>,
) -> Result<(), Failure> {
    let breakdown = breakdown::of(recording);
    let profile = number.and_then(crate::profile::kept_of_run);
    let findings = findings::all(findings::Facts {
        recording,
        breakdown: &breakdown,
        profile: profile.as_ref(),
    });
    let revision = number.and_then(crate::log::revision_of);
    let view = report::View {
        revision: revision
            .as_ref()
            .map(|(commit, dirty)| report::Revision { commit, dirty }),
        recording,
        breakdown: &breakdown,
        findings: &findings,
        number,
    };
    match outputs.print {
        Some(Form::Json) => talk::data(&report::json::run(&view)),
        Some(Form::Page) => {
            let style = report::terminal::Style {
                columns: look::page_columns(),
                colour: talk::colour(),
                ascii: look::is_ascii(),
                language: language::chosen(),
            };
            talk::data(&report::terminal::run(&view, style));
        }
        None => {}
    }
    match outputs.html {
        Some(path) => {
            let profile = profile.map(|profile| report::profile::of_run(recording, &profile));
            write_html(path, &report::html::run(&view, profile))
        }
        None => Ok(()),
    }
}

/// Writes a page for the owner alone: it holds what the run's answers held.
pub(crate) fn write_html(path: &Path, page: &str) -> Result<(), Failure> {
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(page.as_bytes()));
    written.map_err(|error| unwritable(path, &error))?;
    talk::say(&format!("wrote {}", path.display()));
    Ok(())
}

/// Makes sure that a file can be written when what is to stand in it has been measured.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    let opened = options.append(true).create(true).mode(0o600).open(path);
    match opened {
        Ok(_) => Ok(()),
        Err(error) => Err(unwritable(path, &error)),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!(
        "cannot write {}: {error}; name a file in a folder that exists and has room",
        path.display()
    );
    Failure::new(Exit::Failed, message)
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
