//! One connection with a user, and the request in hand.

mod messages;

use std::io::{self, Read, Write};

use recording::{Outcome, RequestId, TextId, Timestamp};
use scenario::{Over, User, push_close};

use crate::http1::{AnswerReader, Limits};
use crate::poller::Poller;
use crate::route::Route;
use crate::stream::Stream;
use crate::web_socket::WebSocket;

pub(crate) use messages::Source;

/// A connection, open or not, and the user.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) user: User,
    pub(crate) number: u32,
    pub(crate) phase: Phase,
    pub(crate) request: Request,
    pub(crate) reader: AnswerReader,
    /// Start of the time without a request in hand.
    pub(crate) free_since: Timestamp,
    /// Outcome of a WebSocket lost while the user was idle, until the next step reports the loss.
    pub(crate) lost: Option<Box<(Outcome, String)>>,
    /// In HTTP/2, the number of the connection with the request's stream.
    pub(crate) on_carrier: Option<usize>,
    /// Number of the way to the server.
    pub(crate) link: u16,
    stream: Option<Stream>,
    /// WebSocket, from the opening response until the connection is closed.
    web_socket: Option<Box<WebSocket>>,
    body_bytes_max: u64,
    out: Vec<u8>,
    written: usize,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Without a request in hand, or with one not due yet.
    Free,
    /// With a request in hand, waiting for the connection.
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
    /// Transport of the request.
    pub(crate) over: Over,
    /// Whether the response is examined for [`recording::AnswerFacts`].
    pub(crate) sampled: bool,
    /// Whether a connection stood ready at the due time, so lateness is the generator's fault.
    pub(crate) was_free: bool,
    /// Time at which a connection was requested.
    pub(crate) wished: Timestamp,
    /// When the connection stood, TLS not included.
    pub(crate) connected: Option<Timestamp>,
    /// Time at which the request is given up.
    pub(crate) deadline: Timestamp,
    /// Whether the request could not be made, and nothing was sent.
    pub(crate) is_unsent: bool,
    /// Number of repeated sends of a request not taken by a server.
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
    /// The other side has announced the end of a WebSocket.
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
            link: 0,
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

    /// Begins to connect; events are reported under `index`.
    pub(crate) fn connect(
        &mut self,
        route: &Route,
        poller: &Poller,
        index: usize,
    ) -> io::Result<()> {
        self.stream = Some(Stream::connect(route, poller, index)?);
        Ok(())
    }

    /// Returns the stream, where the connection is open.
    pub(crate) fn stream_mut(&mut self) -> Option<&mut Stream> {
        self.stream.as_mut()
    }

    /// Returns whether the begun connection is established now.
    pub(crate) fn connected(&self) -> io::Result<bool> {
        match &self.stream {
            Some(stream) => stream.is_connected(),
            None => Ok(false),
        }
    }

    /// Returns whether the connection has TLS.
    pub(crate) fn is_tls(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::is_tls)
    }

    /// Continues the TLS handshake, if any; returns whether nothing is left to do.
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

    /// Returns the user and an empty buffer for the next request.
    pub(crate) fn new_request(&mut self) -> (&mut User, &mut Vec<u8>) {
        match self.web_socket {
            // Not all of a pong may have gone out yet.
            Some(_) => drop(self.out.drain(..self.written)),
            None => self.out.clear(),
        }
        self.written = 0;
        (&mut self.user, &mut self.out)
    }

    /// Returns the rendered request; of a message, the line and the text.
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

    /// Writes as much of the request as the kernel accepts now.
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
