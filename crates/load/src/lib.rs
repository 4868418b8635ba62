//! Sends requests at their due time over many connections, and counts.
//!
//! One call runs one load: [`Plan`] says how hard and how long, a `scenario::Scenario` says what the
//! users do, exchanges come back in [`Batch`]es while it runs, [`LoadResult`] at its end. Every instant
//! is on the host's `CLOCK_MONOTONIC`. Nothing here knows Ruby or SQL.

mod outcome;
mod plan;

pub use outcome::{Batch, LoadError, LoadResult};
pub use plan::{Pace, Plan};

/// Examples of failed requests kept from one run.
pub const FAILURES_MAX: usize = 32;
