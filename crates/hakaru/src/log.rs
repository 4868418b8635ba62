//! `hakaru log`: the journal of runs.

use recording::Recording;
use report::journal::{Journal, Line, Tried};
use store::{JournalEntry, RunEntry, RunRef, Store, StoreError, Trial};
use words::text;

use crate::cli::LogArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::language;
use crate::page;
use crate::revision::Revision;
use crate::talk::{self, look};
use experiment::Settings;

/// Prints the journal.
pub(crate) fn log(args: &LogArgs) -> Result<Exit, Failure> {
    let store = open()?;
    let failed = |error| Failure::new(Exit::Failed, error);
    let mut lines = Vec::new();
    // The oldest first, so that each is compared with the one before it.
    for entry in store.list().map_err(failed)?.into_iter().rev() {
        lines.push(line(&store, entry).map_err(failed)?);
    }
    add_trials(&mut lines, store.trials().map_err(failed)?);
    let journal = Journal::of(lines).last(args.last.unwrap_or(usize::MAX));
    if let Some(path) = &args.html {
        page::write_html(path, &journal.html(language::chosen()))?;
        if page::is_stdout(path) || (!args.json && !args.markdown) {
            return Ok(Exit::Ok);
        }
    }
    match (args.json, args.markdown) {
        (true, _) => talk::data(&journal.json()),
        (_, true) => talk::data(&journal.markdown(language::chosen())),
        _ => talk::page(&journal.text(look::page_columns(), language::chosen())),
    }
    Ok(Exit::Ok)
}

/// The store of the current folder, which must be there.
pub(crate) fn open() -> Result<Store, Failure> {
    let folder = context::current_folder()?;
    if !Store::path_in(&folder).exists() {
        // As the store itself says of a database without a run; looking must not make one.
        let error = StoreError::NoRun {
            wanted: RunRef::Last,
            path: Store::path_in(&folder),
        };
        return Err(Failure::new(Exit::Failed, error));
    }
    Store::open(&folder).map_err(|error| Failure::new(Exit::Failed, error))
}

/// Commit and dirty state of a run that was kept in the current folder.
pub(crate) fn revision_of(number: i64) -> Option<(String, String)> {
    let known = open().ok()?.journal(number).ok()??;
    Some((known.commit, known.dirty))
}

/// Each to the run whose finding it tried; others to the last run before them, or the first of all.
fn add_trials(lines: &mut Vec<Line>, trials: Vec<(i64, Trial)>) {
    if lines.is_empty() && !trials.is_empty() {
        // No run yet: a line that holds them.
        lines.push(Line {
            complete: true,
            ..Line::default()
        });
    }
    for (number, trial) in trials {
        let own = lines.iter().position(|line| Some(line.number) == trial.run);
        let before = |line: &Line| line.started_at_unix_ms <= trial.started_at_unix_ms;
        let index = own.or_else(|| lines.iter().rposition(before)).unwrap_or(0);
        lines[index].trials.push(Tried {
            number,
            finding: trial.finding,
            remedy: trial.remedy,
            decision: trial.decision,
            verdict: trial.verdict,
            kept: trial.kept,
        });
    }
}

fn line(store: &Store, entry: RunEntry) -> Result<Line, StoreError> {
    let known = match store.journal(entry.number)? {
        Some(known) => known,
        // Kept by an older program, or cut off: the facts are all there is.
        None => {
            let run = store.load(RunRef::Number(entry.number))?;
            figures(&run.recording)
        }
    };
    Ok(Line {
        number: entry.number,
        started_at_unix_ms: entry.started_at_unix_ms,
        complete: entry.complete,
        part_of: entry.part_of,
        commit: known.commit,
        dirty: known.dirty,
        dirty_hash: known.dirty_hash,
        settings: known.settings,
        score: known.score,
        rps: known.rps,
        latency_ms: known.latency_ms,
        errors: known.errors,
        checks_failed: known.checks_failed,
        notes: store.notes(entry.number)?,
        trials: Vec::new(),
    })
}

/// Keeps the line of a run that has just been measured. Without it the run is kept all the same.
pub(crate) fn keep(settings: &Settings, revision: Revision, number: i64, recording: &Recording) {
    let entry = JournalEntry {
        commit: revision.commit,
        dirty: revision.dirty,
        dirty_hash: revision.dirty_hash,
        settings: settings.journal_lines(),
        ..figures(recording)
    };
    let kept = Store::open(&settings.project).and_then(|store| store.put_journal(number, &entry));
    if let Err(error) = kept {
        talk::say(text!(
            "hakaru: {why}; the journal lacks this run's line",
            why = error.to_string()
        ));
    }
}

fn figures(recording: &Recording) -> JournalEntry {
    let breakdown = breakdown::of(recording);
    let overall = &breakdown.overall;
    let percentiles = report::facts::Percentiles::of(&overall.latency);
    let view = report::View {
        number: None,
        recording,
        breakdown: &breakdown,
        findings: &[],
        revision: None,
    };
    JournalEntry {
        score: recording.score.as_ref().and_then(|score| score.points),
        rps: report::facts::answered_per_second(&view),
        latency_ms: [percentiles.p50, percentiles.p95, percentiles.p99],
        errors: overall.errors,
        checks_failed: overall.checks_failed,
        ..JournalEntry::default()
    }
}
