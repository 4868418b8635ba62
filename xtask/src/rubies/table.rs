//! The rows as a Markdown table, which is also where results of earlier runs are kept.

use std::process::Command;

use super::checks::{COLUMNS, Cell, RowResult};
use super::names::order;
use super::rows::Row;
use crate::run::{Outcome, capture};

/// Cells naming a row: Ruby, server, mode.
const NAME: usize = 3;
/// What begins the sentence on what could not be had.
const MISSING: &str = "Not run, since they could not be had: ";

/// Returns the day as written in the table.
pub(super) fn today() -> Outcome<String> {
    capture(Command::new("date").args(["-u", "+%F"])).map(|text| text.trim().to_owned())
}

/// The lines of the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The cells of each.
    rows: Vec<Vec<String>>,
    missing: String,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(missing: &[String]) -> Table {
        Table {
            rows: Vec::new(),
            missing: missing.join("; "),
        }
    }

    /// Reads a table as written by [`Table::text`]; what is none has no rows.
    pub(super) fn read(text: &str) -> Table {
        let width = NAME + COLUMNS.len() + 3;
        let cells = |line: &str| {
            let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
            let cells: Vec<String> = inner.split(" | ").map(str::to_owned).collect();
            let is_row = cells.len() == width && cells[0].starts_with(|c: char| c.is_ascii_digit());
            is_row.then_some(cells)
        };
        let missing = text.lines().find_map(|line| line.strip_prefix(MISSING));
        Table {
            rows: text.lines().filter_map(cells).collect(),
            missing: missing.unwrap_or_default().trim_end_matches('.').to_owned(),
        }
    }

    /// Puts a result in the row's place, instead of an older one; returns the line.
    pub(super) fn put(&mut self, row: &Row, result: &RowResult, day: &str) -> String {
        let mut cells = vec![row.ruby.clone(), row.server(), row.mode.name.to_owned()];
        cells.extend(result.cells.iter().map(show));
        cells.push(show_cost(result.cost_us));
        cells.push(format!("{:.0} s", result.took_s));
        cells.push(day.to_owned());
        let text = line(&cells);
        self.put_cells(cells);
        text
    }

    fn put_cells(&mut self, cells: Vec<String>) {
        self.rows.retain(|row| row[..NAME] != cells[..NAME]);
        self.rows.push(cells);
        self.rows
            .sort_by_key(|row| order(&row[0], &row[1], &row[2]));
    }

    /// The table with its heading, and what is missing.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "| Ruby | server | mode | {} | cost, µs a request | took | run on |\n|{}\n",
            COLUMNS.join(" | "),
            "---|".repeat(NAME + COLUMNS.len() + 3)
        );
        for row in &self.rows {
            text += &line(row);
            text.push('\n');
        }
        if !self.missing.is_empty() {
            text += &format!("\n{MISSING}{}.\n", self.missing);
        }
        text
    }
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn show_cost(cost_us: Option<[f64; 3]>) -> String {
    cost_us.map_or("–".to_owned(), |[median, low, high]| {
        format!("{median:.2} ({low:.2} to {high:.2})")
    })
}

fn show(cell: &Cell) -> String {
    let deviation = cell
        .deviation
        .map(|share| format!("{:.1} %", share * 100.0))
        .or(cell
            .share_off
            .map(|share| format!("{:.1} points", share * 100.0)));
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
        let of_shares = Cell {
            passed: 3,
            share_off: Some(0.0062),
            ..Cell::default()
        };
        assert_eq!(show(&of_shares), "0.6 points");
    }

    #[test]
    fn a_row_run_alone_replaces_its_own_line_and_finds_its_place() {
        let row = |ruby: &str, server: &str, mode: &str, cell: &str| {
            let mut cells = [ruby, server, mode].map(str::to_owned).to_vec();
            cells.resize(NAME + COLUMNS.len() + 3, cell.to_owned());
            cells
        };
        let mut table = Table::new(&["Falcon (in no release)".to_owned()]);
        table.put_cells(row("4.0.5", "Puma 8.0.2", "YJIT", "1"));
        table.put_cells(row("3.3.8", "Puma 6.6.0", "single", "old"));
        let mut again = Table::read(&table.text());
        again.put_cells(row("3.3.8", "Puma 6.6.0", "single", "new"));
        again.put_cells(row("3.3.8", "Unicorn 6.1.0", "single", "1"));
        again.put_cells(row("3.3.8", "Puma 6.6.0", "cluster", "1"));
        let text = again.text();
        assert!(!text.contains("old") && text.contains("Falcon"), "{text}");
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.get(..28))
            .skip(1)
            .collect();
        let expected = [
            "3.3.8 | Puma 6.6.0 | single ",
            "3.3.8 | Puma 6.6.0 | cluster",
            "3.3.8 | Unicorn 6.1.0 | sing",
            "4.0.5 | Puma 8.0.2 | YJIT | ",
        ];
        assert_eq!(names, expected);
        assert_eq!(Table::read("Not run whole yet.").rows.len(), 0);
    }
}
