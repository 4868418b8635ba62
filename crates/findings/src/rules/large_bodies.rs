//! Pictures and other files served out of the database.

use crate::rule_id::RuleId;
use breakdown::{RouteBalance, SqlSummary};
use figures::numbers;
use recording::{ColumnFacts, DatabaseFacts};
use words::text;

use super::missing_index;
use crate::context::Context;
use crate::lookups;
use crate::query;
use crate::text::{fit, ms, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Bodies from which a file is cheaper than a row. Chosen by judgement.
const BODY_BYTES_MIN: f64 = 8.0 * 1024.0;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(database) = &context.recording.database else {
        return Vec::new();
    };
    let sending = context.breakdown.routes.iter().filter(|route| {
        let kind = route
            .answers
            .as_ref()
            .and_then(|answers| answers.content_type.as_deref());
        route.body_bytes >= BODY_BYTES_MIN && kind.is_some_and(is_binary)
    });
    sending
        .filter_map(|route| {
            let (sql, column) = source(context, database, &route.route)?;
            Some(finding(context, route, sql, column))
        })
        .collect()
}

fn is_binary(content_type: &str) -> bool {
    [
        "image/",
        "video/",
        "audio/",
        "font/",
        "application/octet-stream",
        "application/pdf",
    ]
    .iter()
    .any(|start| content_type.starts_with(start))
}

/// Returns the statement of a route reading a table with a large column of bytes.
fn source<'a>(
    context: &Context<'a>,
    database: &'a DatabaseFacts,
    route: &str,
) -> Option<(&'a SqlSummary, &'a ColumnFacts)> {
    context.breakdown.sql.iter().find_map(|sql| {
        let mut routes = sql.routes.iter();
        let issued = routes.any(|(name, each)| name == route && *each >= 0.9);
        let query = query::read(&sql.digest).filter(|_| issued && sql.rows > 0)?;
        let column = database.columns.iter().find(|column| {
            column.binary
                && column.bytes_mean as f64 >= BODY_BYTES_MIN / 2.0
                && query.tables.iter().any(|table| table.name == column.table)
        })?;
        Some((sql, column))
    })
}

fn finding(
    context: &Context<'_>,
    route: &RouteBalance,
    sql: &SqlSummary,
    column: &ColumnFacts,
) -> Finding {
    // What an index would give is that finding's gain.
    let share = if missing_index::is_wanted_by(context, sql) {
        1.0 - lookups::GAIN_MAX
    } else {
        1.0
    };
    let saved = context.statement_demand(sql, share);
    let gain = context.gain(&saved);
    Finding {
        rule: RuleId::LargeBodies,
        route: route.route.clone(),
        title: title(text!(
            "{route} sends {size} per request out of {table}.{column}",
            route = route.route,
            size = numbers::bytes(route.body_bytes as u64),
            table = column.table,
            column = column.column
        )),
        why: text!("each body goes through the database, its driver and Ruby before it goes out"),
        evidence: vec![
            text!(
                "{requests} requests; {size} per value on average",
                requests = numbers::count(route.requests),
                size = numbers::bytes(column.bytes_mean)
            ),
            text!(
                "{count} × at {place}: {statement}",
                count = numbers::count(sql.count),
                place = place(sql.called_from.first().map(String::as_str)),
                statement = fit(&sql.digest, 160)
            ),
        ],
        remedy: Remedy {
            text: text!(
                "keep them as files (or objects), named by their content, and let the proxy serve them"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: −{saved} in the statement alone",
            gain = gain.text,
            saved = ms(saved.sum())
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::High,
    }
}
