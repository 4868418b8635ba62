//! The rows as a Markdown table.

use std::process::Command;

use super::checks::{COLUMNS, Cell, RowResult};
use super::rows::Row;
use crate::run::{Outcome, capture};

/// Returns the day as written in the table.
pub(super) fn today() -> Outcome<String> {
    capture(Command::new("date").args(["-u", "+%F"])).map(|text| text.trim().to_owned())
}

/// One row of the table.
pub(super) fn line(row: &Row, result: &RowResult) -> String {
    let cells: Vec<String> = result.cells.iter().map(show).collect();
    let cost = result
        .cost_us
        .map_or("–".to_owned(), |[median, low, high]| {
            format!("{median:.2} ({low:.2}–{high:.2})")
        });
    format!(
        "| {} | {} | {} | {} | {cost} |",
        row.ruby,
        row.puma,
        row.mode.name,
        cells.join(" | ")
    )
}

fn show(cell: &Cell) -> String {
    let deviation = cell
        .deviation
        .map(|share| format!("{:.1} %", share * 100.0));
    let all = cell.passed + cell.failed + cell.undecided;
    match (all, cell.failed, deviation) {
        (0, _, _) => "–".to_owned(),
        (_, 0, Some(share)) if cell.undecided > 0 => format!("{share}, busy host"),
        (_, 0, Some(share)) if cell.tries > 1 => format!("{share}, try {}", cell.tries),
        (_, 0, Some(share)) => share,
        (_, 0, None) if cell.tries > 1 => format!("{} ok, try {}", cell.passed, cell.tries),
        (_, 0, None) => format!("{} ok", cell.passed),
        (_, failed, Some(share)) => format!("**{failed} of {all} fail**, {share}"),
        (_, failed, None) => format!("**{failed} of {all} fail**"),
    }
}

/// Returns the table with heading, and the missing rows.
pub(super) fn whole(rows: &[(&Row, RowResult)], missing: &[String], day: &str) -> String {
    let mut text = format!(
        "Run on {day} by `cargo xtask rubies`.\n\n| Ruby | Puma | mode | {} | cost, µs a request |\n|{}\n",
        COLUMNS.join(" | "),
        "---|".repeat(COLUMNS.len() + 4)
    );
    for (row, result) in rows {
        text += &line(row, result);
        text.push('\n');
    }
    if !missing.is_empty() {
        text += &format!(
            "\nNot run, since they could not be had: {}.\n",
            missing.join("; ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_the_worst_figure_and_every_failure() {
        let cell = |passed, failed, deviation| {
            show(&Cell {
                passed,
                failed,
                deviation,
                ..Cell::default()
            })
        };
        assert_eq!(cell(0, 0, None), "–");
        assert_eq!(cell(3, 0, None), "3 ok");
        assert_eq!(cell(2, 0, Some(0.0123)), "1.2 %");
        assert_eq!(cell(1, 1, Some(0.2)), "**1 of 2 fail**, 20.0 %");
    }
}
