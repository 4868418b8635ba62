//! The run in numbers.

use figures::counted;
use recording::LoadMode;
use words::{Text, text};

use super::page::{Ink, Page};
use crate::facts::{self, Percentiles};
use figures::numbers;
use figures::text::{COLUMNS, left, right, width};

use crate::View;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    page.heading(text!("NUMBERS"));
    page.paragraph(2, "", Ink::Plain, load(view), 2);
    totals(page, view);
    page.blank();
    let overall = &view.breakdown.overall;
    let lines = [
        (
            text!("latency"),
            &overall.latency,
            text!("due → answered: what users wait"),
        ),
        (text!("service"), &overall.service, text!("sent → answered")),
        (text!("late"), &overall.late, text!("due → sent")),
    ];
    let names = lines.iter().map(|(name, ..)| width(&page.written(name)));
    let room = names.max().unwrap_or_default().max(NAME_MIN) + 1;
    let heads = ["p50", "p90", "p95", "p99"].map(Text::from);
    let heads = heads.into_iter().chain([text!("max")]);
    let heads = heads.map(|head| right(&page.written(head), column(page)));
    let heads: String = heads.collect();
    page.inked(2, Ink::Faint, format!("{}{heads}", left("", room)));
    let has_room = page.columns() >= COLUMNS;
    for (name, times, meaning) in &lines {
        let name = left(&page.written(name), room);
        percentiles(page, &name, times, has_room.then_some(meaning));
    }
    if !has_room {
        let meanings = lines.map(|(name, _, meaning)| text!("{name} is {meaning}", name, meaning));
        page.paragraph(2, "", Ink::Faint, Text::list(meanings, text!("; ")), 2);
    }
    if overall.requests < 100 {
        let note =
            text!("– stands where too few samples carry a figure (p90 needs 10, p95 20, p99 100)");
        page.paragraph(2, "", Ink::Faint, note, 2);
    }
}

/// Columns of the names of the lines, at least.
const NAME_MIN: usize = 8;

/// Columns of a figure.
fn column(page: &Page) -> usize {
    if page.columns() >= 70 { 10 } else { 9 }
}

fn load(view: &View<'_>) -> Text {
    let load = &view.recording.meta.load;
    let how = match (load.mode, load.rate) {
        (LoadMode::Closed, _) => text!(
            "{connections}, closed loop",
            connections = counted!(u64::from(load.connections), "connection")
        ),
        (LoadMode::Open, Some(rate)) => text!(
            "{rate} requests per second due, open loop, {connections} connections at most",
            rate = numbers::plain(rate),
            connections = load.connections
        ),
        (LoadMode::Open, None) => text!("open loop"),
    };
    let window = numbers::duration_ms(view.recording.window.length().as_millis_f64());
    let warmup = numbers::duration_ms(load.warmup.as_millis_f64());
    text!(
        "{how}; {window} measured after {warmup} of warm-up",
        how,
        window,
        warmup
    )
}

fn totals(page: &mut Page, view: &View<'_>) {
    let overall = &view.breakdown.overall;
    let rate = facts::answered_per_second(view).map_or(numbers::UNKNOWN.to_owned(), numbers::plain);
    let ink = |count: u64| if count == 0 { Ink::Plain } else { Ink::Bad };
    let score = match &view.recording.score {
        None => Text::default(),
        Some(score) => match score.points {
            Some(points) => text!("score {points}", points = numbers::plain(points)),
            None => text!("no score: checks failed"),
        },
    };
    let cells = [
        (Ink::Strong, counted!(overall.requests, "request")),
        (Ink::Strong, text!("{rate}/s", rate)),
        (ink(overall.errors), counted!(overall.errors, "error")),
        (
            ink(overall.checks_failed),
            counted!(overall.checks_failed, "failed check"),
        ),
        (Ink::Strong, score),
    ];
    let cells = cells.map(|(ink, cell)| (ink, page.written(cell)));
    let pieces = cells.iter().enumerate().flat_map(|(at, (ink, cell))| {
        let gap = if at == 0 { "  " } else { "   " };
        [(Ink::Plain, gap), (*ink, cell.as_str())]
    });
    page.line(&pieces.collect::<Vec<_>>());
    if overall.unanswered > 0 {
        let sentence = text!(
            "{count} still unanswered at the end (counted with at least its time so far)",
            count = numbers::count(overall.unanswered)
        );
        page.paragraph(2, "", Ink::Plain, sentence, 2);
    }
}

fn percentiles(page: &mut Page, name: &str, sorted: &[recording::Nanos], meaning: Option<&Text>) {
    let Percentiles {
        p50,
        p90,
        p95,
        p99,
        max,
    } = Percentiles::of(sorted);
    let values = [p50, p90, p95, p99, max]
        .map(|value| right(&numbers::duration_ms_or_unknown(value), column(page)));
    let meaning = meaning.map(|meaning| format!("   {}", page.written(meaning)));
    page.line(&[
        (Ink::Plain, &format!("  {name}{}", values.concat())),
        (Ink::Faint, &meaning.unwrap_or_default()),
    ]);
}
