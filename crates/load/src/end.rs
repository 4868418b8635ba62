//! How a load ended, for the program's exit code.

use crate::goal::{Goal, GoalResult, GoalVerdict};
use crate::measure::Measured;
use crate::search::Found;

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
    /// Nothing is wrong, but there were too few requests to judge an expectation, or too little
    /// time for a search to try a rate.
    Undecided,
    /// Nothing is wrong.
    Ok,
}

impl LoadEnd {
    /// Returns how a load ended, with the results of `expected`. An early end comes first, then the
    /// expectations, then failed requests, and last what could not be judged.
    pub fn of(measured: &Measured, expected: &[Goal], results: &[GoalResult]) -> LoadEnd {
        let failed = measured.figures.outcomes.failed();
        let is_allowed = expected.iter().any(Goal::is_about_errors);
        match LoadEnd::of_part(measured) {
            LoadEnd::Ok => {}
            early => return early,
        }
        let verdicts = || results.iter().map(|result| result.verdict);
        if verdicts().any(|verdict| verdict == GoalVerdict::Missed) {
            return LoadEnd::ExpectationMissed;
        }
        let is_good = match failed {
            0 => measured.has_ended_requests(),
            _ => is_allowed,
        };
        match verdicts().all(|verdict| verdict == GoalVerdict::Held) {
            _ if !is_good => LoadEnd::RequestsFailed,
            true => LoadEnd::Ok,
            false => LoadEnd::Undecided,
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

    /// Returns how a search for the highest rate ended. No passing rate is a missed expectation
    /// only where one was tried.
    pub fn of_search(found: &Found, is_stopped: bool) -> LoadEnd {
        match found.rate {
            _ if is_stopped => LoadEnd::Interrupted,
            Some(_) => LoadEnd::Ok,
            None if found.trials.is_empty() => LoadEnd::Undecided,
            None => LoadEnd::ExpectationMissed,
        }
    }
}
