//! Requests starting another program and waiting for the end.

use crate::rule_id::RuleId;
use std::collections::BTreeMap;

use figures::counted;
use recording::{ActKind, BurstKind, Handled};
use words::text;

use crate::acts::ActSum;
use crate::context::Context;
use crate::demand::Demand;
use crate::text::{ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use figures::numbers;

/// Name of a wait for a started program in the agent's records.
pub(crate) const SUBPROCESS: &str = "a subprocess";
/// Share of the handlers' time from which a change is worth the effort, as for other waits, unless
/// the programs take most of a route.
const SHARE_MIN: f64 = 0.1;

/// Programs started on a route, over all requests.
#[derive(Default)]
struct OfRoute<'a> {
    line: &'a str,
    /// Number of waits recorded by the agent.
    count: u64,
    requests: u64,
    waits_ms: f64,
    /// Milliseconds of starting programs: the thread keeps the GVL until the program runs. By
    /// samples.
    starts_ms: f64,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let hot = context.hot_methods();
    let mut routes: BTreeMap<usize, OfRoute<'_>> = BTreeMap::new();
    for method in hot.iter().filter(|hot| hot.spawning > 0.0) {
        let of = routes.entry(method.route).or_default();
        let (held, _) = context.held_of(method.route);
        of.starts_ms += method.spawning * held;
        if of.line.is_empty() {
            of.line = &method.line;
        }
    }
    for act in waits(context) {
        for (route, requests, time_ms) in &act.routes {
            let of = routes.entry(*route).or_default();
            of.count += act.count * requests / act.requests().max(1);
            of.requests = of.requests.max(*requests);
            of.waits_ms += time_ms;
            if !act.site.is_empty() {
                of.line = breakdown::line_of(act.site);
            }
        }
    }
    let found = routes.iter();
    found
        .filter_map(|(route, of)| finding(context, *route, of))
        .collect()
}

/// Waits for other programs, by line.
fn waits<'c, 'a>(context: &'c Context<'a>) -> impl Iterator<Item = &'c ActSum<'a>> {
    let acts = context.acts.iter();
    acts.filter(|act| act.kind == ActKind::OtherIo && act.what == SUBPROCESS)
}

fn finding(context: &Context<'_>, route: usize, of: &OfRoute<'_>) -> Option<Finding> {
    let name = &context.joined.routes[route];
    let (_, requests) = context.held_of(route);
    let each = ms((of.waits_ms + of.starts_ms) / requests.max(1.0));
    let demand = Demand::on(route, BurstKind::OtherIo, of.waits_ms);
    let demand = demand.plus(Demand::on(route, BurstKind::Running, of.starts_ms));
    let share = context.share_inside(of.waits_ms + of.starts_ms);
    let worth = context.worth(&demand, share >= SHARE_MIN)?;
    let waited = |handled: &Handled| waits(context).map(|act| act.ms_in(handled)).sum();
    let gain = context.gain(&context.placed_by(demand, waited));
    let mut evidence = Vec::new();
    if of.count > 0 {
        evidence.push(text!(
            "{waits} in {requests} requests, {time} in all",
            waits = counted!(of.count, "wait"),
            requests = numbers::count(of.requests),
            time = ms(of.waits_ms)
        ));
    }
    if of.starts_ms > 0.0 {
        evidence.push(text!("starting the program takes {time} of it per request, with the GVL held, by the run's samples", time = ms(of.starts_ms / requests.max(1.0))));
    }
    evidence.extend(worth.evidence());
    Some(Finding {
        rule: RuleId::Subprocess,
        route: name.clone(),
        title: title(text!(
            "{name} waits {each} per request for a subprocess at {place}",
            name,
            each,
            place = of.line
        )),
        why: text!(
            "a program is started, loaded and run for each request: its CPU and memory come on top of the app's, \
             and no other thread of the worker runs Ruby while it is started"
        ),
        evidence,
        remedy: Remedy {
            text: text!(
                "do it in Ruby, or in a job outside of the request; keep one process and talk to it"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: −{each} per request on {name}, if all of it goes away",
            gain = gain.text,
            each,
            name
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: worth.confidence(Confidence::High),
    })
}
