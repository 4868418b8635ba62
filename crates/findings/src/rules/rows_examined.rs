//! Statements with many rows read by the server for each row sent.

use crate::rule_id::RuleId;
use std::collections::HashSet;

use figures::numbers;
use recording::{StatementFacts, TextId};
use words::{Text, text};

use super::{index_unusable, missing_index};
use crate::context::Context;
use crate::lookups;
use crate::query;
use crate::text::{called_from, fit, ms, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Rows read for one sent, from which something is searched for. Chosen by judgement.
const RATIO_MIN: f64 = 50.0;
/// Rows read an execution, below which nobody notices.
const EXAMINED_MIN: f64 = 500.0;
/// Share of the handlers' time from which a statement is examined.
const SHARE_MIN: f64 = 0.03;
/// Share of a statement's time saved with the needless rows. As for a missing index.
const SAVED: f64 = 0.9;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(database) = &context.recording.database else {
        return Vec::new();
    };
    // What an index would mend is said there, with the index, and so is what no index can mend.
    let indexed: HashSet<TextId> = missing_index::saved(context).into_keys().collect();
    let statements = database.statements.iter();
    statements
        .filter(|statement| statement.count > 0 && !indexed.contains(&statement.digest))
        .filter(|statement| !index_unusable::is_found(context, statement.digest))
        .filter_map(|statement| finding(context, statement))
        .collect()
}

fn finding(context: &Context<'_>, statement: &StatementFacts) -> Option<Finding> {
    let sql = context
        .breakdown
        .sql
        .iter()
        .find(|sql| sql.id == statement.digest)?;
    let each = |rows: u64| rows as f64 / statement.count as f64;
    let (examined, sent) = (each(statement.rows_examined), each(statement.rows_sent));
    let ratio = examined / sent.max(1.0);
    let most = match query::aggregates(&sql.digest) {
        true => lookups::SAVED_OF_AGGREGATE,
        false => SAVED,
    };
    let saved = context.statement_demand(sql, most * (1.0 - 1.0 / ratio.max(1.0)));
    let gain = context.gain(&saved);
    let share = context.share_inside(saved.sum());
    if ratio < RATIO_MIN || examined < EXAMINED_MIN || share < SHARE_MIN {
        return None;
    }
    let route = sql
        .routes
        .first()
        .map(|(route, _)| route.clone())
        .unwrap_or_default();
    let site = sql.called_from.first().map(String::as_str);
    let mut evidence = vec![
        text!(
            "{executions} executions read {read} rows and sent {sent}",
            executions = numbers::count(statement.count),
            read = numbers::count(statement.rows_examined),
            sent = numbers::count(statement.rows_sent)
        ),
        fit(&sql.digest, 160).into(),
    ];
    evidence.extend(site.map(called_from));
    Some(Finding {
        rule: RuleId::RowsExamined,
        title: title(text!(
            "{statement} reads {ratio} rows for each one it returns ({place})",
            statement = fit(&query::brief(&sql.digest), 40),
            ratio = numbers::plain(ratio),
            place = place(site)
        )),
        route,
        why: text!("the time grows with the rows that are read, not with those that are wanted"),
        evidence,
        remedy: Remedy {
            text: remedy(&sql.digest),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: −{saved} in all",
            gain = gain.text,
            saved = ms(saved.sum())
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::Medium,
    })
}

/// Returns the words on reading fewer rows.
fn remedy(digest: &str) -> Text {
    let counts = digest.to_ascii_uppercase().contains("COUNT(");
    if counts {
        text!(
            "keep the count in a column that writes change with the rows, or count only up to a limit"
        )
    } else if query::aggregates(digest) {
        text!(
            "where most of these rows are not wanted, let an index begin with the compared columns; where they \
             are, keep the result in a column that writes change with the rows"
        )
    } else {
        text!(
            "let an index that begins with the compared columns and ends with the sorted one name the rows; \
             EXPLAIN shows which is used now"
        )
    }
}
