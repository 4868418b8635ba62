//! Adds up SQL statements and outgoing HTTP over the measured requests.

use std::collections::HashMap;

use recording::{Nanos, Recording, TextId};

use crate::join::Joined;
use crate::types::SqlSummary;

#[derive(Default)]
struct Statement<'a> {
    count: u64,
    time: Nanos,
    gvl_wait: Nanos,
    rows: u64,
    by_route: HashMap<usize, u64>,
    by_site: HashMap<&'a str, u64>,
}

/// Statements of the measured requests, the one with most time first.
pub(crate) fn sum(recording: &Recording, joined: &Joined<'_>) -> Vec<SqlSummary> {
    let mut statements: HashMap<TextId, Statement<'_>> = HashMap::new();
    let mut requests_seen = vec![0_u64; joined.routes.len()];
    for request in &joined.requests {
        let Some(handled) = request.handled else {
            continue;
        };
        requests_seen[request.route] += 1;
        for used in &handled.sql {
            let statement = statements.entry(used.digest).or_default();
            let count = u64::from(used.count);
            statement.count += count;
            statement.time += used.time;
            statement.gvl_wait += used.gvl_wait;
            statement.rows += used.rows;
            *statement.by_route.entry(request.route).or_default() += count;
            if let Some(site) = joined.site(used.site) {
                *statement.by_site.entry(site).or_default() += count;
            }
        }
    }
    let mut summaries: Vec<SqlSummary> = statements
        .into_iter()
        .map(|(id, statement)| summary(recording, joined, &requests_seen, id, statement))
        .collect();
    summaries.sort_by(|a, b| {
        b.time_ms
            .total_cmp(&a.time_ms)
            .then_with(|| a.digest.cmp(&b.digest))
    });
    summaries
}

fn summary(
    recording: &Recording,
    joined: &Joined<'_>,
    requests_seen: &[u64],
    id: TextId,
    statement: Statement<'_>,
) -> SqlSummary {
    let mut routes: Vec<(String, f64)> = statement
        .by_route
        .into_iter()
        .map(|(route, count)| {
            let per_request = count as f64 / requests_seen[route].max(1) as f64;
            (joined.routes[route].clone(), per_request)
        })
        .collect();
    routes.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut sites: Vec<(&str, u64)> = statement.by_site.into_iter().collect();
    sites.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let digest = recording.texts.get(id).map(str::to_owned);
    SqlSummary {
        digest: digest.unwrap_or_else(|| format!("unknown statement {:016x}", id.0)),
        id,
        count: joined.in_all(statement.count),
        time_ms: statement.time.as_millis_f64() * joined.weight,
        gvl_wait_ms: statement.gvl_wait.as_millis_f64() * joined.weight,
        rows: joined.in_all(statement.rows),
        routes,
        called_from: sites.into_iter().map(|(site, _)| site.to_owned()).collect(),
    }
}
