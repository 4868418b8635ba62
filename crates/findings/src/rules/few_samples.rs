//! Too few requests for the percentiles shown.

use crate::rule_id::RuleId;
use words::text;

use crate::context::Context;
use crate::doubt::Doubt;
use crate::text::ms;
use crate::types::{Confidence, Finding};

/// The usual level.
const CONFIDENCE: f64 = 0.95;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let latency = &context.breakdown.overall.latency;
    let count = latency.len();
    if stats::interval_ranks(count, 0.99, CONFIDENCE).is_some() {
        return Vec::new();
    }
    let interval = |q: f64| match stats::quantile_interval(latency, q, CONFIDENCE) {
        Some((low, high)) => {
            text!(
                "{low} to {high}",
                low = ms(low.as_millis_f64()),
                high = ms(high.as_millis_f64())
            )
        }
        None => text!("not bounded"),
    };
    let doubt = Doubt {
        rule: RuleId::FewSamples,
        what: text!("only {count} requests: too few for a reliable p99", count),
        why: text!("a percentile means something only if enough requests lie beyond it"),
        evidence: vec![
            text!(
                "p50, with 95 % confidence: {interval}",
                interval = interval(0.5)
            ),
            text!("p95: {interval}", interval = interval(0.95)),
            text!(
                "p99: {interval}; it takes at least 368 requests to bound it",
                interval = interval(0.99)
            ),
        ],
        remedy: text!("run longer, or with more connections"),
        confidence: Confidence::High,
    };
    vec![doubt.into()]
}
