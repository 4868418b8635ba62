//! One file a rule: facts in, findings with remedies out.
//!
//! A rule is a pure function from [`Facts`] to findings. It never measures; it says what, why it hurts,
//! the evidence, the remedy, whether the remedy is safe, and what it should give.

mod types;

pub use types::{Confidence, Facts, Finding, Remedy, Safety};
