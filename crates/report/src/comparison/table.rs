//! The table for a terminal.

use comparison::{Comparison, Row, Variant};
use figures::counted;
use words::{Language, Text, text};

use super::sentence;
use figures::numbers;
use figures::text::{Column, fold, one_line, table as fitted};

/// Columns for a variant's name in the head of the table.
const NAME_COLUMNS: usize = 28;
/// Room for both names beside the other columns.
const NAMED_COLUMNS_MIN: usize = 100;

/// The whole page, at most `columns` wide.
pub fn text(comparison: &Comparison, columns: usize, language: Language) -> String {
    let say = |text: Text| one_line(&text.written_in(language));
    let mut text = String::new();
    if let Some(tried) = &comparison.tried {
        let head = text!(
            "FINDING {number} of run {run}: {title}",
            number = tried.number,
            run = tried.run,
            title = tried.title
        );
        let change = text!("tried: {change}", change = tried.remedy);
        text += &format!("{}\n  {}\n\n", say(head), say(change));
    }
    let names = [("A", &comparison.a), ("B", &comparison.b)]
        .map(|(side, variant)| format!("{side} {}", say(Text::named(&variant.name))));
    let fits = columns >= NAMED_COLUMNS_MIN
        && names
            .iter()
            .all(|name| figures::text::width(name) <= NAME_COLUMNS);
    if !fits {
        text += &names.each_ref().map(|name| format!("  {name}\n")).concat();
    }
    let heads = if fits {
        names
    } else {
        ["A", "B"].map(str::to_owned)
    };
    if !comparison.rows.is_empty() {
        text += &table(comparison, &heads, columns, language);
    }
    for line in sides(comparison) {
        text += &format!("  {}\n", say(line));
    }
    for note in &comparison.notes {
        text += &format!("  ! {}\n", say(note.clone()));
    }
    let verdict = text!("verdict: {verdict}", verdict = sentence(comparison));
    text += &format!("  {}\n", say(verdict));
    if let Some(tried) = &comparison.tried {
        text += &format!("  {}\n", say(tried.afterwards.clone()));
    }
    fold(&text, columns)
}

fn table(
    comparison: &Comparison,
    names: &[String; 2],
    columns: usize,
    language: Language,
) -> String {
    let interval_head = text!("95 % interval").written_in(language);
    let heads = [
        Column::words("", 0),
        Column::figure(&names[0], 0),
        Column::figure(&names[1], 0),
        Column::figure("B/A", 0),
        Column::figure(&interval_head, 0),
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
            Text::named(row.word()).written_in(language),
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

/// Facts of each side beside the rows.
fn sides(comparison: &Comparison) -> Vec<Text> {
    let both = [("A", &comparison.a), ("B", &comparison.b)];
    let measured = both.into_iter().filter(|(_, side)| side.requests > 0);
    let lines = measured.map(|(name, side)| text!("{name}: {told}", name, told = of_side(side)));
    let mut lines: Vec<Text> = lines.collect();
    if comparison.redone > 0 {
        lines.push(text!(
            "{measurements} repeated because of noise on this host",
            measurements = counted!(comparison.redone as u64, "measurement")
        ));
    }
    lines
}

fn of_side(variant: &Variant) -> Text {
    let seconds = |time: f64| numbers::duration_ms(time * 1000.0);
    let mut told = vec![
        counted!(variant.requests, "request"),
        text!("{count} failed", count = numbers::count(variant.failed)),
    ];
    let start = variant.start_s;
    told.extend(start.map(|time| text!("ready after {time}", time = seconds(time))));
    told.extend(variant.warmup_s.map(|time| match time == 0.0 {
        true => text!("steady from the first request on"),
        false => text!("steady after {time}", time = seconds(time)),
    }));
    told.extend(variant.memory_bytes.map(|bytes| {
        let memory = numbers::plain(bytes as f64 / f64::from(1 << 20));
        text!("{memory} MiB", memory)
    }));
    Text::list(told, text!(", "))
}
