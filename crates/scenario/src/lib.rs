//! Reads .hurl flows and weights, renders requests, judges answers.

mod spec;

pub use spec::{CapturePoints, FlowSpec, ScoreRule, ScoreSpec, Spec};
