//! A user's input, as plain values: the program maps the config file to a [`Spec`].

use std::path::PathBuf;

use crate::think::ThinkTime;

/// What clients do, before any file is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// URL of the target, such as `http://127.0.0.1:5000`. Entries of the flows start with
    /// `/`, with `{{base_url}}`, or with this very address.
    pub base_url: String,
    /// The flows; at least one.
    pub flows: Vec<FlowSpec>,
    /// Variables every flow may use, by name.
    pub variables: Vec<(String, String)>,
    /// Prefix of the column names of all feeds, joined by `_`; empty for none.
    pub feed_prefix: String,
    /// How points are given; no rules and no captures mean "no score".
    pub score: ScoreSpec,
    /// A file of due times and flows: the flows take turns in the file's order instead of by
    /// weight. CSV with the columns `due_ms` and `flow`, a flow's file without folder and
    /// extension.
    pub arrivals: Option<PathBuf>,
    /// A file of flows alone, in the column `flow`: the flows take turns in the file's order
    /// instead of by weight. Without meaning beside `arrivals`.
    pub order: Option<PathBuf>,
    /// The value of `{{run}}`: different from run to run, so names made by a flow do not collide
    /// with an earlier run's. Empty: made from the clock when files are read.
    pub run_token: String,
}

/// One flow of a [`Spec`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowSpec {
    /// Path of the `.hurl` file. Paths inside the flow are relative to the folder of the file.
    /// `None`: a flow of messages alone.
    pub file: Option<PathBuf>,
    /// Share of runs, in proportion to the other flows' weights. At least 1.
    pub weight: u32,
    /// A file of rows, one per iteration: CSV with the variables' names in the header line, or JSON
    /// (`.json`, `.jsonl`, `.ndjson`), a list or lines of objects with equal names.
    pub feed: Option<PathBuf>,
    /// Wait of a user before each request without a delay of the request's own.
    pub think: Option<ThinkTime>,
    /// Whether a user stores responses as a browser does: what is fresh is not asked for, what has
    /// a validator is asked for on condition.
    pub cache: bool,
    /// What is said over a WebSocket when the file's requests are done.
    pub socket: Option<SocketSpec>,
}

impl FlowSpec {
    /// Returns the name: the file, or the URL of the WebSocket.
    pub fn name(&self) -> String {
        match (&self.file, &self.socket) {
            (Some(file), _) => file.display().to_string(),
            (None, Some(socket)) => format!("WS {}", socket.connect),
            (None, None) => String::new(),
        }
    }
}

/// A WebSocket, and the messages exchanged. Texts may hold `{{expressions}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketSpec {
    /// URL of the WebSocket: a path, as in a flow.
    pub connect: String,
    /// More headers of the opening request.
    pub headers: Vec<(String, String)>,
    /// Number of exchanges of all messages before the WebSocket is closed. At least 1.
    pub rounds: u64,
    /// The messages, in order.
    pub steps: Vec<MessageSpec>,
}

/// One step of a [`SocketSpec`]: something is said, or something is waited for, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageSpec {
    /// Name in results; numbered without one.
    pub name: Option<String>,
    /// What is sent.
    pub send: Option<Payload>,
    /// Demands on the awaited message; other messages are skipped. Empty: nothing is waited for,
    /// unless something is captured.
    pub expect: Vec<Expectation>,
    /// Names of captures, and the value in the message: a query and filters, as in a flow's
    /// `[Captures]`.
    pub captures: Vec<(String, String)>,
    /// Longest wait for the message, milliseconds. `None`: as for the answer to a request.
    pub within_ms: Option<u64>,
    /// Wait of the user before the message. `None`: as before the flow's requests.
    pub think: Option<ThinkTime>,
    /// Whether the WebSocket is closed, and the server's close frame waited for.
    pub close: bool,
}

/// What a message holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Text with `{{expressions}}`.
    Text(String),
    /// Raw bytes.
    Bytes(Vec<u8>),
}

/// A demand on a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Any message.
    Any,
    /// Exactly the given text.
    Equals(String),
    /// A text containing the given one.
    Contains(String),
    /// A text matching a regular expression.
    Matches(String),
    /// A line as in a flow's `[Asserts]`, with a query on the body.
    Assert(String),
}

/// The rule for points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreSpec {
    /// Points for requests; the first rule matching a request counts.
    pub rules: Vec<ScoreRule>,
    /// Points for captured numbers.
    pub captures: Vec<CapturePoints>,
}

/// Points for requests of one kind with the demanded response.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRule {
    /// Method and path without the query; `*` stands for any run of characters, as in `GET *`.
    pub pattern: String,
    /// Required status of the response; `None`: any.
    pub status: Option<u16>,
    /// Points for each full group of `per` requests.
    pub points: f64,
    /// Requests per group; usually 1. `floor(count / per)` groups count.
    pub per: u64,
}

/// Points per unit of a number captured by a flow (the length of a captured list).
#[derive(Clone, Debug, PartialEq)]
pub struct CapturePoints {
    /// The capture's name.
    pub name: String,
    /// Points per unit.
    pub points: f64,
}
