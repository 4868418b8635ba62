//! A blocking stream, for single requests.

use std::io::{self, Read, Write};
use std::net::TcpStream as BlockingTcp;
use std::os::unix::net::UnixStream as BlockingUnix;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};

use super::tunnel::Tunnel;
use crate::address::Address;
use crate::route::Route;
use crate::tls::TlsClient;

/// A blocking stream, for single requests.
#[derive(Debug)]
pub(crate) enum Blocking {
    Plain(Waiting),
    Tls(Box<StreamOwned<ClientConnection, Waiting>>),
}

/// A blocking socket.
#[derive(Debug)]
pub(crate) enum Waiting {
    Tcp(BlockingTcp),
    Unix(BlockingUnix),
}

impl Blocking {
    /// Connects within `limit` on a way to the server, through the proxy, if any.
    pub(crate) fn on(route: &Route, limit: Duration) -> io::Result<Blocking> {
        Blocking::open(&route.address, route.tls.as_ref(), Tunnel::of(route), limit)
    }

    /// Connects within `limit`; a TLS handshake comes with the first write.
    pub(crate) fn connect(
        address: &Address,
        tls: Option<&TlsClient>,
        limit: Duration,
    ) -> io::Result<Blocking> {
        Blocking::open(address, tls, None, limit)
    }

    fn open(
        address: &Address,
        tls: Option<&TlsClient>,
        tunnel: Option<Tunnel>,
        limit: Duration,
    ) -> io::Result<Blocking> {
        let mut socket = match address {
            Address::Tcp(address) => Waiting::Tcp(BlockingTcp::connect_timeout(address, limit)?),
            Address::Unix(path) => Waiting::Unix(BlockingUnix::connect(path)?),
        };
        if let Waiting::Tcp(stream) = &socket {
            stream.set_nodelay(true)?;
        }
        if let Some(mut tunnel) = tunnel {
            socket.limit(limit)?;
            if !tunnel.go_on(&mut socket)? {
                return Err(io::Error::other(
                    "the proxy did not respond within the limit",
                ));
            }
        }
        let stream = match tls.map(TlsClient::session).transpose()? {
            None => Blocking::Plain(socket),
            Some(session) => Blocking::Tls(Box::new(StreamOwned::new(session, socket))),
        };
        stream.limit(limit)?;
        Ok(stream)
    }

    /// Completes the TLS handshake; returns the protocol chosen by ALPN, empty where the server
    /// chose none; `None` without TLS.
    pub(crate) fn shake_hands(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Blocking::Tls(stream) = self else {
            return Ok(None);
        };
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        let chosen = stream.conn.alpn_protocol();
        Ok(Some(chosen.unwrap_or_default().to_vec()))
    }

    /// Lets no read or write take longer than `limit`.
    pub(crate) fn limit(&self, limit: Duration) -> io::Result<()> {
        let socket = match self {
            Blocking::Plain(socket) => socket,
            Blocking::Tls(stream) => &stream.sock,
        };
        socket.limit(limit)
    }
}

impl Waiting {
    fn limit(&self, limit: Duration) -> io::Result<()> {
        match self {
            Waiting::Tcp(stream) => {
                stream.set_read_timeout(Some(limit))?;
                stream.set_write_timeout(Some(limit))
            }
            Waiting::Unix(stream) => {
                stream.set_read_timeout(Some(limit))?;
                stream.set_write_timeout(Some(limit))
            }
        }
    }
}

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Blocking::Plain(socket) => socket.read(buffer),
            Blocking::Tls(stream) => stream.read(buffer),
        };
        match read {
            // Closed without a last word of TLS, which is common.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            other => other,
        }
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Blocking::Plain(socket) => socket.write(bytes),
            Blocking::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Blocking::Plain(_) => Ok(()),
            Blocking::Tls(stream) => stream.flush(),
        }
    }
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Waiting::Tcp(stream) => stream.read(buffer),
            Waiting::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Waiting::Tcp(stream) => stream.write(bytes),
            Waiting::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
