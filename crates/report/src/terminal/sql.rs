//! The statements that took most time.

use breakdown::SqlSummary;

use super::page::{Ink, Page};
use crate::text::{one_line, right};
use crate::{View, numbers};

const STATEMENTS_MAX: usize = 8;
const COLUMN: usize = 10;
const INDENT: usize = 6;
const LINES_MAX: usize = 3;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    let statements = &view.breakdown.sql;
    if statements.is_empty() {
        return;
    }
    page.heading("SQL AND OUTGOING HTTP   most time in total first");
    let heads = ["time", "count", "each", "a request", "rows"].map(|head| right(head, COLUMN));
    page.line(&[(
        Ink::Faint,
        &format!("  {}  route, and the statement below", heads.concat()),
    )]);
    for statement in statements.iter().take(STATEMENTS_MAX) {
        write_statement(page, statement);
    }
    let others = statements.len().saturating_sub(STATEMENTS_MAX);
    if others > 0 {
        page.line(&[(
            Ink::Faint,
            &format!("  {others} more (all of them: --json)"),
        )]);
    }
}

fn write_statement(page: &mut Page, statement: &SqlSummary) {
    let each = (statement.count > 0).then(|| statement.time_ms / statement.count as f64);
    let route = statement.routes.first();
    let cells = [
        numbers::duration_ms(statement.time_ms),
        numbers::count(statement.count),
        numbers::duration_ms_or_unknown(each),
        route.map_or(numbers::UNKNOWN.to_owned(), |(_, per_request)| {
            numbers::plain(*per_request)
        }),
        numbers::count(statement.rows),
    ]
    .map(|cell| right(&cell, COLUMN));
    let routes = statement.routes.iter().map(|(route, _)| route.as_str());
    page.line(&[
        (Ink::Plain, &format!("  {}  ", cells.concat())),
        (Ink::Plain, &first_of(routes)),
    ]);
    page.paragraph(INDENT, "", Ink::Strong, &statement.digest, LINES_MAX);
    let sites = first_of(statement.called_from.iter().map(String::as_str));
    page.paragraph(INDENT, "from ", Ink::Faint, &sites, LINES_MAX);
}

/// `app.rb:120 in get_message and 1 more`.
fn first_of<'a>(mut names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let first = names.next().map_or(String::new(), one_line);
    match names.len() {
        0 => first,
        others => format!("{first} and {others} more"),
    }
}
