//! A socket with an HTTP/2 connection, shared by several users.

use std::io::{self, Read, Write};

use recording::Timestamp;

use crate::http2::{Broken, Readers, Session};
use crate::poller::Poller;
use crate::route::Route;
use crate::stream::Stream;

/// One connection of HTTP/2.
#[derive(Debug)]
pub(crate) struct Carrier {
    /// Number of the group of users on the connection.
    pub(crate) group: usize,
    /// There when the connection stands.
    pub(crate) session: Option<Session>,
    /// Start and end of connecting, TLS not included.
    pub(crate) wished: Timestamp,
    pub(crate) connected: Option<Timestamp>,
    pub(crate) stream: Stream,
    written: usize,
}

/// How far reading came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read2 {
    /// Nothing more to read now.
    Pending,
    Closed,
    /// The server broke the protocol, which ends the connection.
    Broken(&'static str),
}

/// Returns the error about a server choosing another protocol by ALPN.
pub(crate) fn not_http2(chosen: &[u8]) -> io::Error {
    let chosen = match chosen {
        [] => "chose no protocol by ALPN".to_owned(),
        other => format!("chose {} by ALPN", other.escape_ascii()),
    };
    io::Error::other(format!(
        "the server speaks no HTTP/2 (it {chosen}); leave --http2 out, or switch HTTP/2 on in the server"
    ))
}

impl Carrier {
    /// Begins to connect; events are reported under `index`.
    pub(crate) fn connect(
        route: &Route,
        poller: &Poller,
        (index, group): (usize, usize),
        wished: Timestamp,
    ) -> io::Result<Carrier> {
        Ok(Carrier {
            group,
            session: None,
            wished,
            connected: None,
            stream: Stream::connect(route, poller, index)?,
            written: 0,
        })
    }

    pub(crate) fn is_connected(&self) -> io::Result<bool> {
        self.stream.is_connected()
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.stream.is_tls()
    }

    /// Goes on with the TLS handshake, if there is TLS; whether HTTP/2 can begin.
    ///
    /// # Errors
    /// The handshake failed, or the server chose another protocol.
    pub(crate) fn shake_hands(&mut self, head_bytes_max: usize) -> io::Result<bool> {
        if !self.stream.shake_hands()? {
            return Ok(false);
        }
        match self.stream.chosen_protocol() {
            None | Some(b"h2") => {}
            Some(other) => return Err(not_http2(other)),
        }
        self.stream.talk_freely();
        self.session = Some(Session::new(head_bytes_max, self.is_tls()));
        Ok(true)
    }

    /// Whether there is something to write.
    pub(crate) fn has_unwritten(&self) -> bool {
        let waits = |session: &Session| self.written < session.out.len();
        self.session.as_ref().is_some_and(waits) || self.stream.holds_back()
    }

    /// Writes as many of the gathered bytes as the kernel accepts now.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        while self.written < session.out.len() {
            match self.stream.write(&session.out[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    session.out.drain(..self.written);
                    self.written = 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        session.out.clear();
        self.written = 0;
        self.stream.flush()
    }

    /// Reads what is there. How streams ended is in the session afterwards.
    pub(crate) fn read(
        &mut self,
        buffer: &mut [u8],
        half_closed: bool,
        readers: &mut dyn Readers,
    ) -> Read2 {
        let Some(session) = &mut self.session else {
            return Read2::Pending;
        };
        loop {
            let drains = self.stream.tells_its_end();
            let bytes = match self.stream.read(buffer) {
                Ok(0) => return Read2::Closed,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Read2::Pending,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Read2::Broken("what came cannot be decrypted");
                }
                Err(_) => return Read2::Closed,
            };
            if let Err(broken) = session.feed(&buffer[..bytes], readers) {
                return self.part(broken);
            }
            let half_closed = half_closed || self.stream.has_ended();
            if drains && bytes < buffer.len() && !half_closed {
                return Read2::Pending;
            }
        }
    }

    /// Sends the server the reason for the end of the connection, if the socket accepts the bytes
    /// at once.
    fn part(&mut self, broken: Broken) -> Read2 {
        if let Some(session) = &mut self.session {
            session.say_goodbye(broken);
            self.stream.say_last(&session.out[self.written..]);
        }
        Read2::Broken(broken.why)
    }
}
