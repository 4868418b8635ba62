//! One connection with the user behind it, and the request it has in hand.

mod messages;

use std::io::{self, Read, Write};

use recording::{Outcome, RequestId, TextId, Timestamp};
use scenario::{Over, User, push_close};

use crate::http1::{AnswerReader, Limits};
use crate::poller::Poller;
use crate::stream::{Address, Stream};
use crate::tls::TlsClient;
use crate::web_socket::WebSocket;

pub(crate) use messages::Source;

/// A connection, open or not, and its user.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) user: User,
    pub(crate) number: u32,
    pub(crate) phase: Phase,
    pub(crate) request: Request,
    pub(crate) reader: AnswerReader,
    /// Since when it has no request in hand.
    pub(crate) free_since: Timestamp,
    /// How the WebSocket ended while its user did nothing, until the next step finds that out.
    pub(crate) lost: Option<Box<(Outcome, String)>>,
    /// In HTTP/2, the number of the connection that its request has a stream on.
    pub(crate) on_carrier: Option<usize>,
    stream: Option<Stream>,
    /// There from the answer that opens it until the connection is closed.
    web_socket: Option<Box<WebSocket>>,
    body_bytes_max: u64,
    out: Vec<u8>,
    written: usize,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Has no request in hand, or only one that is not due yet.
    Free,
    /// Has a request in hand and waits for its connection.
    Connecting,
    /// Has handed at least a part of the request to the kernel.
    InFlight,
}

/// The request in hand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) due: Timestamp,
    pub(crate) sent: Timestamp,
    pub(crate) line: TextId,
    pub(crate) step: u32,
    /// What it goes over.
    pub(crate) over: Over,
    /// Whether its answer is looked at for [`recording::AnswerFacts`].
    pub(crate) sampled: bool,
    /// Whether its connection stood ready when it was due, so that being late is the generator's
    /// doing.
    pub(crate) was_free: bool,
    /// When a connection for it was wished for.
    pub(crate) wished: Timestamp,
    /// When the connection stood, TLS not included.
    pub(crate) connected: Option<Timestamp>,
    /// When it is given up.
    pub(crate) deadline: Timestamp,
    /// How often it was sent again because a server had not taken it.
    pub(crate) sent_again: u8,
}

/// How far reading came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Nothing more to read now.
    Pending,
    /// The answer is complete.
    Complete,
    /// Closed or reset by the other side.
    Closed,
    /// The other side has said that it closes a WebSocket.
    Goodbye,
    /// What came cannot be an answer.
    Bad(&'static str),
}

impl Connection {
    pub(crate) fn new(user: User, number: u32, limits: Limits) -> Connection {
        Connection {
            user,
            number,
            phase: Phase::Free,
            request: Request::default(),
            reader: AnswerReader::new(limits),
            free_since: Timestamp::default(),
            lost: None,
            on_carrier: None,
            stream: None,
            web_socket: None,
            body_bytes_max: limits.body_bytes,
            out: Vec::new(),
            written: 0,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Begins to connect; what happens is told under `index`.
    pub(crate) fn connect(
        &mut self,
        address: &Address,
        tls: Option<&TlsClient>,
        poller: &Poller,
        index: usize,
    ) -> io::Result<()> {
        self.stream = Some(Stream::connect(address, tls, poller, index)?);
        Ok(())
    }

    /// Whether the connection that was begun stands now.
    pub(crate) fn connected(&self) -> io::Result<bool> {
        match &self.stream {
            Some(stream) => stream.is_connected(),
            None => Ok(false),
        }
    }

    /// Whether there is TLS on it.
    pub(crate) fn is_tls(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::is_tls)
    }

    /// Goes on with the TLS handshake, if there is TLS; whether nothing of it is left to do.
    pub(crate) fn shake_hands(&mut self) -> io::Result<bool> {
        match &mut self.stream {
            Some(stream) => stream.shake_hands(),
            None => Ok(false),
        }
    }

    /// Closes the connection, if open. The kernel forgets its registration with it.
    pub(crate) fn close(&mut self) {
        if let (Some(web_socket), Some(stream)) = (self.web_socket.take(), &mut self.stream)
            && !web_socket.has_closed
            && self.written == self.out.len()
        {
            let mut frame = Vec::new();
            push_close(fastrand::u32(..), &mut frame);
            stream.say_last(&frame);
        }
        self.stream = None;
    }

    /// An empty buffer for the next request, with its user beside it.
    pub(crate) fn new_request(&mut self) -> (&mut User, &mut Vec<u8>) {
        match self.web_socket {
            // Not all of a pong may have gone out yet.
            Some(_) => drop(self.out.drain(..self.written)),
            None => self.out.clear(),
        }
        self.written = 0;
        (&mut self.user, &mut self.out)
    }

    /// The request as rendered; of a message, its line and what it says.
    pub(crate) fn request_bytes(&self) -> &[u8] {
        match self.request.over {
            Over::Http | Over::Upgrade => &self.out,
            Over::WebSocket | Over::Closing => self.user.said(),
        }
    }

    /// Whether all of the request was handed to the kernel.
    pub(crate) fn is_written(&self) -> bool {
        let holds_back = self.stream.as_ref().is_some_and(Stream::holds_back);
        self.written == self.out.len() && !holds_back
    }

    /// Hands as much of the request to the kernel as it takes now.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        while self.written < self.out.len() {
            match stream.write(&self.out[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        stream.flush()
    }

    /// Reads what is there. `half_closed` says that the event announced the other side's end;
    /// otherwise a read that does not fill the buffer has emptied the socket, which saves the one
    /// that would fail.
    pub(crate) fn read(&mut self, buffer: &mut [u8], half_closed: bool) -> Reading {
        loop {
            let Some(stream) = &mut self.stream else {
                return Reading::Closed;
            };
            let drains = stream.tells_its_end();
            let bytes = match stream.read(buffer) {
                Ok(0) if self.reader.close() => {
                    self.close();
                    return Reading::Complete;
                }
                Ok(0) => return Reading::Closed,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Reading::Pending,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Reading::Bad("what came cannot be decrypted");
                }
                Err(_) => return Reading::Closed,
            };
            if self.phase != Phase::InFlight {
                return Reading::Bad("the server sent something without being asked");
            }
            let half_closed = half_closed || stream.has_ended();
            match self.reader.feed(&buffer[..bytes]) {
                Err(bad) => return Reading::Bad(bad.0),
                Ok(taken) if self.reader.has_upgraded() => {
                    self.become_web_socket(&buffer[taken..bytes]);
                    return Reading::Complete;
                }
                Ok(taken) if self.reader.is_complete() => {
                    // More than was asked for, or an answer before the whole request was taken:
                    // what would come next on this connection could not be told apart.
                    if taken < bytes
                        || half_closed
                        || !self.is_written()
                        || !self.reader.keeps_alive()
                    {
                        self.close();
                    }
                    return Reading::Complete;
                }
                Ok(_) if drains && bytes < buffer.len() && !half_closed => return Reading::Pending,
                Ok(_) => {}
            }
        }
    }
}
