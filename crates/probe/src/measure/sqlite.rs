//! Measures a commit of SQLite in a folder, in a temporary file.

use std::io;
use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;

use super::{usual, writes};

/// Nanoseconds of a commit with a rollback journal and with a write-ahead log, the usual times.
pub(super) fn commits(folder: &Path) -> io::Result<(f64, f64)> {
    let scratch = tempfile::Builder::new()
        .prefix(".hakaru-doctor-")
        .tempdir_in(folder)?;
    let time = |journal: &str, synchronous: &str| {
        let file = scratch.path().join(format!("{journal}.sqlite3"));
        commit(&file, journal, synchronous).map_err(io::Error::other)
    };
    Ok((time("delete", "full")?, time("wal", "normal")?))
}

fn commit(file: &Path, journal: &str, synchronous: &str) -> rusqlite::Result<f64> {
    let database = Connection::open(file)?;
    database.pragma_update(None, "journal_mode", journal)?;
    database.pragma_update(None, "synchronous", synchronous)?;
    database.execute_batch(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 0)",
    )?;
    let times = writes::<rusqlite::Error>(|turn| {
        let begin = Instant::now();
        database.execute("UPDATE t SET n = ?1 WHERE id = 1", [turn as i64])?;
        Ok(begin)
    })?;
    Ok(usual(&times))
}
