//! The keys of a result, version 1. Times are whole nanoseconds; numbers with a fraction are text,
//! so that none is rounded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) const FORMAT: &str = "hakaru-load-result";
pub(crate) const VERSION: u32 = 1;

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Result1 {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// Version of the program.
    pub(crate) hakaru: String,
    /// K/N.
    pub(crate) part: String,
    pub(crate) host: String,
    /// By the host's own clock.
    pub(crate) started_unix_ns: u64,
    pub(crate) shared: Shared,
    pub(crate) threads: u32,
    pub(crate) engine: String,
    pub(crate) window_ns: u64,
    pub(crate) stopped: bool,
    /// Error of a thread, with which the load ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<Fault>,
    pub(crate) users: u32,
    pub(crate) cpu_ns: u64,
    pub(crate) unsent: u64,
    pub(crate) figures: Figures,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) failures: Vec<Failure>,
    /// By rule of the score, and by captured number.
    pub(crate) rule_counts: Vec<u64>,
    pub(crate) capture_units: Vec<String>,
    pub(crate) checks_failed: u64,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Fault {
    pub(crate) thread: u32,
    pub(crate) error: String,
    pub(crate) requests: u64,
}

/// What all parts of one plan have in common.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Shared {
    pub(crate) url: String,
    pub(crate) pace: Pace,
    pub(crate) connections: u32,
    pub(crate) streams: u32,
    pub(crate) duration_ns: u64,
    pub(crate) warmup_ns: u64,
    pub(crate) seed: u64,
    pub(crate) keep_alive: bool,
    /// Length of the intervals.
    pub(crate) every_ns: u64,
    pub(crate) steps: Vec<Step>,
    pub(crate) expectations: Vec<String>,
    pub(crate) score: Option<Score>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Step {
    pub(crate) number: u32,
    pub(crate) line: String,
    pub(crate) place: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pace {
    Closed,
    Open {
        stages: Vec<Stage>,
        arrivals: Arrivals,
    },
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Stage {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) length_ns: u64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Arrivals {
    Even,
    Poisson,
    Bursts(u32),
    Recorded,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Score {
    pub(crate) rules: Vec<Rule>,
    pub(crate) captures: Vec<Capture>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Rule {
    pub(crate) pattern: String,
    pub(crate) status: Option<u16>,
    pub(crate) points: String,
    pub(crate) per: u64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Capture {
    pub(crate) name: String,
    pub(crate) points: String,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Figures {
    pub(crate) latency: String,
    pub(crate) service: String,
    pub(crate) lateness: String,
    pub(crate) connecting: String,
    pub(crate) handshakes: String,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) in_time: u64,
    pub(crate) body_bytes: u64,
    pub(crate) warmup: u64,
    pub(crate) steps: Vec<StepFigures>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct StepFigures {
    pub(crate) number: u32,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) latency: String,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Interval {
    pub(crate) number: i64,
    pub(crate) latency: String,
    pub(crate) lateness: String,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) body_bytes: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) in_flight: u64,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Failure {
    pub(crate) outcome: String,
    pub(crate) place: String,
    pub(crate) reason: String,
    pub(crate) request: String,
    pub(crate) response: String,
    pub(crate) count: u64,
}
