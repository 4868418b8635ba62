//! A tunnel through an HTTP proxy: `CONNECT`, before TLS and before the first request.

use std::io::{self, Read, Write};

use scenario::BaseUrl;

use crate::route::Route;

/// Longest head of a proxy's response.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Characters shown of a proxy's refusal.
const SHOWN_CHARS_MAX: usize = 80;

/// A tunnel being opened.
#[derive(Debug)]
pub(crate) struct Tunnel {
    request: Vec<u8>,
    written: usize,
    head: Vec<u8>,
}

impl Tunnel {
    /// Returns a tunnel to be opened on each connection, where the address is a proxy's.
    pub(crate) fn of(route: &Route) -> Option<Tunnel> {
        route.behind.as_ref().map(Tunnel::to)
    }

    /// Returns a tunnel to the host and port of `base`.
    fn to(base: &BaseUrl) -> Tunnel {
        let host = match base.host.contains(':') {
            true => format!("[{}]", base.host),
            false => base.host.clone(),
        };
        let to = format!("{host}:{}", base.port);
        let agent = concat!("hakaru/", env!("CARGO_PKG_VERSION"));
        let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUser-Agent: {agent}\r\n\r\n");
        Tunnel {
            request: request.into_bytes(),
            written: 0,
            head: Vec::new(),
        }
    }

    /// Goes on as far as the socket allows; returns whether the tunnel stands.
    ///
    /// # Errors
    /// The proxy refused, closed, or said something else than HTTP.
    pub(crate) fn go_on<S: Read + Write>(&mut self, socket: &mut S) -> io::Result<bool> {
        while self.written < self.request.len() {
            match socket.write(&self.request[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // What comes behind the head is the server's, which may speak first.
        let mut byte = [0];
        while !self.head.ends_with(b"\r\n\r\n") {
            match socket.read(&mut byte) {
                Ok(0) => return Err(io::Error::other("the proxy closed the connection")),
                Ok(_) => self.head.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.head.len() > HEAD_BYTES_MAX {
                return Err(io::Error::other("the proxy's response has no end"));
            }
        }
        self.judge()
    }

    fn judge(&self) -> io::Result<bool> {
        let line = self.head.split(|byte| *byte == b'\r').next();
        let line = String::from_utf8_lossy(line.unwrap_or_default());
        let mut words = line.split(' ');
        let version = words.next().unwrap_or_default();
        let status = words.next().and_then(|status| status.parse::<u16>().ok());
        match status.filter(|_| version.starts_with("HTTP/1.")) {
            Some(200..300) => Ok(true),
            _ => {
                let shown: String = line.escape_debug().take(SHOWN_CHARS_MAX).collect();
                Err(io::Error::other(format!("the proxy refused: {shown}")))
            }
        }
    }
}
