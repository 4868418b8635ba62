//! The rules, one file each.

mod agent_blind;
mod errors;
mod few_samples;
mod generator_busy;
mod host_busy;
mod missing_index;
mod n_plus_one;
mod threads;
mod warming_up;

use crate::Finding;
use crate::context::Context;
use crate::types::{Remedy, Safety};

/// A rule.
type Rule = fn(&Context<'_>) -> Vec<Finding>;

/// All rules.
pub(crate) const ALL: [Rule; 9] = [
    errors::find,
    n_plus_one::find,
    missing_index::find,
    threads::find,
    generator_busy::find,
    host_busy::find,
    few_samples::find,
    warming_up::find,
    agent_blind::find,
];

/// What to do before the numbers can be trusted.
fn measure_again(text: &str) -> Remedy {
    Remedy {
        text: text.to_owned(),
        exact: None,
        safety: Safety::None,
    }
}
