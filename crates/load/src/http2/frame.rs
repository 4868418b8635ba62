//! Frames of HTTP/2 (RFC 9113): type numbers, and writing of client frames.

use super::hpack;

/// Octets before a frame's payload.
pub(super) const HEAD_BYTES: usize = 9;
/// Largest payload accepted, which is the default limit for servers.
pub(super) const PAYLOAD_BYTES_MAX: usize = 16_384;
/// Initial window of a stream and of a connection.
pub(super) const WINDOW_DEFAULT: i64 = 65_535;
/// Largest window.
pub(super) const WINDOW_MAX: i64 = (1 << 31) - 1;
/// Bytes which a server may send on one stream, and on all streams, before the window is enlarged.
pub(super) const STREAM_WINDOW: i64 = 4 << 20;
pub(super) const CONNECTION_WINDOW: i64 = 16 << 20;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 0x1;
pub(super) const ACK: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const WITH_PRIORITY: u8 = 0x20;

pub(super) const HEADER_TABLE_SIZE: u16 = 1;
pub(super) const ENABLE_PUSH: u16 = 2;
pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const MAX_FRAME_SIZE: u16 = 5;
pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;

pub(super) const NO_ERROR: u32 = 0;
pub(super) const PROTOCOL_ERROR: u32 = 1;
pub(super) const FLOW_CONTROL_ERROR: u32 = 3;
pub(super) const STREAM_CLOSED: u32 = 5;
pub(super) const FRAME_SIZE_ERROR: u32 = 6;
pub(super) const CANCEL: u32 = 8;
pub(super) const COMPRESSION_ERROR: u32 = 9;
pub(super) const ENHANCE_YOUR_CALM: u32 = 11;

/// Error codes by number (RFC 9113, 7).
const CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// What an error code is called.
pub(crate) fn code_name(code: u32) -> &'static str {
    let index = usize::try_from(code).unwrap_or(usize::MAX);
    CODES.get(index).copied().unwrap_or("an unknown code")
}

/// Adds the head of a frame.
pub(super) fn push_head(length: usize, kind: u8, flags: u8, stream: u32, out: &mut Vec<u8>) {
    let length = (length as u32).to_be_bytes();
    out.extend_from_slice(&[length[1], length[2], length[3], kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Adds a frame whose payload is one number: a reset or a larger window.
pub(super) fn push_number(kind: u8, stream: u32, number: u32, out: &mut Vec<u8>) {
    push_head(4, kind, 0, stream, out);
    out.extend_from_slice(&number.to_be_bytes());
}

/// Adds the last word on a connection.
pub(super) fn push_goaway(code: u32, out: &mut Vec<u8>) {
    push_head(8, GOAWAY, 0, 0, out);
    out.extend_from_slice(&0_u32.to_be_bytes());
    out.extend_from_slice(&code.to_be_bytes());
}

/// Adds what a connection begins with.
pub(super) fn push_preface(head_bytes_max: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    let settings = [
        (HEADER_TABLE_SIZE, 0),
        (ENABLE_PUSH, 0),
        (INITIAL_WINDOW_SIZE, STREAM_WINDOW as u32),
        (
            MAX_HEADER_LIST_SIZE,
            u32::try_from(head_bytes_max).unwrap_or(u32::MAX),
        ),
    ];
    push_head(6 * settings.len(), SETTINGS, 0, 0, out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&u32::to_be_bytes(value));
    }
    let more = (CONNECTION_WINDOW - WINDOW_DEFAULT) as u32;
    push_number(WINDOW_UPDATE, 0, more, out);
}

/// Adds a block of fields in as many frames as needed; `is_first` marks the first block of a
/// connection.
pub(super) fn push_block(
    stream: u32,
    block: &[u8],
    (is_first, ends): (bool, bool),
    payload_max: usize,
    out: &mut Vec<u8>,
) {
    let before: &[u8] = if is_first { &[hpack::NO_TABLE] } else { &[] };
    let (now, mut rest) = block.split_at(block.len().min(payload_max - before.len()));
    let end = |rest: &[u8]| if rest.is_empty() { END_HEADERS } else { 0 };
    let flags = end(rest) | if ends { END_STREAM } else { 0 };
    push_head(before.len() + now.len(), HEADERS, flags, stream, out);
    out.extend_from_slice(before);
    out.extend_from_slice(now);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(payload_max));
        rest = later;
        push_head(now.len(), CONTINUATION, end(rest), stream, out);
        out.extend_from_slice(now);
    }
}
