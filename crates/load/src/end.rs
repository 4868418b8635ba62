//! How a load ended, of which the program makes its exit code.

use crate::goal::{Goal, GoalResult};
use crate::measure::Measured;

/// How a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadEnd {
    /// An error of one of the load's threads ended the load early.
    Failed,
    /// The user ended the load early.
    Interrupted,
    /// An expectation did not hold.
    ExpectationMissed,
    /// Requests failed, and no expectation is about failures; or no request ended at all.
    RequestsFailed,
    /// Nothing is wrong.
    Ok,
}

impl LoadEnd {
    /// Returns how a load ended, with the results of `expected`: first whether it ran to its end,
    /// then the expectations, then failed requests.
    pub fn of(measured: &Measured, expected: &[Goal], results: &[GoalResult]) -> LoadEnd {
        let failed = measured.figures.outcomes.failed();
        let is_allowed = expected.iter().any(Goal::is_about_errors);
        match LoadEnd::of_part(measured) {
            LoadEnd::Ok => {}
            early => return early,
        }
        if results.iter().any(|result| !result.held) {
            return LoadEnd::ExpectationMissed;
        }
        match failed {
            0 if !measured.has_ended_requests() => LoadEnd::RequestsFailed,
            0 => LoadEnd::Ok,
            _ if is_allowed => LoadEnd::Ok,
            _ => LoadEnd::RequestsFailed,
        }
    }

    /// Returns how one part of a load by several generators ended: what came of the expectations
    /// and of failed requests is judged of all together.
    pub fn of_part(measured: &Measured) -> LoadEnd {
        match (&measured.fault, measured.stopped) {
            (Some(_), _) => LoadEnd::Failed,
            (None, true) => LoadEnd::Interrupted,
            (None, false) => LoadEnd::Ok,
        }
    }
}
