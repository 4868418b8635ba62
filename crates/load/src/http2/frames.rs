//! What each kind of frame from the server means.

use super::frame::{self, FRAME_SIZE_ERROR, PROTOCOL_ERROR};
use super::hpack::{self, BadBlock};
use super::{Broken, End, IDLE_FRAMES_MAX, OpenBlock, Readers, Session};
use crate::http1::{Head, check_field};

/// A whole frame.
#[derive(Clone, Copy)]
struct Frame<'a> {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &'a [u8],
}

impl Frame<'_> {
    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// What a frame's stream is to us.
enum Place {
    Open(usize),
    /// Closed; a late frame is no error on a stream given up by the client.
    Closed {
        given_up: bool,
    },
}

fn broken<T>(code: u32, why: &'static str) -> Result<T, Broken> {
    Err(Broken { code, why })
}

fn number(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
}

impl Session {
    /// Takes one whole frame.
    pub(super) fn take_frame(
        &mut self,
        bytes: &[u8],
        readers: &mut dyn Readers,
    ) -> Result<(), Broken> {
        let (head, payload) = bytes.split_at(frame::HEAD_BYTES);
        let frame = Frame {
            kind: head[3],
            flags: head[4],
            stream: number(&head[5..9]) & 0x7fff_ffff,
            payload,
        };
        if !self.has_settings {
            if frame.kind != frame::SETTINGS || frame.has(frame::ACK) {
                return broken(PROTOCOL_ERROR, "the server did not begin with SETTINGS");
            }
            self.has_settings = true;
        }
        if self.open_block.is_some() && frame.kind != frame::CONTINUATION {
            return broken(PROTOCOL_ERROR, "a frame within a block of fields");
        }
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX {
            return broken(
                frame::ENHANCE_YOUR_CALM,
                "a flood of frames that bring no answer on",
            );
        }
        match frame.kind {
            frame::DATA => self.take_data(frame, readers),
            frame::HEADERS => self.take_headers(frame, readers),
            frame::PRIORITY => self.take_priority(frame),
            frame::RST_STREAM => self.take_reset(frame),
            frame::SETTINGS => self.take_settings(frame),
            frame::PUSH_PROMISE => broken(PROTOCOL_ERROR, "a push, which we refused"),
            frame::PING => self.take_ping(frame),
            frame::GOAWAY => self.take_goaway(frame),
            frame::WINDOW_UPDATE => self.take_window(frame),
            frame::CONTINUATION => self.take_continuation(frame, readers),
            // What we do not know means nothing.
            _ => Ok(()),
        }
    }

    fn place(&self, stream: u32) -> Result<Place, Broken> {
        if stream == 0 {
            return broken(PROTOCOL_ERROR, "a frame of a stream on stream 0");
        }
        if stream.is_multiple_of(2) {
            return broken(PROTOCOL_ERROR, "a frame on a stream of the server's own");
        }
        if stream >= self.next_id {
            return broken(PROTOCOL_ERROR, "a frame on a stream that was never opened");
        }
        let found = self.ids.iter().position(|id| *id == stream);
        let given_up = || self.has_forgotten || self.given_up.contains(&stream);
        Ok(found.map_or_else(
            || Place::Closed {
                given_up: given_up(),
            },
            Place::Open,
        ))
    }

    /// Returns the payload without the padding.
    fn unpadded(frame: Frame<'_>) -> Result<&[u8], Broken> {
        if !frame.has(frame::PADDED) {
            return Ok(frame.payload);
        }
        let Some((padding, rest)) = frame.payload.split_first() else {
            return broken(
                FRAME_SIZE_ERROR,
                "a padded frame without a length of its padding",
            );
        };
        match rest.len().checked_sub(usize::from(*padding)) {
            Some(bytes) => Ok(&rest[..bytes]),
            None => broken(PROTOCOL_ERROR, "a padding longer than its frame"),
        }
    }

    fn take_data(&mut self, frame: Frame<'_>, readers: &mut dyn Readers) -> Result<(), Broken> {
        let place = self.place(frame.stream)?;
        let bytes = frame.payload.len() as i64;
        // What comes is taken at once, so that a server never runs out of room and cannot send too
        // much either.
        self.receive_window -= bytes;
        if self.receive_window < frame::CONNECTION_WINDOW / 2 {
            let more = frame::CONNECTION_WINDOW - self.receive_window;
            frame::push_number(frame::WINDOW_UPDATE, 0, more as u32, &mut self.out);
            self.receive_window = frame::CONNECTION_WINDOW;
        }
        let data = Session::unpadded(frame)?;
        let at = match place {
            Place::Open(at) => at,
            Place::Closed { given_up: true } => return Ok(()),
            Place::Closed { given_up: false } => {
                return broken(frame::STREAM_CLOSED, "data on a stream that is closed");
            }
        };
        if !data.is_empty() {
            self.idle_frames = 0;
        }
        let ends = frame.has(frame::END_STREAM);
        let lane = &mut self.lanes[at];
        lane.receive_window -= bytes;
        if !ends && lane.receive_window < frame::STREAM_WINDOW / 2 {
            let more = frame::STREAM_WINDOW - lane.receive_window;
            frame::push_number(
                frame::WINDOW_UPDATE,
                frame.stream,
                more as u32,
                &mut self.out,
            );
            lane.receive_window = frame::STREAM_WINDOW;
        }
        let reader = readers.reader(lane.user);
        if !reader.has_head() {
            self.spoil(at, PROTOCOL_ERROR, "data before the answer's head");
            return Ok(());
        }
        match reader.take_body(data) {
            Err(bad) => self.spoil(at, PROTOCOL_ERROR, bad.0),
            Ok(()) if ends => self.end(at, readers),
            Ok(()) => {}
        }
        Ok(())
    }

    /// The server has sent all of an answer.
    fn end(&mut self, at: usize, readers: &mut dyn Readers) {
        self.idle_frames = 0;
        let user = self.lanes[at].user;
        if let Err(bad) = readers.reader(user).end_body() {
            return self.spoil(at, PROTOCOL_ERROR, bad.0);
        }
        if self.lanes[at].body.is_empty() {
            return self.close(at, End::Complete);
        }
        // It wants nothing more of the request.
        self.reset(at, frame::NO_ERROR);
        self.ended.push((user, End::Complete));
    }

    /// Ends a stream on which something wrong came.
    fn spoil(&mut self, at: usize, code: u32, why: &'static str) {
        let user = self.lanes[at].user;
        self.reset(at, code);
        self.ended.push((user, End::Bad(why)));
    }

    fn take_headers(&mut self, frame: Frame<'_>, readers: &mut dyn Readers) -> Result<(), Broken> {
        let mut block = Session::unpadded(frame)?;
        if frame.has(frame::WITH_PRIORITY) {
            let Some(rest) = block.get(5..) else {
                return broken(FRAME_SIZE_ERROR, "a HEADERS frame without its priority");
            };
            block = rest;
        }
        self.place(frame.stream)?;
        let ends_stream = frame.has(frame::END_STREAM);
        if frame.has(frame::END_HEADERS) {
            return self.take_block(frame.stream, ends_stream, block, readers);
        }
        self.block.clear();
        self.open_block = Some(OpenBlock {
            stream: frame.stream,
            ends_stream,
            frames: 1,
        });
        self.add_to_block(block)
    }

    fn add_to_block(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.block.extend_from_slice(bytes);
        match self.block.len() > self.head_bytes_max {
            true => broken(
                frame::ENHANCE_YOUR_CALM,
                "the head is larger than the limit",
            ),
            false => Ok(()),
        }
    }

    fn take_continuation(
        &mut self,
        frame: Frame<'_>,
        readers: &mut dyn Readers,
    ) -> Result<(), Broken> {
        /// Greatest number of frames of a block within the limit, unless frames are nearly empty.
        const FRAMES_MAX: u32 = 128;
        let Some(open) = &mut self.open_block else {
            return broken(PROTOCOL_ERROR, "a CONTINUATION of nothing");
        };
        if open.stream != frame.stream {
            return broken(PROTOCOL_ERROR, "a CONTINUATION on another stream");
        }
        open.frames += 1;
        if open.frames > FRAMES_MAX {
            return broken(frame::ENHANCE_YOUR_CALM, "a flood of CONTINUATION frames");
        }
        let (stream, ends_stream) = (open.stream, open.ends_stream);
        self.add_to_block(frame.payload)?;
        if !frame.has(frame::END_HEADERS) {
            return Ok(());
        }
        self.open_block = None;
        let block = std::mem::take(&mut self.block);
        let taken = self.take_block(stream, ends_stream, &block, readers);
        self.block = block;
        taken
    }

    /// Takes all the fields of a head, or trailers.
    fn take_block(
        &mut self,
        stream: u32,
        ends_stream: bool,
        block: &[u8],
        readers: &mut dyn Readers,
    ) -> Result<(), Broken> {
        let at = match self.place(stream)? {
            Place::Open(at) => at,
            Place::Closed { given_up: true } => return Ok(()),
            Place::Closed { given_up: false } => {
                return broken(frame::STREAM_CLOSED, "a head on a stream that is closed");
            }
        };
        match self.read_fields(at, ends_stream, block, readers) {
            Err(BadBlock::Encoding(why)) => return broken(frame::COMPRESSION_ERROR, why),
            Err(BadBlock::Field(why)) => self.spoil(at, PROTOCOL_ERROR, why),
            Ok(()) if ends_stream => self.end(at, readers),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Reads a block into the response of the stream.
    fn read_fields(
        &mut self,
        at: usize,
        ends_stream: bool,
        block: &[u8],
        readers: &mut dyn Readers,
    ) -> Result<(), BadBlock> {
        let reader = readers.reader(self.lanes[at].user);
        if reader.has_head() {
            hpack::decode(block, &mut self.scratch, &mut check_field)?;
            return match ends_stream {
                true => Ok(()),
                false => Err(BadBlock::Field("a second head that ends nothing")),
            };
        }
        if !reader.take_known_block(block) {
            let take = &mut |name: &[u8], value: &[u8]| reader.take_field(name, value);
            hpack::decode(block, &mut self.scratch, take)?;
            let head = reader.end_fields(block);
            match head.map_err(|bad| BadBlock::Field(bad.0))? {
                Head::Interim if ends_stream => {
                    let why = "an interim answer that ends the stream";
                    return Err(BadBlock::Field(why));
                }
                Head::Interim => return Ok(()),
                Head::Final => {}
            }
        }
        self.idle_frames = 0;
        Ok(())
    }

    fn take_priority(&mut self, frame: Frame<'_>) -> Result<(), Broken> {
        match (frame.stream, frame.payload.len()) {
            (0, _) => broken(PROTOCOL_ERROR, "a frame of a stream on stream 0"),
            (_, 5) => Ok(()),
            _ => broken(FRAME_SIZE_ERROR, "a PRIORITY frame of a wrong size"),
        }
    }

    fn take_reset(&mut self, frame: Frame<'_>) -> Result<(), Broken> {
        let place = self.place(frame.stream)?;
        if frame.payload.len() != 4 {
            return broken(FRAME_SIZE_ERROR, "a RST_STREAM frame of a wrong size");
        }
        if let Place::Open(at) = place {
            self.idle_frames = 0;
            self.close(at, End::Reset(number(frame.payload)));
        }
        Ok(())
    }

    fn take_settings(&mut self, frame: Frame<'_>) -> Result<(), Broken> {
        if frame.stream != 0 {
            return broken(PROTOCOL_ERROR, "SETTINGS on a stream");
        }
        if frame.has(frame::ACK) {
            return match frame.payload {
                [] => Ok(()),
                _ => broken(
                    FRAME_SIZE_ERROR,
                    "an acknowledgement of SETTINGS with settings",
                ),
            };
        }
        let settings = frame.payload.chunks_exact(6);
        if !settings.remainder().is_empty() {
            return broken(FRAME_SIZE_ERROR, "a SETTINGS frame of a wrong size");
        }
        for setting in settings {
            let (name, value) = setting.split_at(2);
            self.take_setting(number(name) as u16, number(value))?;
        }
        frame::push_head(0, frame::SETTINGS, frame::ACK, 0, &mut self.out);
        self.send_bodies();
        Ok(())
    }

    fn take_setting(&mut self, name: u16, value: u32) -> Result<(), Broken> {
        match (name, value) {
            (frame::ENABLE_PUSH, 1..) => {
                broken(PROTOCOL_ERROR, "the server's SETTINGS allow pushes")
            }
            (frame::MAX_CONCURRENT_STREAMS, streams) => {
                self.streams_max = streams;
                Ok(())
            }
            (frame::INITIAL_WINDOW_SIZE, window) => self.take_first_window(i64::from(window)),
            (frame::MAX_FRAME_SIZE, 16_384..=16_777_215) => {
                // More would only need larger buffers.
                self.payload_max = frame::PAYLOAD_BYTES_MAX;
                Ok(())
            }
            (frame::MAX_FRAME_SIZE, _) => {
                broken(PROTOCOL_ERROR, "a MAX_FRAME_SIZE outside its limits")
            }
            // We put nothing into its table, and our heads are as long as they are asked to be.
            _ => Ok(()),
        }
    }

    fn take_first_window(&mut self, window: i64) -> Result<(), Broken> {
        const WHY: &str = "an INITIAL_WINDOW_SIZE above its limit";
        if window > frame::WINDOW_MAX {
            return broken(frame::FLOW_CONTROL_ERROR, WHY);
        }
        let more = window - self.window_first;
        self.window_first = window;
        for lane in &mut self.lanes {
            lane.send_window += more;
            if lane.send_window > frame::WINDOW_MAX {
                return broken(frame::FLOW_CONTROL_ERROR, WHY);
            }
        }
        Ok(())
    }

    fn take_ping(&mut self, frame: Frame<'_>) -> Result<(), Broken> {
        if frame.stream != 0 {
            return broken(PROTOCOL_ERROR, "PING on a stream");
        }
        if frame.payload.len() != 8 {
            return broken(FRAME_SIZE_ERROR, "a PING frame of a wrong size");
        }
        if !frame.has(frame::ACK) {
            frame::push_head(8, frame::PING, frame::ACK, 0, &mut self.out);
            self.out.extend_from_slice(frame.payload);
        }
        Ok(())
    }

    fn take_goaway(&mut self, frame: Frame<'_>) -> Result<(), Broken> {
        if frame.stream != 0 {
            return broken(PROTOCOL_ERROR, "GOAWAY on a stream");
        }
        let Some((last, code)) = frame.payload.get(..8).map(|head| head.split_at(4)) else {
            return broken(FRAME_SIZE_ERROR, "a GOAWAY frame of a wrong size");
        };
        let (last, code) = (number(last) & 0x7fff_ffff, number(code));
        if last > self.last_taken {
            return broken(PROTOCOL_ERROR, "a GOAWAY that takes more than the last one");
        }
        self.is_going_away = true;
        self.last_taken = last;
        let end = match code {
            frame::NO_ERROR => End::NotTaken { none: last == 0 },
            code => End::Refused(code),
        };
        // In the order they were sent in.
        while let Some(id) = self.ids.iter().copied().filter(|id| *id > last).min()
            && let Some(at) = self.ids.iter().position(|one| *one == id)
        {
            self.close(at, end);
        }
        Ok(())
    }

    fn take_window(&mut self, frame: Frame<'_>) -> Result<(), Broken> {
        if frame.payload.len() != 4 {
            return broken(FRAME_SIZE_ERROR, "a WINDOW_UPDATE frame of a wrong size");
        }
        let more = i64::from(number(frame.payload) & 0x7fff_ffff);
        if frame.stream == 0 {
            self.send_window += more;
            return match (more, self.send_window) {
                (0, _) => broken(PROTOCOL_ERROR, "a WINDOW_UPDATE by nothing"),
                (_, ..=frame::WINDOW_MAX) => {
                    self.send_bodies();
                    Ok(())
                }
                _ => broken(
                    frame::FLOW_CONTROL_ERROR,
                    "a connection's window above its limit",
                ),
            };
        }
        if let Place::Open(at) = self.place(frame.stream)? {
            let lane = &mut self.lanes[at];
            lane.send_window += more;
            match (more, lane.send_window) {
                (0, _) => self.spoil(at, PROTOCOL_ERROR, "a WINDOW_UPDATE by nothing"),
                (_, ..=frame::WINDOW_MAX) => self.send_body(at),
                _ => {
                    let why = "a stream's window above its limit";
                    self.spoil(at, frame::FLOW_CONTROL_ERROR, why);
                }
            }
        }
        Ok(())
    }

    fn send_bodies(&mut self) {
        for at in 0..self.ids.len() {
            self.send_body(at);
        }
    }
}
