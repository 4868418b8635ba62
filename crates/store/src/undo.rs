//! Records of changes to be undone, written before the change, for undoing even after a kill.

use rusqlite::params;

use crate::{Store, StoreError};

/// A temporary change outside of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// Number of the change.
    pub id: i64,
    /// What kind of change; the program knows how to take back each.
    pub kind: String,
    /// On what; never a secret.
    pub what: String,
}

impl Store {
    /// Records a change about to be made. The record is on disk on return.
    pub fn put_undo(&self, kind: &str, what: &str) -> Result<Undo, StoreError> {
        let put = || {
            // The store's own setting may lose the last commits in a power cut; these must not be
            // lost.
            self.database.pragma_update(None, "synchronous", "full")?;
            let put = self.database.execute(
                "INSERT INTO undo (kind, what) VALUES (?1, ?2)",
                params![kind, what],
            );
            self.database.pragma_update(None, "synchronous", "normal")?;
            put
        };
        put().map_err(|error| StoreError::sqlite(&self.path(), what.len() as u64, error))?;
        Ok(Undo {
            id: self.database.last_insert_rowid(),
            kind: kind.to_owned(),
            what: what.to_owned(),
        })
    }

    /// Strikes out what has been taken back.
    pub fn strike_undo(&self, undo: &Undo) -> Result<(), StoreError> {
        let struck = self
            .database
            .execute("DELETE FROM undo WHERE id = ?1", [undo.id]);
        struck
            .map(|_| ())
            .map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }

    /// Returns the changes not yet undone, the newest first: the order of undoing.
    pub fn undos(&self) -> Result<Vec<Undo>, StoreError> {
        let read = || {
            let mut statement = self
                .database
                .prepare("SELECT id, kind, what FROM undo ORDER BY id DESC")?;
            statement
                .query_map([], |row| {
                    Ok(Undo {
                        id: row.get(0)?,
                        kind: row.get(1)?,
                        what: row.get(2)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}
