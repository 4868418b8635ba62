//! The keys of the JSON, version 1. Documented in `docs/load.md`.

use std::collections::BTreeMap;

use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Load<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    /// Version of the program.
    pub(crate) hakaru: &'static str,
    pub(crate) started_at_unix_ms: i64,
    pub(crate) url: &'a str,
    pub(crate) load: Plan,
    pub(crate) stopped: bool,
    /// Error of a thread, with which the load ended; left out where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<Fault<'a>>,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    pub(crate) warmup_requests: u64,
    pub(crate) answered: u64,
    /// Users there were at the end.
    pub(crate) users: u32,
    pub(crate) rps: f64,
    pub(crate) failed: u64,
    pub(crate) errors: BTreeMap<&'static str, u64>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) body_bytes: u64,
    pub(crate) latency_ms: Times,
    pub(crate) sent_latency_ms: Times,
    /// Percentiles, as many as the requests carry.
    pub(crate) latency_curve: Vec<CurvePoint>,
    /// Counts of latencies.
    pub(crate) latency_classes: Vec<Class>,
    pub(crate) connect_ms: Times,
    pub(crate) tls_handshake_ms: Times,
    pub(crate) generator: Generator,
    /// Left out for a single generator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) generators: Vec<GeneratorLine<'a>>,
    pub(crate) score: Option<f64>,
    pub(crate) expectations: Vec<Expectation<'a>>,
    pub(crate) doubts: Vec<String>,
    pub(crate) steps: Vec<Step<'a>>,
    pub(crate) failures: Vec<Failure<'a>>,
    pub(crate) series: Vec<Second>,
}

#[derive(Serialize)]
pub(crate) struct Fault<'a> {
    pub(crate) thread: u32,
    pub(crate) error: &'a str,
    /// Ended requests of the thread, warm-up included.
    pub(crate) requests: u64,
}

#[derive(Serialize)]
pub(crate) struct Plan {
    pub(crate) pace: String,
    pub(crate) connections: u32,
    /// Left out for HTTP/1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) streams: Option<u32>,
    /// Increase of the load; `None` for a constant load.
    pub(crate) level_up: Option<LevelUp>,
    pub(crate) threads: u32,
    pub(crate) duration_s: f64,
    pub(crate) warmup_s: f64,
    pub(crate) seed: u64,
    pub(crate) keep_alive: bool,
}

#[derive(Serialize)]
pub(crate) struct LevelUp {
    pub(crate) users: u32,
    pub(crate) max: u32,
    pub(crate) slow_s: f64,
    pub(crate) calm_s: f64,
}

#[derive(Serialize)]
pub(crate) struct Times {
    pub(crate) count: u64,
    pub(crate) at_least: u64,
    pub(crate) mean: Option<f64>,
    pub(crate) min: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) p75: Option<f64>,
    pub(crate) p90: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) p99: Option<f64>,
    #[serde(rename = "p99.9")]
    pub(crate) p99_9: Option<f64>,
    #[serde(rename = "p99.99")]
    pub(crate) p99_99: Option<f64>,
    pub(crate) max: Option<f64>,
}

#[derive(Serialize)]
pub(crate) struct CurvePoint {
    /// Share of the requests with at most the latency of the point; 1 for the maximum.
    pub(crate) share: f64,
    pub(crate) latency_ms: f64,
    pub(crate) sent_latency_ms: Option<f64>,
}

/// Requests whose latency lies from one bound up to the other.
#[derive(Serialize)]
pub(crate) struct Class {
    pub(crate) from_ms: f64,
    pub(crate) to_ms: f64,
    pub(crate) count: u64,
}

#[derive(Serialize)]
pub(crate) struct Generator {
    pub(crate) engine: &'static str,
    pub(crate) threads: u32,
    pub(crate) cpu_s: f64,
    pub(crate) cpu_share: f64,
    pub(crate) lateness_ms: Times,
    pub(crate) unsent: u64,
}

#[derive(Serialize)]
pub(crate) struct GeneratorLine<'a> {
    pub(crate) part: &'a str,
    pub(crate) name: &'a str,
    pub(crate) host: &'a str,
    pub(crate) engine: &'static str,
    /// After the first, by the hosts' clocks.
    pub(crate) started_after_ms: f64,
    /// Left out where the hosts' clocks were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clock_bound_ms: Option<f64>,
    pub(crate) requests: u64,
    pub(crate) failed: u64,
    pub(crate) unsent: u64,
    pub(crate) cpu_share: f64,
    pub(crate) lateness_ms: Times,
    pub(crate) stopped: bool,
}

#[derive(Serialize)]
pub(crate) struct Expectation<'a> {
    pub(crate) expected: &'a str,
    pub(crate) came: Option<&'a str>,
    pub(crate) held: bool,
    /// Requests needed to judge the percentile; left out where there were enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) needs_requests: Option<u64>,
}

#[derive(Serialize)]
pub(crate) struct Step<'a> {
    pub(crate) line: &'a str,
    pub(crate) place: &'a str,
    pub(crate) requests: u64,
    pub(crate) failed: u64,
    pub(crate) latency_ms: Times,
}

#[derive(Serialize)]
pub(crate) struct Failure<'a> {
    pub(crate) outcome: &'static str,
    pub(crate) place: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) count: u64,
    pub(crate) request: &'a str,
    pub(crate) response: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Second {
    pub(crate) at_s: f64,
    pub(crate) rps: f64,
    pub(crate) failed: u64,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p90_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    pub(crate) max_ms: Option<f64>,
    pub(crate) generator_cores: f64,
}
