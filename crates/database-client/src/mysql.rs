//! Connections to MySQL and MariaDB.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use ::mysql::{Conn, DriverError, Error, OptsBuilder};

use crate::ConnectError;
use crate::tls::{Tls, TlsMode};

/// Connects with TLS where required. Where TLS is only preferred, falls back when the server or the
/// handshake fails. `options` are to name no TLS; a Unix socket (`is_socket`) needs none.
///
/// # Errors
/// A file of certificates that cannot be read, or the driver's error.
pub fn connect(
    options: &OptsBuilder,
    tls: &Tls,
    is_socket: bool,
) -> Result<Conn, ConnectError<Error>> {
    if let Some(file) = &tls.authorities
        && let Err(error) = std::fs::metadata(file)
    {
        return Err(ConnectError::Settings(format!(
            "cannot read the certificates in {}: {error}",
            file.display()
        )));
    }
    let Some(settings) = tls.mysql().filter(|_| !is_socket) else {
        return Conn::new(options.clone()).map_err(ConnectError::Driver);
    };
    let is_preferred = tls.resolved() == TlsMode::Preferred;
    let connected = match Conn::new(options.clone().ssl_opts(settings)) {
        Err(error) if is_preferred && may_be_tls(&error) => Conn::new(options.clone()),
        secured => secured,
    };
    connected.map_err(ConnectError::Driver)
}

/// Whether a failed connection may be due to TLS. An unreachable server, or an error message from
/// the server, has another cause.
fn may_be_tls(error: &Error) -> bool {
    match error {
        Error::DriverError(DriverError::CouldNotConnect(_)) | Error::MySqlError(_) => false,
        Error::DriverError(error) => matches!(error, DriverError::TlsNotSupported),
        // A server without a word has not come to TLS.
        _ => !has_timed_out(error),
    }
}

/// Whether the error is the end of a time limit.
fn has_timed_out(error: &Error) -> bool {
    let of = match error {
        Error::IoError(error) => Some(error),
        Error::CodecError(error) => error.source().and_then(|cause| cause.downcast_ref()),
        _ => None,
    };
    let is_limit =
        |error: &io::Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    of.is_some_and(is_limit)
}
