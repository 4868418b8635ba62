//! Pages without content: nearly everything requested was answered by a redirect or a refusal.
//!
//! A flow without an expected status accepts every one below 500, so nothing else would tell.

use crate::rule_id::RuleId;
use std::collections::HashMap;

use figures::counted;
use figures::hollow::{is_hollow, is_refusal, remedy, remedy_missing, says_little, what};
use words::text;

use crate::context::Context;
use crate::doubt::Doubt;
use crate::types::{Confidence, Finding};

/// The status of a missing page.
const MISSING: u16 = 404;
/// Responses named as evidence.
const SHOWN: usize = 3;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let routes = &context.joined.routes;
    let pages = context.joined.requests.iter().filter(|request| {
        request.exchange.was_answered() && routes[request.route].starts_with("GET ")
    });
    let (mut all, mut hollow) = (0_u64, HashMap::<(usize, u16), u64>::new());
    for request in pages {
        all += 1;
        let status = request.exchange.status;
        if is_hollow(status) {
            *hollow.entry((request.route, status)).or_default() += 1;
        }
    }
    let with = |is: fn(u16) -> bool| -> u64 {
        let chosen = hollow.iter().filter(|((_, status), _)| is(*status));
        chosen.map(|(_, count)| count).sum()
    };
    let (count, refused) = (with(is_hollow), with(is_refusal));
    let missing = with(|status| status == MISSING);
    if !says_little(count, refused, all) {
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
        remedy: match 2 * missing > count {
            true => remedy_missing(),
            false => remedy(),
        },
        confidence: Confidence::High,
    };
    vec![doubt.into()]
}
