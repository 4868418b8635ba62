//! The figures of `hakaru logs` as JSON; docs/json.md names each key.

use logs::access::Row;
use logs::slow::Statement;
use logs::{Digest, Times, Unread};
use serde_json::{Value, json};

/// Format and version of the document.
const FORMAT: &str = "hakaru-logs";
const VERSION: u32 = 1;

/// Returns the JSON document: all routes or statements, by time, greatest first.
pub fn of(digest: &Digest) -> String {
    let (kind, rows) = match digest {
        Digest::Access(access) => {
            let rows: Vec<Value> = access.rows().iter().map(route).collect();
            ("routes", rows)
        }
        Digest::Slow(slow) => {
            let rows: Vec<Value> = slow.statements().iter().map(statement).collect();
            ("statements", rows)
        }
    };
    let document = json!({
        "format": FORMAT, "version": VERSION, kind: rows, "unread": lines(digest.unread()),
    });
    format!("{document:#}\n")
}

pub(crate) fn lines(unread: &Unread) -> Value {
    let first = unread.first.as_ref();
    json!({ "lines": unread.lines, "first": first.map(|(number, line)| json!({ "line": number, "text": line })) })
}

pub(crate) fn route(row: &Row) -> Value {
    let statuses = ["other", "1xx", "2xx", "3xx", "4xx", "5xx"];
    let statuses: serde_json::Map<String, Value> = (statuses.iter().zip(row.statuses))
        .map(|(name, count)| ((*name).to_owned(), count.into()))
        .collect();
    json!({
        "route": row.route, "requests": row.requests, "statuses": statuses,
        "time": times(&row.times), "upstream": times(&row.upstream),
        "bytes": { "sum": row.sizes.sum, "min": row.sizes.min, "max": row.sizes.max, "mean": row.sizes.mean() },
    })
}

pub(crate) fn statement(statement: &Statement) -> Value {
    json!({
        "digest": statement.digest, "time": times(&statement.times), "lock_s": statement.lock_s,
        "rows_sent": statement.rows_sent, "rows_examined": statement.rows_examined,
    })
}

/// Seconds.
fn times(times: &Times) -> Value {
    let at = |percent| times.percentile(percent);
    json!({
        "count": times.count(), "sum_s": times.sum(), "mean_s": times.mean(), "stddev_s": times.deviation(),
        "min_s": at(0), "p50_s": at(50), "p90_s": at(90), "p95_s": at(95), "p99_s": at(99), "max_s": at(100),
    })
}
