//! Reads HTTP/1 answers from bytes as they come, without a socket.
//!
//! Bytes go in by [`AnswerReader::feed`] in pieces of any size. The head is kept whole; of the body only
//! as much as the caller asked for, the rest is counted. Buffers are reused from answer to answer.

use std::mem::MaybeUninit;
use std::ops::Range;

use scenario::{Answer, HeaderSpan};

/// Headers an answer may have.
const HEADERS_MAX: usize = 128;
/// Bytes that are tried for a head at a time, so that the body behind it is not copied for nothing.
const HEAD_STEP_BYTES: usize = 2048;
/// Longest line with the length of a chunk and its extensions, and longest trailer.
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
    head: Vec<u8>,
    headers: Vec<HeaderSpan>,
    status: u16,
    minor_version: u8,
    keep_alive: bool,
    is_head_request: bool,
    body: Vec<u8>,
    body_keep: usize,
    body_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// So many bytes are still to come.
    Length(u64),
    /// In the line before a chunk: its length so far, whether digits came, whether they are over.
    ChunkSize {
        size: u64,
        digits: bool,
        over: bool,
        bytes: u32,
    },
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

const CHUNK_START: State = State::ChunkSize {
    size: 0,
    digits: false,
    over: false,
    bytes: 0,
};

impl AnswerReader {
    pub(crate) fn new(limits: Limits) -> AnswerReader {
        AnswerReader {
            limits,
            state: State::Done,
            head: Vec::new(),
            headers: Vec::new(),
            status: 0,
            minor_version: 1,
            keep_alive: true,
            is_head_request: false,
            body: Vec::new(),
            body_keep: 0,
            body_bytes: 0,
        }
    }

    /// Forgets the last answer and awaits the next, of whose body `body_keep` bytes are kept.
    pub(crate) fn expect(&mut self, is_head_request: bool, body_keep: usize) {
        self.state = State::Head;
        self.head.clear();
        self.headers.clear();
        self.status = 0;
        self.keep_alive = true;
        self.is_head_request = is_head_request;
        self.body.clear();
        self.body_keep = body_keep;
        self.body_bytes = 0;
    }

    /// Takes bytes; returns how many belonged to this answer. Fewer than given only when it is complete.
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

    /// Whether the connection can carry another request after this answer.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.keep_alive
    }

    /// Length of the body, the part that was not kept included.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The answer so far.
    pub(crate) fn answer(&self, duration_ns: u64) -> Answer<'_> {
        Answer {
            status: self.status,
            minor_version: self.minor_version,
            head: &self.head,
            headers: &self.headers,
            body: &self.body,
            duration_ns,
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), BadAnswer> {
        self.body_bytes += bytes.len() as u64;
        if self.body_bytes > self.limits.body_bytes {
            return Err(BadAnswer("the body is larger than the limit"));
        }
        let room = self.body_keep.saturating_sub(self.body.len());
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(())
    }

    fn feed_head(&mut self, bytes: &[u8]) -> Result<usize, BadAnswer> {
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
            if self.status == 101 {
                return Err(BadAnswer("the server switched to another protocol"));
            }
            // An interim answer; the real one follows.
            self.head.clear();
            self.headers.clear();
        } else {
            self.state = self.body_state()?;
        }
        Ok(some.len() - behind)
    }

    /// Parses the head if all of it is there; returns its length.
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
        let mut keep_alive = self.minor_version >= 1;
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
                chunked = last_token_is(value, b"chunked");
                if !chunked {
                    return Err(BadAnswer("a Transfer-Encoding other than chunked"));
                }
            } else if name.eq_ignore_ascii_case(b"connection") {
                if has_token(value, b"close") {
                    keep_alive = false;
                } else if has_token(value, b"keep-alive") {
                    keep_alive = true;
                }
            }
        }
        self.keep_alive = keep_alive;
        if self.is_head_request || matches!(self.status, 204 | 304) {
            return Ok(State::Done);
        }
        match (chunked, length) {
            (true, _) => Ok(CHUNK_START),
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
            State::ChunkSize {
                size,
                digits,
                over,
                bytes,
            } => chunk_size(size, digits, over, bytes, byte)?,
            State::ChunkEnd => match byte {
                b'\r' => State::ChunkEnd,
                b'\n' => CHUNK_START,
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

/// The state after one more byte of the line before a chunk.
fn chunk_size(
    size: u64,
    digits: bool,
    over: bool,
    bytes: u32,
    byte: u8,
) -> Result<State, BadAnswer> {
    const BAD: BadAnswer = BadAnswer("the length of a chunk is not a number");
    if byte == b'\n' {
        return match (digits, size) {
            (false, _) => Err(BAD),
            (true, 0) => Ok(State::Trailer {
                empty: true,
                bytes: 0,
            }),
            (true, size) => Ok(State::ChunkData(size)),
        };
    }
    if bytes > CHUNK_LINE_BYTES_MAX {
        return Err(BadAnswer(
            "the line before a chunk is larger than the limit",
        ));
    }
    let bytes = bytes + 1;
    match char::from(byte).to_digit(16) {
        Some(digit) if !over => Ok(State::ChunkSize {
            size: size
                .checked_mul(16)
                .and_then(|size| size.checked_add(u64::from(digit)))
                .ok_or(BAD)?,
            digits: true,
            over,
            bytes,
        }),
        // Behind the digits come extensions, of which nothing is wanted.
        _ if digits && (over || matches!(byte, b';' | b' ' | b'\t' | b'\r')) => {
            Ok(State::ChunkSize {
                size,
                digits,
                over: true,
                bytes,
            })
        }
        _ => Err(BAD),
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

fn last_token_is(value: &[u8], wanted: &[u8]) -> bool {
    tokens(value)
        .next_back()
        .is_some_and(|token| token.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits = Limits {
        head_bytes: 4096,
        body_bytes: 10_000,
    };

    /// Status, body, its whole length, whether the connection lives on, and bytes left over.
    type Read = Result<(u16, Vec<u8>, u64, bool, usize), BadAnswer>;

    /// Reads `bytes` in pieces of these sizes, again and again, then closes.
    fn read(bytes: &[u8], pieces: &[usize], is_head: bool) -> Option<Read> {
        let mut reader = AnswerReader::new(LIMITS);
        reader.expect(is_head, 100);
        let mut rest = bytes;
        let mut sizes = pieces.iter().cycle();
        while !rest.is_empty() && !reader.is_complete() {
            let size = sizes
                .next()
                .map_or(rest.len(), |size| (*size).clamp(1, rest.len()));
            match reader.feed(&rest[..size]) {
                Ok(taken) => rest = &rest[taken..],
                Err(bad) => return Some(Err(bad)),
            }
        }
        let complete = reader.is_complete() || reader.close();
        let answer = reader.answer(0);
        complete.then(|| {
            let body = answer.body.to_vec();
            Ok((
                answer.status,
                body,
                reader.body_bytes(),
                reader.keeps_alive(),
                rest.len(),
            ))
        })
    }

    fn check(bytes: &str, is_head: bool, expected: Option<(u16, &str, bool, usize)>) {
        let found = read(bytes.as_bytes(), &[], is_head).map(|read| read.expect(bytes));
        let found = found.map(|(status, body, _, alive, left)| {
            (status, String::from_utf8(body).expect("text"), alive, left)
        });
        let expected =
            expected.map(|(status, body, alive, left)| (status, body.to_owned(), alive, left));
        assert_eq!(found, expected, "{bytes:?}");
    }

    #[test]
    fn bodies_are_framed_as_the_standard_says() {
        let ok = |rest: &str| format!("HTTP/1.1 200 OK\r\n{rest}");
        check(
            &ok("Content-Length: 3\r\n\r\nabcd"),
            false,
            Some((200, "abc", true, 1)),
        );
        check(&ok("Content-Length: 3\r\n\r\nab"), false, None);
        check(
            &ok("Content-Length: 0\r\n\r\n"),
            false,
            Some((200, "", true, 0)),
        );
        check(
            &ok("Content-Length: 3\r\n\r\n"),
            true,
            Some((200, "", true, 0)),
        );
        check(
            &ok("\r\nto the end"),
            false,
            Some((200, "to the end", false, 0)),
        );
        check(
            &ok("Connection: Close\r\nContent-Length: 1\r\n\r\na"),
            false,
            Some((200, "a", false, 0)),
        );
        check(
            "HTTP/1.0 200\r\nContent-Length: 1\r\n\r\na",
            false,
            Some((200, "a", false, 0)),
        );
        check(
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
            false,
            Some((200, "a", true, 0)),
        );
        check(
            "HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n",
            false,
            Some((304, "", true, 0)),
        );
        check(
            "HTTP/1.1 204 x\r\n\r\nHTTP",
            false,
            Some((204, "", true, 4)),
        );
        check(
            "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 OK\r\nContent-Length: 1\r\n\r\na",
            false,
            Some((201, "a", true, 0)),
        );
        let chunked = |rest: &str| ok(&format!("Transfer-Encoding: chunked\r\n\r\n{rest}"));
        check(
            &chunked("1\r\na\r\n2;e=1\r\nbc\r\n0\r\n\r\n"),
            false,
            Some((200, "abc", true, 0)),
        );
        check(
            &chunked("0\r\nT: 1\r\nU: 2\r\n\r\nx"),
            false,
            Some((200, "", true, 1)),
        );
        check(&chunked("1\r\na\r\n"), false, None);
        check(
            &chunked("A\n0123456789\n0\n\n"),
            false,
            Some((200, "0123456789", true, 0)),
        );
    }

    fn answer() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let body = proptest::collection::vec(any::<u8>(), 0..300);
        (body, any::<bool>(), 1_usize..40, 0_usize..30).prop_map(
            |(body, chunked, size, headers)| {
                let mut bytes = b"HTTP/1.1 200 OK\r\n".to_vec();
                for number in 0..headers {
                    bytes.extend_from_slice(
                        format!("X-{number}: {}\r\n", "v".repeat(number * 7)).as_bytes(),
                    );
                }
                if chunked {
                    bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                    for chunk in body.chunks(size) {
                        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                        bytes.extend_from_slice(chunk);
                        bytes.extend_from_slice(b"\r\n");
                    }
                    bytes.extend_from_slice(b"0\r\n\r\n");
                } else {
                    bytes.extend_from_slice(
                        format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(),
                    );
                    bytes.extend_from_slice(&body);
                }
                (bytes, body)
            },
        )
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            (bytes, body) in answer(),
            behind in 0_usize..5,
            pieces in proptest::collection::vec(1_usize..50, 1..8),
        ) {
            let with_more = [bytes, vec![b'x'; behind]].concat();
            let kept = body[..body.len().min(100)].to_vec();
            let expected: Option<Read> = Some(Ok((200, kept, body.len() as u64, true, behind)));
            prop_assert_eq!(read(&with_more, &[], false), expected.clone());
            // In pieces, what is left over is counted from all bytes too.
            prop_assert_eq!(read(&with_more, &pieces, false), expected);
        }

        #[test]
        fn any_bytes_are_survived(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            start in prop_oneof![
                Just(""),
                Just("HTTP/1.1 200 OK\r\n"),
                Just("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            ],
            pieces in proptest::collection::vec(1_usize..50, 1..8),
        ) {
            let all = [start.as_bytes(), &bytes].concat();
            let whole = read(&all, &[], false);
            prop_assert_eq!(read(&all, &pieces, false), whole);
        }
    }
}
