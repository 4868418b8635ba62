//! A table read from end to end for a few rows that an index would name.

use std::collections::{BTreeMap, HashMap};

use breakdown::SqlSummary;
use recording::{Access, ExplainedStatement, PlanStep, TextId};

use crate::context::Context;
use crate::demand::Demand;
use crate::numbers;
use crate::query::{self, Column, Query};
use crate::text::{fit, ms, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Tables below so many rows are read as fast without an index: they fit a page or two.
const ROWS_MIN: u64 = 100;
/// The same where the plan uses an index, but one that only bounds a range. Ten times as much, since
/// the range may be narrow.
const ROWS_MIN_IN_RANGE: u64 = 1_000;
/// An index does not make a statement free: this share of its time goes at most. Found by weighing.
pub(crate) const GAIN_MAX: f64 = 0.9;

/// Columns an index should have on one table, and which statements ask for it.
struct Wanted<'a> {
    /// Compared for equality: these come first, in any order.
    equal: Vec<String>,
    /// One for a range or an order, last.
    tail: Option<String>,
    full_scan: bool,
    table_rows: u64,
    statements: Vec<&'a SqlSummary>,
}

/// Whether an index is found missing for a statement.
pub(crate) fn is_wanted_by(context: &Context<'_>, sql: &SqlSummary) -> bool {
    let of_statement = |explained: &&ExplainedStatement| explained.digest == sql.id;
    let query = query::read(&sql.digest);
    let explained = context.recording.explained.iter().find(of_statement);
    query.zip(explained).is_some_and(|(query, explained)| {
        (0..explained.steps.len()).any(|place| wanted(&query, explained, place, sql).is_some())
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

/// The shares of statements' time that missing indexes would save.
pub(crate) fn saved(context: &Context<'_>) -> HashMap<TextId, f64> {
    let mut saved: HashMap<TextId, f64> = HashMap::new();
    for wanted in tables(context).values().flatten() {
        for sql in &wanted.statements {
            let most = saved.entry(sql.id).or_default();
            *most = most.max(wanted.saved_share(sql));
        }
    }
    saved
}

/// The indexes that tables lack.
fn tables<'a>(context: &Context<'a>) -> BTreeMap<String, Vec<Wanted<'a>>> {
    let mut tables: BTreeMap<String, Vec<Wanted<'a>>> = BTreeMap::new();
    for explained in &context.recording.explained {
        let summary = context
            .breakdown
            .sql
            .iter()
            .find(|sql| sql.id == explained.digest);
        let digest = context.text(explained.digest);
        if let (Some(summary), Some(query)) = (summary, query::read(digest)) {
            for (place, step) in explained.steps.iter().enumerate() {
                if let Some(wanted) = wanted(&query, explained, place, summary) {
                    merge(tables.entry(step.table.clone()).or_default(), wanted);
                }
            }
        }
    }
    tables
}

/// The index that step `place` of a plan lacks; `None` when it lacks none, or that is not sure.
fn wanted<'a>(
    query: &Query,
    explained: &ExplainedStatement,
    place: usize,
    summary: &'a SqlSummary,
) -> Option<Wanted<'a>> {
    let step = &explained.steps[place];
    let named = query
        .tables
        .iter()
        .filter(|table| table.name.eq_ignore_ascii_case(&step.table));
    if named.count() != 1 || step.access == Access::Other {
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
    if place > 0 && equal.is_empty() {
        let joined = query
            .joined
            .iter()
            .flat_map(|(a, b)| [a, b])
            .filter_map(own);
        equal.extend(joined.take(1));
    }
    let range = query.range.iter().find_map(own);
    let full_scan = step.access == Access::FullScan;
    let rows = rows_read(query, step, range.as_deref())?;
    let order = query.order.first().filter(|_| !query.grouped).and_then(own);
    let tail = range.clone().or(order).filter(|tail| !equal.contains(tail));
    let leading = if equal.is_empty() {
        range.as_slice()
    } else {
        equal.as_slice()
    };
    let lacking = !leading.is_empty() && !leading.iter().any(|column| leads(step, column));
    lacking.then(|| Wanted {
        equal,
        tail,
        full_scan,
        table_rows: rows,
        statements: vec![summary],
    })
}

/// How many rows a step reads for want of an index; `None` when too few to matter, or by an index that
/// may serve well.
///
/// Besides full scans this is a statement on one table that walks an index along a range: `id > ?` picks
/// no rows of a channel, but SQLite and MySQL both like to take the primary key for it.
fn rows_read(query: &Query, step: &PlanStep, range: Option<&str>) -> Option<u64> {
    let (rows, rows_min) = match (&step.access, range) {
        (Access::FullScan, _) => (step.table_rows.max(step.rows), ROWS_MIN),
        (_, Some(range)) if query.tables.len() == 1 && leads(step, range) => {
            let told = if step.rows > 0 {
                step.rows
            } else {
                step.table_rows
            };
            (told, ROWS_MIN_IN_RANGE)
        }
        _ => return None,
    };
    (rows >= rows_min).then_some(rows)
}

/// Whether an index of the step's table begins with `column`.
fn leads(step: &PlanStep, column: &str) -> bool {
    let first = |columns: &[String]| {
        columns
            .first()
            .is_some_and(|c| c.eq_ignore_ascii_case(column))
    };
    step.indexes.iter().any(|index| first(&index.columns))
}

/// The column's real name if it certainly belongs to the step's table.
fn own_column(
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

/// Joins `new` with a wish that the same index fulfils.
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
    wish.full_scan |= new.full_scan;
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

    /// What goes when rows are found instead of searched.
    fn saved(&self, context: &Context<'_>) -> Demand {
        self.statements
            .iter()
            .map(|sql| context.statement_demand(sql, self.saved_share(sql)))
            .fold(Demand::default(), Demand::plus)
    }

    /// The share of a statement's time that goes.
    fn saved_share(&self, sql: &SqlSummary) -> f64 {
        let returned = sql.rows as f64 / sql.count.max(1) as f64;
        let searched = 1.0 - returned / self.table_rows.max(1) as f64;
        searched.clamp(0.0, GAIN_MAX)
    }
}

fn finding(context: &Context<'_>, table: &str, wanted: &Wanted<'_>) -> Finding {
    let columns = wanted.columns().join(", ");
    let saved = wanted.saved(context);
    let gain = context.gain(&saved);
    let most = wanted
        .statements
        .iter()
        .max_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
    let busiest = most.and_then(|sql| sql.routes.first());
    let route = busiest.map(|(route, _)| route.clone()).unwrap_or_default();
    let how = if wanted.full_scan {
        "reads it from end to end"
    } else {
        "walks an index along a range"
    };
    let mut evidence = vec![format!("the database's plan for {table} {how}")];
    for sql in &wanted.statements {
        let each = ms(sql.time_ms / sql.count.max(1) as f64);
        let count = numbers::count(sql.count);
        let site = sql.called_from.first();
        let line = place(site.map(String::as_str));
        let digest = fit(&sql.digest, 160);
        evidence.push(format!("{count} × {each} at {line}: {digest}"));
    }
    Finding {
        rule: "missing-index",
        title: title(&format!(
            "missing index on {table} ({columns}): {} rows read each time",
            numbers::count(wanted.table_rows)
        )),
        why: "every row is read to find a few, and the time grows with the table".to_owned(),
        evidence,
        remedy: remedy(
            &context.recording.meta.target.database,
            table,
            &wanted.columns(),
        ),
        estimated_gain: format!(
            "{}: −{} in all, spent on rows that are not returned",
            gain.text,
            ms(saved.sum()),
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: if wanted.full_scan {
            Confidence::High
        } else {
            Confidence::Medium
        },
        route,
    }
}

fn remedy(database: &str, table: &str, columns: &[&str]) -> Remedy {
    let postgres = database.to_ascii_lowercase().contains("postgres");
    let backticks = ["mysql", "maria"]
        .iter()
        .any(|kind| database.to_ascii_lowercase().contains(kind));
    let quote = |name: &str| quoted(name, if backticks { '`' } else { '"' });
    let name = quote(&format!("{table}_{}", columns.join("_")));
    let listed: Vec<String> = columns.iter().map(|column| quote(column)).collect();
    let (how, side) = if postgres {
        (
            "INDEX CONCURRENTLY",
            "built without blocking writes, but outside of a transaction",
        )
    } else if backticks {
        (
            "INDEX",
            "InnoDB builds it while writes go on; TEXT and BLOB columns need a length",
        )
    } else {
        ("INDEX", "they wait while it is built")
    };
    let exact = format!(
        "CREATE {how} {name} ON {} ({})",
        quote(table),
        listed.join(", ")
    );
    Remedy {
        text: format!("add the index; writes to {table} cost a little more ({side})"),
        exact: Some(exact),
        safety: Safety::Careful,
    }
}

/// Names that are plain and common need no quotes; what looks like a keyword gets them.
fn quoted(name: &str, quote: char) -> String {
    const KEYWORDS: [&str; 12] = [
        "group",
        "order",
        "key",
        "user",
        "index",
        "table",
        "rank",
        "condition",
        "option",
        "range",
        "to",
        "from",
    ];
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !KEYWORDS.contains(&name);
    if plain {
        name.to_owned()
    } else {
        let doubled = name.replace(quote, &format!("{quote}{quote}"));
        format!("{quote}{doubled}{quote}")
    }
}
