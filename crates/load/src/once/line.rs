//! The connection of a pass: HTTP/1.1 or HTTP/2 over a blocking stream.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use recording::Outcome;

use super::{Ended, READ_BYTES};
use crate::carrier::not_http2;
use crate::failures::not_connected;
use crate::http1::AnswerReader;
use crate::http2::{End, Readers, Session};
use crate::route::{Route, Speaks};
use crate::stream::{Blocking, throttle};
use crate::web_socket::WebSocket;

/// Wait for the end of a connection closed by the server: such an end is in local memory already.
const LOOK: Duration = Duration::from_millis(2);

/// An open connection.
pub(super) struct Line {
    pub(super) stream: Blocking,
    /// Number of the way to the server.
    pub(super) link: u16,
    /// `None`: HTTP/1.1.
    http2: Option<Box<Session>>,
    pub(super) web_socket: Option<WebSocket>,
    bytes_per_second: Option<u64>,
    /// Whether more came than was asked for.
    has_more: bool,
    /// Whether a request could not be sent whole.
    has_broken: bool,
}

/// Limits of one exchange.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) end: Instant,
    /// Longest message of a WebSocket, bytes.
    pub(super) body_bytes_max: u64,
}

struct Only<'a>(&'a mut AnswerReader);

impl Readers for Only<'_> {
    fn reader(&mut self, _: usize) -> &mut AnswerReader {
        self.0
    }
}

impl Line {
    /// Connects, TLS included. A WebSocket needs HTTP/1.1.
    pub(super) fn connect(
        route: &Route,
        link: u16,
        limit: Duration,
        head_bytes_max: usize,
        is_upgrade: bool,
    ) -> Result<Line, Ended> {
        let failed = |error: io::Error| (Outcome::ConnectFailed, not_connected(&error));
        if is_upgrade && route.speaks == Speaks::Http2 {
            let why = "not sent: WebSockets do not go over HTTP/2; leave --http2 out";
            return Err((Outcome::CheckFailed, why.to_owned()));
        }
        let mut stream = Blocking::on(route, limit).map_err(failed)?;
        let chosen = stream.shake_hands().map_err(failed)?;
        let http2 = match (route.speaks, chosen.as_deref()) {
            (Speaks::Http1, _) => false,
            (_, Some(b"h2")) | (Speaks::Http2, None) => true,
            (Speaks::Either, _) => false,
            (Speaks::Http2, Some(other)) => return Err(failed(not_http2(other))),
        };
        let session = || Box::new(Session::new(head_bytes_max, chosen.is_some()));
        Ok(Line {
            stream,
            link,
            http2: http2.then(session),
            web_socket: None,
            bytes_per_second: route.bytes_per_second,
            has_more: false,
            has_broken: false,
        })
    }

    /// Returns whether another request may be sent when the last one is answered.
    pub(super) fn is_kept(&self, reader: &AnswerReader) -> bool {
        match &self.http2 {
            Some(session) => session.has_room(),
            None => reader.keeps_alive() && !self.has_more && !self.has_broken,
        }
    }

    /// Returns whether the server has neither closed the connection nor said anything unasked. What
    /// it said is lost.
    pub(super) fn is_quiet(&mut self, limits: Limits) -> bool {
        let left = limits.end.saturating_duration_since(Instant::now());
        if self.stream.limit(LOOK).is_err() {
            return false;
        }
        let heard = self.stream.read(&mut [0_u8; 1]);
        let kind = heard.err().map(|error| error.kind());
        let is_nothing = matches!(
            kind,
            Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
        );
        is_nothing && self.stream.limit(left).is_ok()
    }

    /// Sends a request and reads the response.
    pub(super) fn exchange(
        &mut self,
        request: &[u8],
        reader: &mut AnswerReader,
        limits: Limits,
    ) -> Result<(), Ended> {
        let mut pace = Pace::new(self.bytes_per_second);
        match self.http2.take() {
            Some(mut session) => {
                let ended = self.over_http2(&mut session, request, reader, limits, &mut pace);
                self.http2 = Some(session);
                ended
            }
            None => match self.send(request, limits, &mut pace) {
                Ok(()) => self.over_http1(reader, limits, &mut pace),
                Err(late @ (Outcome::TimedOut, _)) => Err(late),
                Err(unsent) => {
                    // A server may refuse a body before it has all of it, and then its answer is
                    // there to be read.
                    let read = self.over_http1(reader, limits, &mut pace);
                    self.has_broken = true;
                    match read {
                        Err(_) if reader.status() == 0 => Err(unsent),
                        read => read,
                    }
                }
            },
        }
    }

    fn send(&mut self, bytes: &[u8], limits: Limits, pace: &mut Pace) -> Result<(), Ended> {
        let failed = |error: io::Error| (Outcome::Disconnected, format!("while sending: {error}"));
        for piece in bytes.chunks(pace.piece(bytes.len().max(1))) {
            let mut rest = piece;
            while !rest.is_empty() {
                match self.within(limits, |stream| stream.write(rest))? {
                    Ok(0) => return Err(failed(io::ErrorKind::WriteZero.into())),
                    Ok(bytes) => rest = &rest[bytes..],
                    Err(error) => return Err(failed(error)),
                }
            }
            pace.wait_for(piece.len());
        }
        Ok(())
    }

    fn over_http1(
        &mut self,
        reader: &mut AnswerReader,
        limits: Limits,
        pace: &mut Pace,
    ) -> Result<(), Ended> {
        pace.begin();
        let mut buffer = vec![0; pace.piece(READ_BYTES)];
        while !reader.is_complete() {
            let bytes = match self.read(&mut buffer, limits)? {
                0 if reader.close() => return Ok(()),
                0 => return Err(closed(reader)),
                bytes => bytes,
            };
            pace.wait_for(bytes);
            let fed = reader.feed(&buffer[..bytes]);
            let taken = fed.map_err(|bad| (Outcome::BadAnswer, bad.0.to_owned()))?;
            if reader.has_upgraded() {
                let mut web_socket = WebSocket::new(limits.body_bytes_max);
                web_socket.take(&buffer[taken..bytes]);
                self.web_socket = Some(web_socket);
            } else {
                self.has_more = taken < bytes;
            }
        }
        Ok(())
    }

    fn over_http2(
        &mut self,
        session: &mut Session,
        request: &[u8],
        reader: &mut AnswerReader,
        limits: Limits,
        pace: &mut Pace,
    ) -> Result<(), Ended> {
        session.open(0, request);
        let mut buffer = vec![0; pace.piece(READ_BYTES)];
        loop {
            let out = std::mem::take(&mut session.out);
            self.send(&out, limits, pace)?;
            match session.ended.pop() {
                None => {}
                Some((_, End::Complete)) => return Ok(()),
                Some((_, end)) => return Err(end.failure()),
            }
            let bytes = match self.read(&mut buffer, limits)? {
                0 => return Err(closed(reader)),
                bytes => bytes,
            };
            pace.wait_for(bytes);
            if let Err(broken) = session.feed(&buffer[..bytes], &mut Only(&mut *reader)) {
                session.say_goodbye(broken);
                // Who has gone already is told nothing.
                let _ = self.stream.write_all(&session.out);
                return Err((Outcome::BadAnswer, broken.why.to_owned()));
            }
        }
    }

    /// Reads what comes next; 0 at the end, with or without a word.
    fn read(&mut self, buffer: &mut [u8], limits: Limits) -> Result<usize, Ended> {
        match self.within(limits, |stream| stream.read(buffer))? {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
            Err(error) => Err((Outcome::Disconnected, error.to_string())),
        }
    }

    /// Reads or writes once, as long as the time of the request allows.
    fn within(
        &mut self,
        limits: Limits,
        mut act: impl FnMut(&mut Blocking) -> io::Result<usize>,
    ) -> Result<io::Result<usize>, Ended> {
        loop {
            let left = limits.end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(late());
            }
            match self.stream.limit(left).and_then(|()| act(&mut self.stream)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(late()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return Ok(done),
            }
        }
    }
}

fn late() -> Ended {
    let why = "no complete answer within the limit";
    (Outcome::TimedOut, why.to_owned())
}

fn closed(reader: &AnswerReader) -> Ended {
    let why = match reader.status() {
        0 => "closed before the answer began",
        _ => "closed before the answer was complete",
    };
    (Outcome::Disconnected, why.to_owned())
}

/// Holds a transfer back, so as to keep the mean rate below a limit in each direction.
struct Pace {
    bytes_per_second: Option<u64>,
    began: Instant,
    bytes: u64,
}

impl Pace {
    fn new(bytes_per_second: Option<u64>) -> Pace {
        Pace {
            bytes_per_second,
            began: Instant::now(),
            bytes: 0,
        }
    }

    /// Begins the other direction.
    fn begin(&mut self) {
        (self.began, self.bytes) = (Instant::now(), 0);
    }

    /// Returns how many of `bytes` go at once.
    fn piece(&self, bytes: usize) -> usize {
        match self.bytes_per_second {
            None => bytes,
            Some(rate) => bytes.min(throttle::piece(rate)),
        }
    }

    fn wait_for(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if let Some(rate) = self.bytes_per_second {
            let due = Duration::from_secs_f64(self.bytes as f64 / rate as f64);
            std::thread::sleep(due.saturating_sub(self.began.elapsed()));
        }
    }
}
