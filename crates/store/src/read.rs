//! Reading runs back.

use recording::format::{Chunk, Summary};
use recording::{EndedEarly, Recording, Trouble, Window};
use rusqlite::{OptionalExtension, Row, params};

use crate::{RunEntry, RunRef, Store, StoreError, StoredRun};

const ENTRY_COLUMNS: &str = "number, started_at_unix_ms, complete, target, requests,
    coalesce((SELECT command FROM part WHERE part.run = run.number), '')";

/// The number of [`RunRef::Last`]. A run that was ended in its warm-up has a line in the journal
/// with nothing in it.
pub(crate) const LAST: &str = "SELECT coalesce(
    (SELECT max(number) FROM run
     WHERE number NOT IN (SELECT run FROM part)
       AND number NOT IN (SELECT run FROM journal WHERE coalesce(rps, 0) = 0)),
    (SELECT max(number) FROM run))";

impl Store {
    /// All runs, the newest first.
    pub fn list(&self) -> Result<Vec<RunEntry>, StoreError> {
        let read = || {
            let sql = format!("SELECT {ENTRY_COLUMNS} FROM run ORDER BY number DESC");
            let mut statement = self.database.prepare(&sql)?;
            statement
                .query_map([], entry)?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }

    /// Returns one run with all facts. A cut-off run gives what it has, with an error that says
    /// so.
    pub fn load(&self, wanted: RunRef) -> Result<StoredRun, StoreError> {
        let failed = |error| StoreError::sqlite(&self.path(), 0, error);
        let (entry, summary) =
            self.find(wanted)
                .map_err(failed)?
                .ok_or_else(|| StoreError::NoRun {
                    wanted,
                    path: self.path(),
                })?;
        let mut recording = Recording::default();
        let mut unread = 0;
        match Summary::decode(&summary) {
            Ok(summary) => recording.set_summary(summary),
            Err(_) => unread += 1,
        }
        unread += self
            .read_chunks(entry.number, &mut recording)
            .map_err(failed)?;
        if !entry.complete {
            note_cut_off(
                &mut recording,
                self.writer_of(entry.number).map_err(failed)?,
            );
        }
        if unread > 0 {
            recording.troubles.push(unread_trouble(unread));
        }
        Ok(StoredRun { entry, recording })
    }

    fn find(&self, wanted: RunRef) -> rusqlite::Result<Option<(RunEntry, Vec<u8>)>> {
        let number = match wanted {
            RunRef::Last => None,
            RunRef::Number(number) => Some(number),
        };
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, summary FROM run
             WHERE number = coalesce(?1, ({LAST}))"
        );
        self.database
            .query_row(&sql, params![number], |row| Ok((entry(row)?, row.get(6)?)))
            .optional()
    }

    /// Returns the process still writing a run; only the newest is ever written.
    fn writer_of(&self, number: i64) -> rusqlite::Result<Option<u32>> {
        let newest: i64 = self
            .database
            .query_row("SELECT max(number) FROM run", [], |row| row.get(0))?;
        Ok(self.writing_process().filter(|_| number == newest))
    }

    /// Adds a run's chunks and returns how many could not be understood.
    fn read_chunks(&self, number: i64, recording: &mut Recording) -> rusqlite::Result<usize> {
        let mut statement = self
            .database
            .prepare("SELECT data FROM chunk WHERE run = ?1 ORDER BY id")?;
        let mut rows = statement.query([number])?;
        let mut unread = 0;
        while let Some(row) = rows.next()? {
            match Chunk::decode(row.get_ref(0)?.as_blob()?) {
                Ok(chunk) => recording.absorb(chunk),
                Err(_) => unread += 1,
            }
        }
        Ok(unread)
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<RunEntry> {
    Ok(RunEntry {
        number: row.get(0)?,
        started_at_unix_ms: row.get(1)?,
        complete: row.get(2)?,
        target: row.get(3)?,
        requests: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
        part_of: row.get(5)?,
    })
}

/// Notes a cut-off run; `writer` is the process still writing the run.
fn note_cut_off(recording: &mut Recording, writer: Option<u32>) {
    let measured_until = recording
        .exchanges
        .iter()
        .map(|exchange| exchange.answered)
        .max();
    let first_due = recording
        .exchanges
        .iter()
        .map(|exchange| exchange.due)
        .min();
    if recording.window == Window::default()
        && let (Some(start), Some(end)) = (first_due, measured_until)
    {
        recording.window = Window { start, end };
    }
    let (what, remedy) = match writer {
        Some(pid) => (
            format!("this run is still going on (process {pid}); this is what it has kept so far, warm-up perhaps included"),
            "look again when it has ended",
        ),
        None => (
            "this run was cut off before its end; only what it had kept by then is here, warm-up perhaps included".to_owned(),
            "run it again for numbers to rely on",
        ),
    };
    if writer.is_none() {
        let ended = &mut recording.meta.ended_early;
        ended.get_or_insert(EndedEarly::CutOff);
    }
    recording.troubles.push(Trouble {
        what,
        remedy: remedy.to_owned(),
    });
}

fn unread_trouble(unread: usize) -> Trouble {
    Trouble {
        what: format!(
            "parts of this recording are damaged or of another version and were left out ({unread})"
        ),
        remedy: "read it with the hakaru that wrote it, or run it again".to_owned(),
    }
}
