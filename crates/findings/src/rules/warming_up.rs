//! The first half of the run was slower, or the second: the run was not in a steady state.

use crate::rule_id::RuleId;
use std::collections::BTreeMap;

use words::{Text, text};

use crate::context::Context;
use crate::doubt::Doubt;
use crate::text::ms;
use crate::types::{Confidence, Finding};

/// Change of the median not taken for noise; a spread of 10 to 20 % between runs is usual.
const CHANGE_MIN: f64 = 1.2;
/// Seconds with enough requests needed in each half.
const SECONDS_MIN: usize = 4;
/// Requests needed for the median of a second.
const REQUESTS_MIN: usize = 10;
/// Share of the pairs of a second of one half and one of the other needed in agreement (the U of
/// Mann and Whitney 1947 over the greatest U). Of seconds without a change 3 % come so far with
/// four in each half, fewer with more.
const AGREEMENT_MIN: f64 = 0.9;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let medians = second_medians(context);
    let (first, second) = medians.split_at(medians.len() / 2);
    if first.len() < SECONDS_MIN {
        return Vec::new();
    }
    let (Some(before), Some(after)) = (stats::median(first), stats::median(second)) else {
        return Vec::new();
    };
    let faster = before > after * CHANGE_MIN && is_above(first, second);
    let slower = after > before * CHANGE_MIN && is_above(second, first);
    let (rule, what, remedy) = if faster {
        (
            RuleId::WarmingUp,
            text!(
                "still warming up: the median fell from {before} to {after} within the run",
                before = ms(before),
                after = ms(after)
            ),
            text!("warm up longer (JIT, caches and connections need it), then measure"),
        )
    } else if slower {
        (
            RuleId::Drifting,
            text!(
                "slower and slower: the median rose from {before} to {after} within the run",
                before = ms(before),
                after = ms(after)
            ),
            text!(
                "check what grows: tables without an index, memory, a queue; reset the data before each run"
            ),
        )
    } else {
        return Vec::new();
    };
    let doubt = Doubt {
        rule,
        what,
        why: text!("a single number says nothing about a run that changes"),
        evidence: vec![
            text!(
                "medians of the seconds of {route}",
                route = busiest(context).map_or_else(|| text!("all requests"), Text::from)
            ),
            text!("first half: {medians}", medians = list(first)),
            text!("second half: {medians}", medians = list(second)),
        ],
        remedy,
        confidence: Confidence::Medium,
    };
    vec![doubt.into()]
}

/// Whether nearly all of one half lies above nearly all of the other.
fn is_above(high: &[f64], low: &[f64]) -> bool {
    let below = |median: &f64| low.iter().filter(|other| *other < median).count();
    let agreeing: usize = high.iter().map(below).sum();
    agreeing as f64 >= AGREEMENT_MIN * (high.len() * low.len()) as f64
}

fn list(medians: &[f64]) -> String {
    medians
        .iter()
        .map(|median| ms(*median))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The route with most requests: a changing mix of routes must not look like a change of speed.
fn busiest<'a>(context: &Context<'a>) -> Option<&'a str> {
    let routes = &context.breakdown.routes;
    routes
        .iter()
        .max_by_key(|route| route.answered)
        .map(|route| route.route.as_str())
}

/// Median sent → answered time of each second of the window, in milliseconds.
fn second_medians(context: &Context<'_>) -> Vec<f64> {
    let start = context.recording.window.start;
    let busiest = busiest(context);
    let mut seconds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for request in &context.joined.requests {
        let exchange = request.exchange;
        let route = context.joined.routes[request.route].as_str();
        if exchange.was_answered() && Some(route) == busiest {
            let second = exchange.due.since(start).0 / 1_000_000_000;
            let service = exchange.answered.since(exchange.sent).as_millis_f64();
            seconds.entry(second).or_default().push(service);
        }
    }
    seconds
        .into_values()
        .filter(|second| second.len() >= REQUESTS_MIN)
        .filter_map(|second| stats::median(&second))
        .collect()
}
