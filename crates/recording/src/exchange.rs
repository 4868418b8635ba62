//! Requests as observed by the load generator.

use crate::{RequestId, TextId, Timestamp};

/// One HTTP exchange. Latency counts from `due`; sent-to-answered time is stored beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Id shared with the app's view of the request.
    pub id: RequestId,
    /// Time when the request was due.
    pub due: Timestamp,
    /// Time when the first byte was handed to the kernel. Equal to `due` if none was.
    pub sent: Timestamp,
    /// Time of the last byte of the response, or of giving up.
    pub answered: Timestamp,
    /// Method and path without the query, such as `GET /channel/12`.
    pub line: TextId,
    /// Step of the scenario: flow in the high 16 bits, entry in the low 16.
    pub step: u32,
    /// Number of the connection, from zero.
    pub connection: u32,
    /// HTTP status, 0 without a response.
    pub status: u16,
    /// Outcome of the exchange.
    pub outcome: Outcome,
    /// Bytes of the response's body.
    pub body_bytes: u64,
}

impl Exchange {
    /// Whether a request was sent. A check fails also where none could be made, such as for want of
    /// a value: without a status, as for a message over a WebSocket, and sent at its due time.
    pub fn was_sent(&self) -> bool {
        match self.outcome {
            Outcome::ConnectFailed => false,
            Outcome::CheckFailed => self.status > 0 || self.sent != self.due,
            _ => true,
        }
    }

    /// Whether the times describe the server: there was a response, or none in all the time. A
    /// refused or broken connection ends a request early, and would make the server look fast.
    pub fn has_latency(&self) -> bool {
        self.was_answered() || matches!(self.outcome, Outcome::TimedOut | Outcome::Unanswered)
    }

    /// Whether a complete response arrived.
    pub fn was_answered(&self) -> bool {
        self.was_sent() && self.outcome.was_answered()
    }
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Outcome {
    /// Answered, and all checks held.
    Ok = 0,
    /// Answered, but a check of the flow failed. Or no request could be made of the flow, by
    /// [`Exchange::was_sent`].
    CheckFailed = 1,
    /// Status of 500 or more, not expected by the flow.
    ServerError = 2,
    /// No connection could be made.
    ConnectFailed = 3,
    /// The connection was closed or reset before the response was complete.
    Disconnected = 4,
    /// The response took longer than the limit.
    TimedOut = 5,
    /// The response was not HTTP, or broke a limit.
    BadAnswer = 6,
    /// No response by the end of the run. `answered` holds the end of the run, so the latency is a
    /// lower bound.
    Unanswered = 7,
}

impl Outcome {
    /// All outcomes, in the order of the stored numbers.
    pub const ALL: [Outcome; 8] = [
        Outcome::Ok,
        Outcome::CheckFailed,
        Outcome::ServerError,
        Outcome::ConnectFailed,
        Outcome::Disconnected,
        Outcome::TimedOut,
        Outcome::BadAnswer,
        Outcome::Unanswered,
    ];

    /// Whether a complete HTTP response arrived, if the request was sent.
    pub fn was_answered(self) -> bool {
        matches!(
            self,
            Outcome::Ok | Outcome::CheckFailed | Outcome::ServerError
        )
    }

    /// Returns the outcome in words, for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::CheckFailed => "check failed",
            Outcome::ServerError => "server error",
            Outcome::ConnectFailed => "connect failed",
            Outcome::Disconnected => "disconnected",
            Outcome::TimedOut => "timed out",
            Outcome::BadAnswer => "bad answer",
            Outcome::Unanswered => "unanswered",
        }
    }
}

/// One example of a failed request, with how often the like happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Outcome of the exchanges.
    pub outcome: Outcome,
    /// Method and path without the query.
    pub line: TextId,
    /// The `.hurl` file and line of the entry, such as `flows/read.hurl:12`.
    pub place: String,
    /// Expectation and result, one sentence.
    pub reason: String,
    /// Head of the request as sent, secrets such as cookies and passwords taken out.
    pub request: String,
    /// Head and first bytes of the response; empty without one.
    pub response: String,
    /// Number of exchanges with the failure.
    pub count: u64,
}

/// Points by the scenario's rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// The sum; `None` when the run has no score because checks failed.
    pub points: Option<f64>,
    /// Lines of the score.
    pub lines: Vec<ScoreLine>,
}

/// One rule's share of the score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreLine {
    /// The rule, such as `POST *`.
    pub rule: String,
    /// Number of times the line applied.
    pub count: u64,
    /// Points of the line in all.
    pub points: f64,
}
