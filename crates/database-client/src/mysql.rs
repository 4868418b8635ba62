//! Connections to MySQL and MariaDB.

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
        _ => true,
    }
}
