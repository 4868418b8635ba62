//! A response with fields and body read one by one, as in HTTP/2.

use scenario::HeaderSpan;

use super::{AnswerReader, BadAnswer, HEADERS_MAX, Meaning, SWITCHING, State, parse_length};

/// What a block of fields was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// The real answer follows.
    Interim,
    Final,
}

impl AnswerReader {
    /// Whether the head of the answer has come.
    pub(crate) fn has_head(&self) -> bool {
        self.state != State::Head
    }

    /// Takes a block equal to the last final one; otherwise forgets the last one.
    pub(crate) fn take_known_block(&mut self, block: &[u8]) -> bool {
        let same = self.block == block;
        if let Some(last) = self.last
            && same
            && last.is_head_request == self.is_head_request
        {
            self.status = last.status;
            self.minor_version = last.minor_version;
            self.state = last.state;
            return true;
        }
        self.forget_head();
        self.block.clear();
        self.head.extend_from_slice(b"HTTP/2 000\r\n");
        self.status = 0;
        false
    }

    /// Takes a field of the head. The error is a sentence.
    pub(crate) fn take_field(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if name == b":status" {
            if self.status != 0 || !self.headers.is_empty() {
                return Err("a :status that is not the first field");
            }
            let digits = value.len() == 3 && value.iter().all(u8::is_ascii_digit);
            let status = value.iter().fold(0, |sum, digit| {
                sum * 10 + u16::from(digit.wrapping_sub(b'0'))
            });
            if !digits || status < 100 {
                return Err("the answer's status is not a number of three digits");
            }
            self.status = status;
            self.head[7..10].copy_from_slice(value);
            return Ok(());
        }
        check_field(name, value)?;
        if self.headers.len() == HEADERS_MAX {
            return Err("the answer has too many headers");
        }
        if self.head.len() + name.len() + value.len() > self.limits.head_bytes {
            return Err("the head is larger than the limit");
        }
        let mut span = |bytes: &[u8], behind: &[u8]| {
            let start = self.head.len() as u32;
            self.head.extend_from_slice(bytes);
            let end = self.head.len() as u32;
            self.head.extend_from_slice(behind);
            start..end
        };
        let name = span(name, b": ");
        let value = span(value, b"\r\n");
        self.headers.push(HeaderSpan { name, value });
        Ok(())
    }

    /// The head's fields are all there. The error is a sentence.
    pub(crate) fn end_fields(&mut self, block: &[u8]) -> Result<Head, BadAnswer> {
        match self.status {
            0 => return Err(BadAnswer("the answer has no :status")),
            SWITCHING => return Err(BadAnswer("the server switched to another protocol")),
            1..200 => {
                self.forget_head();
                self.status = 0;
                return Ok(Head::Interim);
            }
            _ => {}
        }
        self.head.extend_from_slice(b"\r\n");
        self.minor_version = scenario::HTTP2;
        let mut length = None;
        for (name, value) in self.answer(0).fields() {
            if name == b"content-length" {
                let number = parse_length(value).ok_or(BadAnswer("bad Content-Length"))?;
                if length
                    .replace(number)
                    .is_some_and(|before| before != number)
                {
                    return Err(BadAnswer("two different Content-Length headers"));
                }
            }
        }
        let bodyless = self.is_head_request || matches!(self.status, 204 | 304);
        self.state = match length {
            _ if bodyless => State::Length(0),
            Some(length) if length > self.limits.body_bytes => {
                return Err(BadAnswer("the body is larger than the limit"));
            }
            Some(length) => State::Length(length),
            None => State::ToClose,
        };
        self.last = Some(Meaning {
            status: self.status,
            minor_version: self.minor_version,
            keep_alive: true,
            is_head_request: self.is_head_request,
            state: self.state,
        });
        self.block.extend_from_slice(block);
        Ok(Head::Final)
    }

    /// Takes a piece of the body.
    pub(crate) fn take_body(&mut self, bytes: &[u8]) -> Result<(), BadAnswer> {
        if let State::Length(left) = self.state {
            let left = left.checked_sub(bytes.len() as u64);
            let left = left.ok_or(BadAnswer("the body is longer than its Content-Length"))?;
            self.state = State::Length(left);
        }
        self.keep(bytes)
    }

    /// Nothing more comes.
    pub(crate) fn end_body(&mut self) -> Result<(), BadAnswer> {
        match self.state {
            State::Length(1..) => Err(BadAnswer("the body is shorter than its Content-Length")),
            _ => {
                self.state = State::Done;
                Ok(())
            }
        }
    }
}

/// Checks whether a field may stand in a response, or behind the body.
pub(crate) fn check_field(name: &[u8], value: &[u8]) -> Result<(), &'static str> {
    let is_token =
        |byte: &u8| matches!(byte, 0x21..=0x7e) && !byte.is_ascii_uppercase() && *byte != b':';
    match name {
        [] => return Err("a header without a name"),
        [b':', ..] => return Err("a pseudo-header that no answer has"),
        b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade" => {
            return Err("a header that belongs to a connection of HTTP/1");
        }
        _ if !name.iter().all(is_token) => {
            return Err("a header's name with a forbidden character");
        }
        _ => {}
    }
    if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
        return Err("a header's value with a forbidden character");
    }
    Ok(())
}
