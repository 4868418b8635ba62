//! Reads HTTP/1 responses from bytes in pieces, without a socket.
//!
//! Bytes go in by [`AnswerReader::feed`] in pieces of any size. The head is kept whole; of the body
//! only as much as the caller asked for, the rest is counted. Buffers are reused from answer to
//! answer.
//!
//! Servers send the same head again and again, but for the `Date`, which changes once a second. A
//! head that is byte for byte the last one of its connection means what that one meant, and is not
//! parsed again.

mod fields;

use std::mem::MaybeUninit;
use std::ops::Range;

use scenario::{Answer, HeaderSpan};

use crate::answers::BodyHash;

pub(crate) use fields::{Head, check_field};

/// Status of a response which ends HTTP on the connection.
const SWITCHING: u16 = 101;
/// Headers an answer may have.
const HEADERS_MAX: usize = 128;
/// Bytes parsed for a head at a time, so the body behind is not copied for nothing.
const HEAD_STEP_BYTES: usize = 2048;
/// Longest line with the length of a chunk and extensions, and longest trailer.
const CHUNK_LINE_BYTES_MAX: u32 = 16 * 1024;

/// Limits on what is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) head_bytes: usize,
    pub(crate) body_bytes: u64,
}

/// Why an answer cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadAnswer(pub(crate) &'static str);

/// Reads one answer after the other.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    limits: Limits,
    state: State,
    /// Head as far as read; while [`AnswerReader::last`] is there and no byte of a new response was
    /// read, the head of the last response.
    head: Vec<u8>,
    headers: Vec<HeaderSpan>,
    /// What the last head meant.
    last: Option<Meaning>,
    /// Field block of the last head, in HTTP/2.
    block: Vec<u8>,
    status: u16,
    minor_version: u8,
    keep_alive: bool,
    is_head_request: bool,
    /// Whether the connection may become one of another protocol.
    upgrades: bool,
    body: Vec<u8>,
    body_keep: usize,
    body_bytes: u64,
    body_hash: Option<BodyHash>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// So many bytes are still to come.
    Length(u64),
    /// In the line before a chunk.
    ChunkLine(ChunkLine),
    ChunkData(u64),
    /// The line break behind a chunk's data.
    ChunkEnd,
    /// Behind the last chunk; whether the current line is empty so far.
    Trailer {
        empty: bool,
        bytes: u32,
    },
    /// Until the connection is closed.
    ToClose,
    Done,
}

/// What a head says about the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Meaning {
    status: u16,
    minor_version: u8,
    keep_alive: bool,
    is_head_request: bool,
    /// The state behind the head.
    state: State,
}

/// What is known of the line before a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ChunkLine {
    /// The chunk's length by the digits so far; none came yet otherwise.
    size: Option<u64>,
    /// Whether the digits are over.
    over: bool,
    /// Length of the line so far.
    bytes: u32,
}

impl AnswerReader {
    pub(crate) fn new(limits: Limits) -> AnswerReader {
        AnswerReader {
            limits,
            state: State::Done,
            head: Vec::new(),
            headers: Vec::new(),
            last: None,
            block: Vec::new(),
            status: 0,
            minor_version: 1,
            keep_alive: true,
            is_head_request: false,
            upgrades: false,
            body: Vec::new(),
            body_keep: 0,
            body_bytes: 0,
            body_hash: None,
        }
    }

    /// Forgets the last answer and awaits the next, of whose body `body_keep` bytes are kept. With
    /// `compared`, its body is hashed.
    pub(crate) fn expect(&mut self, is_head_request: bool, body_keep: usize, compared: bool) {
        if self.state != State::Done || self.last.is_none() {
            self.forget_head();
        }
        self.state = State::Head;
        self.status = 0;
        self.keep_alive = true;
        self.is_head_request = is_head_request;
        self.upgrades = false;
        self.body.clear();
        self.body_keep = body_keep;
        self.body_bytes = 0;
        self.body_hash = compared.then(BodyHash::default);
    }

    /// Allows the expected response to end HTTP on the connection.
    pub(crate) fn allow_upgrade(&mut self) {
        self.upgrades = true;
    }

    /// Returns whether the response has ended HTTP on the connection.
    pub(crate) fn has_upgraded(&self) -> bool {
        self.upgrades && self.status == SWITCHING
    }

    /// Takes bytes; returns the number belonging to the current response, fewer than given only
    /// when the response is complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<usize, BadAnswer> {
        let mut taken = 0;
        while taken < bytes.len() && self.state != State::Done {
            let rest = &bytes[taken..];
            taken += match self.state {
                State::Head => self.feed_head(rest)?,
                State::Length(left) => {
                    let some = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.keep(&rest[..some])?;
                    self.state = match left - some as u64 {
                        0 => State::Done,
                        left => State::Length(left),
                    };
                    some
                }
                State::ToClose => {
                    self.keep(rest)?;
                    rest.len()
                }
                State::ChunkData(left) => {
                    let some = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.keep(&rest[..some])?;
                    self.state = match left - some as u64 {
                        0 => State::ChunkEnd,
                        left => State::ChunkData(left),
                    };
                    some
                }
                _ => self.feed_chunk_framing(rest[0])?,
            };
        }
        Ok(taken)
    }

    /// The connection was closed. Whether that completes the answer.
    pub(crate) fn close(&mut self) -> bool {
        if self.state == State::ToClose {
            self.state = State::Done;
        }
        self.is_complete()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Done
    }

    /// Returns whether the connection can carry another request after the response.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.keep_alive
    }

    /// Returns the length of the body, including the part not stored.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Returns the hash of the body, where requested.
    pub(crate) fn body_hash(&self) -> Option<BodyHash> {
        self.body_hash
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The answer so far.
    pub(crate) fn answer(&self, duration_ns: u64) -> Answer<'_> {
        // A status is known as soon as a head is; before, what is in the buffers may be old.
        let (head, headers) = match (self.status, self.last) {
            (0, Some(_)) => (&[][..], &[][..]),
            _ => (self.head.as_slice(), self.headers.as_slice()),
        };
        Answer {
            status: self.status,
            minor_version: self.minor_version,
            head,
            headers,
            body: &self.body,
            duration_ns,
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), BadAnswer> {
        self.body_bytes += bytes.len() as u64;
        if self.body_bytes > self.limits.body_bytes {
            return Err(BadAnswer("the body is larger than the limit"));
        }
        if let Some(hash) = &mut self.body_hash {
            hash.add(bytes);
        }
        let room = self.body_keep.saturating_sub(self.body.len());
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(())
    }

    fn forget_head(&mut self) {
        self.last = None;
        self.head.clear();
        self.headers.clear();
    }

    /// Takes a head equal to the last one; otherwise forgets the last one and takes nothing.
    fn feed_known_head(&mut self, last: Meaning, bytes: &[u8]) -> usize {
        if last.is_head_request != self.is_head_request || !bytes.starts_with(&self.head) {
            self.forget_head();
            return 0;
        }
        self.status = last.status;
        self.minor_version = last.minor_version;
        self.keep_alive = last.keep_alive;
        self.state = last.state;
        self.head.len()
    }

    fn feed_head(&mut self, bytes: &[u8]) -> Result<usize, BadAnswer> {
        if let Some(last) = self.last {
            let taken = self.feed_known_head(last, bytes);
            if taken > 0 {
                return Ok(taken);
            }
        }
        let some = &bytes[..bytes.len().min(HEAD_STEP_BYTES)];
        self.head.extend_from_slice(some);
        let Some(length) = self.parse_head()? else {
            if self.head.len() > self.limits.head_bytes {
                return Err(BadAnswer("the head is larger than the limit"));
            }
            return Ok(some.len());
        };
        let behind = self.head.len() - length;
        self.head.truncate(length);
        if self.status < 200 {
            if self.has_upgraded() {
                self.state = State::Done;
                return Ok(some.len() - behind);
            }
            if self.status == SWITCHING {
                return Err(BadAnswer("the server switched to another protocol"));
            }
            // An interim answer; the real one follows.
            self.forget_head();
            self.status = 0;
        } else {
            self.state = self.body_state()?;
            self.last = Some(Meaning {
                status: self.status,
                minor_version: self.minor_version,
                keep_alive: self.keep_alive,
                is_head_request: self.is_head_request,
                state: self.state,
            });
        }
        Ok(some.len() - behind)
    }

    /// Parses the head if complete; returns the length.
    fn parse_head(&mut self) -> Result<Option<usize>, BadAnswer> {
        let mut room = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            &self.head,
            &mut room,
        );
        let length = match parsed {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(BadAnswer("the answer has too many headers"));
            }
            Err(_) => return Err(BadAnswer("the answer is not HTTP/1")),
        };
        self.status = response.code.unwrap_or(0);
        if !(100..=999).contains(&self.status) {
            return Err(BadAnswer(
                "the answer's status is not a number of three digits",
            ));
        }
        self.minor_version = response.version.unwrap_or(1);
        let start = self.head.as_ptr() as usize;
        let span = |bytes: &[u8]| -> Range<u32> {
            let offset = (bytes.as_ptr() as usize - start) as u32;
            offset..offset + bytes.len() as u32
        };
        for header in response.headers.iter() {
            self.headers.push(HeaderSpan {
                name: span(header.name.as_bytes()),
                value: span(header.value),
            });
        }
        Ok(Some(length))
    }

    /// How the body is framed (RFC 9112, 6.3), and whether the connection lives on.
    fn body_state(&mut self) -> Result<State, BadAnswer> {
        let mut length = None;
        let mut chunked = false;
        let (mut keep_alive, mut closes) = (self.minor_version >= 1, false);
        let answer = self.answer(0);
        for (name, value) in answer.fields() {
            if name.eq_ignore_ascii_case(b"content-length") {
                let number = parse_length(value).ok_or(BadAnswer("bad Content-Length"))?;
                if length
                    .replace(number)
                    .is_some_and(|before| before != number)
                {
                    return Err(BadAnswer("two different Content-Length headers"));
                }
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                // No other coding was asked for, and none may come twice.
                if chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(BadAnswer("a Transfer-Encoding other than chunked"));
                }
                chunked = true;
            } else if name.eq_ignore_ascii_case(b"connection") {
                // Whatever else is said, in this line or another (RFC 9112, 9.3).
                closes |= has_token(value, b"close");
                keep_alive |= has_token(value, b"keep-alive");
            }
        }
        // Someone on the way may have read the answer otherwise (RFC 9112, 6.1 and 6.3): what comes
        // behind on this connection is not to be believed.
        let is_doubtful = chunked && (length.is_some() || self.minor_version == 0);
        self.keep_alive = keep_alive && !closes && !is_doubtful;
        if self.is_head_request || matches!(self.status, 204 | 304) {
            return Ok(State::Done);
        }
        match (chunked, length) {
            (true, _) => Ok(State::ChunkLine(ChunkLine::default())),
            (false, Some(0)) => Ok(State::Done),
            (false, Some(length)) if length > self.limits.body_bytes => {
                Err(BadAnswer("the body is larger than the limit"))
            }
            (false, Some(length)) => Ok(State::Length(length)),
            (false, None) => {
                self.keep_alive = false;
                Ok(State::ToClose)
            }
        }
    }

    /// Takes one byte of what stands between chunks.
    fn feed_chunk_framing(&mut self, byte: u8) -> Result<usize, BadAnswer> {
        self.state = match self.state {
            State::ChunkLine(line) => line.state_after(byte)?,
            State::ChunkEnd => match byte {
                b'\r' => State::ChunkEnd,
                b'\n' => State::ChunkLine(ChunkLine::default()),
                _ => return Err(BadAnswer("a chunk is longer than it says")),
            },
            State::Trailer { bytes, .. } if bytes > CHUNK_LINE_BYTES_MAX => {
                return Err(BadAnswer("the trailer is larger than the limit"));
            }
            State::Trailer { empty, bytes } => match byte {
                b'\n' if empty => State::Done,
                b'\r' => State::Trailer {
                    empty,
                    bytes: bytes + 1,
                },
                other => State::Trailer {
                    empty: other == b'\n',
                    bytes: bytes + 1,
                },
            },
            other => other,
        };
        Ok(1)
    }
}

impl ChunkLine {
    /// The state after one more byte of the line.
    fn state_after(self, byte: u8) -> Result<State, BadAnswer> {
        const BAD: BadAnswer = BadAnswer("the length of a chunk is not a number");
        if byte == b'\n' {
            return match self.size {
                None => Err(BAD),
                Some(0) => Ok(State::Trailer {
                    empty: true,
                    bytes: 0,
                }),
                Some(size) => Ok(State::ChunkData(size)),
            };
        }
        if self.bytes > CHUNK_LINE_BYTES_MAX {
            return Err(BadAnswer(
                "the line before a chunk is larger than the limit",
            ));
        }
        let mut line = self;
        line.bytes += 1;
        match char::from(byte).to_digit(16) {
            Some(digit) if !self.over => {
                let shifted = self.size.unwrap_or(0).checked_mul(16);
                let size = shifted.and_then(|size| size.checked_add(u64::from(digit)));
                line.size = Some(size.ok_or(BAD)?);
            }
            // Behind the digits come extensions, of which nothing is wanted.
            _ if self.size.is_some()
                && (self.over || matches!(byte, b';' | b' ' | b'\t' | b'\r')) =>
            {
                line.over = true;
            }
            _ => return Err(BAD),
        }
        Ok(State::ChunkLine(line))
    }
}

fn parse_length(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok()?;
    digits.then(|| text.parse().ok()).flatten()
}

fn tokens(value: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn has_token(value: &[u8], wanted: &[u8]) -> bool {
    tokens(value).any(|token| token.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests;
