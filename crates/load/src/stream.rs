//! Where a load goes, and a socket that leads there: TCP or a Unix socket.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream as BlockingTcp, ToSocketAddrs};
use std::os::unix::net::UnixStream as BlockingUnix;
use std::path::PathBuf;
use std::time::Duration;

use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use scenario::BaseUrl;

use crate::outcome::LoadError;

/// Longest wait for an address to prove that it answers.
const ADDRESS_TRY: Duration = Duration::from_millis(500);

/// Where connections are made to, when that is not what the URL's host says. The `Host` header stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// Another host and port.
    Host {
        /// Name or address, without the brackets of IPv6.
        host: String,
        /// Its port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl Via {
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

/// An address that connections are made to.
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
            Some(Via::Host { host, port }) => resolve(host, *port).map(Address::Tcp),
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

/// The first address of the host that accepts a connection; if none does, the first. `localhost` often
/// has two, of which the server listens on one.
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
                |address: &&SocketAddr| BlockingTcp::connect_timeout(address, ADDRESS_TRY).is_ok();
            Ok(*addresses.iter().find(answers).unwrap_or(first))
        }
    }
}

/// A socket that never blocks.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Begins to connect; an event under `token` tells when that is done.
    pub(crate) fn connect(
        address: &Address,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Stream> {
        // Registered once and for all directions: edge-triggered, nothing needs to be changed later.
        let directions = Interest::READABLE | Interest::WRITABLE;
        match address {
            Address::Tcp(address) => {
                let mut stream = TcpStream::connect(*address)?;
                registry.register(&mut stream, token, directions)?;
                Ok(Stream::Tcp(stream))
            }
            Address::Unix(path) => {
                let mut stream = UnixStream::connect(path)?;
                registry.register(&mut stream, token, directions)?;
                Ok(Stream::Unix(stream))
            }
        }
    }

    /// Whether the connection that was begun stands now.
    pub(crate) fn is_connected(&self) -> io::Result<bool> {
        let (error, peer) = match self {
            Stream::Tcp(stream) => (stream.take_error()?, stream.peer_addr().map(drop)),
            Stream::Unix(stream) => (stream.take_error()?, stream.peer_addr().map(drop)),
        };
        match (error, peer) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => {
                if let Stream::Tcp(stream) = self {
                    stream.set_nodelay(true)?;
                }
                Ok(true)
            }
            (None, Err(error)) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            (None, Err(error)) => Err(error),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket that waits, for single requests.
#[derive(Debug)]
pub(crate) enum Blocking {
    Tcp(BlockingTcp),
    Unix(BlockingUnix),
}

impl Blocking {
    /// Connects within `limit`.
    pub(crate) fn connect(address: &Address, limit: Duration) -> io::Result<Blocking> {
        match address {
            Address::Tcp(address) => {
                BlockingTcp::connect_timeout(address, limit).map(Blocking::Tcp)
            }
            Address::Unix(path) => BlockingUnix::connect(path).map(Blocking::Unix),
        }
    }

    /// Lets no read or write take longer than `limit`.
    pub(crate) fn limit(&self, limit: Duration) -> io::Result<()> {
        match self {
            Blocking::Tcp(stream) => {
                stream.set_read_timeout(Some(limit))?;
                stream.set_write_timeout(Some(limit))
            }
            Blocking::Unix(stream) => {
                stream.set_read_timeout(Some(limit))?;
                stream.set_write_timeout(Some(limit))
            }
        }
    }
}

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Blocking::Tcp(stream) => stream.read(buffer),
            Blocking::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Blocking::Tcp(stream) => stream.write(bytes),
            Blocking::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
    }
}
