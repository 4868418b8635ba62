//! A WebSocket: input of the connection not examined yet.

use std::collections::VecDeque;

use recording::Outcome;

use crate::frames::{BadFrame, Event, FrameReader};

/// Bytes of messages stored for a later step; at the limit, the oldest are dropped.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// The receiving side of a WebSocket.
#[derive(Debug)]
pub(crate) struct WebSocket {
    reader: FrameReader,
    /// Received bytes, unread from `input_at` on.
    input: Vec<u8>,
    input_at: usize,
    /// Messages received while none was expected.
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    /// The waiting message under examination.
    current: Option<Vec<u8>>,
    /// Whether a message has come since the exchange began.
    has_message: bool,
    passed_over: u64,
    reason: String,
    /// Whether a close frame was sent.
    pub(crate) has_closed: bool,
}

impl WebSocket {
    pub(crate) fn new(message_bytes_max: u64) -> WebSocket {
        WebSocket {
            reader: FrameReader::new(message_bytes_max),
            input: Vec::new(),
            input_at: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            current: None,
            has_message: false,
            passed_over: 0,
            reason: String::new(),
            has_closed: false,
        }
    }

    /// Adds received bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Returns the next complete event of the input.
    pub(crate) fn next_event(&mut self) -> Result<Option<Event>, BadFrame> {
        self.current = None;
        let (taken, event) = self.reader.feed(&self.input[self.input_at..])?;
        self.input_at += taken;
        if self.input_at == self.input.len() {
            self.input.clear();
            self.input_at = 0;
        }
        self.has_message |= event == Some(Event::Message);
        Ok(event)
    }

    /// Stores the received message for a later step.
    pub(crate) fn set_aside(&mut self) {
        let message = self.reader.message().to_vec();
        self.waiting_bytes += message.len();
        self.waiting.push_back(message);
        while self.waiting_bytes > WAITING_BYTES_MAX
            && let Some(oldest) = self.waiting.pop_front()
        {
            self.waiting_bytes -= oldest.len();
        }
    }

    /// Examines the oldest stored message; returns whether there was one.
    pub(crate) fn look_aside(&mut self) -> bool {
        self.current = self.waiting.pop_front();
        self.waiting_bytes -= self.current.as_ref().map_or(0, Vec::len);
        self.current.is_some()
    }

    /// Whether messages are set aside.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Begins an exchange. When something is sent, what came before cannot be the answer to it.
    pub(crate) fn begin(&mut self, sends: bool) {
        self.passed_over = 0;
        self.reason.clear();
        self.current = None;
        self.has_message = false;
        if sends {
            self.waiting.clear();
            self.waiting_bytes = 0;
        }
    }

    /// Passes over a message other than the expected one.
    pub(crate) fn pass_over(&mut self, reason: String) {
        self.passed_over += 1;
        self.reason = reason;
    }

    /// How an exchange ends whose time is over.
    pub(crate) fn too_late(&self) -> (Outcome, String) {
        match self.passed_over {
            0 => (
                Outcome::TimedOut,
                "no complete answer within the limit".to_owned(),
            ),
            count => {
                let why = format!(
                    "no message as expected within the limit: {count} came, and of the last: {}",
                    self.reason
                );
                (Outcome::CheckFailed, why)
            }
        }
    }

    /// Returns the message under examination; empty before the first.
    pub(crate) fn message(&self) -> &[u8] {
        match (&self.current, self.has_message) {
            (Some(current), _) => current,
            (None, true) => self.reader.message(),
            (None, false) => &[],
        }
    }

    /// What a pong must send back.
    pub(crate) fn ping(&self) -> &[u8] {
        self.reader.control()
    }

    /// What the other side's close frame says, for people.
    pub(crate) fn goodbye(&self) -> String {
        format!("the server closed the WebSocket: {}", self.reader.goodbye())
    }
}
