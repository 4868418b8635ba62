//! The HTML page of many benches: each a dot, each level a line, each change a sentence.

use std::fmt::Write;

use words::{Language, Text, text};

use super::html::{COLOURS, WIDTH, closed, escaped, opened};

const HEIGHT: f64 = 180.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 12.0;

/// History of a contender at a job.
#[derive(Clone, Debug)]
pub struct History {
    /// Job and contender.
    pub title: String,
    /// The figures' unit.
    pub unit: String,
    /// Benches of the contender, the oldest first.
    pub points: Vec<HistoryPoint>,
    /// Change of each level against the previous level.
    pub changes: Vec<Option<Text>>,
}

/// A bench.
#[derive(Clone, Debug)]
pub struct HistoryPoint {
    /// When, and of which commit.
    pub label: String,
    /// The figure.
    pub value: f64,
    /// Index of the point's level; `None` where the point is left out.
    pub level: Option<usize>,
}

/// Returns one HTML file, complete without a network.
pub fn history_html(histories: &[History], language: Language) -> String {
    let title = text!("How it changed").written_in(language);
    let mut out = opened(&title, language);
    for history in histories {
        let _ = writeln!(
            out,
            "<h2>{} ({})</h2>",
            escaped(&history.title),
            escaped(&history.unit)
        );
        out += &drawing(history);
        out += &changes(history, language);
    }
    out + closed()
}

fn drawing(history: &History) -> String {
    let points = &history.points;
    let most = points
        .iter()
        .map(|point| point.value)
        .fold(f64::MIN_POSITIVE, f64::max);
    let step = (WIDTH - LEFT - 20.0) / points.len().saturating_sub(1).max(1) as f64;
    let x = |index: usize| LEFT + index as f64 * step;
    // From zero, so that a small change looks small.
    let y = |value: f64| TOP + (HEIGHT - TOP) * (1.0 - value / most);
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">\n",
        HEIGHT + 8.0,
        escaped(&history.title)
    );
    for value in [0.0, most] {
        let at = y(value);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.3e}</text>\
             <line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"currentColor\" opacity=\"0.25\"/>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    for level in 0..history.changes.len() {
        let of_level = points
            .iter()
            .enumerate()
            .filter(|(_, point)| point.level == Some(level));
        let (at, values): (Vec<usize>, Vec<f64>) =
            of_level.map(|(index, point)| (index, point.value)).unzip();
        let (Some(mean), Some(first), Some(last)) = (stats::mean(&values), at.first(), at.last())
        else {
            continue;
        };
        let _ = writeln!(
            out,
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y2:.1}\" y2=\"{y2:.1}\" stroke=\"{}\" stroke-width=\"3\"/>",
            x(*first) - 4.0,
            x(*last) + 4.0,
            COLOURS[level % COLOURS.len()],
            y2 = y(mean)
        );
    }
    for (index, point) in points.iter().enumerate() {
        let fill = point
            .level
            .map_or("none", |level| COLOURS[level % COLOURS.len()]);
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{fill}\" stroke=\"currentColor\"><title>{} · {:.4e}</title></circle>",
            x(index),
            y(point.value),
            escaped(&point.label),
            point.value
        );
    }
    out + "</svg>\n"
}

/// A sentence for each change, with the first bench of the new level.
fn changes(history: &History, language: Language) -> String {
    let said = |(level, change): (usize, &Option<Text>)| {
        let first = history
            .points
            .iter()
            .find(|point| point.level == Some(level))?;
        let change = change.as_ref()?.written_in(language);
        Some(format!(
            "<li>{}: {}</li>",
            escaped(&first.label),
            escaped(&change)
        ))
    };
    let items: String = history
        .changes
        .iter()
        .enumerate()
        .filter_map(said)
        .collect();
    let left_out = history.points.iter().any(|point| point.level.is_none());
    let note = left_out.then(|| {
        text!("Hollow dots are left out: the cores had another pace than usual.")
            .written_in(language)
    });
    let note = note
        .map(|note| format!("<p>{}</p>\n", escaped(&note)))
        .unwrap_or_default();
    match items.is_empty() {
        true => format!(
            "<p>{}</p>\n{note}",
            escaped(&text!("No change is shown.").written_in(language))
        ),
        false => format!("<ul>{items}</ul>\n{note}"),
    }
}
