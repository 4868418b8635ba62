//! What to fix, and what it should give.

use serde::Serialize;

/// A finding.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// Its number on the page; `null` when it is about trust in the numbers.
    pub number: Option<u32>,
    /// The rule that found it, such as `n-plus-one`.
    pub id: &'static str,
    /// The route; `null` when it is about the whole run.
    pub route: Option<String>,
    /// What.
    pub title: String,
    /// Why it hurts.
    pub why: String,
    /// Numbers, statements, source lines.
    pub evidence: Vec<String>,
    /// What to do.
    pub remedy: Remedy,
    /// What that should give.
    pub estimated_gain: String,
    /// Share of a request's time that would go; 0 when unknown.
    pub gain_share: f64,
    /// What a replay of the run says of it; null where it cannot say.
    pub gain: Option<Gain>,
    /// `low`, `medium` or `high`.
    pub confidence: &'static str,
}

/// What a remedy gives under the run's own load, with it over without.
#[derive(Debug, Serialize)]
pub struct Gain {
    /// Requests a second.
    pub throughput: Ratio,
    /// 95th percentile of due → answered.
    pub p95: Ratio,
}

/// A ratio with the interval that should hold it in 95 of 100 cases.
#[derive(Debug, Serialize)]
pub struct Ratio {
    /// The likeliest value.
    pub ratio: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// What to do about a finding.
#[derive(Debug, Serialize)]
pub struct Remedy {
    /// In a sentence.
    pub text: String,
    /// The statement, command or setting.
    pub exact: Option<String>,
    /// `safe`, `careful`, `code` or `none`.
    pub safety: &'static str,
}
