//! What a user asks for, as plain values: the program maps its config file onto them.

use std::path::PathBuf;

use crate::think::ThinkTime;

/// What clients do, before any file is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Where the target answers, such as `http://127.0.0.1:5000`. Entries of the flows start with
    /// `/`, with `{{base_url}}`, or with this very address.
    pub base_url: String,
    /// The flows; at least one.
    pub flows: Vec<FlowSpec>,
    /// Variables every flow may use, by name.
    pub variables: Vec<(String, String)>,
    /// Stands before the column names of all feeds, with `_` behind it; empty for none.
    pub feed_prefix: String,
    /// How points are given; no rules and no captures mean "no score".
    pub score: ScoreSpec,
    /// The value of `{{run}}`: differs from run to run, so that names made by a flow do not collide
    /// with those of an earlier run. Empty: made from the clock when files are read.
    pub run_token: String,
}

/// One flow of a [`Spec`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowSpec {
    /// Its `.hurl` file. Paths inside the flow are relative to the folder of this file. `None`: a
    /// flow of messages alone.
    pub file: Option<PathBuf>,
    /// How often it is chosen, in proportion to the other flows' weights. At least 1.
    pub weight: u32,
    /// A file that gives each iteration the values of a row: CSV whose header line names the
    /// variables, or JSON (`.json`, `.jsonl`, `.ndjson`), a list or lines of objects with the same
    /// names.
    pub feed: Option<PathBuf>,
    /// How long a user waits before each request that has no delay of its own.
    pub think: Option<ThinkTime>,
    /// Whether a user keeps answers as a browser does: what is fresh is not asked for, what has a
    /// validator is asked for on condition.
    pub cache: bool,
    /// What is said over a WebSocket when the file's requests are done.
    pub socket: Option<SocketSpec>,
}

impl FlowSpec {
    /// Its name: the file, or where its WebSocket is opened.
    pub fn name(&self) -> String {
        match (&self.file, &self.socket) {
            (Some(file), _) => file.display().to_string(),
            (None, Some(socket)) => format!("WS {}", socket.connect),
            (None, None) => String::new(),
        }
    }
}

/// A WebSocket, and what is said over it. Texts may hold `{{expressions}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketSpec {
    /// Where it is opened: a path, as in a flow.
    pub connect: String,
    /// More headers of the request that opens it.
    pub headers: Vec<(String, String)>,
    /// How often the messages are exchanged before it is closed. At least 1.
    pub rounds: u64,
    /// The messages, in order.
    pub steps: Vec<MessageSpec>,
}

/// One step of a [`SocketSpec`]: something is said, or something is waited for, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageSpec {
    /// What it is called in results; numbered without a name.
    pub name: Option<String>,
    /// What is sent.
    pub send: Option<Payload>,
    /// What the message that is waited for must be; those that are otherwise are passed over.
    /// Empty: nothing is waited for, unless something is captured.
    pub expect: Vec<Expectation>,
    /// Names, and what they stand for in the message: a query and filters, as in a flow's
    /// `[Captures]`.
    pub captures: Vec<(String, String)>,
    /// Longest wait for the message, milliseconds. `None`: as for the answer to a request.
    pub within_ms: Option<u64>,
    /// How long the user waits before it. `None`: as before the flow's requests.
    pub think: Option<ThinkTime>,
    /// Whether the WebSocket is closed, and the server's close frame waited for.
    pub close: bool,
}

/// What a message holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Text with `{{expressions}}`.
    Text(String),
    /// Bytes as they are.
    Bytes(Vec<u8>),
}

/// A demand on a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Whatever it is.
    Any,
    /// This text.
    Equals(String),
    /// A text with this in it.
    Contains(String),
    /// A text that fits a regular expression.
    Matches(String),
    /// A line as in a flow's `[Asserts]`, with a query that looks at the body.
    Assert(String),
}

/// The rule that turns exchanges into points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreSpec {
    /// Points for requests; the first rule that matches a request counts, the others do not.
    pub rules: Vec<ScoreRule>,
    /// Points for captured numbers.
    pub captures: Vec<CapturePoints>,
}

/// Points for requests of one kind that were answered as the flow demands.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRule {
    /// Method and path without the query; `*` stands for any run of characters: `GET /fetch`, `GET *`.
    pub pattern: String,
    /// Only answers with this status, when given.
    pub status: Option<u16>,
    /// Points for each full group of `per` requests.
    pub points: f64,
    /// Requests that make a group; usually 1. `floor(count / per)` groups count.
    pub per: u64,
}

/// Points per unit of a number that a flow captures (the length, when it captures a list).
#[derive(Clone, Debug, PartialEq)]
pub struct CapturePoints {
    /// The capture's name.
    pub name: String,
    /// Points per unit.
    pub points: f64,
}
