//! Pages without content: nearly everything requested was answered by a redirect or a refusal.
//!
//! A flow without an expected status accepts every one below 500, so nothing else would tell.

use crate::rule_id::RuleId;
use std::collections::HashMap;

use figures::counted;
use words::{Text, text};

use super::Doubt;
use crate::context::Context;
use crate::text::percent;
use crate::types::{Confidence, Finding};

/// Share of the pages from which the run says little of the app. Logins and redirects after a form
/// are far from it.
const SHARE_MIN: f64 = 0.9;
/// Responses named as evidence.
const SHOWN: usize = 3;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let routes = &context.joined.routes;
    let pages = context.joined.requests.iter().filter(|request| {
        request.exchange.outcome.was_answered() && routes[request.route].starts_with("GET ")
    });
    let (mut all, mut hollow) = (0_u64, HashMap::<(usize, u16), u64>::new());
    for request in pages {
        all += 1;
        let status = request.exchange.status;
        if is_hollow(status) {
            *hollow.entry((request.route, status)).or_default() += 1;
        }
    }
    let count: u64 = hollow.values().sum();
    if count == 0 || (count as f64) < SHARE_MIN * all as f64 {
        return Vec::new();
    }
    let mut most: Vec<_> = hollow.into_iter().collect();
    most.sort_by_key(|((route, status), count)| (std::cmp::Reverse(*count), *route, *status));
    let line = |((route, status), count): &((usize, u16), u64)| {
        text!(
            "{route} is answered {status} {times}",
            route = routes[*route],
            status,
            times = counted!(*count, "time")
        )
    };
    let doubt = Doubt {
        rule: RuleId::HollowAnswers,
        what: what(count as f64 / all as f64),
        why: text!("a flow that does not state the expected status accepts every status below 500"),
        evidence: most.iter().take(SHOWN).map(line).collect(),
        remedy: remedy(),
        confidence: Confidence::High,
    };
    vec![doubt.into()]
}

/// Returns a warning for statuses and counts of responses; `None` where most are pages. For loads
/// without a recording.
pub fn hollow(statuses: impl IntoIterator<Item = (u16, u64)>) -> Option<Text> {
    let (mut all, mut hollow) = (0, 0);
    for (status, count) in statuses {
        all += count;
        hollow += if is_hollow(status) { count } else { 0 };
    }
    let share = hollow as f64 / all.max(1) as f64;
    (hollow > 0 && share >= SHARE_MIN)
        .then(|| text!("{what}; {remedy}", what = what(share), remedy = remedy()))
}

fn what(share: f64) -> Text {
    text!(
        "{share} of the pages are redirects or refusals: little of the app is measured",
        share = percent(share)
    )
}

fn remedy() -> Text {
    text!(
        "look at the answers (hakaru check FLOW) and state the expected status in the flow, such as HTTP 200; where they \
             lead to https (Rails: config.force_ssl), send X-Forwarded-Proto: https with each request; where \
             they lead to a login, log in first (`hakaru help flows`)"
    )
}

/// Whether a status means neither a page nor "not modified".
fn is_hollow(status: u16) -> bool {
    status != 304 && (300..500).contains(&status)
}
