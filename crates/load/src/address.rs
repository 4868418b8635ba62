//! The destination of a load.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use scenario::BaseUrl;

use crate::outcome::LoadError;

/// Longest wait for an address to accept a connection.
const ADDRESS_TRY: Duration = Duration::from_millis(500);

/// Address for connections, when other than the URL's host. The `Host` header stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// Another host and port.
    Host {
        /// Name or address, without the brackets of IPv6.
        host: String,
        /// Port of the address.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
    /// An HTTP proxy, which opens a tunnel to the URL's host and port.
    Proxy {
        /// Name or address, without the brackets of IPv6.
        host: String,
        /// Port of the proxy.
        port: u16,
    },
}

impl Via {
    /// Reads an address, or a proxy. The error is a sentence.
    pub fn of(address: Option<&str>, proxy: Option<&str>) -> Result<Option<Via>, String> {
        match (address, proxy) {
            (Some(address), _) => Via::parse(address).map(Some),
            (None, Some(proxy)) => Via::parse_proxy(proxy).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Reads a proxy: `host:port`, or `http://host:port`. The error is a sentence.
    pub fn parse_proxy(text: &str) -> Result<Via, String> {
        let bare = text.strip_prefix("http://").unwrap_or(text);
        match Via::parse(bare.trim_end_matches('/')) {
            Ok(Via::Host { host, port }) if !host.contains(['/', '@']) => {
                Ok(Via::Proxy { host, port })
            }
            _ => Err(format!(
                "`{text}` is no address of a proxy; write http://127.0.0.1:3128, without a name and password"
            )),
        }
    }

    /// Reads `host:port`, `[::1]:port` or `unix:/path`. The error is a sentence.
    pub fn parse(text: &str) -> Result<Via, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Via::Unix(path.into()));
        }
        let wrong = || {
            format!(
                "`{text}` is no address; write 127.0.0.1:8080, [::1]:8080, name:8080 or unix:/path"
            )
        };
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let port = port.parse().ok().filter(|port| *port > 0);
        match (bare.unwrap_or(host), port) {
            (host, Some(port)) if !host.is_empty() && (bare.is_some() || !host.contains(':')) => {
                Ok(Via::Host {
                    host: host.to_owned(),
                    port,
                })
            }
            _ => Err(wrong()),
        }
    }
}

/// Address to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Address {
    /// Where the target of `base` is reached.
    pub(crate) fn find(base: &BaseUrl, via: Option<&Via>) -> Result<Address, LoadError> {
        match via {
            None => resolve(&base.host, base.port).map(Address::Tcp),
            Some(Via::Host { host, port } | Via::Proxy { host, port }) => {
                resolve(host, *port).map(Address::Tcp)
            }
            Some(Via::Unix(path)) => Ok(Address::Unix(path.clone())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Returns the first address of the host to accept a connection; without any, the first.
/// `localhost` often has two, of which the server listens on one.
fn resolve(host: &str, port: u16) -> Result<SocketAddr, LoadError> {
    let fail = |source| LoadError::Resolve {
        authority: format!("{host}:{port}"),
        source,
    };
    let found = (host, port).to_socket_addrs();
    let addresses: Vec<SocketAddr> = found.map_err(fail)?.collect();
    match addresses.as_slice() {
        [] => Err(fail(io::ErrorKind::NotFound.into())),
        [only] => Ok(*only),
        [first, ..] => {
            let answers =
                |address: &&SocketAddr| TcpStream::connect_timeout(address, ADDRESS_TRY).is_ok();
            Ok(*addresses.iter().find(answers).unwrap_or(first))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let host = |host: &str, port| {
            let host = host.to_owned();
            Some(Via::Host { host, port })
        };
        let check = |text: &str, expected: Option<Via>| {
            assert_eq!(Via::parse(text).ok(), expected, "{text}");
        };
        check("127.0.0.1:80", host("127.0.0.1", 80));
        check("[::1]:8080", host("::1", 8080));
        check("app.local:1", host("app.local", 1));
        check(
            "unix:/run/app.sock",
            Some(Via::Unix("/run/app.sock".into())),
        );
        for wrong in [
            "", "unix:", "host", "host:", "host:0", ":80", "::1:80", "host:x",
        ] {
            check(wrong, None);
        }
        let proxy = Via::parse_proxy("http://[::1]:3128/").ok();
        let host = "::1".to_owned();
        assert_eq!(proxy, Some(Via::Proxy { host, port: 3128 }));
        for wrong in ["unix:/a", "https://a:1", "a@b:1", "http://a"] {
            assert!(Via::parse_proxy(wrong).is_err(), "{wrong}");
        }
    }
}
