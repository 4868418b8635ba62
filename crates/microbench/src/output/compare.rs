//! The form `compare`.

use std::fmt::Write;

use super::{Figure, Table, humanized};

/// Names are at least so wide.
const NAME: usize = 20;
/// Figures are at least so wide.
const VALUE: usize = 10;

/// Figures of all jobs, then who is slower than the best.
pub(super) fn write(table: &Table) -> String {
    let longest = table
        .jobs
        .iter()
        .map(|(name, _)| name.chars().count())
        .max();
    let name_width = longest.unwrap_or(0).max(NAME);
    let mut out = String::new();
    if !table.warmup.is_empty() {
        out.push_str("Warming up --------------------------------------\n");
        for (name, figure) in &table.warmup {
            line(
                &mut out,
                table,
                (name, name_width),
                std::slice::from_ref(figure),
                &[VALUE],
            );
        }
    }
    out.push_str("Calculating -------------------------------------\n");
    let widths: Vec<usize> = table
        .contenders
        .iter()
        .map(|name| name.chars().count().max(VALUE))
        .collect();
    if table.contenders.len() > 1 {
        out.push_str(&" ".repeat(name_width));
        for name in &table.contenders {
            let _ = write!(out, " {name:>VALUE$} ");
        }
        out.push('\n');
    }
    for (name, figures) in &table.jobs {
        line(&mut out, table, (name, name_width), figures, &widths);
    }
    out.push_str(&comparison(table, name_width));
    out
}

fn line(
    out: &mut String,
    table: &Table,
    (name, name_width): (&str, usize),
    figures: &[Figure],
    widths: &[usize],
) {
    let _ = write!(out, "{name:>name_width$}");
    for (figure, width) in figures.iter().zip(widths) {
        let _ = write!(out, "{} ", humanized(figure.value, *width));
    }
    out.push_str(&table.metric.unit);
    let count = figures.first().and_then(|figure| figure.loop_count);
    if let Some(count) = count.filter(|count| {
        figures
            .iter()
            .all(|figure| figure.loop_count == Some(*count))
    }) {
        let _ = write!(out, " - {} times", humanized(Some(count), VALUE));
        let durations: Option<Vec<f64>> = figures.iter().map(|figure| figure.duration).collect();
        if let Some(durations) = durations {
            out.push_str(" in");
            for duration in &durations {
                let _ = write!(out, " {duration:.6}s");
            }
            if let [duration] = durations[..] {
                let _ = write!(out, " ({}/i)", pretty(duration / count));
            }
        }
    }
    out.push('\n');
}

/// Who is slower than the best: contenders by job if there are several, else jobs. Empty for a
/// single figure.
pub(super) fn comparison(table: &Table, name_width: usize) -> String {
    let mut out = String::new();
    if table.contenders.len() > 1 {
        out.push_str("\nComparison:\n");
        for (name, figures) in &table.jobs {
            let _ = writeln!(out, "{name:>width$}", width = name_width + 2 + 11);
            let named = table.contenders.iter().map(String::as_str).zip(figures);
            ranked(&mut out, table, name_width, named.collect());
        }
    } else if table.jobs.len() > 1 {
        out.push_str("\nComparison:\n");
        let named = table
            .jobs
            .iter()
            .map(|(name, figures)| (name.as_str(), &figures[0]));
        ranked(&mut out, table, name_width, named.collect());
    }
    out
}

fn ranked(out: &mut String, table: &Table, name_width: usize, mut named: Vec<(&str, &Figure)>) {
    let metric = &table.metric;
    let worth = |figure: &Figure| match figure.value {
        Some(value) if metric.is_larger_better => -value,
        Some(value) => value,
        None => f64::INFINITY,
    };
    named.sort_by(|a, b| worth(a.1).total_cmp(&worth(b.1)));
    let best = named.first().and_then(|(_, figure)| figure.value);
    for (place, (name, figure)) in named.iter().enumerate() {
        let Some(value) = figure.value else {
            let _ = writeln!(out, "{name:>name_width$}: {:>11} {} ", "ERROR", metric.unit);
            continue;
        };
        let _ = write!(out, "{name:>name_width$}: {value:>11.1} {} ", metric.unit);
        if let Some(best) = best.filter(|_| place > 0) {
            let ratio = if metric.is_larger_better {
                best / value
            } else {
                value / best
            };
            let _ = write!(out, "- {ratio:.2}x  {}", metric.worse);
        }
        out.push('\n');
    }
    out.push('\n');
}

fn pretty(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 1.0 => format!("{seconds:.2}s"),
        _ if seconds >= 1e-3 => format!("{:.2}ms", seconds * 1e3),
        _ if seconds >= 1e-6 => format!("{:.2}μs", seconds * 1e6),
        _ => format!("{:.2}ns", seconds * 1e9),
    }
}
