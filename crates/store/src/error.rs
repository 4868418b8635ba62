//! Errors of the store, each with a remedy.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::RunRef;

/// Why the store could not do what was asked.
#[derive(Debug)]
pub enum StoreError {
    /// Another `hakaru run` writes a run in the project.
    Busy {
        /// Id of the other process; 0 when not yet reported.
        pid: u32,
        /// Start of the other process, milliseconds since 1970; 0 when not yet reported.
        since_unix_ms: i64,
    },
    /// No room on the disk, or over quota. What was to be written is not kept; it may be tried
    /// again.
    Full {
        /// The file without room to grow.
        path: PathBuf,
        /// Number of bytes to be written.
        needed_bytes: u64,
    },
    /// The file is not a Hakaru database, or is damaged.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite or the reader said.
        what: String,
    },
    /// The file was written by a newer program.
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version of the file.
        found: i64,
    },
    /// There is no such run.
    NoRun {
        /// What was asked for.
        wanted: RunRef,
        /// The database.
        path: PathBuf,
    },
    /// The folder or a file in the folder cannot be created, opened or locked.
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// Any other error of SQLite.
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        error: rusqlite::Error,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Busy { pid: 0, .. } => f.write_str(
                "another hakaru run is just starting in this folder; wait until it is done",
            ),
            StoreError::Busy { pid, since_unix_ms } => write!(
                f,
                "another hakaru run (process {pid}, started at {}) is at work in this folder; \
                 wait until it is done, or stop it with `kill -INT {pid}`",
                utc_time_of_day(*since_unix_ms),
            ),
            StoreError::Full { path, needed_bytes } => write!(
                f,
                "no room on the disk for {} more at {}; free some, or run in a folder on another disk",
                bytes(*needed_bytes),
                path.display()
            ),
            StoreError::Corrupt { path, what } => write!(
                f,
                "{} is damaged, or is not a Hakaru database ({what}); it was left as it is: \
                 move it aside to begin a new one",
                path.display()
            ),
            StoreError::Newer { path, found } => write!(
                f,
                "{} was written by a newer hakaru (schema {found}, this one knows {}); use that one",
                path.display(),
                crate::database::SCHEMA_VERSION
            ),
            StoreError::NoRun {
                wanted: RunRef::Last,
                path,
            } => {
                write!(
                    f,
                    "no run is kept in {} yet; start with `hakaru run`",
                    path.display()
                )
            }
            StoreError::NoRun { wanted, path } => {
                write!(
                    f,
                    "no run {wanted} in {}; `hakaru report` shows the last one",
                    path.display()
                )
            }
            StoreError::Io {
                action,
                path,
                error,
            } => {
                write!(f, "cannot {action} {}: {error}", path.display())
            }
            StoreError::Database { path, error } => {
                write!(f, "cannot use {}: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Io { error, .. } => Some(error),
            StoreError::Database { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl StoreError {
    pub(crate) fn io(action: &'static str, path: &Path, error: std::io::Error) -> StoreError {
        let path = path.to_owned();
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full {
                path,
                needed_bytes: 0,
            },
            _ => StoreError::Io {
                action,
                path,
                error,
            },
        }
    }

    /// Sorts an error of SQLite into ours. `needed_bytes` is what was to be written.
    pub(crate) fn sqlite(path: &Path, needed_bytes: u64, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path, needed_bytes },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
                path,
                what: error.to_string(),
            },
            _ => StoreError::Database { path, error },
        }
    }
}

/// `14:02:59 UTC`: what `ps` and a glance at a clock can be matched with, without a calendar.
fn utc_time_of_day(unix_ms: i64) -> String {
    let seconds = unix_ms.div_euclid(1000).rem_euclid(86_400);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02} UTC")
}

fn bytes(count: u64) -> String {
    match count {
        0 => "a few bytes".to_owned(),
        1..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} KB", count / 1000),
        _ => format!("{} MB", count / 1_000_000),
    }
}
