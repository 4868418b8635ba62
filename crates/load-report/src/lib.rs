//! Shows what `hakaru load` measured: the summary for people, the JSON, and the series by seconds;
//! and in [`check`] the exchanges of `hakaru check`.
//!
//! All are pure functions, those of a load of a [`View`]. A percentile that too few requests carry
//! is left out rather than shown wrong: at least one request must lie beyond it. Start reading at
//! [`page::summary`] or [`json::document`].

pub mod check;
mod distribution;
pub mod doubts;
mod generators;
pub mod hdr_log;
pub mod json;
pub mod live;
pub mod page;
pub mod prometheus;
pub mod rows;
pub mod run;
pub mod search;
mod v1;

pub use generators::GeneratorLine;
use hdrhistogram::Histogram;
use load::{GoalResult, Measured, Plan};
use scenario::Scenario;

/// A load with everything shown beside the figures.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The target as typed.
    pub url: &'a str,
    /// When the command began, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// Rate or connections, and duration.
    pub plan: &'a Plan,
    /// Steps of the scenario, in the order of the figures.
    pub steps: &'a [StepLabel],
    /// Figures of the load.
    pub measured: &'a Measured,
    /// Expectations, each with the result.
    pub goals: &'a [GoalResult],
    /// The measured part, stretch by stretch.
    pub rows: &'a [rows::Row],
    /// Each generator by itself, where there were several.
    pub generators: &'a [GeneratorLine],
}

/// A step of the scenario, with the names used in reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLabel {
    /// Method and path as written in the flow.
    pub line: String,
    /// File and line.
    pub place: String,
}

impl StepLabel {
    /// Labels of all steps of a scenario.
    pub fn all(scenario: &Scenario) -> Vec<StepLabel> {
        let label = |step: scenario::StepName<'_>| StepLabel {
            line: step.line.to_owned(),
            place: step.place.to_owned(),
        };
        scenario.steps().map(label).collect()
    }
}

/// A quantile in milliseconds, when at least one value of the histogram lies above.
pub(crate) fn quantile_ms(histogram: &Histogram<u64>, quantile: f64) -> Option<f64> {
    let known = histogram.len() >= load::values_needed(quantile);
    known.then(|| histogram.value_at_quantile(quantile) as f64 / 1e6)
}
