//! The forms of one table: `simple`, `markdown` and `all`.

use std::fmt::Write;

use super::{Options, Table, compare, humanized};

/// Columns of `simple`, of `markdown` and of `all`.
const SIMPLE: usize = 10;
const MARKDOWN: usize = 8;
const ALL: usize = 20;

fn name_width(table: &Table) -> usize {
    table
        .jobs
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0)
}

pub(super) fn simple(table: &Table, options: Options) -> String {
    let width = name_width(table);
    let mut out = format!("{} ({}):\n", table.metric.name, table.metric.unit);
    if table.contenders.len() > 1 {
        let _ = write!(out, "{:width$}  ", "");
        for name in &table.contenders {
            let _ = write!(out, "{name:>SIMPLE$}  ");
        }
        out.push('\n');
    }
    for (name, figures) in &table.jobs {
        let _ = write!(out, "{name:<width$}  ");
        for figure in figures {
            let shown = match figure.value {
                Some(value) if !options.humanize => format!(" {value:>SIMPLE$.3}"),
                value => humanized(value, SIMPLE),
            };
            let _ = write!(out, "{shown:>SIMPLE$}  ");
        }
        out.push('\n');
    }
    out
}

pub(super) fn markdown(table: &Table, options: Options) -> String {
    let width = name_width(table);
    let mut out = format!(
        "# {} ({})\n\n|{:width$}  ",
        table.metric.name, table.metric.unit, ""
    );
    for name in &table.contenders {
        let _ = write!(out, "|{name:>MARKDOWN$}");
    }
    let _ = write!(out, "|\n|:{}--", "-".repeat(width.saturating_sub(1)));
    for _ in &table.contenders {
        let _ = write!(out, "|:{}", "-".repeat(MARKDOWN - 1));
    }
    out.push_str("|\n");
    for (name, figures) in &table.jobs {
        let _ = write!(out, "|{:<width$}  ", name.replace('|', "\\|"));
        for figure in figures {
            let shown = match figure.value {
                Some(value) => humanized(Some(value), MARKDOWN - 1),
                None => "ERROR".to_owned(),
            };
            let _ = write!(out, "|{shown:>MARKDOWN$}");
        }
        out.push_str("|\n");
    }
    if options.compare {
        let comparison = compare::comparison(table, width.max(ALL));
        let _ = write!(out, "\n```{comparison}```\n");
    }
    out
}

pub(super) fn all(table: &Table, options: Options) -> String {
    let width = name_width(table).max(ALL);
    let widths: Vec<usize> = table
        .contenders
        .iter()
        .map(|name| name.chars().count().max(ALL))
        .collect();
    let mut out = "Calculating -------------------------------------\n".to_owned();
    if table.contenders.len() > 1 {
        out.push_str(&" ".repeat(width));
        for name in &table.contenders {
            let _ = write!(out, " {name:>ALL$} ");
        }
        out.push('\n');
    }
    for (name, figures) in &table.jobs {
        let columns: Vec<Vec<f64>> = figures
            .iter()
            .map(|figure| sorted(&figure.all, options.sort))
            .collect();
        let lines = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for line in 0..lines {
            let shown = if line == 0 { name.as_str() } else { "" };
            let _ = write!(out, "{shown:>width$}");
            for (column, width) in columns.iter().zip(&widths) {
                let value = match column.get(line) {
                    Some(value) => format!("{value:.3}"),
                    None if line == 0 => "ERROR".to_owned(),
                    None => String::new(),
                };
                let _ = write!(out, " {value:>width$} ");
            }
            out.push_str(if line == 0 { &table.metric.unit } else { "" });
            out.push('\n');
        }
    }
    out
}

fn sorted(values: &[f64], sort: bool) -> Vec<f64> {
    let mut values = values.to_vec();
    if sort {
        values.sort_by(f64::total_cmp);
    }
    values
}
