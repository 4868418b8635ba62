//! Findings in the JSON: problem, remedy and estimated gain.

use serde::Serialize;

/// A finding.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// Number on the page; `null` for a finding about trust in the numbers.
    pub number: Option<u32>,
    /// Id of the rule, such as `n-plus-one`.
    pub id: &'static str,
    /// The route; `null` for a finding about the whole run.
    pub route: Option<String>,
    /// Title of the problem.
    pub title: String,
    /// Harm done by the problem.
    pub why: String,
    /// Numbers, statements, source lines.
    pub evidence: Vec<String>,
    /// Remedy of the problem.
    pub remedy: Remedy,
    /// Estimated gain of the remedy, as a sentence.
    pub estimated_gain: String,
    /// Share of a request's time saved by the remedy; 0 when unknown.
    pub gain_share: f64,
    /// Gain in a replay of the run; `null` where the replay has no prediction.
    pub gain: Option<Gain>,
    /// `low`, `medium` or `high`.
    pub confidence: &'static str,
}

/// Gain of a remedy under the run's own load, as ratios of with to without.
#[derive(Debug, Serialize)]
pub struct Gain {
    /// Requests a second.
    pub throughput: Ratio,
    /// 95th percentile of due → answered.
    pub p95: Ratio,
}

/// A ratio with a 95 % interval.
#[derive(Debug, Serialize)]
pub struct Ratio {
    /// The likeliest value.
    pub ratio: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// Remedy of a finding.
#[derive(Debug, Serialize)]
pub struct Remedy {
    /// In a sentence.
    pub text: String,
    /// The statement, command or setting.
    pub exact: Option<String>,
    /// `safe`, `careful`, `code` or `none`.
    pub safety: &'static str,
}
