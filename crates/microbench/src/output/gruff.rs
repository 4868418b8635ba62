//! A picture of bars, as the gruff plugin of benchmark_driver draws one: jobs side by side, a bar
//! for each contender.

use std::fmt::Write;

use super::{Table, humanized};

/// Pixels.
const WIDTH: f64 = 800.0;
const BAR: f64 = 18.0;
const GAP: f64 = 14.0;
const LEFT: f64 = 220.0;
const RIGHT: f64 = 110.0;
const TOP: f64 = 60.0;
const LINE: f64 = 20.0;

/// Colours distinct to readers who see red and green as one (Okabe & Ito 2008), the dark
/// ones first.
pub(crate) const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000",
];

pub(super) fn write(table: &Table) -> String {
    let bars = table.contenders.len() as f64;
    let group = bars * BAR + GAP;
    let legend = bars * LINE;
    let height = TOP + legend + table.jobs.len() as f64 * group + GAP;
    let values = table
        .jobs
        .iter()
        .flat_map(|(_, figures)| figures)
        .filter_map(|figure| figure.value);
    let most = values.fold(f64::MIN_POSITIVE, f64::max);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"18\">{} ({})</text>\n",
        escaped(&table.metric.name),
        escaped(&table.metric.unit)
    );
    for (index, name) in table.contenders.iter().enumerate() {
        let y = 44.0 + index as f64 * LINE;
        let colour = COLOURS[index % COLOURS.len()];
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            LEFT + 18.0,
            y + 11.0,
            escaped(name)
        );
    }
    for (line, (name, figures)) in table.jobs.iter().enumerate() {
        let y = TOP + legend + line as f64 * group;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + bars * BAR / 2.0 + 4.0,
            escaped(&shortened(name))
        );
        for (index, figure) in figures.iter().enumerate() {
            let y = y + index as f64 * BAR;
            let width = figure.value.unwrap_or(0.0) / most * (WIDTH - LEFT - RIGHT);
            let colour = COLOURS[index % COLOURS.len()];
            let _ = writeln!(
                out,
                "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                BAR - 3.0,
                LEFT + width + 6.0,
                y + 12.0,
                humanized(figure.value, 0).trim()
            );
        }
    }
    out.push_str("</svg>\n");
    out
}

fn shortened(name: &str) -> String {
    let line = name.lines().next().unwrap_or_default();
    if line.chars().count() <= 28 {
        return line.to_owned();
    }
    line.chars().take(27).chain(['…']).collect()
}

/// A text inside of HTML or SVG.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
    out
}
