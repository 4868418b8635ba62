//! What the hosts of a run recorded, in the bytes of the caller's format.

use rusqlite::{OptionalExtension, params};

use crate::{Store, StoreError};

impl Store {
    /// Stores what the hosts of a run recorded, in place of an older one.
    ///
    /// # Errors
    /// When the disk is full or the database is damaged.
    pub fn put_hosts(&self, run: i64, data: &[u8]) -> Result<(), StoreError> {
        let kept = self.database.execute(
            "INSERT OR REPLACE INTO hosts VALUES (?1, ?2)",
            params![run, data],
        );
        kept.map(|_| ())
            .map_err(|error| StoreError::sqlite(&self.path(), data.len() as u64, error))
    }

    /// Returns what the hosts of a run recorded; `None` for a run without hosts.
    ///
    /// # Errors
    /// When the database is damaged.
    pub fn hosts(&self, run: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let data = self
            .database
            .query_row("SELECT data FROM hosts WHERE run = ?1", [run], |row| {
                row.get(0)
            });
        data.optional()
            .map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}
