//! The facts of one run as types with units, with a file format.
//!
//! A [`Recording`] holds what was observed, never what it means: `breakdown` and `findings`
//! interpret it, `store` saves it, `report` shows it. Every instant is on the host's
//! `CLOCK_MONOTONIC`, so that what the load generator stamped and what the agent stamped inside the
//! app can be subtracted.
//!
//! Start reading at [`Recording`], then [`Exchange`] (the client's view of a request) and
//! [`Handled`] (the app's view of the same request, joined by [`RequestId`]).

mod answers;
mod counts;
mod database;
mod exchange;
pub mod format;
mod handled;
mod host;
mod meta;
mod sql;
mod text;
mod time;
mod weight;

pub use answers::{AnswerFacts, AskedAgain, Sameness};
pub use database::{ColumnFacts, Counter, DatabaseFacts, Setting, StatementFacts};
pub use exchange::{Exchange, Failure, Outcome, Score, ScoreLine};
pub use handled::{Act, ActKind, BURSTS_MAX, Burst, BurstKind, CpuSample, Handled, Parts, SqlUse};
pub use host::{
    AgentProcess, DiskBytes, Generator, HostSample, JitSample, NetworkBytes, ProcessRole,
    ProcessSample, RuntimeSample,
};
pub use meta::{EndedEarly, LoadFacts, LoadMode, Meta, TargetFacts, Trouble, Typed};
pub use sql::{Access, ExplainedStatement, IndexColumns, PlanStep};
pub use text::{TextId, Texts};
pub use time::{Nanos, Timestamp, Window};
pub use weight::Weight;

/// The number joining a client's [`Exchange`] with the app's [`Handled`]; carried by the request
/// header `Hakaru-Request` as 16 hexadecimal digits. Zero means "no header": a foreign client, or a
/// request of a high-rate load in which only a random sample of the requests carries one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

impl RequestId {
    /// Set where the client sends other requests without a number, which the app is not to note
    /// down.
    pub const THINNED: RequestId = RequestId(1 << 63);

    /// Whether the number is zero.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether the client sends other requests without a number.
    pub fn is_thinned(self) -> bool {
        self.0 & RequestId::THINNED.0 != 0
    }
}

/// Everything one run left behind.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Subject and conditions of the run.
    pub meta: Meta,
    /// The measured part of the run; exchanges due before are warm-up.
    pub window: Window,
    /// Requests from the load generator's point of view, in order of completion.
    pub exchanges: Vec<Exchange>,
    /// Requests from the app's point of view, in no particular order. Empty without the agent.
    pub handled: Vec<Handled>,
    /// Request lines, routes, SQL digests and source lines, by content hash.
    pub texts: Texts,
    /// One sample a second of the host and of the processes of the run.
    pub host: Vec<HostSample>,
    /// Ruby's counters, about one sample a second of each Ruby process. Empty without the agent.
    pub runtime: Vec<RuntimeSample>,
    /// Reports of the agent about itself, one entry a Ruby process.
    pub agents: Vec<AgentProcess>,
    /// Figures of the load generator about itself.
    pub generator: Generator,
    /// The database's own plan of the costliest SELECT digests.
    pub explained: Vec<ExplainedStatement>,
    /// Facts reported by the database server; `None` without a server, or without access.
    pub database: Option<DatabaseFacts>,
    /// The snapshot of machine, process, Ruby, app and database for `hakaru doctor`, as JSON; empty
    /// if none was taken.
    pub machine: String,
    /// Facts from the heads of the responses, by request line and status.
    pub answers: Vec<AnswerFacts>,
    /// One example for each kind of failed request.
    pub failures: Vec<Failure>,
    /// Points by the scenario's rule, if there is one.
    pub score: Option<Score>,
    /// Errors in measuring, in plain sentences.
    pub troubles: Vec<Trouble>,
}
