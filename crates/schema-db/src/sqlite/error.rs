//! SQLite's error codes as kinds of errors.

use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::{DbError, DbErrorKind};

/// The error for a failed statement.
pub(super) fn refused(error: &rusqlite::Error, sql: &str) -> DbError {
    DbError {
        kind: kind(error).unwrap_or(DbErrorKind::Refused),
        message: words(error),
        sql: Some(sql.to_owned()),
    }
}

/// The error for an unusable file.
pub(super) fn opening(path: &Path, error: &rusqlite::Error) -> DbError {
    DbError {
        kind: kind(error).unwrap_or(DbErrorKind::Unreachable),
        message: format!("cannot open {}: {}", path.display(), words(error)),
        sql: None,
    }
}

/// The error for a file locked by another run.
pub(super) fn other_runner(path: &Path, patience: Duration) -> DbError {
    DbError {
        kind: DbErrorKind::Locked,
        message: format!(
            "another run is changing {}; it did not end within {} s",
            path.display(),
            patience.as_secs()
        ),
        sql: None,
    }
}

fn kind(error: &rusqlite::Error) -> Option<DbErrorKind> {
    Some(match error.sqlite_error_code()? {
        ErrorCode::CannotOpen => DbErrorKind::Unreachable,
        ErrorCode::PermissionDenied
        | ErrorCode::AuthorizationForStatementDenied
        | ErrorCode::ReadOnly => DbErrorKind::NotPermitted,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => DbErrorKind::Locked,
        // A write fails on a limit of the file's size, and on a full network disk, without saying
        // so.
        ErrorCode::SystemIoFailure if is_failed_write(error) => DbErrorKind::DiskFull,
        ErrorCode::SystemIoFailure => DbErrorKind::Gone,
        ErrorCode::DiskFull => DbErrorKind::DiskFull,
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => DbErrorKind::Unsupported,
        _ => DbErrorKind::Refused,
    })
}

fn is_failed_write(error: &rusqlite::Error) -> bool {
    let detail = error.sqlite_error();
    detail.is_some_and(|detail| detail.extended_code == rusqlite::ffi::SQLITE_IOERR_WRITE)
}

/// The message without the statement, which is separate.
fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    }
}
