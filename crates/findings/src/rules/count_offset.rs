//! Paging that counts all rows and skips those before the page.

use crate::context::Context;
use crate::query;
use crate::text::{fit, ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Tables below so many rows are counted at once. Found by weighing.
const ROWS_MIN: u64 = 500;
/// Share of the skipping statement's time that goes with keyset paging; its page is read in any case.
const OFFSET_SHARE: f64 = 0.5;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for paging in &context.breakdown.sql {
        let Some(query) = query::read(&paging.digest).filter(|query| query.limited) else {
            continue;
        };
        let offset = paging.digest.to_ascii_uppercase().contains(" OFFSET ");
        let ([table], true) = (query.tables.as_slice(), offset) else {
            continue;
        };
        let rows = context
            .recording
            .explained
            .iter()
            .flat_map(|explained| &explained.steps)
            .filter(|step| step.table == table.name)
            .map(|step| step.table_rows)
            .max();
        let Some(route) = paging.routes.first().map(|(route, _)| route) else {
            continue;
        };
        let count = context.breakdown.sql.iter().find(|sql| {
            let upper = sql.digest.to_ascii_uppercase();
            upper.starts_with("SELECT COUNT(")
                && sql
                    .routes
                    .iter()
                    .any(|(name, each)| name == route && *each < 2.0)
                && query::read(&sql.digest).is_some_and(|count| {
                    count
                        .tables
                        .iter()
                        .any(|counted| counted.name == table.name)
                })
        });
        let Some(count) = count.filter(|_| rows.is_some_and(|rows| rows >= ROWS_MIN)) else {
            continue;
        };
        // The count may be issued elsewhere too; a page needs it once.
        let share = (paging.count as f64 / count.count.max(1) as f64).min(1.0);
        let saved = context
            .statement_demand(count, share)
            .plus(context.statement_demand(paging, OFFSET_SHARE));
        let gain = context.gain(saved);
        findings.push(Finding {
            rule: "count-offset",
            route: route.clone(),
            title: title(&format!("{route} counts {} and skips to its page by OFFSET", table.name)),
            why: "both read all rows before the page, and their time grows with the table".to_owned(),
            evidence: vec![
                format!("about {} rows in {}", rows.unwrap_or(0), table.name),
                fit(&count.digest, 160),
                fit(&paging.digest, 160),
            ],
            remedy: Remedy {
                text: "page by the last key seen (WHERE id < ? ORDER BY id DESC LIMIT ?), and keep the number of rows in a column or do without it".to_owned(),
                exact: None,
                safety: Safety::Code,
            },
            estimated_gain: format!(
                "{}: −{} in all, the count and half of the page's statement",
                gain.text,
                ms(saved.sum())
            ),
            gain_share: gain.share,
            confidence: Confidence::Medium,
        });
    }
    findings
}
