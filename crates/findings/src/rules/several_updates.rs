//! One row updated by several statements of one request.

mod needless;

use crate::rule_id::RuleId;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use figures::numbers;
use recording::{BurstKind, RequestId, TextId};
use words::text;

use crate::context::Context;
use crate::demand::Demand;
use crate::query;
use crate::rules::n_plus_one::waits_as;
use crate::text::{fit, ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use needless::{Needless, Row, set_different_columns, updates};

/// Requests with several updates from which the rule reports: what one request does, another input
/// may never do again.
const REQUESTS_MIN: u64 = 2;
/// Requests of a route below which a mean says little: what is found there is a hint.
const SURE_REQUESTS_MIN: u64 = 20;
/// Share of all handlers' time saved from which a change of code is worth the effort. Below, no
/// comparison of two versions would show the change, and the finding is a hint.
const SHARE_MIN: f64 = 0.01;

/// What recorded requests of a route did to one kind of row.
#[derive(Default)]
struct Seen {
    requests: u64,
    /// The most updates of the row in one request.
    most: usize,
    statements: BTreeSet<TextId>,
    /// By the line of the update.
    lines: BTreeMap<TextId, Needless>,
    /// Milliseconds by request.
    by_request: HashMap<RequestId, f64>,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut seen: BTreeMap<(usize, Row<'_>), Seen> = BTreeMap::new();
    for request in &context.joined.requests {
        let Some(handled) = request.handled else {
            continue;
        };
        for (row, updates) in updates(context, handled) {
            let statements: BTreeSet<TextId> = updates.iter().map(|used| used.digest).collect();
            if set_different_columns(statements.iter().map(|id| context.text(*id))) {
                let seen = seen.entry((request.route, row)).or_default();
                seen.requests += 1;
                seen.most = seen.most.max(updates.len());
                seen.statements.extend(statements);
                for used in &updates {
                    let needless = Needless::of(context, handled, used, updates.len());
                    *seen.by_request.entry(handled.id).or_default() += needless.ms;
                    seen.lines.entry(used.site).or_default().add(&needless);
                }
            }
        }
    }
    seen.retain(|_, seen| seen.requests >= REQUESTS_MIN);
    let mut calls: HashMap<usize, f64> = HashMap::new();
    for (route, _) in seen.keys() {
        calls
            .entry(*route)
            .or_insert_with(|| statements(context, *route));
    }
    seen.iter()
        .map(|((route, _), seen)| finding(context, seen, *route, calls[route]))
        .collect()
}

/// Executions of statements in the recorded requests of a route.
fn statements(context: &Context<'_>, route: usize) -> f64 {
    let requests = context.joined.requests.iter();
    let of_route = requests.filter(|request| request.route == route);
    let used = of_route.flat_map(|request| request.handled.iter().flat_map(|it| &it.sql));
    let sql = used.filter(|used| waits_as(context.text(used.digest)) == BurstKind::Sql);
    sql.map(|used| f64::from(used.count)).sum()
}

/// Returns the demand of the needless updates: in the driver and below the lines, from the
/// requests with such updates. `calls` is the number of the route's statements.
fn saved(context: &Context<'_>, seen: &Seen, route: usize, calls: f64) -> Demand {
    let name = &context.joined.routes[route];
    let of_line = |(site, needless): (&TextId, &Needless)| {
        let driver = context.sql_demand(name, needless.ms * context.joined.weight);
        let cost = context.line_cost((route, *site), needless.ms, driver);
        cost.in_calls(route, BurstKind::Sql, needless.calls / calls.max(1.0))
    };
    let saved: Demand = seen.lines.iter().map(of_line).sum();
    context.placed(saved, route, |handled| {
        seen.by_request.get(&handled.id).copied().unwrap_or(0.0)
    })
}

fn finding(context: &Context<'_>, seen: &Seen, route: usize, calls: f64) -> Finding {
    let saved = saved(context, seen, route, calls);
    let gain = context.gain(&saved);
    let saved_ms = saved.sum();
    let route = &context.joined.routes[route];
    let requests = context.joined.in_all(seen.requests);
    let digests: Vec<&str> = seen.statements.iter().map(|id| context.text(*id)).collect();
    let mut evidence = vec![text!(
        "in each of {requests} requests",
        requests = numbers::count(requests)
    )];
    evidence.extend(digests.iter().map(|digest| fit(digest, 160).into()));
    Finding {
        rule: RuleId::SeveralUpdates,
        route: route.clone(),
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
            saved = ms(saved_ms)
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: {
            let is_sure = requests >= SURE_REQUESTS_MIN;
            match is_sure && context.share_inside(saved_ms) >= SHARE_MIN {
                true => Confidence::Medium,
                false => Confidence::Low,
            }
        },
    }
}
