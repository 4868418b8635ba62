//! One statement again and again in one request, from one source line.

use std::collections::HashMap;

use recording::{Nanos, RequestId, TextId};

use crate::context::Context;
use crate::numbers;
use crate::query;
use crate::text::{called_from, fit, ms, percent, place, times, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Executions per request from which repetition is a finding: the usual rule for production (bullet
/// and prosopite flag 2, in development, where a false alarm costs less).
const REPEATS_MIN: f64 = 5.0;
/// From here on no one loops on purpose. Found by weighing.
const REPEATS_SURE: f64 = 10.0;
/// Requests that must show it: fewer may be a retry or a cache filling up.
const REQUESTS_MIN: u64 = 3;

#[derive(Default)]
struct Repeat {
    /// The request counted last: different helpers may lead from one line to one statement.
    last: Option<RequestId>,
    requests: u64,
    count: u64,
    time: Nanos,
    rows: u64,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut repeats: HashMap<(usize, TextId, Option<&str>), Repeat> = HashMap::new();
    for request in &context.joined.requests {
        for used in request.handled.iter().flat_map(|handled| &handled.sql) {
            let key = (request.route, used.digest, context.joined.site(used.site));
            let repeat = repeats.entry(key).or_default();
            if repeat.last != Some(request.exchange.id) {
                repeat.last = Some(request.exchange.id);
                repeat.requests += 1;
            }
            repeat.count += u64::from(used.count);
            repeat.time += used.time;
            repeat.rows += used.rows;
        }
    }
    repeats
        .into_iter()
        .filter(|(_, repeat)| {
            repeat.requests >= REQUESTS_MIN && repeat.per_request() >= REPEATS_MIN
        })
        .filter_map(|((route, digest, site), repeat)| {
            let route = &context.joined.routes[route];
            let digest = context.text(digest);
            let counts = matches!(
                query::verb(digest).as_str(),
                "SELECT" | "WITH" | "INSERT" | "UPDATE" | "DELETE" | "REPLACE"
            );
            counts.then(|| finding(context, route, digest, site, &repeat))
        })
        .collect()
}

impl Repeat {
    fn per_request(&self) -> f64 {
        self.count as f64 / self.requests as f64
    }

    /// What all executions but one a request took.
    fn saved_ms(&self) -> f64 {
        self.time.as_millis_f64() * (1.0 - 1.0 / self.per_request())
    }
}

fn finding(
    context: &Context<'_>,
    route: &str,
    digest: &str,
    site: Option<&str>,
    repeat: &Repeat,
) -> Finding {
    let count = times(repeat.per_request());
    let each = ms(repeat.time.as_millis_f64() / repeat.count as f64);
    let saved = repeat.saved_ms();
    let saved_each = saved / repeat.requests as f64;
    let mean = context.route(route).map_or(0.0, |route| route.seen_mean_ms);
    let brief = fit(&query::brief(digest), 36);
    let reads = matches!(query::verb(digest).as_str(), "SELECT" | "WITH");
    let sure = reads && repeat.per_request() >= REPEATS_SURE;
    // Some drivers do not tell rows, and statements that write have none.
    let rows = match repeat.rows {
        0 => String::new(),
        rows => format!(", {} rows in all", numbers::count(rows)),
    };
    let requests = numbers::count(repeat.requests);
    let mut evidence = vec![
        format!("{count} executions a request in {requests} requests, {each} each{rows}"),
        fit(digest, 200),
    ];
    evidence.extend(site.map(called_from));
    Finding {
        rule: "n-plus-one",
        route: route.to_owned(),
        title: title(&format!(
            "N+1 on {route}: {count} × {brief} at {}",
            place(site)
        )),
        why: "each execution is a round trip and work in the driver, one after another, and the \
              number grows with the data"
            .to_owned(),
        evidence,
        remedy: remedy(digest, reads),
        estimated_gain: format!(
            "{} of all time: −{} of {} a request on {route}",
            percent(context.share(saved)),
            ms(saved_each),
            ms(mean),
        ),
        gain_share: context.share(saved),
        confidence: if sure {
            Confidence::High
        } else {
            Confidence::Medium
        },
    }
}

fn remedy(digest: &str, reads: bool) -> Remedy {
    let column = query::read(digest).and_then(|query| match query.equal.as_slice() {
        [column] => Some(column.name.clone()),
        _ => None,
    });
    let upper = digest.to_ascii_uppercase();
    let text = match (&column, reads) {
        (_, false) => "write all rows with one statement (VALUES with several rows, or a condition that picks them all)".to_owned(),
        (Some(column), true) if upper.contains("COUNT(") || upper.contains("SUM(") => {
            format!("ask once: {column} IN (…) with GROUP BY {column}; or keep the number in a column")
        }
        (Some(column), true) => {
            format!("collect the values first and ask once, with {column} IN (…) or a JOIN")
        }
        (None, true) => "ask once for all of them, with a JOIN or IN (…)".to_owned(),
    };
    let exact = column
        .filter(|_| reads && digest.matches(" = ?").count() == 1)
        .map(|_| digest.replace(" = ?", " IN (?)"));
    Remedy {
        text,
        exact,
        safety: Safety::Code,
    }
}
