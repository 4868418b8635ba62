//! The HTML page of a bench: ranked bars with intervals, every process as a dot, and warm-up
//! curves.

use std::fmt::Write;

use microbench::bench::figure;
use words::{Language, Text, text};

use super::{BenchView, page};
use figures::text::COLUMNS;

/// Colours distinct for people with red-green colour blindness (Okabe & Ito 2008).
pub(super) const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#777777",
];
/// Pixels.
pub(super) const WIDTH: f64 = 860.0;
const LEFT: f64 = 200.0;
const LINE: f64 = 30.0;
const CURVE: f64 = 140.0;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;background:#fff;color:#1a1a1a}\
iframe{width:100%;height:720px;border:1px solid #8888;border-radius:4px}\
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}pre{overflow:auto;font-size:13px;line-height:1.35}svg{max-width:100%;height:auto}\
svg text{fill:currentColor;font:13px system-ui,sans-serif}\
@media(prefers-color-scheme:dark){body{background:#14161a;color:#e6e6e6}}";

/// Beginning of an HTML page, up to the content.
pub(super) fn opened(title: &str, language: Language) -> String {
    let code = match language {
        Language::Japanese => "ja",
        Language::English => "en",
    };
    format!(
        "<!doctype html><html lang=\"{code}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>\n"
    )
}

/// The end of a page.
pub(super) fn closed() -> &'static str {
    "</main></body></html>\n"
}

/// The differential flame graph of a row's two fastest cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Flames {
    /// Index of the row.
    pub row: usize,
    /// Heading of the comparison.
    pub head: Text,
    /// The page made by [`crate::profile::difference_to_html`].
    pub page: String,
}

/// Returns one HTML file, complete without a network.
pub fn html(view: &BenchView, flames: &[Flames], language: Language) -> String {
    let title = text!("What is faster").written_in(language);
    let mut out = opened(&title, language);
    for row in 0..view.bench.rows.len() {
        let name = &view.bench.rows[row].name;
        let head = if name.is_empty() {
            &view.contenders[0].name
        } else {
            name
        };
        let _ = writeln!(out, "<h2>{}</h2>", escaped(head));
        out += &bars(view, row, language);
        out += &curves(view, row, language);
        for one in flames.iter().filter(|one| one.row == row) {
            out += &framed(one, language);
        }
    }
    let page = page(view, COLUMNS, language);
    let facts = text!("The same in figures").written_in(language);
    let _ = writeln!(out, "<h2>{facts}</h2><pre>{}</pre>", escaped(&page));
    out + closed()
}

/// One bar with an interval for each cell, the best first, and a dot for each process.
fn bars(view: &BenchView, row: usize, language: Language) -> String {
    let found = &view.bench.rows[row];
    let how = view.bench.how;
    let ranked = view.ranked(row);
    let values = ranked.iter().filter_map(|cell| found.value(*cell, how));
    let most = values
        .map(|(value, interval)| interval.map_or(value, |interval| interval.high.min(value * 2.0)))
        .fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| LEFT + (value / most).min(1.04) * (WIDTH - LEFT - 40.0);
    let height = ranked.len() as f64 * LINE + 8.0;
    let label = text!("bars: the figure of each contender; lines: where it lies; dots: processes")
        .written_in(language);
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escaped(&label)
    );
    for (line, cell) in ranked.into_iter().enumerate() {
        let y = line as f64 * LINE + 4.0;
        let colour = COLOURS[cell % COLOURS.len()];
        let name = escaped(&figures::text::fit(view.cell_name(row, cell), 26));
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{name}</text>",
            LEFT - 8.0,
            y + 16.0
        );
        let measured = &found.cells[cell];
        let Some((value, interval)) = found.value(cell, how) else {
            let why = measured
                .missing
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let _ = writeln!(
                out,
                "<text x=\"{LEFT}\" y=\"{}\">{}</text>",
                y + 16.0,
                escaped(&why)
            );
            continue;
        };
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"14\" fill=\"{colour}\" opacity=\"0.75\"/>",
            x(value) - LEFT
        );
        if let Some(interval) = interval {
            let _ = writeln!(
                out,
                "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y2:.1}\" y2=\"{y2:.1}\" stroke=\"currentColor\" stroke-width=\"2\"/>",
                x(interval.low),
                x(interval.high.min(most * 1.04)),
                y2 = y + 7.0
            );
        }
        out += &dots(view, (row, cell), y + 20.0, x);
        out.push('\n');
    }
    out + "</svg>\n"
}

/// A dot for each process of a cell.
fn dots(view: &BenchView, (row, cell): (usize, usize), y: f64, x: impl Fn(f64) -> f64) -> String {
    let found = &view.bench.rows[row];
    let measured = &found.cells[cell];
    let colour = COLOURS[cell % COLOURS.len()];
    let dot = |sample| {
        let value = figure(sample, view.runner(), found.clock);
        let at = x(found.in_unit(measured, view.runner(), value));
        format!("<circle cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{colour}\"/>")
    };
    measured.samples.iter().map(dot).collect()
}

/// Time per turn from the first batch on, a line for each cell; nothing where there is no curve.
fn curves(view: &BenchView, row: usize, language: Language) -> String {
    let found = &view.bench.rows[row];
    let curves: Vec<(usize, &Vec<f64>)> = found
        .cells
        .iter()
        .enumerate()
        .filter_map(|(index, cell)| Some((index, &cell.trial.as_ref()?.curve)))
        .filter(|(_, curve)| curve.len() > 2)
        .collect();
    let most = curves
        .iter()
        .flat_map(|(_, curve)| curve.iter().copied())
        .fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let label =
        text!("warm-up: time per turn of the first process, batch by batch").written_in(language);
    let label = escaped(&label);
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{label}\"><text x=\"0\" y=\"14\">{label}</text>\n",
        CURVE + 24.0
    );
    for (index, curve) in curves {
        let step = (WIDTH - 20.0) / (curve.len() - 1) as f64;
        let points: Vec<String> = (curve.iter().enumerate())
            .map(|(at, value)| {
                format!(
                    "{:.1},{:.1}",
                    10.0 + at as f64 * step,
                    20.0 + CURVE * (1.0 - value / most)
                )
            })
            .collect();
        let colour = COLOURS[index % COLOURS.len()];
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>",
            points.join(" ")
        );
    }
    out + "</svg>\n"
}

/// Returns a page within the page, isolated in policy and styles.
fn framed(flames: &Flames, language: Language) -> String {
    let head = escaped(&flames.head.written_in(language));
    let page = escaped(&flames.page);
    format!("<h3>{head}</h3>\n<iframe title=\"{head}\" srcdoc=\"{page}\"></iframe>\n")
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
