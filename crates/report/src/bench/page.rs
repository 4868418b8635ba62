//! The terminal page of a bench.

use figures::numbers;
use microbench::bench::{Measured, Row};
use microbench::model::Runner;
use microbench::sample::{Clock, Sample};
use stats::comparison::Verdict;
use words::{Language, Phrase, Text, phrase, text};

use super::{BenchView, Beside};
use figures::text::{Column, fold, one_line, table};

/// Heads of the columns after the name, with the order in which columns are left out.
const HEADS: [(Phrase, u8); 7] = [
    (phrase!("figure"), 0),
    (phrase!("95 %"), 1),
    (phrase!("beside the best"), 0),
    (phrase!("start"), 3),
    (phrase!("warm after"), 2),
    (phrase!("gc"), 4),
    (phrase!("memory"), 5),
];

/// The page, at most `columns` wide.
pub fn page(view: &BenchView, columns: usize, language: Language) -> String {
    let mut out = String::new();
    for row in 0..view.bench.rows.len() {
        out += &row_text(view, row, columns, language);
        out.push('\n');
    }
    for line in overall(view) {
        out += &(line.written_in(language) + "\n");
    }
    for doubt in view.doubts {
        out += &format!("! {}\n", doubt.written_in(language));
    }
    out += &(footer(view).written_in(language) + "\n");
    fold(&out, columns)
}

fn row_text(view: &BenchView, index: usize, columns: usize, language: Language) -> String {
    let row = &view.bench.rows[index];
    let head = if row.name.is_empty() {
        view.contenders[0].name.as_str()
    } else {
        row.name.lines().next().unwrap_or_default()
    };
    let metric = Text::named(&row.metric.name).written_in(language);
    let clock = match (row.clock, view.runner()) {
        _ if row
            .cells
            .iter()
            .any(|cell| cell.samples.iter().any(|sample| sample.printed.is_some())) =>
        {
            Text::of("", Vec::new())
        }
        (_, Runner::Memory) => Text::of("", Vec::new()),
        (Clock::Cpu, _) => text!(", CPU clock"),
        _ => text!(", wall clock"),
    };
    let mut out = format!("{head} ({metric}{})\n", clock.written_in(language));
    let names = HEADS.map(|(name, _)| name.written_in(language));
    let heads = names.iter().zip(HEADS).map(|(name, (_, drop))| match drop {
        0 if name == &names[2] => Column::words(name, drop),
        _ => Column::figure(name, drop),
    });
    let heads: Vec<Column> = std::iter::once(Column::words("", 0)).chain(heads).collect();
    let ranked = view.ranked(index);
    let best = ranked[0];
    let rows: Vec<Vec<String>> = ranked
        .iter()
        .map(|cell| cells(view, (index, *cell), best, language))
        .collect();
    for line in table(&heads, &rows, columns.saturating_sub(2)) {
        out += &format!("  {}\n", line.trim_end());
    }
    for line in beside_the_table(view, index, &ranked) {
        out += &format!("  {}\n", line.written_in(language));
    }
    for cell in ranked {
        if let Some(missing) = &row.cells[cell].missing {
            let line = text!(
                "{name}: {why}",
                name = view.cell_name(index, cell),
                why = missing.to_string()
            );
            out += &format!("  {}\n", line.written_in(language));
        }
    }
    out
}

/// Returns the environment printed by programs, and the contenders retaining more objects than the
/// thriftiest.
fn beside_the_table(view: &BenchView, index: usize, ranked: &[usize]) -> Vec<Text> {
    let trial = |cell: &usize| view.bench.rows[index].cells[*cell].trial.as_ref();
    let name = |cell: &usize| one_line(view.cell_name(index, *cell));
    let mut lines = Vec::new();
    for (cell, trial) in ranked.iter().filter_map(|cell| Some((cell, trial(cell)?))) {
        let remarks = trial.environment.iter();
        let remarks: Vec<String> = remarks
            .map(|(key, value)| format!("{} {}", one_line(key), one_line(value)))
            .collect();
        if !remarks.is_empty() {
            lines.push(text!(
                "{name}: {why}",
                name = name(cell),
                why = remarks.join(", ")
            ));
        }
    }
    let known = ranked
        .iter()
        .filter_map(|cell| Some((cell, trial(cell)?, trial(cell)?.retained_per_turn()?)));
    let Some((least, thrifty, _)) = known.min_by(|a, b| a.2.total_cmp(&b.2)) else {
        return lines;
    };
    lines.extend(ranked.iter().filter_map(|cell| {
        let more = trial(cell)?.retains_more(thrifty)?;
        Some(text!(
            "{name} keeps {objects} objects per turn more than {least}",
            name = name(cell),
            objects = format!("{more:.2}"),
            least = name(least)
        ))
    }));
    lines
}

fn cells(
    view: &BenchView,
    (row, index): (usize, usize),
    best: usize,
    language: Language,
) -> Vec<String> {
    let name = view.cell_name(row, index).to_owned();
    let found = &view.bench.rows[row];
    let measured = &found.cells[index];
    let Some((value, interval)) = found.value(index, view.bench.how) else {
        return [
            vec![name, numbers::UNKNOWN.to_owned()],
            vec![String::new(); HEADS.len() - 1],
        ]
        .concat();
    };
    let unit = Scale::of(value, &found.metric.unit);
    let range = interval.filter(|ends| ends.high.is_finite() && ends.low > 0.0);
    let range = range.map_or_else(String::new, |ends| {
        format!("{}–{}", unit.end(ends.low), unit.end(ends.high))
    });
    let beside = match (index == best, view.beside(row, best, index)) {
        (false, Some(beside)) => said(found, &beside).written_in(language),
        _ => String::new(),
    };
    let trial = measured.trial.as_ref();
    let warm =
        trial
            .filter(|trial| !trial.curve.is_empty())
            .map(|trial| match trial.has_settled() {
                true if trial.warmup == 0.0 => "0".to_owned(),
                true => numbers::duration_ms(trial.warmup * 1000.0),
                false => text!("never").written_in(language),
            });
    let start = median(measured, |sample| sample.startup);
    vec![
        name,
        unit.figure(),
        range,
        beside,
        start
            .filter(|start| *start > 0.0)
            .map_or_else(String::new, |start| numbers::duration_ms(start * 1000.0)),
        warm.unwrap_or_default(),
        median(measured, |sample| sample.gc_share)
            .filter(|share| *share > 0.0)
            .map_or_else(String::new, numbers::share),
        median(measured, |sample| sample.memory)
            .map_or_else(String::new, |bytes| numbers::bytes(bytes as u64)),
    ]
}

fn median(measured: &Measured, of: fn(&Sample) -> f64) -> Option<f64> {
    let values: Vec<f64> = measured.samples.iter().map(of).collect();
    stats::median(&values)
}

/// Words for a cell compared with the best of the same row.
fn said(row: &Row, beside: &Beside) -> Text {
    let ratio = format!("{:.2}", beside.ratio);
    let range = beside.interval.map_or_else(String::new, |[low, high]| {
        // An end that too few blocks leave open.
        let high = if high.is_finite() {
            format!("{high:.3}")
        } else {
            "∞".to_owned()
        };
        format!(" ({low:.3}–{high})")
    });
    let worse = Text::named(&row.metric.worse);
    match beside.verdict {
        Verdict::Same => text!("the same{range}", range),
        Verdict::Unclear => text!("undecided: {ratio}x{range}", ratio, range),
        _ => text!("{ratio}x {worse}{range}", ratio, worse, range),
    }
}

/// The geometric mean of each contender beside the best, over all rows.
fn overall(view: &BenchView) -> Vec<Text> {
    let pairs = &view.bench.overall;
    let row = &view.bench.rows[0];
    let is_more_better = row.is_more_better(view.runner());
    let mut lines = Vec::new();
    for pair in pairs {
        let Some(beside) = super::beside(*pair, false, is_more_better) else {
            continue;
        };
        let is_first_better = beside.ratio >= 1.0;
        let (better, worse) = if is_first_better {
            (pair.a, pair.b)
        } else {
            (pair.b, pair.a)
        };
        let beside = super::beside(*pair, !is_first_better, is_more_better).unwrap_or(beside);
        lines.push(text!(
            "over all {count}: {worse} beside {better}: {said}",
            count = view.bench.rows.len(),
            worse = view.contenders[worse].name.clone(),
            better = view.contenders[better].name.clone(),
            said = said(row, &beside)
        ));
    }
    lines
}

fn footer(view: &BenchView) -> Text {
    let bench = view.bench;
    let processes: usize = bench
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .map(|cell| cell.samples.len())
        .sum();
    let blocks = bench.rows.iter().map(|row| row.blocks).max().unwrap_or(0);
    let overheads: Vec<f64> = (bench.rows.iter().flat_map(|row| &row.cells))
        .flat_map(|cell| cell.samples.iter().filter_map(|sample| sample.overhead))
        .collect();
    let around = match stats::percentile_interval(&overheads, stats::median, 500, 0.95) {
        Some(interval) => text!(
            "; taken off: {low} to {high} per turn for the loop or shell",
            low = Scale::of(interval.low, "s").figure(),
            high = Scale::of(interval.high, "s").figure()
        ),
        None => Text::of("", Vec::new()),
    };
    text!(
        "{ending}: {blocks} blocks, {processes} processes{around}; the same means within {margin} %",
        ending = view.ending(),
        blocks,
        processes,
        around,
        margin = numbers::plain(bench.how.margin * 100.0)
    )
}

/// Scale of a figure: three digits, in thousands or thousandths of the unit.
struct Scale {
    value: f64,
    divisor: f64,
    unit: String,
}

impl Scale {
    fn of(value: f64, unit: &str) -> Scale {
        let steps: &[(f64, &str)] = match unit {
            "s" => &[(1.0, " s"), (1e-3, " ms"), (1e-6, " µs"), (1e-9, " ns")],
            "bytes" => &[
                (1_073_741_824.0, " GiB"),
                (1_048_576.0, " MiB"),
                (1024.0, " KiB"),
                (1.0, " bytes"),
            ],
            _ => &[(1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, " ")],
        };
        let found = steps.iter().find(|(least, _)| value >= *least);
        let (divisor, letter) = *found.unwrap_or(&(1.0, " "));
        let is_whole = matches!(unit, "s" | "bytes") && found.is_some();
        Scale {
            value,
            divisor,
            unit: if is_whole {
                letter.to_owned()
            } else {
                format!("{letter}{unit}")
            },
        }
    }

    fn digits(&self) -> usize {
        match (self.value / self.divisor).abs() {
            value if value >= 100.0 => 0,
            value if value >= 10.0 => 1,
            value if value >= 1.0 => 2,
            _ => 3,
        }
    }

    fn figure(&self) -> String {
        format!(
            "{:.*}{}",
            self.digits(),
            self.value / self.divisor,
            self.unit
        )
    }

    /// An end of the figure's interval: a digit more, and no unit.
    fn end(&self, end: f64) -> String {
        format!("{:.*}", self.digits() + 1, end / self.divisor)
    }
}
