//! Stored benches: by name for later comparisons, and all benches as a history.

use rusqlite::params;

use crate::{Store, StoreError};

/// A bench, with the state of the project and the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredBench {
    /// Wall-clock time of the start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// Name of the stored bench; empty for none.
    pub name: String,
    /// The commit; empty outside of git.
    pub commit: String,
    /// Differences of the working tree from the revision; empty for a clean one.
    pub dirty: String,
    /// Identity of the machine: the processor's model and the host's name.
    pub machine: String,
    /// The JSON `hakaru-bench`.
    pub document: String,
}

impl Store {
    /// Stores a bench and returns the number.
    pub fn put_bench(&self, bench: &StoredBench) -> Result<i64, StoreError> {
        let put = self.database.execute(
            "INSERT INTO bench (started_at_unix_ms, name, commit_id, dirty, machine, document)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                bench.started_at_unix_ms,
                bench.name,
                bench.commit,
                bench.dirty,
                bench.machine,
                bench.document
            ],
        );
        let needed_bytes = bench.document.len() as u64;
        put.map_err(|error| StoreError::sqlite(&self.path(), needed_bytes, error))?;
        Ok(self.database.last_insert_rowid())
    }

    /// All benches, the oldest first.
    pub fn benches(&self) -> Result<Vec<StoredBench>, StoreError> {
        let read = || {
            let mut statement = self.database.prepare(
                "SELECT started_at_unix_ms, name, commit_id, dirty, machine, document FROM bench ORDER BY number",
            )?;
            statement
                .query_map([], |row| {
                    Ok(StoredBench {
                        started_at_unix_ms: row.get(0)?,
                        name: row.get(1)?,
                        commit: row.get(2)?,
                        dirty: row.get(3)?,
                        machine: row.get(4)?,
                        document: row.get(5)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| StoreError::sqlite(&self.path(), 0, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benches_come_back_in_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let bench = |name: &str| StoredBench {
            name: name.to_owned(),
            document: "{}".to_owned(),
            ..StoredBench::default()
        };
        for name in ["base", "", "base"] {
            store.put_bench(&bench(name)).expect("kept");
        }
        let names: Vec<String> = store
            .benches()
            .expect("read")
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["base", "", "base"]);
    }
}
