//! One file a rule: facts in, findings with remedies out.
//!
//! A rule is a pure function from [`Facts`] to findings. It never measures; it says what, why it hurts,
//! the evidence, the remedy, whether the remedy is safe, and what it should give. A rule that is not
//! sure keeps silent: a wrong finding costs more trust than a missing one. Its thresholds are constants
//! that say where they come from.
//!
//! Start reading at [`all`], then any file in `rules/`. `query` reads what rules need of a digest.

mod context;
mod query;
mod rules;
#[cfg(test)]
mod tests;
mod text;
mod types;

pub use types::{Confidence, Facts, Finding, Remedy, Safety};

use context::Context;

/// All findings of a run, the one with the greatest estimated gain first.
pub fn all(facts: Facts<'_>) -> Vec<Finding> {
    let context = Context::new(facts);
    let mut findings: Vec<Finding> = rules::ALL.iter().flat_map(|rule| rule(&context)).collect();
    findings.sort_by(|a, b| {
        b.gain_share
            .total_cmp(&a.gain_share)
            .then_with(|| b.confidence.cmp(&a.confidence))
            .then_with(|| a.title.cmp(&b.title))
    });
    findings
}
