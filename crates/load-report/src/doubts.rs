//! What to know before trusting a load's figures.

use load::{Measured, Pace};

use crate::{View, quantile_ms};

/// A generator this busy answers late itself; found by watching its lateness grow near saturation.
pub(crate) const SHARE_BUSY: f64 = 0.85;
/// Below this many requests, the tail is an anecdote: p99 of 1,000 rests on ten.
const REQUESTS_FEW: u64 = 1_000;
/// Own delay above this part of the median latency colours it.
const LATENESS_PART: f64 = 0.1;

/// Sentences, each naming what colours the figures and what to do. Empty when nothing is known against
/// them.
pub fn all(view: &View<'_>) -> Vec<String> {
    let measured = view.measured;
    let all = measured.figures.outcomes.all();
    if all == 0 {
        return vec!["nothing was measured: no request was due".to_owned()];
    }
    let mut doubts = Vec::new();
    doubts.extend(findings::hollow(measured.figures.statuses.sorted()));
    doubts.extend(saturated(view));
    doubts.extend(late(measured));
    if measured.generator.unsent > 0 {
        doubts.push(format!(
            "{} requests were due and never sent, for want of a free connection; they are in no percentile: \
             the server did not keep up, or more connections are needed (-c)",
            measured.generator.unsent
        ));
    }
    if all < REQUESTS_FEW {
        doubts.push(format!(
            "only {all} requests: p99 and above rest on very few of them; run longer (-d)"
        ));
    }
    doubts
}

fn saturated(view: &View<'_>) -> Option<String> {
    let share = view.measured.generator_share();
    let more = match view.plan.pace {
        Pace::Closed => "its figures may be the generator's limit, not the server's",
        _ => "requests may have been late because of it",
    };
    (share > SHARE_BUSY).then(|| {
        format!(
            "the generator itself was busy {:.0}% of the time: {more}; give it more threads \
             (--threads) or another machine",
            share * 100.0
        )
    })
}

fn late(measured: &Measured) -> Option<String> {
    let late = quantile_ms(&measured.figures.lateness, 0.99)?;
    let latency = quantile_ms(&measured.figures.latency, 0.5)?;
    (late > latency * LATENESS_PART && late > 0.1).then(|| {
        format!(
            "the generator sent late by itself: {late:.3} ms at p99, beside a median latency of \
             {latency:.3} ms; it was short of CPU or its thread had to wait for a core"
        )
    })
}
