//! The stored runs of the current folder.

use experiment::Settings;
use recording::{EndedEarly, Recording};
use store::revision::Revision;
use store::{JournalEntry, RunRef, Store, StoredRun};
use words::text;

use crate::context;
use crate::exit::{Exit, Failure};
use crate::output;

/// The store of the current folder, which must be there.
pub(crate) fn open() -> Result<Store, Failure> {
    let folder = context::current_folder()?;
    Store::open_existing(&folder).map_err(|error| Failure::new(Exit::Failed, error))
}

/// Commit and uncommitted changes of a stored run of the current folder.
pub(crate) fn revision_of(number: i64) -> Option<(String, String)> {
    let known = open().ok()?.journal(number).ok()??;
    Some((known.commit, known.dirty))
}

/// Returns the run with the name in the current folder's store.
pub(crate) fn stored(run: &str) -> Result<StoredRun, Failure> {
    let wanted: RunRef = run
        .parse()
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    open()?
        .load(wanted)
        .map_err(|error| Failure::new(Exit::Failed, error))
}

/// Stores the journal line of a measured run. A failure leaves the run stored all the same.
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
        output::notice(text!(
            "hakaru: {why}; the journal lacks this run's line",
            why = error.to_string()
        ));
    }
}

/// The figures of a run for the journal.
pub(crate) fn figures(recording: &Recording) -> JournalEntry {
    let figures = report::facts::Figures::of(recording);
    JournalEntry {
        score: figures.score,
        rps: figures.rps,
        latency_ms: figures.latency_ms,
        errors: figures.errors,
        checks_failed: figures.checks_failed,
        ..JournalEntry::default()
    }
}

/// Returns the exit code of a measured run.
///
/// `number` is the run's in the store; `None` when it could not be kept.
pub(crate) fn exit_of(recording: &Recording, number: Option<i64>) -> Exit {
    match recording.meta.ended_early {
        Some(EndedEarly::Interrupted) => Exit::Interrupted,
        Some(EndedEarly::LoadFailed(_)) => Exit::Failed,
        Some(_) => Exit::TargetDied,
        None if recording.has_failures() => Exit::RequestsFailed,
        None if number.is_none() => Exit::NotKept,
        None => Exit::Ok,
    }
}
