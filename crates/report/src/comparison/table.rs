//! The table for a terminal.

use super::{Comparison, Row, sentence};
use crate::numbers;
use crate::text::{Column, fold, one_line, table as fitted};

/// Room for a variant's name in the head of its column.
const NAME_COLUMNS: usize = 28;
/// Room for both names beside the other columns.
const NAMED_COLUMNS_MIN: usize = 100;

/// The whole page, at most `columns` wide.
pub fn text(comparison: &Comparison, columns: usize) -> String {
    let mut text = String::new();
    if let Some(tried) = &comparison.tried {
        text += &format!(
            "FINDING {} of run {}: {}\n  tried: {}\n\n",
            tried.number,
            tried.run,
            one_line(&tried.title),
            one_line(&tried.remedy)
        );
    }
    let names = [("A", &comparison.a), ("B", &comparison.b)]
        .map(|(side, variant)| format!("{side} {}", one_line(&variant.name)));
    let fits = columns >= NAMED_COLUMNS_MIN
        && names
            .iter()
            .all(|name| crate::text::width(name) <= NAME_COLUMNS);
    if !fits {
        text += &names.each_ref().map(|name| format!("  {name}\n")).concat();
    }
    let heads = if fits {
        names
    } else {
        ["A", "B"].map(str::to_owned)
    };
    if !comparison.rows.is_empty() {
        text += &table(comparison, &heads, columns);
    }
    text += &sides(comparison);
    for note in &comparison.notes {
        text += &format!("  ! {note}\n");
    }
    text += &format!("  verdict: {}\n", sentence(comparison));
    if let Some(tried) = &comparison.tried {
        text += &format!("  {}\n", one_line(&tried.afterwards));
    }
    fold(&text, columns)
}

fn table(comparison: &Comparison, names: &[String; 2], columns: usize) -> String {
    let heads = [
        Column::words("", 0),
        Column::figure(&names[0], 0),
        Column::figure(&names[1], 0),
        Column::figure("B/A", 0),
        Column::figure("95 % interval", 0),
        Column::words("", 0),
    ];
    let rows = comparison.rows.iter().map(|row| {
        let unit = if row.is_rate() { "" } else { " ms" };
        let cells = [
            format!("{}{unit}", row.metric),
            numbers::plain(row.a),
            numbers::plain(row.b),
            format!("{:.2}x", row.seen.ratio),
            interval(row),
            row.word().to_owned(),
        ];
        cells.to_vec()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let lines = fitted(&heads, &rows, columns.saturating_sub(2));
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

fn interval(row: &Row) -> String {
    match row.seen.interval {
        Some(interval) if interval.high.is_finite() => {
            format!("{:.2}–{:.2}", interval.low, interval.high)
        }
        _ => numbers::UNKNOWN.to_owned(),
    }
}

/// What is known of each side beside the rows.
fn sides(comparison: &Comparison) -> String {
    let mut text = String::new();
    let both = [("A", &comparison.a), ("B", &comparison.b)];
    for (side, variant) in both {
        if variant.requests == 0 {
            continue;
        }
        let mut told = vec![numbers::counted(variant.requests, "request")];
        told.push(format!("{} failed", numbers::count(variant.failed)));
        let seconds = |time: f64| numbers::duration_ms(time * 1000.0);
        told.extend(
            variant
                .start_s
                .map(|time| format!("ready after {}", seconds(time))),
        );
        told.extend(variant.warmup_s.map(|time| match time == 0.0 {
            true => "steady from the first request on".to_owned(),
            false => format!("steady after {}", seconds(time)),
        }));
        told.extend(
            (variant.memory_bytes)
                .map(|bytes| format!("{} MiB", numbers::plain(bytes as f64 / f64::from(1 << 20)))),
        );
        text += &format!("  {side}: {}\n", told.join(", "));
    }
    if comparison.redone > 0 {
        text += &format!(
            "  {} made again: the host was disturbed\n",
            numbers::counted(comparison.redone as u64, "measurement")
        );
    }
    text
}
