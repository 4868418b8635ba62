//! One statement again and again in one request, from one source line.

use std::collections::HashMap;

use recording::{Nanos, TextId};

use crate::context::Context;
use crate::query;
use crate::text::{fit, ms, percent, times, title};
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
    requests: u64,
    count: u64,
    time: Nanos,
    rows: u64,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut repeats: HashMap<(usize, TextId, TextId), Repeat> = HashMap::new();
    for request in &context.joined.requests {
        for used in request.handled.iter().flat_map(|handled| &handled.sql) {
            let key = (request.route, used.digest, used.site);
            let repeat = repeats.entry(key).or_default();
            repeat.requests += 1;
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
            counts.then(|| finding(context, route, digest, context.text(site), &repeat))
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
    site: &str,
    repeat: &Repeat,
) -> Finding {
    let count = times(repeat.per_request());
    let each = ms(repeat.time.as_millis_f64() / repeat.count as f64);
    let place = if site.is_empty() {
        "a source line unknown"
    } else {
        site
    };
    // The line's file and number say most; what is after them is cut first.
    let short_place = place.split(" in ").next().unwrap_or(place);
    let saved = repeat.saved_ms();
    let saved_each = saved / repeat.requests as f64;
    let mean = context.route(route).map_or(0.0, |route| route.seen_mean_ms);
    let brief = fit(&query::brief(digest), 36);
    let reads = matches!(query::verb(digest).as_str(), "SELECT" | "WITH");
    let sure = reads && repeat.per_request() >= REPEATS_SURE;
    Finding {
        rule: "n-plus-one",
        route: route.to_owned(),
        title: title(&format!(
            "N+1 on {route}: {count} × {brief} at {short_place}"
        )),
        why: "each execution is a round trip and work in the driver, one after another, and the \
              number grows with the data"
            .to_owned(),
        evidence: vec![
            format!(
                "{count} executions a request in {} requests, {each} each",
                repeat.requests
            ),
            format!("statement: {}", fit(digest, 200)),
            format!("called from {place}"),
            format!("{} rows in all", repeat.rows),
        ],
        remedy: remedy(digest, reads),
        estimated_gain: format!(
            "−{} of {} a request on {route}, {} of all time: the time of all executions but one",
            ms(saved_each),
            ms(mean),
            percent(context.share(saved)),
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
            format!("ask once for all, with {column} IN (…) and GROUP BY {column}, or keep the number in a column")
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
