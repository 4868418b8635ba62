//! Connections to PostgreSQL.

use ::postgres::config::{Host, SslMode};
use ::postgres::{Client, Config, Error, NoTls};

use crate::tls::stream::Connector;
use crate::tls::{Tls, TlsMode};
use crate::{ConnectError, unescaped};

/// Connects with TLS where required. Where TLS is only preferred, falls back when the handshake
/// fails. A Unix socket needs none.
///
/// # Errors
/// Settings of TLS that cannot be used, or the driver's error.
pub fn connect(mut config: Config, tls: &Tls) -> Result<Client, ConnectError<Error>> {
    let is_socket = matches!(config.get_hosts().first(), Some(Host::Unix(_)));
    let mode = tls.resolved();
    if mode == TlsMode::Off || is_socket {
        config.ssl_mode(SslMode::Disable);
        return config.connect(NoTls).map_err(ConnectError::Driver);
    }
    config.ssl_mode(match mode {
        TlsMode::Preferred => SslMode::Prefer,
        _ => SslMode::Require,
    });
    let connector = Connector::new(tls).map_err(ConnectError::Settings)?;
    let connected = match config.connect(connector) {
        Err(error) if mode == TlsMode::Preferred && is_tls(&error) => {
            config.ssl_mode(SslMode::Disable);
            config.connect(NoTls)
        }
        connected => connected,
    };
    connected.map_err(ConnectError::Driver)
}

/// Whether an error is about TLS. The driver distinguishes kinds of errors only by text.
pub fn is_tls(error: &Error) -> bool {
    error.to_string().contains("TLS")
}

/// Splits libpq's TLS settings, only some of which the driver accepts, from an address: a URL, or
/// the `key=value` form of libpq.
///
/// # Errors
/// A mode that is not known, as a sentence.
pub fn without_tls(url: &str) -> Result<(String, Tls), String> {
    let mut tls = Tls::default();
    let mut kept = Vec::new();
    let (base, settings, between) = match url.split_once("://") {
        Some(_) => {
            let (base, settings) = url.split_once('?').unwrap_or((url, ""));
            (base, settings.split('&').collect::<Vec<_>>(), "&")
        }
        None => ("", url.split_whitespace().collect(), " "),
    };
    for setting in settings.into_iter().filter(|setting| !setting.is_empty()) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        if !tls.take_libpq(key, &unescaped(value))? {
            kept.push(setting);
        }
    }
    let kept = kept.join(between);
    let url = match (base.is_empty(), kept.is_empty()) {
        (true, _) => kept,
        (false, true) => base.to_owned(),
        (false, false) => format!("{base}?{kept}"),
    };
    Ok((url, tls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_tls_are_taken_out_of_an_address() {
        let check = |url: &str, kept: &str, mode: Option<TlsMode>, authorities: Option<&str>| {
            let (found, tls) = without_tls(url).unwrap();
            assert_eq!(found, kept, "{url}");
            assert_eq!(tls.mode, mode, "{url}");
            assert_eq!(tls.authorities, authorities.map(Into::into), "{url}");
        };
        check("postgres://me@db/app", "postgres://me@db/app", None, None);
        check(
            "postgres://me@db/app?sslmode=verify-full&connect_timeout=3&sslrootcert=%2Fca.pem",
            "postgres://me@db/app?connect_timeout=3",
            Some(TlsMode::Host),
            Some("/ca.pem"),
        );
        check(
            "host=db sslmode=require user=me",
            "host=db user=me",
            Some(TlsMode::Required),
            None,
        );
        assert!(without_tls("postgres://db/app?sslmode=maybe").is_err());
    }
}
