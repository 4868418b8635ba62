//! One row updated by several statements of one request.

use crate::rule_id::RuleId;
use std::collections::{BTreeMap, BTreeSet};

use figures::numbers;
use recording::TextId;
use words::text;

use crate::context::Context;
use crate::query;
use crate::text::{fit, ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Requests with several updates from which the rule reports: what one request does, another input
/// may never do again.
const REQUESTS_MIN: u64 = 2;
/// Requests of a route below which a mean says little: what is found there is a hint.
const SURE_REQUESTS_MIN: u64 = 20;
/// Share of all handlers' time saved from which a change of code is worth the effort. Below, no
/// comparison of two versions would show the change, and the finding is a hint.
const SHARE_MIN: f64 = 0.01;

#[derive(Default)]
struct Seen {
    requests: u64,
    /// The most updates of the row in one request.
    most: usize,
    saved_ms: f64,
    statements: BTreeSet<TextId>,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut seen: BTreeMap<(usize, Row<'_>), Seen> = BTreeMap::new();
    for request in &context.joined.requests {
        let mut rows: BTreeMap<Row<'_>, Vec<(TextId, f64)>> = BTreeMap::new();
        for used in request.handled.iter().flat_map(|handled| &handled.sql) {
            let digest = context.text(used.digest);
            if query::verb(digest) == "UPDATE"
                && let Some((_, condition)) = digest.split_once(" WHERE ")
                && condition.ends_with(" = ?")
                && !condition.contains(" OR ")
                && used.count == 1
            {
                rows.entry((table(digest), condition))
                    .or_default()
                    .push((used.digest, (used.time - used.gvl_wait).as_millis_f64()));
            }
        }
        for (row, updates) in rows {
            let statements: BTreeSet<TextId> = updates.iter().map(|(id, _)| *id).collect();
            if statements.len() > 1 {
                let seen = seen.entry((request.route, row)).or_default();
                let total: f64 = updates.iter().map(|(_, time)| time).sum();
                seen.requests += 1;
                seen.most = seen.most.max(updates.len());
                seen.saved_ms += total * (1.0 - 1.0 / updates.len() as f64);
                seen.statements.extend(statements);
            }
        }
    }
    seen.retain(|_, seen| seen.requests >= REQUESTS_MIN);
    for seen in seen.values_mut() {
        seen.requests = context.joined.in_all(seen.requests);
        seen.saved_ms *= context.joined.weight;
    }
    seen.iter()
        .map(|((route, _), seen)| finding(context, &context.joined.routes[*route], seen))
        .collect()
}

/// The common parts of two updates of one row: SET and values differ.
type Row<'a> = (&'a str, &'a str);

/// Returns the words before SET.
fn table(digest: &str) -> &str {
    digest.split(" SET ").next().unwrap_or(digest)
}

fn finding(context: &Context<'_>, route: &str, seen: &Seen) -> Finding {
    let gain = context.gain(&context.sql_demand(route, seen.saved_ms));
    let digests: Vec<&str> = seen.statements.iter().map(|id| context.text(*id)).collect();
    let mut evidence = vec![text!(
        "in each of {requests} requests",
        requests = numbers::count(seen.requests)
    )];
    evidence.extend(digests.iter().map(|digest| fit(digest, 160).into()));
    Finding {
        rule: RuleId::SeveralUpdates,
        route: route.to_owned(),
        title: title(text!(
            "{count} × {statement} in one {route}",
            count = seen.most,
            statement = query::brief(digests.first().copied().unwrap_or_default()),
            route
        )),
        why: text!("each is a round trip and, outside of a transaction, a flush of the log"),
        evidence,
        remedy: Remedy {
            text: text!(
                "set all columns of the row with one UPDATE; recordings hold no values, so check that it is one row"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: −{saved} in all",
            gain = gain.text,
            saved = ms(seen.saved_ms)
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: {
            let is_sure = seen.requests >= SURE_REQUESTS_MIN;
            match is_sure && context.share_inside(seen.saved_ms) >= SHARE_MIN {
                true => Confidence::Medium,
                false => Confidence::Low,
            }
        },
    }
}
