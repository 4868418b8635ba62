//! The database file: path, permissions, tables and table versions.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rusqlite::Connection;

use crate::{FOLDER, Store, StoreError};

/// Migrations from an empty database to the present tables; `user_version` counts the steps taken.
const MIGRATIONS: [&str; 9] = [
    "
    CREATE TABLE run (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        started_at_unix_ms INTEGER NOT NULL,
        complete INTEGER NOT NULL DEFAULT 0,
        target TEXT NOT NULL,
        requests INTEGER NOT NULL DEFAULT 0,
        summary BLOB NOT NULL
    ) STRICT;
    CREATE TABLE chunk (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
        data BLOB NOT NULL
    ) STRICT;
    CREATE INDEX chunk_run ON chunk (run, id);
",
    "
    CREATE TABLE journal (
        run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
        commit_id TEXT NOT NULL,
        dirty TEXT NOT NULL,
        dirty_hash TEXT NOT NULL,
        settings TEXT NOT NULL,
        score REAL,
        rps REAL,
        p50_ms REAL,
        p95_ms REAL,
        p99_ms REAL,
        errors INTEGER NOT NULL,
        checks_failed INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE note (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX note_run ON note (run, id);
",
    "
    CREATE TABLE profile (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        started_at_unix_ms INTEGER NOT NULL,
        command TEXT NOT NULL,
        data BLOB NOT NULL
    ) STRICT;
",
    "
    ALTER TABLE profile ADD COLUMN run INTEGER;
",
    "
    CREATE TABLE undo (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        what TEXT NOT NULL
    ) STRICT;
    CREATE TABLE trial (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        started_at_unix_ms INTEGER NOT NULL,
        run INTEGER REFERENCES run (number) ON DELETE SET NULL,
        finding TEXT NOT NULL,
        remedy TEXT NOT NULL,
        decision TEXT NOT NULL,
        verdict TEXT NOT NULL,
        kept INTEGER NOT NULL,
        document TEXT NOT NULL
    ) STRICT;
",
    "
    CREATE TABLE part (
        run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
        command TEXT NOT NULL
    ) STRICT;
",
    "
    CREATE TABLE bench (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        started_at_unix_ms INTEGER NOT NULL,
        name TEXT NOT NULL,
        commit_id TEXT NOT NULL,
        dirty TEXT NOT NULL,
        machine TEXT NOT NULL,
        document TEXT NOT NULL
    ) STRICT;
",
    "
    CREATE TABLE hosts (
        run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
        data BLOB NOT NULL
    ) STRICT;
",
    "
    ALTER TABLE undo ADD COLUMN place TEXT NOT NULL DEFAULT '';
    ALTER TABLE undo ADD COLUMN made TEXT NOT NULL DEFAULT '';
",
];

/// The newest version of the tables.
pub(crate) const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// `HKRC` as SQLite's application id: a foreign database has another.
const APPLICATION_ID: i64 = i32::from_be_bytes(*b"HKRC") as i64;

/// Time limit of waiting for a lock: long enough for another process to commit a second's chunk on
/// a slow disk.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Limit on the time of the check before a run.
const CHECK_MAX: Duration = Duration::from_secs(3);

impl Store {
    /// Opens the project's store, creating a missing one.
    pub fn open(project: &Path) -> Result<Store, StoreError> {
        let folder = project.join(FOLDER);
        make_folder(&folder)?;
        let path = Store::path_in(project);
        make_private_file(&path)?;
        let failed = |error| StoreError::sqlite(&path, 0, error);
        let mut database = Connection::open(&path).map_err(failed)?;
        database.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        check_owner(&database, &path)?;
        database
            .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
            .map_err(failed)?;
        // A power cut may cost the last seconds, never the file; a killed process costs nothing.
        database
            .pragma_update(None, "synchronous", "normal")
            .map_err(failed)?;
        database
            .pragma_update(None, "foreign_keys", true)
            .map_err(failed)?;
        migrate(&mut database).map_err(failed)?;
        Ok(Store { folder, database })
    }
}

impl Store {
    /// Checks the file's structure before a run is written, for a few seconds at most: damage not
    /// found by then is left to the commands for reading.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when pages are damaged.
    pub fn check(&self) -> Result<(), StoreError> {
        let path = self.path();
        let interrupt = self.database.get_interrupt_handle();
        let (done, waiting) = channel::<()>();
        let found: rusqlite::Result<String> = std::thread::scope(|scope| {
            scope.spawn(move || {
                if waiting.recv_timeout(CHECK_MAX) == Err(RecvTimeoutError::Timeout) {
                    interrupt.interrupt();
                }
            });
            let found = self
                .database
                .query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
            drop(done);
            found
        });
        match found {
            Ok(found) if found == "ok" => Ok(()),
            Ok(found) => Err(StoreError::Corrupt { path, what: found }),
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
            {
                Ok(())
            }
            Err(error) => Err(StoreError::sqlite(&path, 0, error)),
        }
    }
}

fn make_folder(folder: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {
            // So that recordings are never committed to the app's repository by accident.
            let ignore = folder.join(".gitignore");
            std::fs::write(&ignore, "*\n").map_err(|error| StoreError::io("write", &ignore, error))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => make_private(folder, 0o700),
        Err(error) => Err(StoreError::io("make the folder", folder, error)),
    }
}

/// Makes the database file private; SQLite gives side files the mode of the main one.
fn make_private_file(path: &Path) -> Result<(), StoreError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| StoreError::io("open", path, error))?;
    make_private(path, 0o600)
}

fn make_private(path: &Path, mode: u32) -> Result<(), StoreError> {
    let failed = |error| StoreError::io("make private", path, error);
    let found = std::fs::metadata(path).map_err(failed)?.permissions();
    match found.mode() & 0o077 {
        0 => Ok(()),
        _ => std::fs::set_permissions(path, Permissions::from_mode(mode)).map_err(failed),
    }
}

/// Refuses databases of others and of the future before anything is written.
fn check_owner(database: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::sqlite(path, 0, error);
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0));
    let tables = number("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
    let owner = number("PRAGMA application_id").map_err(failed)?;
    let version = number("PRAGMA user_version").map_err(failed)?;
    if tables > 0 && owner != APPLICATION_ID {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            what: "its tables are another program's".to_owned(),
        });
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
        });
    }
    Ok(())
}

fn migrate(database: &mut Connection) -> rusqlite::Result<()> {
    // Immediate, so that of two programs opening a new store at once one waits for the other.
    let migration = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = migration.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for step in MIGRATIONS
        .iter()
        .skip(usize::try_from(version).unwrap_or(0))
    {
        migration.execute_batch(step)?;
    }
    if version < SCHEMA_VERSION {
        migration.pragma_update(None, "application_id", APPLICATION_ID)?;
        migration.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    migration.commit()
}
