//! The statements with the most time.

use breakdown::SqlSummary;
use figures::numbers;
use words::{Phrase, Text, phrase, text};

use super::page::{Ink, Page};
use crate::View;
use figures::text::{fit, one_line, right, width};

const STATEMENTS_MAX: usize = 6;
const COLUMN: usize = 11;
/// The figures of a statement, and how wide a page must be for each.
const HEADS: [(Phrase, usize); 5] = [
    (phrase!("time"), 0),
    (phrase!("count"), 0),
    (phrase!("each"), 90),
    (phrase!("per request"), 0),
    (phrase!("rows"), 75),
];
const INDENT: usize = 6;
/// Columns needed by `SELECT` and a word.
const SELECTED_MIN: usize = 12;
/// Frames shown of a source line: more is a backtrace, and not read.
const FRAMES_SHOWN: usize = 2;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    let statements = &view.breakdown.sql;
    if statements.is_empty() {
        return;
    }
    page.title(
        text!("SQL AND OUTGOING HTTP"),
        text!("most time in total first"),
    );
    let heads = figures(page, HEADS.map(|(head, _)| page.written(head)));
    let heads = text!("{heads}  route, and the statement below", heads);
    page.inked(2, Ink::Faint, heads);
    for statement in statements.iter().take(STATEMENTS_MAX) {
        write_statement(page, statement);
    }
    let others = statements.len().saturating_sub(STATEMENTS_MAX);
    if others > 0 {
        let more = text!("{others} more (all of them: --json)", others);
        page.inked(2, Ink::Faint, more);
    }
}

/// The figures for which the page has room.
fn figures(page: &Page, cells: [String; HEADS.len()]) -> String {
    let shown = cells.iter().zip(HEADS);
    let shown = shown.filter(|(_, (_, columns_min))| page.columns() >= *columns_min);
    shown.map(|(cell, _)| right(cell, COLUMN)).collect()
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
    ];
    let cells = figures(page, cells);
    let routes = statement.routes.iter().map(|(route, _)| route.as_str());
    page.line(&[
        (Ink::Plain, &format!("  {cells}  ")),
        (Ink::Plain, &page.written(first_of(routes))),
    ]);
    let columns = page.columns().saturating_sub(INDENT);
    let digest = match statement.digest.as_str() {
        "" => text!("an empty statement, by which the driver checks its connection"),
        digest => fit_statement(&one_line(digest), columns).into(),
    };
    page.paragraph(INDENT, "", Ink::Strong, digest, 1);
    let sites = statement.called_from.iter();
    let sites = first_of(sites.map(|site| breakdown::frames_of(site, FRAMES_SHOWN)));
    page.paragraph(INDENT, "", Ink::Faint, text!("from {sites}", sites), 1);
}

/// `app.rb:120 in get_message and 1 more`.
fn first_of<'a>(mut names: impl ExactSizeIterator<Item = &'a str>) -> Text {
    let first = names.next().map_or(String::new(), one_line);
    match names.len() {
        0 => first.into(),
        others => text!("{first} and {others} more", first, others),
    }
}

/// On one line. What a statement selects says least, so it is cut first.
fn fit_statement(digest: &str, columns: usize) -> String {
    let tail = digest.find(" FROM ").map(|start| &digest[start..]);
    match tail {
        Some(tail) if width(digest) > columns && width(tail) + SELECTED_MIN <= columns => {
            let selected = fit(digest, columns - width(tail));
            format!("{selected}{tail}")
        }
        _ => fit(digest, columns),
    }
}

#[cfg(test)]
mod tests {
    use super::fit_statement;

    #[test]
    fn what_is_selected_is_cut_first() {
        let check = |digest: &str, expected: &str| {
            assert_eq!(fit_statement(digest, 32), expected);
        };
        check(
            "SELECT a FROM t WHERE id = ?",
            "SELECT a FROM t WHERE id = ?",
        );
        check(
            "SELECT first, second FROM t WHERE i = ?",
            "SELECT first… FROM t WHERE i = ?",
        );
        check(
            "SELECT a FROM t WHERE a_long_condition = ?",
            "SELECT a FROM t WHERE a_long_co…",
        );
        check("COMMIT", "COMMIT");
    }
}
