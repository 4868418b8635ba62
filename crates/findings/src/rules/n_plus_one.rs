//! One statement again and again in one request, from one source line.

use std::collections::HashMap;

use recording::{Nanos, RequestId, TextId};

use crate::context::Context;
use crate::numbers;
use crate::query;
use crate::text::{called_from, fit, ms, place, times, title};
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
    gvl_wait: Nanos,
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
            repeat.gvl_wait += used.gvl_wait;
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
            counts.then(|| finding(context, route, digest, site, &repeat.of_all(context)))
        })
        .collect()
}

impl Repeat {
    /// In all requests of the run, where only some carried a number.
    fn of_all(&self, context: &Context<'_>) -> Repeat {
        let all = |count| context.joined.in_all(count);
        Repeat {
            last: self.last,
            requests: all(self.requests),
            count: all(self.count),
            time: Nanos(all(self.time.0)),
            gvl_wait: Nanos(all(self.gvl_wait.0)),
            rows: all(self.rows),
        }
    }

    fn per_request(&self) -> f64 {
        self.count as f64 / self.requests as f64
    }

    /// What all executions but one a request took, without waiting for the GVL.
    fn saved_ms(&self) -> f64 {
        let own = self.time.as_millis_f64() - self.gvl_wait.as_millis_f64();
        own.max(0.0) * (1.0 - 1.0 / self.per_request())
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
    let gain = context.gain(context.sql_demand(route, saved));
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
        why: "each execution is a round trip and work in the driver, and their number grows with the data"
            .to_owned(),
        evidence,
        remedy: remedy(digest, reads),
        estimated_gain: format!(
            "{}: −{} of {} a request on {route}",
            gain.text,
            ms(saved_each),
            ms(mean),
        ),
        gain_share: gain.share,
        confidence: if sure {
            Confidence::High
        } else {
            Confidence::Medium
        },
    }
}

fn remedy(digest: &str, reads: bool) -> Remedy {
    let query = query::read(digest);
    let column = query
        .as_ref()
        .and_then(|query| match query.equal.as_slice() {
            [column] => Some(column.name.as_str()),
            _ => None,
        });
    let text = match column {
        _ if !reads => "write all rows with one statement (VALUES with several rows, or a condition that picks them all)".to_owned(),
        Some(column) if aggregates(digest) => {
            format!("ask once: {column} IN (…) with GROUP BY {column}; or keep the number in a column")
        }
        Some(column) => {
            format!("collect the values first and ask once, with {column} IN (…) or a JOIN")
        }
        None => "ask once for all of them, with a JOIN or IN (…)".to_owned(),
    };
    // A LIMIT counts the rows of one value only, and a GROUP BY of its own has another meaning with many.
    let plain = query
        .as_ref()
        .is_some_and(|query| !query.limited && !query.grouped);
    let exact = column.filter(|_| reads && plain);
    Remedy {
        text,
        exact: exact.and_then(|column| for_all(digest, column)),
        safety: Safety::Code,
    }
}

/// The statement for all values at once; `None` when it is not plain how. The rows tell which value they
/// belong to, or nobody could hand them out.
fn for_all(digest: &str, column: &str) -> Option<String> {
    if digest.matches(" = ?").count() != 1 {
        return None;
    }
    let (_, rest) = digest.split_once("SELECT ")?;
    let (selected, tail) = rest.split_once(" FROM ")?;
    if selected.to_ascii_uppercase().starts_with("DISTINCT") {
        return None;
    }
    // As the statement spells it, with its table and quotes.
    let spelled = tail.split(" = ?").next()?.rsplit([' ', '(']).next()?;
    let tail = tail.replace(" = ?", " IN (?)");
    if aggregates(digest) {
        return Some(format!(
            "SELECT {spelled}, {selected} FROM {tail} GROUP BY {spelled}"
        ));
    }
    let named = selected
        .split([',', ' ', '.', '`', '"'])
        .any(|word| word == "*" || word.eq_ignore_ascii_case(column));
    let first = if named {
        String::new()
    } else {
        format!("{spelled}, ")
    };
    Some(format!("SELECT {first}{selected} FROM {tail}"))
}

/// Whether a statement sums its rows up.
fn aggregates(digest: &str) -> bool {
    let upper = digest.to_ascii_uppercase();
    ["COUNT(", "SUM(", "MAX(", "MIN(", "AVG("]
        .iter()
        .any(|function| upper.contains(function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_for_all_values_keep_their_meaning() {
        let check = |digest: &str, expected: Option<&str>| {
            assert_eq!(sql_digest::digest(digest.as_bytes()), digest, "no digest");
            assert_eq!(remedy(digest, true).exact.as_deref(), expected);
        };
        check(
            "SELECT COUNT(*) AS cnt FROM message WHERE channel_id = ?",
            Some(
                "SELECT channel_id, COUNT(*) AS cnt FROM message WHERE channel_id IN (?) GROUP BY channel_id",
            ),
        );
        check(
            "SELECT name, icon FROM users WHERE id = ?",
            Some("SELECT id, name, icon FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT id, name FROM users WHERE id = ?",
            Some("SELECT id, name FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT * FROM users WHERE id = ?",
            Some("SELECT * FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT `u`.* FROM `users` `u` WHERE `u`.`id` = ?",
            Some("SELECT `u`.* FROM `users` `u` WHERE `u`.`id` IN (?)"),
        );
        check(
            "SELECT m.a FROM m JOIN u ON m.x = u.y WHERE u.`key` = ?",
            Some("SELECT u.`key`, m.a FROM m JOIN u ON m.x = u.y WHERE u.`key` IN (?)"),
        );
        check("SELECT DISTINCT a FROM t WHERE b = ?", None);
        check("SELECT * FROM users WHERE id = ? AND team = ?", None);
        check("SELECT * FROM users WHERE id > ?", None);
        check(
            "SELECT * FROM message WHERE user_id = ? ORDER BY id LIMIT ?",
            None,
        );
        check("SELECT COUNT(*) FROM a WHERE b = ? GROUP BY c", None);
    }
}
