//! Pages without content: nearly everything requested was answered by a redirect or a refusal.
//!
//! A flow without an expected status accepts every one below 500, so nothing else would tell.

use crate::rule_id::RuleId;
use std::collections::HashMap;

use figures::counted;
use figures::hollow::{SHARE_MIN, is_hollow, remedy, what};
use words::text;

use crate::context::Context;
use crate::doubt::Doubt;
use crate::types::{Confidence, Finding};

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
