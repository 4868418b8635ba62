//! Frames: a length of four bytes, a kind of one, then the body. Pure.

use std::fmt;

/// Bytes before the body.
const HEAD_BYTES: usize = 5;
/// A longer body is refused: a queue of frames then has a limit in bytes as well.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Lowest kind for the two programs; lower ones belong to the transport.
pub const KIND_MIN: u8 = 16;

/// Question for the time of the far clock; the body is sent back unchanged.
pub(crate) const PING: u8 = 0;
/// The body of the ping, then the far monotonic and wall clocks, nanoseconds.
pub(crate) const PONG: u8 = 1;

/// A piece of what one side says to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Kind of the frame, at least [`KIND_MIN`]; the meaning is up to the two programs.
    pub kind: u8,
    /// At most [`BODY_BYTES_MAX`] bytes.
    pub body: Vec<u8>,
}

/// A frame whose length cannot be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Bytes of the body, by the frame's head.
    pub bytes: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes;
        write!(
            f,
            "a frame of {bytes} bytes; at most {BODY_BYTES_MAX} can be meant"
        )
    }
}

impl std::error::Error for TooLong {}

/// Appends a frame to `out`.
///
/// # Errors
/// A body longer than [`BODY_BYTES_MAX`].
pub fn encode(kind: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    let bytes = body.len();
    match u32::try_from(bytes) {
        Ok(length) if bytes <= BODY_BYTES_MAX => out.extend_from_slice(&length.to_le_bytes()),
        _ => return Err(TooLong { bytes }),
    }
    out.push(kind);
    out.extend_from_slice(body);
    Ok(())
}

/// Decodes frames from bytes read in pieces of any size.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// Number of leading `bytes` returned already.
    taken: usize,
}

impl Decoder {
    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next frame, or `None` until more bytes have come.
    ///
    /// # Errors
    /// A length above [`BODY_BYTES_MAX`]; nothing that follows it can be read.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, TooLong> {
        let rest = &self.bytes[self.taken..];
        let Some((head, rest)) = rest.split_first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let [a, b, c, d, kind] = *head;
        let bytes = u32::from_le_bytes([a, b, c, d]) as usize;
        if bytes > BODY_BYTES_MAX {
            return Err(TooLong { bytes });
        }
        let Some(body) = rest.get(..bytes) else {
            return Ok(None);
        };
        self.taken += HEAD_BYTES + bytes;
        Ok(Some(Frame {
            kind,
            body: body.to_vec(),
        }))
    }

    /// Returns whether a frame has begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.taken < self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn all(decoder: &mut Decoder) -> Result<Vec<Frame>, TooLong> {
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next_frame()? {
            frames.push(frame);
        }
        Ok(frames)
    }

    #[test]
    fn a_length_that_cannot_be_meant_is_an_error() {
        let mut decoder = Decoder::default();
        decoder.push(b"\xff\xff\xff\x7f\x10");
        let error = TooLong { bytes: 0x7fff_ffff };
        assert_eq!(decoder.next_frame(), Err(error));
        let long = vec![0; BODY_BYTES_MAX + 1];
        assert!(encode(KIND_MIN, &long, &mut Vec::new()).is_err());
    }

    proptest! {
        #[test]
        fn frames_arrive_as_they_were_sent_however_they_are_cut(
            sent in vec((any::<u8>(), vec(any::<u8>(), 0..300)), 0..20),
            cuts in vec(1..200usize, 1..50),
        ) {
            let mut bytes = Vec::new();
            for (kind, body) in &sent {
                encode(*kind, body, &mut bytes).expect("short");
            }
            let (mut decoder, mut got) = (Decoder::default(), Vec::new());
            let (mut rest, mut cuts) = (bytes.as_slice(), cuts.iter().cycle());
            while !rest.is_empty() {
                let cut = (*cuts.next().expect("a cycle")).min(rest.len());
                decoder.push(&rest[..cut]);
                rest = &rest[cut..];
                got.extend(all(&mut decoder).expect("short"));
            }
            let sent: Vec<Frame> = sent.into_iter().map(|(kind, body)| Frame { kind, body }).collect();
            prop_assert_eq!(got, sent);
            prop_assert!(!decoder.is_inside());
        }

        #[test]
        fn any_bytes_are_frames_or_an_error_and_what_was_cut_off_is_seen(bytes in vec(any::<u8>(), 0..400)) {
            let mut decoder = Decoder::default();
            decoder.push(&bytes);
            if let Ok(frames) = all(&mut decoder) {
                let whole: usize = frames.iter().map(|frame| HEAD_BYTES + frame.body.len()).sum();
                prop_assert_eq!(decoder.is_inside(), whole < bytes.len());
            }
        }
    }
}
