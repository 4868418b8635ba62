//! Reads .hurl flows and weights, renders requests, judges responses.
//!
//! Flows are Hurl text, parsed by hand after the documented grammar; what that grammar has and is
//! not run here is an error with file, line, column and a caret before anything starts. No socket
//! is ever opened, and files are read by [`Scenario::read_files`] alone. Clocks are read for
//! `newDate`, the filters that count days, and the age of what a user's cache keeps.
//!
//! Start reading at [`Spec`] (what a user asks for), then [`Scenario`] (ready to run), then
//! [`Session`] (one run: users render requests and have their responses judged).
//!
//! What is said over WebSockets is no part of Hurl's grammar: [`SocketSpec`] has it, and `message`
//! makes steps of it that run behind a flow's entries.
//!
//! # What differs from running the same file with `hurl`
//! - A URL may begin with `/` or `{{base_url}}`: both mean the base URL. It may not lead elsewhere.
//! - Every iteration of a flow begins without cookies and captures. A failed check ends the
//!   iteration.
//! - Redirects are followed where `[Options] location` says so, each as a request of its own.
//! - An entry without a stated answer accepts every status below 500.
//! - `[Options] delay` is think time: the request is due when it has passed.
//! - Variables every flow has: `{{base_url}}`; `{{iteration}}`, counted from 0 over all users of a
//!   run; `{{user}}`, the virtual user's number; `{{run}}`, a short text that differs from run to
//!   run. `{{newUuid}}` is a new random UUID each time it stands somewhere, `{{newDate}}` the wall
//!   clock.

mod answer;
mod arrivals;
mod ast;
mod aws;
mod base;
mod body;
mod cache;
mod cursor;
mod date;
mod digest;
mod encode;
mod error;
mod feed;
mod files;
mod filter;
mod follow;
mod frame;
mod jar;
mod judge;
mod link;
mod message;
mod names;
mod nearest;
mod netrc;
mod options;
mod parse;
mod part;
mod pattern;
mod predicate;
mod print;
mod query;
mod render;
#[cfg(test)]
mod roundtrip;
mod scenario;
mod score;
mod seen;
mod session;
mod single;
mod spec;
mod step;
mod template;
mod think;
mod value;
mod variables;
mod vocabulary;

pub use answer::{Answer, HTTP2, HeaderSpan};
pub use ast::{FlowText, Place};
pub use base::BaseUrl;
pub use date::Date;
pub use encode::url_decode;
pub use error::{ParseError, ScenarioError};
pub use frame::{FrameKind, accept_of, push_close, push_frame};
pub use judge::Verdict;
pub use link::{Link, PemFile};
pub use nearest::nearest;
pub use part::Part;
pub use scenario::{Scenario, StepName, run_token};
pub use score::{PointsLine, Tally};
pub use session::{Over, Prepared, Session, User};
pub use single::Single;
pub use spec::{
    CapturePoints, Expectation, FlowSpec, MessageSpec, Payload, ScoreRule, ScoreSpec, SocketSpec,
    Spec,
};
pub use think::ThinkTime;
pub use value::Value;
pub use variables::Variables;
pub use vocabulary::{Word, WordKind, vocabulary};
