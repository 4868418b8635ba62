//! Shows what `hakaru load` measured: the summary for people, the JSON, and the series by seconds.
//!
//! All are pure functions of a [`View`]. A percentile that too few requests carry is left out
//! rather than shown wrong: at least one request must lie beyond it. Start reading at
//! [`page::summary`] or [`json::document`].

mod distribution;
pub mod doubts;
pub mod hdr_log;
pub mod json;
pub mod live;
pub mod page;
pub mod rows;
pub mod search;
mod v1;

use hdrhistogram::Histogram;
use load::{GoalResult, Measured, Plan};
use scenario::Scenario;

/// What is shown of a load.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The target as typed.
    pub url: &'a str,
    /// When the command began, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// How hard, how long.
    pub plan: &'a Plan,
    /// What the users did.
    pub scenario: &'a Scenario,
    /// What came of it.
    pub measured: &'a Measured,
    /// What was expected, and whether it came so.
    pub goals: &'a [GoalResult],
    /// The measured part, stretch by stretch.
    pub rows: &'a [rows::Row],
}

/// A quantile in milliseconds, when at least one of the histogram's values lies beyond it.
pub(crate) fn quantile_ms(histogram: &Histogram<u64>, quantile: f64) -> Option<f64> {
    let needed = if quantile < 1.0 {
        1.0 / (1.0 - quantile)
    } else {
        1.0
    };
    let known = histogram.len() as f64 >= needed - 1e-6;
    known.then(|| histogram.value_at_quantile(quantile) as f64 / 1e6)
}
