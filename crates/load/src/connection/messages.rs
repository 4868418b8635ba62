//! A connection upgraded to a WebSocket.

use std::io::{self, Read};

use recording::Outcome;
use scenario::{Answer, FrameKind, Over, Session, Verdict, push_frame};

use super::{Connection, Phase, Reading};
use crate::frames::Event;
use crate::http1::AnswerReader;
use crate::web_socket::WebSocket;

/// Greatest number of bytes of pongs waiting for a server slow to read.
const PONGS_WAITING_BYTES_MAX: usize = 4096;

/// State of the socket being read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    /// Whether the event announced the end of the other side.
    pub(crate) half_closed: bool,
    /// Whether a read has emptied the socket.
    pub(crate) drained: bool,
}

impl Connection {
    pub(crate) fn is_web_socket(&self) -> bool {
        self.web_socket.is_some()
    }

    /// From now on messages come, the first bytes of which are there already.
    pub(super) fn become_web_socket(&mut self, first: &[u8]) {
        let mut web_socket = WebSocket::new(self.body_bytes_max);
        web_socket.take(first);
        self.web_socket = Some(Box::new(web_socket));
        if let Some(stream) = &mut self.stream {
            stream.talk_freely();
        }
    }

    /// Begins a message of `bytes` bytes to send, or a wait; returns whether a waiting message can
    /// be examined.
    pub(crate) fn begin_message(&mut self, bytes: usize) -> bool {
        let closes = self.request.over == Over::Closing;
        let Some(web_socket) = &mut self.web_socket else {
            return false;
        };
        web_socket.begin(bytes > 0);
        web_socket.has_closed |= closes;
        web_socket.has_waiting()
    }

    /// Returns the number of bytes of the request not written yet.
    pub(crate) fn unwritten(&self) -> usize {
        self.out.len() - self.written
    }

    /// Reads until something is complete. What comes while nothing is waited for is kept for a
    /// later step; pings are answered.
    pub(crate) fn hear(&mut self, buffer: &mut [u8], source: &mut Source) -> Reading {
        let over = self.request.over;
        let waits = self.phase == Phase::InFlight && over == Over::WebSocket;
        loop {
            let (Some(web_socket), Some(stream)) = (&mut self.web_socket, &mut self.stream) else {
                return Reading::Closed;
            };
            if waits && web_socket.look_aside() {
                return Reading::Complete;
            }
            match web_socket.next_event() {
                Err(bad) => return Reading::Bad(bad.0),
                Ok(Some(Event::Message)) if waits => return Reading::Complete,
                Ok(Some(Event::Message)) if over == Over::Closing => continue,
                Ok(Some(Event::Message)) => {
                    web_socket.set_aside();
                    continue;
                }
                Ok(Some(Event::Ping)) => {
                    self.pong();
                    continue;
                }
                Ok(Some(Event::Pong)) => continue,
                Ok(Some(Event::Close)) => return Reading::Goodbye,
                Ok(None) if source.drained => return Reading::Pending,
                Ok(None) => {}
            }
            match stream.read(buffer) {
                Ok(0) => return Reading::Closed,
                Ok(bytes) => {
                    let emptied = stream.tells_its_end() && bytes < buffer.len();
                    source.drained = emptied && !source.half_closed && !stream.has_ended();
                    web_socket.take(&buffer[..bytes]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => source.drained = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Reading::Bad("what came cannot be decrypted");
                }
                Err(_) => return Reading::Closed,
            }
        }
    }

    fn pong(&mut self) {
        if self.unwritten() > PONGS_WAITING_BYTES_MAX {
            return;
        }
        if let Some(web_socket) = &self.web_socket {
            self.out.drain(..self.written);
            self.written = 0;
            let mask = fastrand::u32(..);
            push_frame(FrameKind::Pong, web_socket.ping(), mask, &mut self.out);
            // A connection that is broken tells so when it is read.
            let _ = self.write();
        }
    }

    /// Passes over a received message other than the expected one.
    pub(crate) fn pass_over(&mut self, reason: String) {
        if let Some(web_socket) = &mut self.web_socket {
            web_socket.pass_over(reason);
        }
    }

    /// How the other side said goodbye.
    pub(crate) fn goodbye(&self) -> String {
        let web_socket = self.web_socket.as_ref();
        web_socket.map_or_else(String::new, |web_socket| web_socket.goodbye())
    }

    /// How a request ends whose time is over.
    pub(crate) fn too_late(&self) -> (Outcome, String) {
        match &self.web_socket {
            Some(web_socket) => web_socket.too_late(),
            None => (
                Outcome::TimedOut,
                "no complete answer within the limit".to_owned(),
            ),
        }
    }

    /// Judges the response, and moves the user on.
    pub(crate) fn judge(&mut self, session: &Session<'_>, duration_ns: u64) -> Verdict {
        let message = message_of(self.web_socket.as_deref(), self.request.over);
        let answer = answer_of(&self.reader, message, self.request.over, duration_ns);
        session.judge(&mut self.user, &answer)
    }

    /// Returns the response to the request in hand as far as read: of HTTP, or a message.
    pub(crate) fn answer(&self, duration_ns: u64) -> Answer<'_> {
        let over = self.request.over;
        answer_of(&self.reader, self.message(), over, duration_ns)
    }

    /// Returns the status of the response; 0 for a message.
    pub(crate) fn status(&self) -> u16 {
        match self.request.over {
            Over::Http | Over::Upgrade => self.reader.status(),
            Over::WebSocket | Over::Closing => 0,
        }
    }

    /// Returns the length of the body.
    pub(crate) fn body_bytes(&self) -> u64 {
        match self.request.over {
            Over::Http | Over::Upgrade => self.reader.body_bytes(),
            Over::WebSocket | Over::Closing => self.message().len() as u64,
        }
    }

    fn message(&self) -> &[u8] {
        message_of(self.web_socket.as_deref(), self.request.over)
    }
}

/// Returns the message received over `over`.
fn message_of(web_socket: Option<&WebSocket>, over: Over) -> &[u8] {
    match (web_socket, over) {
        (Some(web_socket), Over::WebSocket) => web_socket.message(),
        _ => &[],
    }
}

fn answer_of<'a>(
    reader: &'a AnswerReader,
    message: &'a [u8],
    over: Over,
    duration_ns: u64,
) -> Answer<'a> {
    match over {
        Over::Http | Over::Upgrade => reader.answer(duration_ns),
        Over::WebSocket | Over::Closing => Answer {
            status: 0,
            minor_version: 1,
            head: &[],
            headers: &[],
            body: message,
            duration_ns,
        },
    }
}
