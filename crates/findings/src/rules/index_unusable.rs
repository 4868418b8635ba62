//! A condition without an index to serve it: the table is read from end to end.

use breakdown::SqlSummary;
use figures::numbers;
use recording::{Access, ExplainedStatement, PlanStep, TextId};
use words::{Text, text};

use super::missing_index::{is_wanted_by, leads, own_column, sayings, walks_to_limit};
use crate::context::Context;
use crate::demand::Demand;
use crate::lookups::{self, MEAN_MS_MIN, SLOWER_MIN};
use crate::query::{self, Hides, Query};
use crate::rule_id::RuleId;
use crate::text::title;
use crate::types::{Confidence, Finding, Remedy, Safety};
use crate::worth::Worth;

/// Rows of a table below which reading all rows is fast enough.
const ROWS_MIN: u64 = 1_000;
/// Share of a table's rows up to which an index would be the better way: planners read the table
/// from a tenth or so.
const RETURNED_MAX: f64 = 0.05;
/// Share of the handlers' time from which a statement is worth a finding, as for rows read, unless
/// the scan takes most of a route.
const SHARE_MIN: f64 = 0.03;
/// Reason why no index serves a condition.
enum Reason {
    /// The column stands in an expression, such as `lower(…)`.
    Expression(String),
    Pattern,
    /// An index begins with the column, and the plan does not use the index: the value's type or
    /// collation is another one.
    Compared,
}

/// A statement with such a condition.
struct Unusable<'a> {
    table: &'a str,
    column: String,
    reason: Reason,
    rows: u64,
    sql: &'a SqlSummary,
    saved: Demand,
    worth: Worth,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let found = context.recording.explained.iter();
    let found = found.filter_map(|explained| of(context, explained));
    found.map(|found| finding(context, &found)).collect()
}

/// Whether a statement has a condition out of reach of any index.
pub(super) fn is_found(context: &Context<'_>, digest: TextId) -> bool {
    let mut explained = context.recording.explained.iter();
    explained.any(|explained| explained.digest == digest && of(context, explained).is_some())
}

fn of<'a>(context: &'a Context<'_>, explained: &'a ExplainedStatement) -> Option<Unusable<'a>> {
    let mut summaries = context.breakdown.sql.iter();
    let sql = summaries.find(|sql| sql.id == explained.digest)?;
    let query = query::read(&sql.digest)?;
    let ([_], [step]) = (query.tables.as_slice(), explained.steps.as_slice()) else {
        return None;
    };
    let rows = step.table_rows.max(step.rows);
    let few = sql.rows_each() <= RETURNED_MAX * rows as f64;
    let scans = step.access == Access::FullScan && rows >= ROWS_MIN && few;
    if !scans || is_wanted_by(context, sql) {
        return None;
    }
    let (column, reason) = hidden(&query, explained, step)
        .or_else(|| compared(context, &query, (explained, step), sql))?;
    let saved = context.statement_demand(sql, lookups::saved_of_scan(context, sql, rows));
    let worth = context.worth(&saved, context.share_inside(saved.sum()) >= SHARE_MIN)?;
    Some(Unusable {
        table: &step.table,
        column,
        reason,
        rows,
        sql,
        saved,
        worth,
    })
}

/// A column of the table hidden by a condition: behind an expression before behind a pattern.
fn hidden(
    query: &Query,
    explained: &ExplainedStatement,
    step: &PlanStep,
) -> Option<(String, Reason)> {
    let own = |column| own_column(query, explained, step, column);
    let mut found = query.hidden.iter().filter_map(|hidden| {
        let column = hidden.columns.iter().find_map(own)?;
        Some((column, &hidden.by))
    });
    let expression = found.clone().find_map(|(column, by)| match by {
        Hides::Expression(text) => {
            let text = text.replace("(…)", &format!("({column})"));
            Some((column, Reason::Expression(text)))
        }
        Hides::Pattern => None,
    });
    expression.or_else(|| found.next().map(|(column, _)| (column, Reason::Pattern)))
}

/// A column compared for equality whose index the plan leaves aside, in a slow statement.
fn compared(
    context: &Context<'_>,
    query: &Query,
    (explained, step): (&ExplainedStatement, &PlanStep),
    sql: &SqlSummary,
) -> Option<(String, Reason)> {
    let mean = lookups::mean_ms(sql);
    // The statement may be the run's quickest lookup itself.
    let quickest = context.lookup_ms().filter(|lookup| *lookup < mean);
    let slow = quickest.map_or(MEAN_MS_MIN, |lookup| SLOWER_MIN * lookup);
    // Where many rows have the value and a LIMIT ends the search early, planners rightly take no
    // index, or one in the order of the result; and none for an aggregate over many rows.
    let is_planned = walks_to_limit(query, step) || query::aggregates(&sql.digest);
    if mean < slow.max(MEAN_MS_MIN) || is_planned {
        return None;
    }
    let own = |column| own_column(query, explained, step, column);
    let mut columns = query.equal.iter().filter_map(own);
    let column = columns.find(|column| leads(step, column))?;
    Some((column, Reason::Compared))
}

fn finding(context: &Context<'_>, found: &Unusable<'_>) -> Finding {
    let Unusable { table, column, .. } = found;
    let sql = found.sql;
    let gain = context.gain(&found.saved);
    let rows = numbers::count(found.rows);
    Finding {
        rule: RuleId::IndexUnusable,
        title: title(match &found.reason {
            Reason::Expression(expression) => text!(
                "no index serves {expression} on {table}: {rows} rows read each time",
                expression,
                table,
                rows
            ),
            Reason::Pattern => text!(
                "no index serves {column} LIKE … on {table}: {rows} rows read each time",
                column,
                table,
                rows
            ),
            Reason::Compared => text!(
                "the index on {table} ({column}) is not used: {rows} rows read each time",
                table,
                column,
                rows
            ),
        }),
        route: sql
            .routes
            .first()
            .map(|(route, _)| route.clone())
            .unwrap_or_default(),
        why: why(&found.reason, column),
        evidence: [
            sayings::plan(table, sayings::from_end_to_end()),
            sayings::executions(sql),
        ]
        .into_iter()
        .chain(found.worth.evidence())
        .collect(),
        remedy: Remedy {
            text: remedy(&found.reason, column),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: sayings::unread(gain.text, &found.saved),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: found.worth.confidence(match found.reason {
            Reason::Expression(_) if !query::aggregates(&sql.digest) => Confidence::High,
            _ => Confidence::Medium,
        }),
    }
}

fn why(reason: &Reason, column: &str) -> Text {
    match reason {
        Reason::Expression(expression) => text!(
            "an index on {column} is sorted by {column} itself, so {expression} is computed for every row",
            column,
            expression
        ),
        Reason::Pattern => text!(
            "an index finds beginnings only: a pattern that begins with a wildcard is matched against every row, and so is \
             any pattern where the index is not sorted for patterns"
        ),
        Reason::Compared => text!(
            "an index begins with {column}, but the value has another type or collation (a text column compared with a \
             number), so that every row is converted; or the database's statistics are old",
            column
        ),
    }
}

fn remedy(reason: &Reason, column: &str) -> Text {
    match reason {
        Reason::Expression(expression) => text!(
            "compare {column} itself: a range from the first to the last value in place of {expression}; or index the \
             expression (PostgreSQL, SQLite, MySQL 8), in MariaDB a generated column",
            column,
            expression
        ),
        Reason::Pattern => text!(
            "search by a beginning where that is enough; else use an index made for words or parts of them (FULLTEXT, \
             PostgreSQL's pg_trgm, SQLite's FTS5)"
        ),
        Reason::Compared => text!(
            "pass a value of {column}'s own type, such as a String for a text column; then ANALYZE the table if the plan \
             stays",
            column
        ),
    }
}
