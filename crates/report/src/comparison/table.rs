//! The table for a terminal.

use super::{Comparison, Row, sentence};
use crate::numbers;
use crate::text::{left, one_line, right};

/// Room for a variant's name in the head of its column.
const NAME_COLUMNS: usize = 28;
const METRIC_COLUMNS: usize = 8;

/// The whole page.
pub fn text(comparison: &Comparison) -> String {
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
    let fits = names
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
        text += &table(comparison, &heads);
    }
    text += &sides(comparison);
    for note in &comparison.notes {
        text += &format!("  ! {note}\n");
    }
    text += &format!("  verdict: {}\n", sentence(comparison));
    if let Some(tried) = &comparison.tried {
        text += &format!("  {}\n", one_line(&tried.afterwards));
    }
    text
}

fn table(comparison: &Comparison, names: &[String; 2]) -> String {
    let widths = names
        .each_ref()
        .map(|name| crate::text::width(name).max(12));
    let line = |cells: [&str; 6]| {
        let [metric, a, b, ratio, interval, word] = cells;
        let line = format!(
            "  {}{}   {}   {}   {}   {word}",
            left(metric, METRIC_COLUMNS),
            right(a, widths[0]),
            right(b, widths[1]),
            right(ratio, 7),
            right(interval, 15),
        );
        format!("{}\n", line.trim_end())
    };
    let mut table = line(["", &names[0], &names[1], "B/A", "95 % interval", ""]);
    for row in &comparison.rows {
        let unit = if row.is_rate() { "" } else { " ms" };
        table += &line([
            &format!("{}{unit}", row.metric),
            &numbers::plain(row.a),
            &numbers::plain(row.b),
            &format!("{:.2}x", row.seen.ratio),
            &interval(row),
            row.word(),
        ]);
    }
    table
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
