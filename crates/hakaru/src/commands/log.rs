//! `hakaru log`: the journal of runs.

use report::journal::{Journal, Line, Tried};
use store::{RunEntry, RunRef, Store, StoreError, Trial};

use crate::cli::LogArgs;
use crate::exit::{Exit, Failure};
use crate::output::html;
use crate::output::{self, look};
use crate::runs;
use console::language;

/// Prints the journal.
pub(crate) fn log(args: &LogArgs) -> Result<Exit, Failure> {
    let store = runs::open()?;
    let failed = |error| Failure::new(Exit::Failed, error);
    let mut lines = Vec::new();
    // The oldest first, so that each is compared with the one before it.
    for entry in store.list().map_err(failed)?.into_iter().rev() {
        lines.push(line(&store, entry).map_err(failed)?);
    }
    add_trials(&mut lines, store.trials().map_err(failed)?);
    let journal = Journal::of(lines).last(args.last.unwrap_or(usize::MAX));
    if let Some(path) = &args.html {
        html::write_html(path, &journal.html(language::chosen()))?;
        if html::is_stdout(path) || (!args.form.json && !args.markdown) {
            return Ok(Exit::Ok);
        }
    }
    match (args.form.json, args.markdown) {
        (true, _) => output::data(&journal.json()),
        (_, true) => output::data(&journal.markdown(language::chosen())),
        _ => output::page(&journal.text(look::page_columns(), language::chosen())),
    }
    Ok(Exit::Ok)
}

/// Adds each trial to the run with the tried finding; others to the last run before, or to the
/// first of all.
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
            runs::figures(&run.recording)
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
