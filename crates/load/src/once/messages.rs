//! Messages over a WebSocket, one at a time.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use recording::Outcome;
use scenario::{Answer, FrameKind, Over, Verdict, push_close, push_frame};

use super::{Asked, Ended, Pass, READ_BYTES};
use crate::frames::Event;
use crate::stream::Blocking;
use crate::web_socket::WebSocket;

/// Wait for earlier messages before a new one is sent: such messages are in local memory already.
const CATCH_UP: Duration = Duration::from_millis(2);

impl Pass<'_> {
    /// Sends a message and waits for what the flow expects; the user moves on then.
    pub(super) fn talk(&mut self, bytes: &[u8], asked: Asked) -> Result<(), Ended> {
        let gone = || (Outcome::Disconnected, "the WebSocket was closed".to_owned());
        let mut line = self.line.take().ok_or_else(gone)?;
        let mut web_socket = line.web_socket.take().ok_or_else(gone)?;
        let stream = &mut line.stream;
        if asked.over == Over::WebSocket && !bytes.is_empty() {
            catch_up(stream, &mut web_socket)?;
        }
        web_socket.begin(!bytes.is_empty());
        let limit = asked.within_ns.unwrap_or(self.plan.answer_timeout.0);
        let end = Instant::now() + Duration::from_nanos(limit);
        stream
            .write_all(bytes)
            .map_err(|error| (Outcome::Disconnected, format!("while sending: {error}")))?;
        let heard = self.wait(stream, &mut web_socket, asked.over, end);
        self.heard = web_socket.message().to_vec();
        if asked.over == Over::WebSocket {
            line.web_socket = Some(web_socket);
            self.line = Some(line);
        }
        heard
    }

    fn wait(
        &mut self,
        stream: &mut Blocking,
        web_socket: &mut WebSocket,
        over: Over,
        end: Instant,
    ) -> Result<(), Ended> {
        loop {
            match (hear(stream, web_socket, end)?, over) {
                (Event::Close, Over::Closing) => return self.judged(web_socket, true),
                (Event::Close, _) => return Err((Outcome::Disconnected, web_socket.goodbye())),
                (Event::Message, Over::WebSocket) => match self.judged(web_socket, false) {
                    Err((Outcome::Unanswered, why)) => web_socket.pass_over(why),
                    ended => return ended,
                },
                (Event::Ping, _) => pong(stream, web_socket)?,
                _ => {}
            }
        }
    }

    /// Returns the flow's verdict on a message; unanswered for a message other than the expected
    /// one.
    fn judged(&mut self, web_socket: &WebSocket, is_end: bool) -> Result<(), Ended> {
        let answer = Answer {
            status: 0,
            minor_version: 1,
            head: &[],
            headers: &[],
            body: if is_end { &[] } else { web_socket.message() },
            duration_ns: self.time().0,
        };
        match self.session.judge(&mut self.user, &answer) {
            Verdict::Passed => Ok(()),
            Verdict::NotYet(why) => Err((Outcome::Unanswered, why)),
            other => {
                let why = other.into_reason().unwrap_or_default();
                Err((Outcome::CheckFailed, why))
            }
        }
    }

    /// Closes a WebSocket left open by the flow.
    pub(super) fn part(&mut self) {
        if let Some(line) = self.line.as_mut().filter(|line| line.web_socket.is_some()) {
            let mut frame = Vec::new();
            push_close(fastrand::u32(..), &mut frame);
            // Who has gone already is told nothing.
            let _ = line.stream.write_all(&frame);
        }
    }
}

/// Passes over unasked messages: a message received before a request is sent cannot be the
/// response.
fn catch_up(stream: &mut Blocking, web_socket: &mut WebSocket) -> Result<(), Ended> {
    web_socket.begin(true);
    let end = Instant::now() + CATCH_UP;
    loop {
        match hear(stream, web_socket, end) {
            Ok(Event::Close) => return Err((Outcome::Disconnected, web_socket.goodbye())),
            Ok(Event::Ping) => pong(stream, web_socket)?,
            Ok(_) => {}
            Err((Outcome::TimedOut, _)) => return Ok(()),
            Err(ended) => return Err(ended),
        }
    }
}

fn pong(stream: &mut Blocking, web_socket: &WebSocket) -> Result<(), Ended> {
    let mut pong = Vec::new();
    let mask = fastrand::u32(..);
    push_frame(FrameKind::Pong, web_socket.ping(), mask, &mut pong);
    let sent = stream.write_all(&pong);
    sent.map_err(|error| (Outcome::Disconnected, error.to_string()))
}

/// Returns the next event received before `end`.
fn hear(stream: &mut Blocking, web_socket: &mut WebSocket, end: Instant) -> Result<Event, Ended> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let event = web_socket.next_event();
        if let Some(event) = event.map_err(|bad| (Outcome::BadAnswer, bad.0.to_owned()))? {
            return Ok(event);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(web_socket.too_late());
        }
        match stream.limit(left).and_then(|()| stream.read(&mut buffer)) {
            Ok(0) => {
                let why = "the WebSocket ended without a close frame";
                return Err((Outcome::Disconnected, why.to_owned()));
            }
            Ok(bytes) => web_socket.take(&buffer[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((Outcome::Disconnected, error.to_string())),
        }
    }
}
