//! Writes a run during the measurement.

use recording::Meta;
use recording::format::{Chunk, Summary};
use rusqlite::params;

use crate::{RunClaim, Store, StoreError};

/// A run being written. Dropping it leaves the run as it is: readable, and incomplete unless
/// finished.
#[derive(Debug)]
pub struct RunWriter {
    store: Store,
    number: i64,
    _claim: RunClaim,
}

impl Store {
    /// Begins a run under a claim taken before.
    pub fn begin_claimed(self, claim: RunClaim, meta: &Meta) -> Result<RunWriter, StoreError> {
        let summary = Summary {
            meta: meta.clone(),
            ..Summary::default()
        };
        let summary = summary.encode();
        let inserted = self.database.execute(
            "INSERT INTO run (started_at_unix_ms, target, summary) VALUES (?1, ?2, ?3)",
            params![meta.started_at_unix_ms, target_name(meta), summary],
        );
        inserted.map_err(|error| StoreError::sqlite(&self.path(), summary.len() as u64, error))?;
        let number = self.database.last_insert_rowid();
        if !claim.part_of.is_empty() {
            let noted = self.database.execute(
                "INSERT INTO part (run, command) VALUES (?1, ?2)",
                params![number, claim.part_of],
            );
            noted.map_err(|error| StoreError::sqlite(&self.path(), 0, error))?;
        }
        Ok(RunWriter {
            store: self,
            number,
            _claim: claim,
        })
    }
}

impl RunWriter {
    /// The run's number.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// Stores a chunk, safe from any end of the process. After an error nothing of the chunk is
    /// kept; the caller may go on in memory, and may append it again later.
    pub fn append(&mut self, chunk: &Chunk) -> Result<(), StoreError> {
        if chunk.is_empty() {
            return Ok(());
        }
        let data = chunk.encode();
        let requests = chunk.exchanges.len() as i64;
        self.commit(data.len() as u64, |transaction| {
            transaction.execute(
                "INSERT INTO chunk (run, data) VALUES (?1, ?2)",
                params![self.number, data],
            )?;
            transaction.execute(
                "UPDATE run SET requests = requests + ?2 WHERE number = ?1",
                params![self.number, requests],
            )
        })
    }

    /// Replaces the summary with what is known by now, such as the measured window when warm-up is
    /// over. The run stays incomplete.
    pub fn update(&mut self, summary: &Summary) -> Result<(), StoreError> {
        self.put_summary(summary, false)
    }

    /// Writes the final summary and marks the run complete. The claim is held until the writer is
    /// dropped.
    pub fn finish(&mut self, summary: &Summary) -> Result<(), StoreError> {
        self.put_summary(summary, true)
    }

    /// Removes the run, as if never begun. Its number is not given again.
    ///
    /// # Errors
    /// When the file cannot be written. Then the run stays, incomplete.
    pub fn discard(self) -> Result<(), StoreError> {
        self.commit(0, |transaction| {
            transaction.execute("DELETE FROM run WHERE number = ?1", params![self.number])
        })
    }

    fn put_summary(&mut self, summary: &Summary, complete: bool) -> Result<(), StoreError> {
        let data = summary.encode();
        self.commit(data.len() as u64, |transaction| {
            transaction.execute(
                "UPDATE run SET summary = ?2, complete = ?3, target = ?4 WHERE number = ?1",
                params![self.number, data, complete, target_name(&summary.meta)],
            )
        })
    }

    fn commit(
        &self,
        needed_bytes: u64,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<usize>,
    ) -> Result<(), StoreError> {
        let attempt = || {
            let transaction = self.store.database.unchecked_transaction()?;
            work(&transaction)?;
            transaction.commit()
        };
        attempt().map_err(|error| StoreError::sqlite(&self.store.path(), needed_bytes, error))
    }

    #[cfg(test)]
    pub(crate) fn limit_pages(&self, pages: i64) {
        self.store
            .database
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .unwrap();
    }
}

fn target_name(meta: &Meta) -> &str {
    match meta.target.command.as_str() {
        "" => &meta.target.url,
        command => command,
    }
}
