//! `SELECT *` with more bytes fetched than the response can hold.

use crate::rule_id::RuleId;
use breakdown::{RouteBalance, SqlSummary};
use figures::numbers;
use words::text;

use crate::context::Context;
use crate::query;
use crate::text::{fit, ms, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Bytes fetched a request below which nobody would notice. Chosen by judgement.
const FETCHED_BYTES_MIN: f64 = 8.0 * 1024.0;
/// Factor of fetched bytes over the body's from which a part of the bytes cannot be in the body,
/// escaped or not.
const BODIES_MIN: f64 = 2.0;
/// Columns with shorter values cost little. Chosen by judgement.
const VALUE_BYTES_MIN: u64 = 100;
/// Bytes of the other columns of a row: ids, times and names. A guess, as good as the estimate
/// needs.
const NARROW_BYTES: f64 = 100.0;
/// Share of the wide columns' part of a statement's time saved without the columns: finding the row
/// is needed in any case.
const SAVED: f64 = 0.5;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(database) = &context.recording.database else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for sql in &context.breakdown.sql {
        let Some(query) = query::read(&sql.digest) else {
            continue;
        };
        let ([table], true) = (
            query.tables.as_slice(),
            query::returns_all_columns(&sql.digest),
        ) else {
            continue;
        };
        let wide = database
            .columns
            .iter()
            .filter(|column| column.table == table.name && column.bytes_mean >= VALUE_BYTES_MIN);
        let names: Vec<&str> = wide.clone().map(|column| column.column.as_str()).collect();
        let row_bytes: u64 = wide.map(|column| column.bytes_mean).sum();
        let rows = sql.rows_each();
        let mut routes = sql
            .routes
            .iter()
            .filter_map(|(name, _)| context.route(name));
        if routes.any(is_compressed) {
            continue;
        }
        // Every route that issues it has to show it: a body that holds all of it needs all of it.
        let shown = sql.routes.iter().filter_map(|(name, each)| {
            let route = context
                .route(name)
                .filter(|route| route.shown_bytes > 0.0)?;
            Some((route, each * rows * row_bytes as f64))
        });
        let Some((route, fetched)) =
            shown.min_by(|(a, x), (b, y)| (x / a.shown_bytes).total_cmp(&(y / b.shown_bytes)))
        else {
            continue;
        };
        if fetched < FETCHED_BYTES_MIN || fetched < BODIES_MIN * route.shown_bytes {
            continue;
        }
        findings.push(finding(
            context,
            sql,
            route,
            &Wide {
                table: &table.name,
                columns: names,
                rows,
                fetched,
                share: row_bytes as f64 / (row_bytes as f64 + NARROW_BYTES),
            },
        ));
    }
    findings
}

/// Whether a route's bodies are compressed: the bytes then do not say how much a body holds.
pub(super) fn is_compressed(route: &RouteBalance) -> bool {
    let answers = route.answers.as_ref();
    answers.is_some_and(|answers| answers.content_encoding.is_some())
}

/// Wide columns fetched by a statement.
struct Wide<'a> {
    table: &'a str,
    columns: Vec<&'a str>,
    /// Rows an execution.
    rows: f64,
    /// Bytes a request.
    fetched: f64,
    /// Share of a row's bytes in the wide columns.
    share: f64,
}

fn finding(
    context: &Context<'_>,
    sql: &SqlSummary,
    route: &RouteBalance,
    wide: &Wide<'_>,
) -> Finding {
    let saved = context.statement_demand(sql, wide.share * SAVED);
    let gain = context.gain(&saved);
    Finding {
        rule: RuleId::WideColumns,
        route: route.route.clone(),
        title: title(text!(
            "SELECT * FROM {table} fetches {size} that {route} cannot show",
            table = wide.table,
            size = numbers::bytes(wide.fetched as u64),
            route = route.route
        )),
        why: text!("long values are read, sent and made into objects, and thrown away"),
        evidence: vec![
            text!(
                "{size} per request in {columns}; the body has {body}",
                size = numbers::bytes(wide.fetched as u64),
                columns = wide.columns.join(", "),
                body = numbers::bytes(route.shown_bytes as u64)
            ),
            text!(
                "{rows} rows each at {place}: {statement}",
                rows = format!("{:.0}", wide.rows),
                place = place(sql.called_from.first().map(String::as_str)),
                statement = fit(&sql.digest, 160)
            ),
        ],
        remedy: Remedy {
            text: text!(
                "name the columns and rows that are used (`select` in ActiveRecord and Sequel), and leave out {columns}, \
                 unless something reads it: of a column left out ActiveRecord raises an error, and Sequel gives nil",
                columns = wide.columns.join(", ")
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: −{saved} in all, half of the statement's time by its share of bytes; less garbage too",
            gain = gain.text,
            saved = ms(saved.sum())
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::High,
    }
}
