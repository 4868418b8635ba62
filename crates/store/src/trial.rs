//! Stored comparisons, each with the finding as the reason.

use rusqlite::params;

use crate::{Store, StoreError};

/// A comparison: the change tried, and the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Wall-clock time of the start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// The run with the finding tried; `None` for a comparison without a finding.
    pub run: Option<i64>,
    /// Number and title of the finding; empty without one.
    pub finding: String,
    /// What was changed.
    pub remedy: String,
    /// `faster`, `slower`, `mixed`, `same`, `unclear` or `failed`.
    pub decision: String,
    /// The verdict in a sentence.
    pub verdict: String,
    /// Whether the change was left in place.
    pub kept: bool,
    /// The whole comparison as JSON.
    pub document: String,
}

impl Store {
    /// Stores a comparison and returns the number.
    pub fn put_trial(&self, trial: &Trial) -> Result<i64, StoreError> {
        let put = self.database.execute(
            "INSERT INTO trial (started_at_unix_ms, run, finding, remedy, decision, verdict, kept, document)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                trial.started_at_unix_ms,
                trial.run,
                trial.finding,
                trial.remedy,
                trial.decision,
                trial.verdict,
                trial.kept,
                trial.document
            ],
        );
        let needed_bytes = trial.document.len() as u64;
        put.map_err(|error| StoreError::sqlite(&self.path(), needed_bytes, error))?;
        Ok(self.database.last_insert_rowid())
    }

    /// Returns all comparisons with the number of each, the oldest first, without the documents.
    pub fn trials(&self) -> Result<Vec<(i64, Trial)>, StoreError> {
        let read = || {
            let mut statement = self.database.prepare(
                "SELECT number, started_at_unix_ms, run, finding, remedy, decision, verdict, kept
                 FROM trial ORDER BY number",
            )?;
            statement
                .query_map([], |row| {
                    let trial = Trial {
                        started_at_unix_ms: row.get(1)?,
                        run: row.get(2)?,
                        finding: row.get(3)?,
                        remedy: row.get(4)?,
                        decision: row.get(5)?,
                        verdict: row.get(6)?,
                        kept: row.get(7)?,
                        document: String::new(),
                    };
                    Ok((row.get(0)?, trial))
                })?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}
