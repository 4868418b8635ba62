//! The load generator could not keep up, so the numbers are about the generator.

use crate::rule_id::RuleId;
use recording::{LoadMode, Nanos};
use words::{Text, text};

use crate::context::Context;
use crate::doubt::Doubt;
use crate::text::{ms, percent};
use crate::types::{Confidence, Finding};

/// Share of busy time of the generator's threads from which responses are stamped late: with a
/// single queue, waiting is four services at 80 %.
const CPU_SHARE_MAX: f64 = 0.8;
/// Lateness from which a report is due: above a millisecond's grain of timers and schedulers …
const LATE_P99_MIN: Nanos = Nanos(2_000_000);
/// … and a tenth of what is measured.
const LATE_SHARE_MIN: f64 = 0.1;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let generator = &context.recording.generator;
    let length = context.recording.window.length().as_secs_f64();
    let threads = f64::from(generator.threads.max(1));
    let share = if length > 0.0 {
        generator.cpu.as_secs_f64() / length / threads
    } else {
        0.0
    };
    let overall = &context.breakdown.overall;
    let late = stats::quantile(&overall.late, 0.99).unwrap_or_default();
    let median = stats::quantile(&overall.latency, 0.5).unwrap_or_default();
    let is_late = late >= LATE_P99_MIN && late.0 as f64 >= LATE_SHARE_MIN * median.0 as f64;
    if share <= CPU_SHARE_MAX && !is_late && generator.unsent == 0 {
        return Vec::new();
    }
    let busy = share > CPU_SHARE_MAX;
    let what = match (busy, generator.unsent) {
        (true, _) => text!(
            "the load generator used {share} of its threads",
            share = percent(share)
        ),
        (false, 0) => text!(
            "1 % of the requests were sent {late} late or more",
            late = ms(late.as_millis_f64())
        ),
        (false, unsent) => text!("{unsent} requests were due but never sent", unsent),
    };
    let doubt = Doubt {
        rule: RuleId::GeneratorBusy,
        what,
        why: text!(
            "late and unsent requests are load that the server never felt, and their delay is not the server's"
        ),
        evidence: vec![
            text!(
                "generator: {share} of {threads} threads' CPU time",
                share = percent(share),
                threads = generator.threads.max(1)
            ),
            text!(
                "late at p99: {late}, latency at p50: {median}",
                late = ms(late.as_millis_f64()),
                median = ms(median.as_millis_f64())
            ),
            text!("due and not sent: {unsent}", unsent = generator.unsent),
        ],
        remedy: remedy(busy, context.recording.meta.load.mode),
        confidence: Confidence::High,
    };
    vec![doubt.into()]
}

fn remedy(busy: bool, mode: LoadMode) -> Text {
    match (busy, mode) {
        (true, _) => {
            text!("give the generator another thread or its own host, or lower the load")
        }
        (false, LoadMode::Open) => {
            text!(
                "allow more connections or lower the rate: each connection was still waiting for its last answer"
            )
        }
        (false, LoadMode::Closed) => text!("check what else uses this host's cores"),
    }
}
