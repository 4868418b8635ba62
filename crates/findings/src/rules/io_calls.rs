//! Many short waits for a socket or a file in one request, below one line of the app: a store
//! without a client known to the agent, asked for one value at a time.

use crate::rule_id::RuleId;
use figures::numbers;
use recording::{BurstKind, Handled};
use words::text;

use crate::context::Context;
use crate::demand::Demand;
use crate::text::{ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Waits per request from which there are many: a call on a connection takes one or two.
const WAITS_MIN: f64 = 10.0;
/// Mean of the waits up to which the waits are calls, whatever CPU the thread takes, spent in the
/// kernel.
const WAIT_MS_MAX: f64 = 1.0;
/// Share of the route's waits needed below one line.
const BELOW_MIN: f64 = 0.5;
/// Smallest gain worth a change.
const GAIN_MIN: f64 = 0.1;
/// Requests whose stretches must be known.
const REQUESTS_MIN: usize = 10;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let routes = 0..context.joined.routes.len();
    routes.filter_map(|route| of(context, route)).collect()
}

fn of(context: &Context<'_>, route: usize) -> Option<Finding> {
    let waits = waits(context, route).filter(|waits| *waits >= WAITS_MIN)?;
    let (held_ms, requests) = context.held_of(route);
    let mean_ms = context.time_of(route, BurstKind::OtherIo) / (requests * waits).max(1.0);
    let computes = mean_ms >= WAIT_MS_MAX && context.computing_share(route) >= BELOW_MIN;
    let io = context
        .io_of(route)
        .filter(|io| io.waiting >= BELOW_MIN && !computes)?;
    let waited_ms = io.waiting * context.time_of(route, BurstKind::OtherIo);
    let all = Demand::on(route, BurstKind::OtherIo, waited_ms)
        .in_calls(route, BurstKind::OtherIo, io.waiting)
        .plus(Demand::on(route, BurstKind::Running, io.held * held_ms));
    let each = ms(all.sum() / requests.max(1.0));
    let saved = context.placed_by(all.times(1.0 - 1.0 / waits), |handled| {
        handled.parts.other_io.as_millis_f64()
    });
    let gain = context.gain(&saved);
    if gain.share < GAIN_MIN {
        return None;
    }
    let name = &context.joined.routes[route];
    Some(Finding {
        rule: RuleId::StoreCalls,
        route: name.clone(),
        title: title(text!(
            "many calls on {route}: about {waits} waits for a socket or a file at {line}",
            route = name,
            waits = numbers::count(waits as u64),
            line = io.line
        )),
        why: text!(
            "each call lets go of the GVL, waits for the other side and then for the GVL again, and their number grows with the data"
        ),
        evidence: vec![
            text!(
                "{each} per request is reading, writing and waiting for that below {line}; {share} of such waits, by samples of the run",
                each,
                line = io.line,
                share = percent(io.waiting)
            ),
            text!(
                "most of them in {called}, which is not a client library known to the agent: what answers, and at which address, is unknown",
                called = io.called
            ),
        ],
        remedy: Remedy {
            text: text!(
                "ask for all values at once (MGET, a pipeline, one query), or keep what is read together under one key"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}, if one call takes the place of all",
            gain = gain.text
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::Medium,
    })
}

/// Returns the mean number of unnamed waits off the GVL in a request of the route; more where a
/// request has more than is recorded of one. `None` with too few requests.
fn waits(context: &Context<'_>, route: usize) -> Option<f64> {
    let requests = context.joined.requests.iter();
    let of_route = requests.filter(|request| request.route == route);
    let told = of_route
        .filter_map(|request| request.handled)
        .filter(|handled| !handled.bursts.is_empty());
    let waits = |handled: &Handled| {
        let bursts = handled.bursts.iter();
        let unnamed = bursts.filter(|burst| burst.kind == BurstKind::OtherIo);
        unnamed.count()
    };
    let counts: Vec<usize> = told.map(waits).collect();
    let all: usize = counts.iter().sum();
    (counts.len() >= REQUESTS_MIN).then(|| all as f64 / counts.len() as f64)
}
