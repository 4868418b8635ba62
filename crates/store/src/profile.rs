//! Profiles, stored beside the runs under separate numbers. Their bytes are the caller's format.

use rusqlite::{OptionalExtension, params};

use crate::{RunRef, Store, StoreError};

/// A profile as read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProfile {
    /// Number of the profile, from 1.
    pub number: i64,
    /// The run during which the profile was taken, if any.
    pub run: Option<i64>,
    /// Wall-clock time of the start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// What was profiled.
    pub command: String,
    /// Bytes of the profile, unchanged.
    pub data: Vec<u8>,
}

impl Store {
    /// Stores a profile, with the number of the run if any, and returns the number of the profile.
    ///
    /// # Errors
    /// When the disk is full or the database is damaged.
    pub fn add_profile(
        &self,
        started_at_unix_ms: i64,
        command: &str,
        data: &[u8],
        run: Option<i64>,
    ) -> Result<i64, StoreError> {
        self.database
            .query_row(
                "INSERT INTO profile (started_at_unix_ms, command, data, run) VALUES (?1, ?2, ?3, ?4)
                 RETURNING number",
                params![started_at_unix_ms, command, data, run],
                |row| row.get(0),
            )
            .map_err(|error| StoreError::sqlite(&self.path(), data.len() as u64, error))
    }

    /// Returns a profile; `None` when the number is unknown, or no profile is stored.
    ///
    /// # Errors
    /// When the database is damaged.
    pub fn profile(&self, wanted: RunRef) -> Result<Option<StoredProfile>, StoreError> {
        let number = match wanted {
            RunRef::Last => None,
            RunRef::Number(number) => Some(number),
        };
        self.one_profile(
            "number = coalesce(?1, (SELECT max(number) FROM profile))",
            number,
        )
    }

    /// Returns the last profile taken during a run, if any.
    ///
    /// # Errors
    /// When the database is damaged.
    pub fn profile_of_run(&self, run: i64) -> Result<Option<StoredProfile>, StoreError> {
        self.one_profile(
            "number = (SELECT max(number) FROM profile WHERE run = ?1)",
            Some(run),
        )
    }

    fn one_profile(
        &self,
        condition: &str,
        number: Option<i64>,
    ) -> Result<Option<StoredProfile>, StoreError> {
        let query = format!(
            "SELECT number, started_at_unix_ms, command, data, run FROM profile WHERE {condition}"
        );
        self.database
            .query_row(&query, [number], |row| {
                Ok(StoredProfile {
                    number: row.get(0)?,
                    run: row.get(4)?,
                    started_at_unix_ms: row.get(1)?,
                    command: row.get(2)?,
                    data: row.get(3)?,
                })
            })
            .optional()
            .map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}
