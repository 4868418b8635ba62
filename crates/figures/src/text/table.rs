//! Tables of limited width: gaps shrink first, then the least significant columns are left out,
//! then the widest is cut.

use super::{left, right, width};

/// On which side a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// A column: head, side, and the order of leaving out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// Head of the column.
    pub head: &'a str,
    /// Alignment of the cells.
    pub align: Align,
    /// Order of leaving out: columns with the greatest number first, columns with 0 never.
    pub drop: u8,
}

impl<'a> Column<'a> {
    /// A column of figures.
    pub const fn figure(head: &'a str, drop: u8) -> Column<'a> {
        let align = Align::Right;
        Column { head, align, drop }
    }

    /// A column of words.
    pub const fn words(head: &'a str, drop: u8) -> Column<'a> {
        let align = Align::Left;
        Column { head, align, drop }
    }
}

const GAP: usize = 2;

/// Returns the lines of a table, heads first, at most `columns` wide; each row has a cell for each
/// column.
pub fn table(heads: &[Column<'_>], rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let widths: Vec<usize> = (heads.iter().enumerate())
        .map(|(at, head)| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells
                .map(|cell| width(cell))
                .chain([width(head.head)])
                .max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    let mut shown: Vec<usize> = (0..heads.len()).collect();
    while total(&shown, &widths) > columns {
        let least = shown.iter().copied().filter(|at| heads[*at].drop > 0);
        let Some(least) = least.max_by_key(|at| heads[*at].drop) else {
            break;
        };
        shown.retain(|at| *at != least);
    }
    let widths = cut_widest(&shown, widths, columns);
    let line = |cell: &dyn Fn(usize) -> String| {
        let cells = shown.iter().map(|at| match heads[*at].align {
            Align::Left => left(&cell(*at), widths[*at]),
            Align::Right => right(&cell(*at), widths[*at]),
        });
        let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
        line.trim_end().to_owned()
    };
    let mut lines = vec![line(&|at| heads[at].head.to_owned())];
    lines.extend((rows.iter()).map(|row| line(&|at| row.get(at).cloned().unwrap_or_default())));
    lines
}

fn total(shown: &[usize], widths: &[usize]) -> usize {
    let cells: usize = shown.iter().map(|at| widths[*at]).sum();
    cells + GAP * shown.len().saturating_sub(1)
}

/// Narrows the widest column by the width in excess, when no column may be left out.
fn cut_widest(shown: &[usize], mut widths: Vec<usize>, columns: usize) -> Vec<usize> {
    let over = total(shown, &widths).saturating_sub(columns);
    if let Some(widest) = shown.iter().copied().max_by_key(|at| widths[*at]) {
        widths[widest] = widths[widest].saturating_sub(over);
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: [Column<'static>; 3] = [
        Column::words("route", 0),
        Column::figure("p50", 1),
        Column::figure("p99", 2),
    ];

    fn check(columns: usize, expected: [&str; 2]) {
        let row = ["GET /orders", "1.00 ms", "20.0 ms"].map(str::to_owned);
        assert_eq!(table(&HEADS, &[row.to_vec()], columns), expected);
    }

    #[test]
    fn what_tells_least_is_left_out_and_what_tells_most_is_cut_last() {
        check(
            40,
            [
                "route            p50      p99",
                "GET /orders  1.00 ms  20.0 ms",
            ],
        );
        check(25, ["route            p50", "GET /orders  1.00 ms"]);
        check(12, ["route", "GET /orders"]);
        check(8, ["route", "GET /or…"]);
    }
}
