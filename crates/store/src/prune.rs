//! Removal of named runs.

use rusqlite::params;

use crate::{RunClaim, Store, StoreError};

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Runs, with the journal lines and remarks of each.
    pub runs: usize,
    /// Profiles taken during the runs.
    pub profiles: usize,
}

impl Store {
    /// Removes runs by number, all or none, with all dependent rows. Comparisons stay, also of a
    /// finding of such a run. The claim says that no run is being written meanwhile. Numbers are
    /// not given again.
    ///
    /// # Errors
    /// When the file cannot be written. Then nothing is removed.
    pub fn remove(&mut self, numbers: &[i64], _claim: &RunClaim) -> Result<Removed, StoreError> {
        let path = self.path();
        let mut remove = || {
            let mut removed = Removed::default();
            let removal = self.database.transaction()?;
            for number in numbers {
                removed.profiles +=
                    removal.execute("DELETE FROM profile WHERE run = ?1", params![number])?;
                removed.runs +=
                    removal.execute("DELETE FROM run WHERE number = ?1", params![number])?;
            }
            removal.commit()?;
            Ok(removed)
        };
        remove().map_err(|error| StoreError::sqlite(&path, 0, error))
    }

    /// Gives the room of what was removed back to the disk, which takes as much room as the rest
    /// for the time being.
    ///
    /// # Errors
    /// When there is not so much room. Then later runs use it.
    pub fn shrink(&self) -> Result<(), StoreError> {
        let shrunk = self
            .database
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        shrunk.map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}
