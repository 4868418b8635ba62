//! Sends requests at due times over many connections, and counts.
//!
//! One call of [`run`] runs one load: [`Plan`] says how hard and how long, a [`scenario::Scenario`]
//! what the users do; exchanges come back in [`Batch`]es while it runs, [`LoadResult`] at its end.
//! [`probe`] sends a single request, for finding out whether a server answers; [`post`] hands a
//! document to a receiver. [`Resend`] sends GET requests of a load ([`Repeatable`]) again after it.
//!
//! - Every instant is on the host's `CLOCK_MONOTONIC`, so that it can be joined with what the agent
//!   stamps inside the app. Requests carry `Hakaru-Request`, 16 hexadecimal digits, never twice; in
//!   a high-rate load a random part of them does ([`Numbered`]).
//! - *Due* is when the user's last answer came and its think time had passed (closed), or the
//!   pacer's tick (open), whoever is late. *Sent* is taken right before the first write, so that
//!   waiting for a connection, or for a free user, is between the two. *Answered* is when the last
//!   byte had been read.
//! - In an open load a tick takes a free user, or a new one up to the plan's connections; else it
//!   waits and keeps its due time.
//! - Nothing is retried, but for what a server of HTTP/2 says that it has not taken when it goes
//!   (GOAWAY). A redirect is followed where the flow says so, as a request of its own. A closed
//!   load waits 100 ms after a refused connection, and rises where the plan says so. What is still
//!   unanswered when the drain is over ends as `Unanswered`.
//! - [`run`] hands exchanges over one by one, for a recording; [`measure`] adds them up in
//!   histograms, in a memory that does not grow with their number.
//!
//! A message over a WebSocket counts as a request: sent with its first byte, answered by the
//! message that the scenario waits for, or by the server's close frame.
//!
//! Over HTTP/2 ([`Plan::streams`]) users share connections: `http2` is one without a socket,
//! `carrier` owns one, and `worker::streams` brings requests to them.
//!
//! Nothing here knows Ruby or SQL. Start reading at `worker`, whose head describes the way of a
//! request; `http1` reads responses without a socket; `connection` owns one.

mod address;
mod answers;
mod carrier;
mod clock;
mod connection;
mod end;
mod engine;
mod failures;
mod figures;
mod frames;
mod goal;
mod http1;
mod http2;
mod ids;
mod ledger;
mod level;
mod measure;
mod notes;
mod once;
mod outcome;
mod plan;
mod poller;
mod probe;
mod redact;
mod repeatable;
mod route;
mod run;
mod schedule;
mod search;
mod stream;
mod tables;
#[cfg_attr(not(target_os = "linux"), path = "timer/in_wait.rs")]
mod timer;
mod tls;
#[cfg_attr(not(target_os = "linux"), path = "uring/absent.rs")]
mod uring;
mod web_socket;
mod worker;

pub use address::Via;
pub use clock::now;
pub use end::LoadEnd;
pub use engine::Engine;
pub use failures::merged_failures;
pub use figures::{Figures, Interval, Outcomes, Statuses, StepFigures};
pub use goal::{Goal, GoalResult, GoalVerdict, values_needed};
pub use level::LevelUp;
pub use measure::{Measured, measure};
pub use once::{Checked, PassEnd, Reply, Resend, check_once, check_until};
pub use outcome::{Batch, LoadError, LoadResult, ThreadFault};
pub use plan::{Numbered, Pace, Plan};
pub use probe::{Posted, ProbeError, can_connect, post, probe};
pub use redact::plain;
pub use repeatable::Repeatable;
pub use run::{points, run};
pub use scenario::Part;
pub use schedule::{Arrivals, Schedule, Stage};
pub use search::{Found, Trial, find_max};
pub use tls::Trust;

/// Examples of failed requests kept from one run.
pub const FAILURES_MAX: usize = 32;
