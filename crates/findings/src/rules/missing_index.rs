//! A table read from end to end for a few rows an index would name.

mod migration;
pub(super) mod sayings;
mod unfit;

use crate::rule_id::RuleId;
use std::collections::{BTreeMap, HashMap};

use breakdown::SqlSummary;
use recording::{Access, ExplainedStatement, IndexColumns, PlanStep, TextId};
use words::text;

use crate::context::Context;
use crate::demand::Demand;
use crate::lookups;
use crate::query::{self, Column, Query};
use crate::text::title;
use crate::types::{Confidence, Finding};
use sayings::{Told, remedy};

/// Rows of a table below which a read without an index is as fast: a page or two.
const ROWS_MIN: u64 = 100;
/// Rows below which a range of an index is read fast enough. Ten times as much, since the range may
/// be narrow.
const ROWS_MIN_IN_RANGE: u64 = 1_000;
/// Share of a table's rows returned from which an index would lead to so many rows that reading all
/// is as fast. Planners draw the line between a tenth and a third.
const RETURNED_MAX: f64 = 0.3;
/// Share saved of a statement walking an index in the order of the result, without another
/// statement for comparison: a guess.
const SAVED_IN_ORDER: f64 = 0.5;

/// Way of a plan to read unwanted rows, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reads {
    /// The table from end to end.
    All,
    /// An index along a range.
    Range,
    /// An index in the order of the result, until there are as many rows as the LIMIT wants.
    Order,
    /// An index covering a part of the condition only.
    Part,
}

/// Columns wanted in an index on one table, and the statements in need.
struct Wanted<'a> {
    /// Columns compared for equality: first in the index, in any order.
    equal: Vec<String>,
    /// One for a range or an order, last.
    tail: Option<String>,
    reads: Reads,
    table_rows: u64,
    /// The index in use, if covering a part of the condition only.
    used: Option<&'a IndexColumns>,
    /// Each with its own way to read.
    statements: Vec<(&'a SqlSummary, Reads)>,
}

/// Whether an index is found missing for a statement.
pub(crate) fn is_wanted_by(context: &Context<'_>, sql: &SqlSummary) -> bool {
    let of_statement = |explained: &&ExplainedStatement| explained.digest == sql.id;
    let query = query::read(&sql.digest);
    let explained = context.recording.explained.iter().find(of_statement);
    let quickest = context.lookup_ms();
    query.zip(explained).is_some_and(|(query, explained)| {
        let wants = |place| wanted(&query, explained, place, (sql, quickest)).is_some();
        (0..explained.steps.len()).any(wants)
    })
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let tables = tables(context);
    tables
        .iter()
        .flat_map(|(table, wanted)| wanted.iter().map(move |wanted| (table, wanted)))
        .map(|(table, wanted)| finding(context, table, wanted))
        .collect()
}

/// Returns the share of each statement's time saved by missing indexes.
pub(crate) fn saved(context: &Context<'_>) -> HashMap<TextId, f64> {
    let mut saved: HashMap<TextId, f64> = HashMap::new();
    for (table, wanted) in tables(context) {
        for wanted in &wanted {
            for (sql, reads) in &wanted.statements {
                let most = saved.entry(sql.id).or_default();
                *most = most.max(wanted.saved_share(context, &table, (*sql, *reads)));
            }
        }
    }
    saved
}

/// Returns the indexes missing by table.
fn tables<'a>(context: &Context<'a>) -> BTreeMap<String, Vec<Wanted<'a>>> {
    let mut tables: BTreeMap<String, Vec<Wanted<'a>>> = BTreeMap::new();
    let quickest = context.lookup_ms();
    for explained in &context.recording.explained {
        let summary = context
            .breakdown
            .sql
            .iter()
            .find(|sql| sql.id == explained.digest);
        let digest = context.text(explained.digest);
        if let (Some(summary), Some(query)) = (summary, query::read(digest)) {
            for (place, step) in explained.steps.iter().enumerate() {
                if let Some(wanted) = wanted(&query, explained, place, (summary, quickest)) {
                    merge(tables.entry(step.table.clone()).or_default(), wanted);
                }
            }
        }
    }
    tables
}

/// Returns the index missing for step `place` of a plan; `None` when none is missing, or when
/// unsure. With the statement comes the time of the run's quickest lookup.
fn wanted<'a>(
    query: &Query,
    explained: &'a ExplainedStatement,
    place: usize,
    (summary, quickest): (&'a SqlSummary, Option<f64>),
) -> Option<Wanted<'a>> {
    let step = &explained.steps[place];
    let named = query
        .tables
        .iter()
        .filter(|table| table.name.eq_ignore_ascii_case(&step.table));
    let is_known = named.count() == 1 && step.access != Access::Other;
    if !is_known || returns_most(query, step, summary) {
        return None;
    }
    let own = |column: &Column| own_column(query, explained, step, column);
    let mut equal: Vec<String> = Vec::new();
    for name in query.equal.iter().filter_map(own) {
        if !equal.contains(&name) {
            equal.push(name);
        }
    }
    // The first step's table has to be read first: there the join gives no values to look for.
    let by_join = place > 0 && equal.is_empty();
    let joined = query.joined.iter().flat_map(|(a, b)| [a, b]);
    let joined: Vec<String> = joined.filter(|_| by_join).filter_map(own).collect();
    equal.extend(joined.first().cloned());
    let range = query.range.iter().find_map(own);
    let order = query.order.first().filter(|_| !query.grouped).and_then(own);
    let read = rows_read(query, step, range.as_deref(), order.as_deref());
    let leading = match equal.as_slice() {
        [] if sorts_all(query, step) => order.as_slice(),
        [] => range.as_slice(),
        _ if by_join => joined.as_slice(),
        equal => equal,
    };
    let lacking = !leading.is_empty() && !leading.iter().any(|column| leads(step, column));
    let in_order = (lacking || query.limited) && !query.lists;
    let bounds = range.or(order.filter(|_| in_order));
    let tail = bounds.filter(|tail| !equal.contains(tail));
    let asked = unfit::Asked {
        equal: &equal,
        tail: tail.as_deref(),
    };
    let (reads, table_rows, used) = match read.filter(|_| lacking) {
        Some((reads, rows)) => (reads, rows, None),
        None => {
            let used = unfit::of(query, step, &asked, (summary, quickest))?;
            (Reads::Part, step.table_rows, Some(used))
        }
    };
    Some(Wanted {
        equal,
        tail,
        reads,
        table_rows,
        used,
        statements: vec![(summary, reads)],
    })
}

/// Whether a statement returns too many of the table's rows for an index to be missing, such as
/// those with `deleted_at IS NULL` of nearly all. Rows of an aggregate, of groups, up to a LIMIT
/// and of a join say nothing of the rows found.
fn returns_most(query: &Query, step: &PlanStep, sql: &SqlSummary) -> bool {
    let are_all = !query.limited && !query.grouped && query.tables.len() == 1;
    let rows = step.table_rows.max(step.rows) as f64;
    let returns = || sql.rows_each() >= RETURNED_MAX * rows;
    are_all && !query::aggregates(&sql.digest) && returns()
}

/// Whether a step reads and sorts a whole table for the first rows alone.
fn sorts_all(query: &Query, step: &PlanStep) -> bool {
    let whole = step.access == Access::FullScan && step.sorts && !query.filtered;
    whole && query.limited && query.tables.len() == 1
}

/// Whether a plan's full scan is a walk along an index, or along the table, in the order of the
/// result: nothing is sorted, so the LIMIT ends the walk.
pub(super) fn walks_to_limit(query: &Query, step: &PlanStep) -> bool {
    let in_order = query.ordered && !query.grouped && query.tables.len() == 1;
    step.access == Access::FullScan && query.limited && in_order && !step.sorts
}

/// Returns how many rows a step reads for want of an index; `None` for too few to matter, or by an
/// index likely to serve well.
///
/// Besides full scans this is a statement on one table that walks an index along a range: `id > ?`
/// picks no rows of a channel, but SQLite and MySQL both like to take the primary key for it.
/// `ORDER BY id LIMIT ?` picks none either; PostgreSQL walks the primary key until it has met
/// enough rows. In plans such a walk over a whole index is a full scan without a sort.
fn rows_read(
    query: &Query,
    step: &PlanStep,
    range: Option<&str>,
    order: Option<&str>,
) -> Option<(Reads, u64)> {
    let by_index = matches!(step.access, Access::Index(_) | Access::PrimaryKey);
    let told = match step.rows {
        0 => step.table_rows,
        rows => rows,
    };
    let is_led_by = |column: &str| query.tables.len() == 1 && leads(step, column);
    let (reads, rows, rows_min) = if walks_to_limit(query, step) {
        (Reads::Order, step.table_rows, ROWS_MIN_IN_RANGE)
    } else if step.access == Access::FullScan {
        (Reads::All, step.table_rows.max(step.rows), ROWS_MIN)
    } else if range.is_some_and(is_led_by) {
        (Reads::Range, told, ROWS_MIN_IN_RANGE)
    } else if by_index && query.limited && order.is_some_and(is_led_by) {
        (Reads::Order, step.table_rows, ROWS_MIN_IN_RANGE)
    } else {
        return None;
    };
    (rows >= rows_min).then_some((reads, rows))
}

/// Whether an index of the step's table begins with `column`.
pub(super) fn leads(step: &PlanStep, column: &str) -> bool {
    let first = |columns: &[String]| {
        columns
            .first()
            .is_some_and(|c| c.eq_ignore_ascii_case(column))
    };
    step.indexes.iter().any(|index| first(&index.columns))
}

/// Returns the column's real name if the column certainly belongs to the step's table.
pub(super) fn own_column(
    query: &Query,
    explained: &ExplainedStatement,
    step: &PlanStep,
    column: &Column,
) -> Option<String> {
    let in_step = |step: &PlanStep| {
        let same = |name: &&String| name.eq_ignore_ascii_case(&column.name);
        step.columns.iter().find(same).cloned()
    };
    let found = in_step(step)?;
    match &column.qualifier {
        Some(qualifier) => {
            let means = |name: &str| name.eq_ignore_ascii_case(qualifier);
            let table = query
                .tables
                .iter()
                .find(|t| means(&t.alias) || means(&t.name))?;
            table
                .name
                .eq_ignore_ascii_case(&step.table)
                .then_some(found)
        }
        None if query.tables.len() == 1 => Some(found),
        None => {
            let owners = explained
                .steps
                .iter()
                .filter(|step| in_step(step).is_some())
                .count();
            let all_known = explained.steps.len() >= query.tables.len();
            (owners == 1 && all_known).then_some(found)
        }
    }
}

/// Joins `new` with a wish for the same index.
fn merge<'a>(wishes: &mut Vec<Wanted<'a>>, new: Wanted<'a>) {
    let same_equal = |a: &Wanted<'_>, b: &Wanted<'_>| {
        a.equal.len() == b.equal.len() && a.equal.iter().all(|column| b.equal.contains(column))
    };
    let fits = |wish: &&mut Wanted<'a>| {
        same_equal(wish, &new)
            && (wish.tail.is_none() || new.tail.is_none() || wish.tail == new.tail)
    };
    let Some(wish) = wishes.iter_mut().find(fits) else {
        wishes.push(new);
        return;
    };
    wish.tail = wish.tail.take().or(new.tail);
    wish.reads = wish.reads.min(new.reads);
    wish.table_rows = wish.table_rows.max(new.table_rows);
    wish.statements.extend(new.statements);
}

impl Wanted<'_> {
    fn columns(&self) -> Vec<&str> {
        self.equal
            .iter()
            .chain(&self.tail)
            .map(String::as_str)
            .collect()
    }

    /// Returns the demand saved by finding rows instead of searching.
    fn saved(&self, context: &Context<'_>, table: &str) -> Demand {
        self.statements
            .iter()
            .map(|(sql, reads)| {
                let share = self.saved_share(context, table, (*sql, *reads));
                context.statement_demand(sql, share)
            })
            .sum()
    }

    /// Returns the share of a statement's time saved, 0 to 1. How far an index is walked no plan
    /// says: what is more than a lookup on the same table takes.
    fn saved_share(
        &self,
        context: &Context<'_>,
        table: &str,
        (sql, reads): (&SqlSummary, Reads),
    ) -> f64 {
        if reads == Reads::Order {
            let quickest = lookups::quickest_ms(context, Some(table), None);
            // The statement may be the table's quickest lookup itself.
            let quickest = quickest.filter(|ms| *ms < lookups::mean_ms(sql));
            let saved = quickest.map_or(SAVED_IN_ORDER, |ms| lookups::saved_by_key(sql, ms));
            return saved.clamp(0.0, lookups::GAIN_MAX);
        }
        if reads == Reads::Part {
            let quickest = context.lookup_ms().unwrap_or_default();
            return lookups::saved_by_key(sql, quickest);
        }
        lookups::saved_of_scan(context, sql, self.table_rows)
    }

    /// Returns the confidence: an aggregate over most of a table rightly reads all of the table.
    fn confidence(&self) -> Confidence {
        let is_sure = |(sql, reads): &(&SqlSummary, Reads)| {
            *reads == Reads::All && !query::aggregates(&sql.digest)
        };
        match self.statements.iter().any(is_sure) {
            true => Confidence::High,
            false => Confidence::Medium,
        }
    }
}

fn finding(context: &Context<'_>, table: &str, wanted: &Wanted<'_>) -> Finding {
    let columns = wanted.columns().join(", ");
    let saved = wanted.saved(context, table);
    let gain = context.gain(&saved);
    let statements = || wanted.statements.iter().map(|(sql, _)| *sql);
    let most = statements().max_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
    let busiest = most.and_then(|sql| sql.routes.first());
    let route = busiest.map(|(route, _)| route.clone()).unwrap_or_default();
    let Told { how, read, why } = Told::of(wanted);
    let mut evidence = vec![sayings::plan(table, how)];
    evidence.extend(statements().map(sayings::executions));
    Finding {
        rule: RuleId::MissingIndex,
        title: title(text!(
            "missing index on {table} ({columns}): {read}",
            table,
            columns,
            read
        )),
        why,
        evidence,
        remedy: remedy(context, table, &wanted.columns()),
        estimated_gain: sayings::unread(gain.text, &saved),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: wanted.confidence(),
        route,
    }
}
