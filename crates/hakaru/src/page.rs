//! From facts to the page: breakdown, findings, and the exit code.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use recording::{Outcome, Recording};
use store::RunRef;
use words::text;

use crate::cli::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::language;
use crate::talk::{self, look};

/// `hakaru report`: shows a run that was kept.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    check_html(args.html.as_deref(), args.json)?;
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
        (None, false) => Some(Form::of(args.full)),
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
    /// The page for people: what is read first.
    Page,
    /// All of the page for people.
    Full,
    /// The JSON for programs.
    Json,
}

impl Form {
    /// The page for people.
    pub(crate) fn of(full: bool) -> Form {
        if full { Form::Full } else { Form::Page }
    }
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
    let print = outputs
        .print
        .filter(|_| !outputs.html.is_some_and(is_stdout));
    match print {
        Some(Form::Json) => talk::data(&report::json::run(&view)),
        Some(form @ (Form::Page | Form::Full)) => {
            let style = report::terminal::Style {
                columns: look::page_columns(),
                colour: talk::colour(),
                ascii: look::is_ascii(),
                language: language::chosen(),
                full: form == Form::Full,
                rows: look::page_rows(),
            };
            talk::data(&report::terminal::run(&view, style));
        }
        None => {}
    }
    match outputs.html {
        Some(path) => {
            let profile = profile.map(|profile| report::profile::of_run(recording, &profile));
            write_html(path, &report::html::run(&view, profile, language::chosen()))
        }
        None => Ok(()),
    }
}

/// Status and count of what was answered, one by one.
pub(crate) fn statuses(recording: &Recording) -> impl Iterator<Item = (u16, u64)> {
    let exchanges = recording.exchanges.iter();
    exchanges.filter_map(|one| (one.status > 0).then_some((one.status, 1)))
}

/// Writes a page for the owner alone: it holds what the run's answers held.
///
/// `-` is standard output.
pub(crate) fn write_html(path: &Path, page: &str) -> Result<(), Failure> {
    if is_stdout(path) {
        talk::data(page);
        return Ok(());
    }
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(page.as_bytes()));
    if let Err(error) = written {
        // Half a page, or none, is worse than no file.
        if path.is_file() {
            let _ = std::fs::remove_file(path);
        }
        return Err(unwritable(path, &error));
    }
    talk::say(text!("wrote {path}", path = path.display().to_string()));
    Ok(())
}

/// Whether a page for a browser goes to standard output, where nothing else may stand then.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses two documents on one standard output.
pub(crate) fn check_html(html: Option<&Path>, json: bool) -> Result<(), Failure> {
    match html.is_some_and(is_stdout) && json {
        true => Err(Failure::new(
            Exit::Usage,
            "--html - and --json both write to standard output; give one of them, or --html FILE",
        )),
        false => Ok(()),
    }
}

/// Makes sure that a file can be written when what is to stand in it has been measured.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(());
    }
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
    let is_full = matches!(
        error.kind(),
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
    );
    Failure::new(if is_full { Exit::NotKept } else { Exit::Failed }, message)
}

/// How the program ends after a run that was measured.
///
/// `number` is the run's in the store; `None` when it could not be kept.
pub(crate) fn exit_of(recording: &Recording, number: Option<i64>) -> Exit {
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
        None if number.is_none() => Exit::NotKept,
        None => Exit::Ok,
    }
}
