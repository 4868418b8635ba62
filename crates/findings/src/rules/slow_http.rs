//! Requests waiting for another service.

use crate::rule_id::RuleId;
use breakdown::SqlSummary;
use figures::numbers;
use words::text;

use crate::context::Context;
use crate::rules::transaction_open;
use crate::text::{called_from, fit, ms, percent, place, times, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use crate::worth::Worth;

/// Share of all time from which a change of code is worth the effort, unless the calls take most of
/// a route. Below, a finding would stand in the way of others.
const SHARE_MIN: f64 = 0.1;
/// Calls from which a mean says something.
const CALLS_MIN: u64 = 20;
/// Prefix of outgoing calls in the agent's records.
pub(super) const MARK: &str = "HTTP ";

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let calls = context.breakdown.sql.iter();
    calls
        .filter(|call| call.digest.starts_with(MARK) && call.count >= CALLS_MIN)
        .filter_map(|call| Some(finding(context, call, &worth(context, call)?)))
        .collect()
}

/// Returns why a call is worth a finding.
fn worth(context: &Context<'_>, call: &SqlSummary) -> Option<Worth> {
    let is_considerable = context.share(waiting_ms(call)) >= SHARE_MIN;
    let worth = context.worth(&context.call_demand(call), is_considerable)?;
    if worth == Worth::Run {
        return Some(worth);
    }
    // Where the call keeps a transaction open, this comes first, and is said there.
    let open = transaction_open::routes(context);
    let is_open = call.routes.iter().any(|(route, _)| open.contains(route));
    (!is_open).then_some(worth)
}

/// Waiting for the GVL within the call is not the other service's.
fn waiting_ms(call: &SqlSummary) -> f64 {
    (call.time_ms - call.gvl_wait_ms).max(0.0)
}

/// Returns the remedy. A response may be cached where nothing is changed by asking; GET and HEAD
/// alone are safe so (RFC 9110, 9.2.1). Connecting is recorded as a call too.
fn remedy(name: &str) -> Remedy {
    let text = match is_safe(name) {
        true => text!(
            "keep the answer for as long as it may be old, or ask for it outside of the request; where it must \
             be asked, set open_timeout and read_timeout, keep the connection open (Net::HTTP#start), and ask \
             for several things at once in threads"
        ),
        false => text!(
            "call it after the response is sent or in a job, where the response needs no result of it; set \
             open_timeout and read_timeout, and keep the connection open (Net::HTTP#start)"
        ),
    };
    Remedy {
        text,
        exact: None,
        safety: Safety::Code,
    }
}

/// Whether a call such as `GET rates.example` changes nothing at the other end.
fn is_safe(name: &str) -> bool {
    let verb = name.split(' ').next().unwrap_or_default();
    ["GET", "HEAD"]
        .iter()
        .any(|safe| verb.eq_ignore_ascii_case(safe))
}

fn finding(context: &Context<'_>, call: &SqlSummary, worth: &Worth) -> Finding {
    let name = call.digest.trim_start_matches(MARK);
    let share = context.share(waiting_ms(call));
    let gain = context.gain(&context.call_demand(call));
    let each = ms(waiting_ms(call) / call.count as f64);
    let site = call.called_from.first().map(String::as_str);
    let (route, per_request) = call
        .routes
        .first()
        .map_or(("", 0.0), |(route, count)| (route.as_str(), *count));
    let mut evidence = vec![text!(
        "{calls} × {name}, {each} each, {times} per request of {route}",
        calls = numbers::count(call.count),
        name,
        each,
        times = times(per_request),
        route
    )];
    evidence.extend(site.map(called_from));
    evidence.extend(worth.evidence());
    Finding {
        rule: RuleId::SlowHttp,
        route: route.to_owned(),
        title: title(text!(
            "{share} of all time is waiting for {service} ({place})",
            share = percent(share),
            service = fit(name, 30),
            place = place(site)
        )),
        why: text!(
            "a thread that waits for another service serves nobody else, and each slow answer there is a slow \
             answer here"
        ),
        evidence,
        remedy: remedy(name),
        estimated_gain: match is_safe(name) {
            true => text!(
                "{gain}: {each} less for each call, where all are answered from a cache",
                gain = gain.text,
                each
            ),
            false => text!(
                "{gain}: {each} less for each call, where no response waits for one",
                gain = gain.text,
                each
            ),
        },
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: worth.confidence(Confidence::High),
    }
}
