//! Records of changes to be undone, written before the change, for undoing even after a kill.

use rusqlite::params;

use crate::{Store, StoreError};

/// A temporary change outside of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undo {
    /// Number of the change; 0 before the change is recorded.
    pub id: i64,
    /// What kind of change; the program knows how to take back each.
    pub kind: String,
    /// On what; never a secret.
    pub what: String,
    /// The database of the change, without user and password; empty for other kinds, and for
    /// changes of programs recording none.
    pub place: String,
    /// What the change makes of the database, where recognised before anything is taken back; else
    /// empty.
    pub made: String,
}

impl Store {
    /// Records a change about to be made. The record is on disk on return.
    pub fn put_undo(&self, change: Undo) -> Result<Undo, StoreError> {
        let put = || {
            // The store's own setting may lose the last commits in a power cut; these must not be
            // lost.
            self.database.pragma_update(None, "synchronous", "full")?;
            let put = self.database.execute(
                "INSERT INTO undo (kind, what, place, made) VALUES (?1, ?2, ?3, ?4)",
                params![change.kind, change.what, change.place, change.made],
            );
            self.database.pragma_update(None, "synchronous", "normal")?;
            put
        };
        let needed_bytes = (change.what.len() + change.made.len()) as u64;
        put().map_err(|error| StoreError::sqlite(&self.path(), needed_bytes, error))?;
        Ok(Undo {
            id: self.database.last_insert_rowid(),
            ..change
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
                .prepare("SELECT id, kind, what, place, made FROM undo ORDER BY id DESC")?;
            statement
                .query_map([], |row| {
                    Ok(Undo {
                        id: row.get(0)?,
                        kind: row.get(1)?,
                        what: row.get(2)?,
                        place: row.get(3)?,
                        made: row.get(4)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_change_is_recorded_with_its_place() {
        let project = TempDir::new().unwrap();
        let store = Store::open(project.path()).unwrap();
        let index = Undo {
            kind: "index".to_owned(),
            what: "a\nb".to_owned(),
            place: "mysql:127.0.0.1:3306/shop".to_owned(),
            ..Undo::default()
        };
        let put = store.put_undo(index.clone()).unwrap();
        assert!(put.id > 0);
        assert_eq!(store.undos().unwrap(), std::slice::from_ref(&put));
        assert_eq!(put.place, index.place);
        store.strike_undo(&put).unwrap();
        assert_eq!(store.undos().unwrap(), []);
    }

    /// Changes of programs recording no place are read, with none.
    #[test]
    fn a_change_of_an_older_program_has_no_place() {
        let project = TempDir::new().unwrap();
        drop(Store::open(project.path()).unwrap());
        let database = rusqlite::Connection::open(Store::path_in(project.path())).unwrap();
        let back = "DROP TABLE undo; CREATE TABLE undo (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, what TEXT NOT NULL) STRICT; \
            INSERT INTO undo (kind, what) VALUES ('index', 'a'); PRAGMA user_version = 8";
        database.execute_batch(back).unwrap();
        drop(database);
        let undos = Store::open(project.path()).unwrap().undos().unwrap();
        assert_eq!((undos[0].what.as_str(), undos[0].place.as_str()), ("a", ""));
    }
}
