//! Reads a server's WebSocket frames from bytes in pieces (RFC 6455, section 5), without a socket.
//!
//! Bytes go in by [`FrameReader::feed`] in pieces of any size. A message is joined from its
//! fragments; control frames may come between them. What the standard forbids is refused, and
//! nothing is kept beyond the limit.

/// Opcodes of frames.
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A server's frame begins with two bytes, and a length of up to eight.
const HEAD_BYTES_MAX: usize = 10;
const CONTROL_BYTES_MAX: u64 = 125;

/// Why what came is no WebSocket's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadFrame(pub(crate) &'static str);

/// A completed item of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message, returned by [`FrameReader::message`].
    Message,
    /// [`FrameReader::control`] has what must be sent back.
    Ping,
    Pong,
    /// The other side closes; [`FrameReader::goodbye`] says why.
    Close,
}

/// Reads one frame after the other.
#[derive(Debug)]
pub(crate) struct FrameReader {
    message_bytes_max: u64,
    head: [u8; HEAD_BYTES_MAX],
    head_len: usize,
    /// The frame whose payload comes.
    frame: Option<Frame>,
    /// Whether the begun message, with the last frame still to come, is text; `None` between
    /// messages.
    open: Option<bool>,
    message: Vec<u8>,
    control: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: u8,
    last: bool,
    /// Bytes of the payload still to come.
    left: u64,
}

impl Frame {
    fn is_control(self) -> bool {
        self.kind & 8 != 0
    }
}

impl FrameReader {
    pub(crate) fn new(message_bytes_max: u64) -> FrameReader {
        FrameReader {
            message_bytes_max,
            head: [0; HEAD_BYTES_MAX],
            head_len: 0,
            frame: None,
            open: None,
            message: Vec::new(),
            control: Vec::new(),
        }
    }

    /// Takes bytes up to the end of the first complete event; returns the number taken and the
    /// event. Without one, all were taken.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(usize, Option<Event>), BadFrame> {
        let mut taken = 0;
        loop {
            let Some(frame) = &mut self.frame else {
                let Some(byte) = bytes.get(taken) else {
                    return Ok((taken, None));
                };
                taken += 1;
                self.head[self.head_len] = *byte;
                self.head_len += 1;
                if let Some(frame) = parse_head(&self.head[..self.head_len])? {
                    self.head_len = 0;
                    self.begin(frame)?;
                }
                continue;
            };
            let rest = &bytes[taken..];
            let some = rest
                .len()
                .min(usize::try_from(frame.left).unwrap_or(usize::MAX));
            let into = match frame.is_control() {
                true => &mut self.control,
                false => &mut self.message,
            };
            into.extend_from_slice(&rest[..some]);
            frame.left -= some as u64;
            taken += some;
            if frame.left > 0 {
                return Ok((taken, None));
            }
            let ended = *frame;
            self.frame = None;
            if let Some(event) = self.end(ended)? {
                return Ok((taken, Some(event)));
            }
        }
    }

    /// Returns the last message; valid until more bytes are taken.
    pub(crate) fn message(&self) -> &[u8] {
        &self.message
    }

    /// Returns the payload of the last control frame.
    pub(crate) fn control(&self) -> &[u8] {
        &self.control
    }

    /// What the other side's close frame says, for people.
    pub(crate) fn goodbye(&self) -> String {
        match self.control.split_first_chunk::<2>() {
            None => "without a reason".to_owned(),
            Some((code, reason)) => {
                let reason = String::from_utf8_lossy(reason);
                let code = u16::from_be_bytes(*code);
                format!("{code} {reason}").trim_end().to_owned()
            }
        }
    }

    fn begin(&mut self, frame: Frame) -> Result<(), BadFrame> {
        match (frame.kind, self.open) {
            (CLOSE | PING | PONG, _) => {
                if !frame.last || frame.left > CONTROL_BYTES_MAX {
                    return Err(BadFrame("a control frame is too long, or in pieces"));
                }
                self.control.clear();
            }
            (TEXT | BINARY, None) => {
                self.message.clear();
                self.open = Some(frame.kind == TEXT);
            }
            (TEXT | BINARY, Some(_)) => {
                return Err(BadFrame("a message begins inside another"));
            }
            (CONTINUATION, Some(_)) => {}
            (CONTINUATION, None) => {
                return Err(BadFrame("a message goes on that never began"));
            }
            _ => return Err(BadFrame("a frame of a kind that is not known")),
        }
        let all = (self.message.len() as u64).saturating_add(frame.left);
        if !frame.is_control() && all > self.message_bytes_max {
            return Err(BadFrame("the message is larger than the limit"));
        }
        self.frame = Some(frame);
        Ok(())
    }

    fn end(&mut self, frame: Frame) -> Result<Option<Event>, BadFrame> {
        match frame.kind {
            PING => Ok(Some(Event::Ping)),
            PONG => Ok(Some(Event::Pong)),
            CLOSE => check_close(&self.control).map(|()| Some(Event::Close)),
            _ if !frame.last => Ok(None),
            _ => {
                let is_text = self.open.take() == Some(true);
                if is_text && std::str::from_utf8(&self.message).is_err() {
                    return Err(BadFrame("a text message is not UTF-8"));
                }
                Ok(Some(Event::Message))
            }
        }
    }
}

/// Returns the frame begun by `head`, when all of the head is there.
fn parse_head(head: &[u8]) -> Result<Option<Frame>, BadFrame> {
    let [first, second, rest @ ..] = head else {
        return Ok(None);
    };
    if first & 0x70 != 0 {
        return Err(BadFrame("a frame uses an extension that was not agreed on"));
    }
    if second & 0x80 != 0 {
        return Err(BadFrame("the server masks its frames"));
    }
    let (length, least) = match second & 0x7f {
        126 => (
            rest.first_chunk::<2>()
                .map(|bytes| u64::from(u16::from_be_bytes(*bytes))),
            126,
        ),
        127 => (
            rest.first_chunk::<8>()
                .map(|bytes| u64::from_be_bytes(*bytes)),
            1 << 16,
        ),
        short => (Some(u64::from(short)), 0),
    };
    let Some(left) = length else {
        return Ok(None);
    };
    if left < least || left >> 63 != 0 {
        return Err(BadFrame("the length of a frame is written in a wrong way"));
    }
    Ok(Some(Frame {
        kind: first & 0x0f,
        last: first & 0x80 != 0,
        left,
    }))
}

/// Checks whether a close frame may have the payload (RFC 6455, 5.5.1 and 7.4).
fn check_close(payload: &[u8]) -> Result<(), BadFrame> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return match payload {
            [] => Ok(()),
            _ => Err(BadFrame("a close frame has half a code")),
        };
    };
    match u16::from_be_bytes(*code) {
        1000..=1003 | 1007..=1014 | 3000..=4999 => {}
        _ => return Err(BadFrame("a close frame has a code that is not allowed")),
    }
    match std::str::from_utf8(reason) {
        Ok(_) => Ok(()),
        Err(_) => Err(BadFrame("the reason of a close frame is not UTF-8")),
    }
}

#[cfg(test)]
mod tests;
