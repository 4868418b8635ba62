//! Client side of one HTTP/2 connection (RFC 9113), without a socket.
//!
//! Bytes from the server go in by [`Session::feed`] in pieces of any size; bytes for it gather in
//! [`Session::out`], so that all requests of one turn go out by one write. Each answer is put
//! together in the [`AnswerReader`] of the user that asked.
//!
//! All that a server may make us keep is bounded: one frame, one block of fields, the bodies of
//! requests it has no room for, the streams that we opened and the last of those that we gave up.
//! Whoever sends thousands of frames that bring no answer on loses the connection.

mod frame;
mod frames;
mod hpack;
mod huffman;

use std::collections::VecDeque;

use recording::Outcome;

use crate::http1::AnswerReader;

use frame::code_name;

/// Number of consecutive frames without progress of any response, from which the server floods.
const IDLE_FRAMES_MAX: u32 = 10_000;
/// Streams given up whose late frames are known as such.
const GIVEN_UP_MAX: usize = 1_000;
/// No stream has a higher number.
const STREAM_MAX: u32 = (1 << 31) - 1;

/// Buffers of the responses being assembled.
pub(crate) trait Readers {
    /// Returns the reader of a user with an open stream.
    fn reader(&mut self, user: usize) -> &mut AnswerReader;
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The response is complete.
    Complete,
    /// The server reset the stream, with the given code.
    Reset(u32),
    /// The server ended the connection without taking the request, with the given code.
    Refused(u32),
    /// Bytes on the stream cannot be a response.
    Bad(&'static str),
    /// The server announced never to process the request, so another connection may carry the
    /// request. With `none` the server took no request at all.
    NotTaken { none: bool },
}

impl End {
    /// Returns outcome and reason of a request whose stream did not complete.
    pub(crate) fn failure(self) -> (Outcome, String) {
        match self {
            End::Bad(why) => (Outcome::BadAnswer, why.to_owned()),
            End::Reset(code) => {
                let why = format!("the server reset the stream with {}", code_name(code));
                (Outcome::Disconnected, why)
            }
            End::Refused(code) => {
                let why = format!("the server ended the connection with {}", code_name(code));
                (Outcome::Disconnected, why)
            }
            End::Complete | End::NotTaken { .. } => {
                let why = "the server took no request on the connection";
                (Outcome::Disconnected, why.to_owned())
            }
        }
    }
}

/// A protocol error of the server which ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Error code to send to the server.
    code: u32,
    /// A sentence.
    pub(crate) why: &'static str,
}

/// An open stream.
#[derive(Debug)]
struct Lane {
    user: usize,
    /// What the server may still send, and we.
    receive_window: i64,
    send_window: i64,
    /// Part of a request's body without room at first, and the number of bytes sent since.
    body: Vec<u8>,
    gone: usize,
}

/// An incomplete block of fields.
#[derive(Debug)]
struct OpenBlock {
    stream: u32,
    ends_stream: bool,
    frames: u32,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Session {
    /// What the server is to be sent.
    pub(crate) out: Vec<u8>,
    /// Outcomes of ended streams, with the users; to be taken out after each call.
    pub(crate) ended: Vec<(usize, End)>,
    head_bytes_max: usize,
    is_tls: bool,
    /// The beginning of a frame.
    partial: Vec<u8>,
    /// Numbers of the open streams, and the streams in the same order.
    ids: Vec<u32>,
    lanes: Vec<Lane>,
    next_id: u32,
    given_up: VecDeque<u32>,
    /// Whether more streams were given up than remembered.
    has_forgotten: bool,
    has_settings: bool,
    /// By the server's settings.
    streams_max: u32,
    payload_max: usize,
    window_first: i64,
    send_window: i64,
    receive_window: i64,
    is_going_away: bool,
    last_taken: u32,
    block: Vec<u8>,
    open_block: Option<OpenBlock>,
    idle_frames: u32,
    scratch: Vec<u8>,
    /// Head of the last request, and the encoded block.
    sent_head: Vec<u8>,
    sent_block: Vec<u8>,
}

impl Session {
    /// Returns an established connection; the first bytes to send are in [`Session::out`].
    pub(crate) fn new(head_bytes_max: usize, is_tls: bool) -> Session {
        let mut out = Vec::new();
        frame::push_preface(head_bytes_max, &mut out);
        Session {
            out,
            ended: Vec::new(),
            head_bytes_max,
            is_tls,
            partial: Vec::new(),
            ids: Vec::new(),
            lanes: Vec::new(),
            next_id: 1,
            given_up: VecDeque::new(),
            has_forgotten: false,
            has_settings: false,
            streams_max: u32::MAX,
            payload_max: frame::PAYLOAD_BYTES_MAX,
            window_first: frame::WINDOW_DEFAULT,
            send_window: frame::WINDOW_DEFAULT,
            receive_window: frame::CONNECTION_WINDOW,
            is_going_away: false,
            last_taken: STREAM_MAX,
            block: Vec::new(),
            open_block: None,
            idle_frames: 0,
            scratch: Vec::new(),
            sent_head: Vec::new(),
            sent_block: Vec::new(),
        }
    }

    /// Whether another request may be sent now.
    pub(crate) fn has_room(&self) -> bool {
        !self.is_over() && self.ids.len() < self.streams_max as usize
    }

    /// Returns whether no further request can be sent: the server is going away, or stream numbers
    /// are used up.
    pub(crate) fn is_over(&self) -> bool {
        self.is_going_away || self.next_id > STREAM_MAX
    }

    /// Whether no stream is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.ids.is_empty()
    }

    /// Opens a stream for a request in HTTP/1 form; there must be room for a stream.
    pub(crate) fn open(&mut self, user: usize, request: &[u8]) {
        let head_bytes = match self.is_head_known(request) {
            true => self.sent_head.len(),
            false => self.encode(request),
        };
        let body = &request[head_bytes..];
        let id = self.next_id;
        self.next_id += 2;
        let flags = (id == 1, body.is_empty());
        frame::push_block(id, &self.sent_block, flags, self.payload_max, &mut self.out);
        self.ids.push(id);
        self.lanes.push(Lane {
            user,
            receive_window: frame::STREAM_WINDOW,
            send_window: self.window_first,
            body: Vec::new(),
            gone: 0,
        });
        let at = self.ids.len() - 1;
        let gone = self.send_data(at, body);
        self.lanes[at].body.extend_from_slice(&body[gone..]);
    }

    /// Returns whether the head of a request is the last one. It ends with the first empty line, so
    /// that no longer head begins with it.
    fn is_head_known(&self, request: &[u8]) -> bool {
        self.sent_head.ends_with(b"\r\n\r\n") && request.starts_with(&self.sent_head)
    }

    /// Encodes the head of a request, for use in the next requests as well; returns the head's
    /// length.
    fn encode(&mut self, request: &[u8]) -> usize {
        let end = request.windows(4).position(|four| four == b"\r\n\r\n");
        let head = &request[..end.map_or(request.len(), |at| at + 4)];
        self.sent_head.clear();
        self.sent_head.extend_from_slice(head);
        self.sent_block.clear();
        hpack::encode_request(head, self.is_tls, &mut self.sent_block);
        head.len()
    }

    /// Sends as much of what is left of a request's body as there is room for.
    fn send_body(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        let (body, gone) = (
            std::mem::take(&mut lane.body),
            std::mem::take(&mut lane.gone),
        );
        let more = self.send_data(at, &body[gone..]);
        if gone + more < body.len() {
            let lane = &mut self.lanes[at];
            (lane.body, lane.gone) = (body, gone + more);
        }
    }

    /// Sends as much of the end of a body as there is room for; returns how much.
    fn send_data(&mut self, at: usize, body: &[u8]) -> usize {
        let mut gone = 0;
        let lane = &mut self.lanes[at];
        while gone < body.len() {
            let room = lane
                .send_window
                .min(self.send_window)
                .min(self.payload_max as i64);
            if room <= 0 {
                break;
            }
            let bytes = (body.len() - gone).min(room as usize);
            let is_last = gone + bytes == body.len();
            let flags = if is_last { frame::END_STREAM } else { 0 };
            frame::push_head(bytes, frame::DATA, flags, self.ids[at], &mut self.out);
            self.out.extend_from_slice(&body[gone..gone + bytes]);
            lane.send_window -= bytes as i64;
            self.send_window -= bytes as i64;
            gone += bytes;
        }
        gone
    }

    /// Gives up the stream of `user`, if any.
    pub(crate) fn give_up(&mut self, user: usize) {
        if let Some(at) = self.lanes.iter().position(|lane| lane.user == user) {
            self.reset(at, frame::CANCEL);
        }
    }

    /// Sends the server the reason for the end, as the last frame.
    pub(crate) fn say_goodbye(&mut self, broken: Broken) {
        frame::push_goaway(broken.code, &mut self.out);
    }

    /// Returns the users with an open stream.
    pub(crate) fn users(&self) -> impl Iterator<Item = usize> + '_ {
        self.lanes.iter().map(|lane| lane.user)
    }

    /// Takes bytes from the server.
    pub(crate) fn feed(&mut self, bytes: &[u8], readers: &mut dyn Readers) -> Result<(), Broken> {
        let mut rest = bytes;
        if !self.partial.is_empty() {
            let mut partial = std::mem::take(&mut self.partial);
            while let Some(missing) = missing(&partial)? {
                let some = missing.min(rest.len());
                partial.extend_from_slice(&rest[..some]);
                rest = &rest[some..];
                if some < missing {
                    self.partial = partial;
                    return self.check_beginning();
                }
            }
            self.take_frame(&partial, readers)?;
            partial.clear();
            self.partial = partial;
        }
        while missing(rest)?.is_none() {
            let (frame, behind) = rest.split_at(frame_bytes(rest));
            rest = behind;
            self.take_frame(frame, readers)?;
        }
        self.partial.extend_from_slice(rest);
        self.check_beginning()
    }

    /// Whether what came first may be a frame: HTTP/1 would be taken for a very long one.
    fn check_beginning(&self) -> Result<(), Broken> {
        match self.has_settings {
            false if self.partial.starts_with(b"HTTP/1") => Err(NOT_HTTP2),
            _ => Ok(()),
        }
    }

    /// Ends a stream of ours.
    fn close(&mut self, at: usize, end: End) {
        self.ids.swap_remove(at);
        let lane = self.lanes.swap_remove(at);
        self.ended.push((lane.user, end));
    }

    /// Ends a stream by a reset sent to the server, without a report to the user.
    fn reset(&mut self, at: usize, code: u32) {
        let id = self.ids.swap_remove(at);
        self.lanes.swap_remove(at);
        frame::push_number(frame::RST_STREAM, id, code, &mut self.out);
        if self.given_up.len() == GIVEN_UP_MAX {
            self.given_up.pop_front();
            self.has_forgotten = true;
        }
        self.given_up.push_back(id);
    }
}

const NOT_HTTP2: Broken = Broken {
    code: frame::PROTOCOL_ERROR,
    why: "the server answered in HTTP/1 and not in HTTP/2; leave --http2 out, or ask it by https",
};

/// Returns the number of bytes needed to continue reading a frame; `None` when the frame is
/// complete.
fn missing(bytes: &[u8]) -> Result<Option<usize>, Broken> {
    if bytes.len() < frame::HEAD_BYTES {
        return Ok(Some(frame::HEAD_BYTES - bytes.len()));
    }
    if bytes.starts_with(b"HTTP/1") {
        return Err(NOT_HTTP2);
    }
    let all = frame_bytes(bytes);
    if all > frame::HEAD_BYTES + frame::PAYLOAD_BYTES_MAX {
        return Err(Broken {
            code: frame::FRAME_SIZE_ERROR,
            why: "a frame is larger than the limit",
        });
    }
    Ok((bytes.len() < all).then(|| all - bytes.len()))
}

/// The length of the frame whose head stands first.
fn frame_bytes(bytes: &[u8]) -> usize {
    let length = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
    frame::HEAD_BYTES + length as usize
}
