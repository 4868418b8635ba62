//! Journal of a run, beside the facts: the revision, the settings, the figures, remarks.

use rusqlite::{OptionalExtension, params};

use crate::read::LAST;
use crate::{RunRef, Store, StoreError};

/// A run's line in the journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalEntry {
    /// The commit of the project's repository; empty where there is none.
    pub commit: String,
    /// What differed from the commit, such as `2 files changed, 5 insertions(+)`; empty when
    /// nothing did.
    pub dirty: String,
    /// Hash of the uncommitted difference, distinct for two dirty trees; empty when there is none.
    pub dirty_hash: String,
    /// Lines `name = value`, one a setting, sorted.
    pub settings: String,
    /// Points; `None` without a score.
    pub score: Option<f64>,
    /// Requests answered a second.
    pub rps: Option<f64>,
    /// Latency, milliseconds: p50, p95, p99.
    pub latency_ms: [Option<f64>; 3],
    /// Requests with an error.
    pub errors: u64,
    /// Requests with a response refused by the flow.
    pub checks_failed: u64,
}

impl Store {
    /// Keeps a run's line, in place of an older one.
    pub fn put_journal(&self, run: i64, entry: &JournalEntry) -> Result<(), StoreError> {
        let [p50, p95, p99] = entry.latency_ms;
        let kept = self.database.execute(
            "INSERT OR REPLACE INTO journal VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)",
            params![
                run,
                entry.commit,
                entry.dirty,
                entry.dirty_hash,
                entry.settings,
                entry.score,
                entry.rps,
                p50,
                p95,
                p99,
                entry.errors as i64,
                entry.checks_failed as i64
            ],
        );
        kept.map(|_| ())
            .map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }

    /// Returns a run's line; `None` for a run of an older program, or one cut off.
    pub fn journal(&self, run: i64) -> Result<Option<JournalEntry>, StoreError> {
        let row = self
            .database
            .query_row("SELECT * FROM journal WHERE run = ?1", [run], |row| {
                Ok(JournalEntry {
                    commit: row.get(1)?,
                    dirty: row.get(2)?,
                    dirty_hash: row.get(3)?,
                    settings: row.get(4)?,
                    score: row.get(5)?,
                    rps: row.get(6)?,
                    latency_ms: [row.get(7)?, row.get(8)?, row.get(9)?],
                    errors: u64::try_from(row.get::<_, i64>(10)?).unwrap_or(0),
                    checks_failed: u64::try_from(row.get::<_, i64>(11)?).unwrap_or(0),
                })
            });
        row.optional()
            .map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }

    /// Adds a remark to a run and returns the run's number.
    pub fn add_note(&self, wanted: RunRef, text: &str) -> Result<i64, StoreError> {
        let failed = |error| StoreError::sqlite(&self.path(), text.len() as u64, error);
        let number = match wanted {
            RunRef::Last => None,
            RunRef::Number(number) => Some(number),
        };
        let added = self.database.query_row(
            &format!(
                "INSERT INTO note (run, text)
             SELECT number, ?2 FROM run WHERE number = coalesce(?1, ({LAST}))
             RETURNING run"
            ),
            params![number, text],
            |row| row.get(0),
        );
        added
            .optional()
            .map_err(failed)?
            .ok_or_else(|| StoreError::NoRun {
                wanted,
                path: self.path(),
            })
    }

    /// A run's remarks, the oldest first.
    pub fn notes(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let read = || {
            let mut statement = self
                .database
                .prepare("SELECT text FROM note WHERE run = ?1 ORDER BY id")?;
            statement
                .query_map([run], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}
