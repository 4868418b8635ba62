//! The driver's errors in our words.

use ::mysql::{DriverError, Error};

use super::MysqlAddress;
use crate::{DbError, DbErrorKind};

/// An error of connecting.
pub(super) fn connecting(error: Error, address: &MysqlAddress) -> DbError {
    let kind = match &error {
        Error::IoError(_) | Error::DriverError(_) | Error::TlsError(_) => DbErrorKind::Unreachable,
        _ => kind(&error),
    };
    let said = words(error);
    let message = match kind {
        DbErrorKind::Unreachable => format!("cannot reach {address}: {said}"),
        DbErrorKind::Denied => format!("{address} refuses the user or the password: {said}"),
        _ => format!("cannot connect to {address}: {said}"),
    };
    DbError {
        kind,
        message,
        sql: None,
    }
}

/// An error of a statement.
pub(super) fn in_statement(error: Error, sql: &str) -> DbError {
    DbError {
        kind: kind(&error),
        message: words(error),
        sql: Some(sql.to_owned()),
    }
}

fn words(error: Error) -> String {
    match error {
        Error::MySqlError(error) => format!("{} (error {})", error.message, error.code),
        Error::DriverError(DriverError::CouldNotConnect(Some((_, reason, _)))) => reason,
        Error::DriverError(DriverError::TlsNotSupported) => {
            "the server speaks no TLS; DISABLED as the TLS mode connects without".to_owned()
        }
        other => other.to_string(),
    }
}

/// By the server's numbers, which MySQL and MariaDB share.
fn kind(error: &Error) -> DbErrorKind {
    let Error::MySqlError(error) = error else {
        return DbErrorKind::Gone;
    };
    match error.code {
        1045 | 1130 | 1698 | 1862 | 3118 | 4151 => DbErrorKind::Denied,
        1044 | 1142 | 1143 | 1227 | 1290 | 1370 | 1419 | 1792 | 1836 => DbErrorKind::NotPermitted,
        1049 => DbErrorKind::NoDatabase,
        1205 | 1213 | 3572 => DbErrorKind::Locked,
        1053 | 1077 | 1079 | 1152 | 1184 | 1927 => DbErrorKind::Gone,
        1021 | 1114 => DbErrorKind::DiskFull,
        // The storage engine passes the system's error on; 28 is ENOSPC.
        1003 | 1005 | 1026 | 1030 if error.message.contains("28") => DbErrorKind::DiskFull,
        _ => DbErrorKind::Refused,
    }
}
