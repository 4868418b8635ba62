//! Reasons to distrust a load's figures.

use figures::numbers;
use figures::text::one_line;
use load::{Measured, Pace, ThreadFault};
use words::{Text, phrase, text};

use crate::{View, quantile_ms};

/// CPU share of a busy generator, whose own delay grows; chosen by lateness near saturation.
pub(crate) const SHARE_BUSY: f64 = 0.85;
/// Fewest requests for a trusted tail: p99 of 1,000 requests rests on ten.
const REQUESTS_FEW: u64 = 1_000;
/// Greatest lateness without a doubt, as a part of the median latency.
const LATENESS_PART: f64 = 0.1;

/// Sentences, each naming what colours the figures and what to do. Empty when nothing is known
/// against them.
pub fn all(view: &View<'_>) -> Vec<Text> {
    let measured = view.measured;
    let all = measured.figures.outcomes.all();
    let mut doubts: Vec<Text> = measured.fault.as_ref().map(failed).into_iter().collect();
    if all == 0 {
        doubts.push(text!("nothing was measured: no request was due"));
        return doubts;
    }
    if !measured.has_ended_requests() {
        doubts.push(text!(
            "nothing was measured: not one of {requests} ended before the load did; run longer (-d), or wait less for \
             each (--timeout)",
            requests = figures::counted!(all, "request")
        ));
    }
    doubts.extend(figures::hollow::warning(measured.figures.statuses.sorted()));
    doubts.extend(saturated(view));
    doubts.extend(late(measured));
    doubts.extend(crate::generators::doubts(view));
    if measured.generator.unsent > 0 {
        doubts.push(text!(
            "{unsent} requests were due and never sent, for want of a free connection; they are in no percentile: \
             the server did not keep up, or more connections are needed (-c)",
            unsent = measured.generator.unsent
        ));
    }
    if all < REQUESTS_FEW {
        doubts.push(text!(
            "only {requests}: p99 and above rest on very few of them; run longer (-d)",
            requests = figures::counted!(all, "request")
        ));
    }
    doubts
}

fn failed(fault: &ThreadFault) -> Text {
    text!(
        "thread {thread} failed after {requests}, which ended the load of all threads: {error}",
        thread = fault.thread,
        requests = figures::counted!(fault.requests, "request"),
        error = Text::named(&one_line(&fault.error))
    )
}

fn saturated(view: &View<'_>) -> Option<Text> {
    let share = view.measured.generator_share();
    let more = match view.plan.pace {
        Pace::Closed => phrase!("its figures may be the generator's limit, not the server's"),
        _ => phrase!("requests may have been late because of it"),
    };
    (share > SHARE_BUSY).then(|| {
        text!(
            "the generator itself was busy {share} of the time: {more}; give it more threads \
             (--threads) or another machine",
            share = numbers::share(share),
            more
        )
    })
}

fn late(measured: &Measured) -> Option<Text> {
    let late = quantile_ms(&measured.figures.lateness, 0.99)?;
    let latency = quantile_ms(&measured.figures.latency, 0.5)?;
    (late > latency * LATENESS_PART && late > 0.1).then(|| {
        text!(
            "the generator sent late by itself: {late} at p99, beside a median latency of \
             {latency}; it was short of CPU or its thread had to wait for a core",
            late = numbers::duration_ms(late),
            latency = numbers::duration_ms(latency)
        )
    })
}
