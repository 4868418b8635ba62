//! What a user says and hears over a WebSocket.

use super::{Over, Prepared, Session, User};
use crate::answer::Answer;
use crate::encode::base64;
use crate::frame::{accept_of, push_close, push_frame};
use crate::judge::{Verdict, judge_message};
use crate::message::Message;
use crate::render::has_header;
use crate::step::{Action, Step};
use crate::variables::Variables;

/// A user's side of a WebSocket.
#[derive(Debug, Default)]
pub(super) struct Socket {
    /// The last key sent.
    key: String,
    /// Path of the opening request.
    path: String,
    /// What was said last, for people.
    said: Vec<u8>,
}

impl Socket {
    /// Appends the header asking for a WebSocket at the path of `line`.
    pub(super) fn ask(&mut self, line: &str, variables: &mut Variables, out: &mut Vec<u8>) {
        let path = line.split_once(' ').map_or("/", |(_, path)| path);
        path.clone_into(&mut self.path);
        let random: Vec<u8> = (0..4)
            .flat_map(|_| variables.random_u32().to_be_bytes())
            .collect();
        self.key = base64(&random);
        out.extend_from_slice(format!("Sec-WebSocket-Key: {}\r\n", self.key).as_bytes());
    }

    /// Judges a response with the right status by the demands on an opened WebSocket (RFC 6455,
    /// 4.1).
    pub(super) fn judge(&self, step: &Step, answer: &Answer<'_>) -> Verdict {
        let has = |name: &str, wanted: &str| {
            let tokens = answer
                .values(name)
                .flat_map(|value| value.split(|byte| *byte == b','));
            let mut tokens = tokens.map(<[u8]>::trim_ascii);
            tokens.any(|token| token.eq_ignore_ascii_case(wanted.as_bytes()))
        };
        let accept = answer.values("sec-websocket-accept").next();
        let unasked = |name: &str| answer.values(name).next().is_some() && !has_header(step, name);
        let wrong = if !has("upgrade", "websocket") || !has("connection", "upgrade") {
            "the server switched to another protocol than WebSocket"
        } else if accept != Some(accept_of(&self.key).as_bytes()) {
            "Sec-WebSocket-Accept does not fit the key that was sent"
        } else if answer.values("sec-websocket-extensions").next().is_some() {
            "the server uses an extension that was not offered"
        } else if unasked("sec-websocket-protocol") {
            "the server chose a subprotocol that was not offered"
        } else {
            return Verdict::Passed;
        };
        Verdict::BadAnswer(wrong.to_owned())
    }
}

impl Session<'_> {
    /// Returns whether the user's next step uses an open WebSocket.
    pub fn needs_socket(&self, user: &mut User) -> bool {
        matches!(self.step(user).action, Action::Message(_))
    }

    pub(super) fn render_message<'a>(
        &self,
        user: &'a mut User,
        message: &Message,
        out: &mut Vec<u8>,
    ) -> Result<Prepared<'a>, String> {
        let step = self.position(user).step_number();
        let User {
            line,
            socket,
            variables,
            ..
        } = user;
        line.clear();
        for part in ["WS ", &socket.path, " ", &message.name] {
            line.push_str(part);
        }
        socket.said.clear();
        socket.said.extend_from_slice(line.as_bytes());
        socket.said.extend_from_slice(b"\r\n\r\n");
        for (position, sent) in message.sends.iter().enumerate() {
            let (kind, payload) = sent.render(variables)?;
            push_frame(kind, &payload, variables.random_u32(), out);
            if position > 0 {
                socket.said.push(b'\n');
            }
            socket.said.extend_from_slice(&payload);
        }
        if message.closes {
            push_close(variables.random_u32(), out);
        }
        Ok(Prepared {
            step,
            line,
            is_head: false,
            over: match message.closes {
                true => Over::Closing,
                false => Over::WebSocket,
            },
            within_ns: message.within_ns,
        })
    }

    pub(super) fn judge_message(
        &self,
        user: &mut User,
        step: &Step,
        answer: &Answer<'_>,
    ) -> Verdict {
        let User {
            trail,
            variables,
            scored,
            ..
        } = user;
        let verdict = judge_message(step, answer, trail, variables, scored);
        match verdict {
            Verdict::NotYet(_) => {}
            Verdict::Passed => self.advance(user),
            _ => self.end_iteration(user),
        }
        verdict
    }
}

impl User {
    /// Returns the last exchange over a WebSocket: the line, an empty line, and the messages.
    pub fn said(&self) -> &[u8] {
        &self.socket.said
    }

    /// Clears the last exchange, for a step without a message.
    pub fn say_nothing(&mut self) {
        self.socket.said.clear();
    }
}
