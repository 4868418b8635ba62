//! Bytes sent by a client over a WebSocket (RFC 6455): the key, and frames, each a whole message
//! and masked.

use sha1::{Digest, Sha1};

use crate::encode::base64;

/// Kind of a frame, with the opcode of RFC 6455, 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A message of text.
    Text = 1,
    /// A message of bytes.
    Binary = 2,
    /// The end.
    Close = 8,
    /// Asks for a sign of life.
    Ping = 9,
    /// The response to a ping.
    Pong = 10,
}

/// Code of a close frame for a normal end (RFC 6455, 7.4.1).
const CLOSE_NORMAL: u16 = 1000;

/// Appends a frame. `mask` hides the payload from proxies that would take it for something else;
/// who does not write the payload for an attacker needs no unpredictable one.
pub fn push_frame(kind: FrameKind, payload: &[u8], mask: u32, out: &mut Vec<u8>) {
    const LAST: u8 = 0x80;
    const MASKED: u8 = 0x80;
    out.push(LAST | kind as u8);
    match payload.len() {
        short @ 0..=125 => out.push(MASKED | short as u8),
        medium @ 126..=0xffff => {
            out.push(MASKED | 126);
            out.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        long => {
            out.push(MASKED | 127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    let mask = mask.to_be_bytes();
    out.extend_from_slice(&mask);
    let masked = payload.iter().zip(mask.iter().cycle());
    out.extend(masked.map(|(byte, key)| byte ^ key));
}

/// Appends a close frame for a normal end.
pub fn push_close(mask: u32, out: &mut Vec<u8>) {
    push_frame(FrameKind::Close, &CLOSE_NORMAL.to_be_bytes(), mask, out);
}

/// Returns the server's response to a `Sec-WebSocket-Key` (RFC 6455, 4.2.2).
pub fn accept_of(key: &str) -> String {
    const SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    let hash = Sha1::digest([key, SUFFIX].concat().as_bytes()).to_vec();
    base64(&hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: FrameKind, payload: &[u8], mask: u32) -> Vec<u8> {
        let mut out = Vec::new();
        push_frame(kind, payload, mask, &mut out);
        out
    }

    /// The examples of RFC 6455, 1.3 and 5.7.
    #[test]
    fn as_the_standard_has_them() {
        assert_eq!(
            accept_of("dGhlIHNhbXBsZSBub25jZQ=="),
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        );
        assert_eq!(
            frame(FrameKind::Text, b"Hello", 0x37fa_213d),
            [
                0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58
            ]
        );
    }

    #[test]
    fn lengths_take_as_few_bytes_as_they_can() {
        for (length, head) in [
            (125, vec![0x82, 0xfd]),
            (126, vec![0x82, 0xfe, 0, 126]),
            (65_535, vec![0x82, 0xfe, 0xff, 0xff]),
            (65_536, vec![0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] {
            let made = frame(FrameKind::Binary, &vec![7; length], 0);
            assert!(made.starts_with(&head), "{length}");
            assert_eq!(made.len(), head.len() + 4 + length);
        }
    }
}
