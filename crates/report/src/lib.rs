//! Versioned JSON, the terminal page and the HTML page of one run.
//!
//! All are pure functions of a [`View`]. They show what `breakdown` and `findings` say and
//! interpret nothing themselves, but for [`facts`], the few sums that both need (throughput, the
//! generator's share of a core, what the host did). Figures that too few samples carry are left out
//! rather than shown wrong: see [`facts::Percentiles`].
//!
//! Start reading at [`terminal::run`], [`json::run`] or [`html::run`].

pub mod advice;
pub mod bench;
pub mod comparison;
pub mod curve;
pub mod facts;
pub mod forecast;
pub mod html;
pub mod journal;
pub mod json;
pub mod live;
pub mod profile;
pub mod seconds;
pub mod sure;
pub mod sweep;
pub mod terminal;
pub mod tuned;
pub mod v1;
mod verdict;

use breakdown::Breakdown;
pub use figures::numbers;
use findings::Finding;
use recording::Recording;

/// A run with all derived facts.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Number of the run in the store; `None` for a run not stored.
    pub number: Option<i64>,
    /// Facts of the run.
    pub recording: &'a Recording,
    /// Distribution of the time.
    pub breakdown: &'a Breakdown,
    /// Findings to fix and doubts about the numbers, in the order of `findings::all`.
    pub findings: &'a [Finding],
    /// Revision of the project; `None` when no revision was recorded.
    pub revision: Option<Revision<'a>>,
}

/// State of the project at a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision<'a> {
    /// The commit; empty outside of git.
    pub commit: &'a str,
    /// Uncommitted changes, such as `2 files changed, 3 insertions(+)`; empty without any.
    pub dirty: &'a str,
}

#[cfg(test)]
mod samples;
