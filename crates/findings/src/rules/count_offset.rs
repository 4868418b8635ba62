//! Paging with a count of all rows and a skip over the rows before the page.

use crate::rule_id::RuleId;
use std::collections::HashMap;

use breakdown::SqlSummary;
use recording::TextId;
use words::{Text, text};

use super::missing_index;
use crate::context::Context;
use crate::lookups;
use crate::query::{self, Query};
use crate::text::{fit, ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Tables below so many rows are counted at once. Chosen by judgement.
const ROWS_MIN: u64 = 500;
/// Share of the skipping statement's time saved by keyset paging when the run has no lookup for
/// comparison: a guess.
const OFFSET_SHARE: f64 = 0.5;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    // What an index saves is its finding's gain: nothing is promised twice.
    let by_index = missing_index::saved(context);
    let statements = context.breakdown.sql.iter();
    statements
        .filter_map(|page| paging(context, page))
        .map(|paging| finding(context, &paging, &by_index))
        .collect()
}

/// A page's statement, and the statement counting the rows paged through.
struct Paging<'a> {
    page: &'a SqlSummary,
    count: &'a SqlSummary,
    route: &'a str,
    table: String,
    rows: u64,
}

fn paging<'a>(context: &Context<'a>, page: &'a SqlSummary) -> Option<Paging<'a>> {
    let query = query::read(&page.digest).filter(|query| query.limited)?;
    let offset = page.digest.to_ascii_uppercase().contains(" OFFSET ");
    let ([table], true) = (query.tables.as_slice(), offset) else {
        return None;
    };
    let (route, _) = page.routes.first()?;
    let steps = context.recording.explained.iter();
    let rows = steps
        .flat_map(|explained| &explained.steps)
        .filter(|step| step.table == table.name)
        .map(|step| step.table_rows)
        .max()?;
    let counts = |sql: &&SqlSummary| {
        let upper = sql.digest.to_ascii_uppercase();
        let once = |(name, each): &(String, f64)| name == route && *each < 2.0;
        let reads = |query: Query| {
            query
                .tables
                .iter()
                .any(|counted| counted.name == table.name)
        };
        upper.starts_with("SELECT COUNT(")
            && sql.routes.iter().any(once)
            && query::read(&sql.digest).is_some_and(reads)
    };
    let count = context.breakdown.sql.iter().find(counts)?;
    (rows >= ROWS_MIN).then(|| Paging {
        page,
        count,
        route,
        table: table.name.clone(),
        rows,
    })
}

fn finding(context: &Context<'_>, paging: &Paging<'_>, by_index: &HashMap<TextId, f64>) -> Finding {
    let Paging {
        page,
        count,
        route,
        table,
        rows,
    } = paging;
    let left = |sql: &SqlSummary| 1.0 - by_index.get(&sql.id).copied().unwrap_or(0.0);
    let saved_of = |sql: &SqlSummary, guess: f64| match context.lookup_ms() {
        Some(quickest) => (lookups::saved_by_key(sql, quickest) + left(sql) - 1.0).max(0.0),
        None => guess * left(sql),
    };
    // The count may be issued elsewhere too; a page needs it once.
    let share = (page.count as f64 / count.count.max(1) as f64).min(1.0);
    let saved = context
        .statement_demand(count, share * saved_of(count, 1.0))
        .plus(context.statement_demand(page, saved_of(page, OFFSET_SHARE)));
    let gain = context.gain(&saved);
    let indexed = [count, page]
        .iter()
        .any(|sql| by_index.contains_key(&sql.id));
    let beside = if indexed {
        text!(", beside what the missing index gives")
    } else {
        Text::default()
    };
    Finding {
        rule: RuleId::CountOffset,
        route: (*route).to_owned(),
        title: title(text!(
            "{route} counts {table} and skips to its page by OFFSET",
            route,
            table
        )),
        why: text!("both read all rows before the page, and their time grows with the table"),
        evidence: vec![
            text!("about {rows} rows in {table}", rows, table),
            fit(&count.digest, 160).into(),
            fit(&page.digest, 160).into(),
        ],
        remedy: Remedy {
            text: text!(
                "page by the last key seen (WHERE id < ? ORDER BY id DESC LIMIT ?), and keep the number of rows in a \
                 column or do without it"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: −{saved} in all, if either takes as long as a lookup by key{beside}",
            gain = gain.text,
            saved = ms(saved.sum()),
            beside
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::Medium,
    }
}
