//! The run in numbers.

use recording::LoadMode;

use super::page::{Ink, Page};
use crate::facts::{self, Percentiles};
use crate::text::{COLUMNS, right};
use crate::{View, numbers};

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    page.heading("NUMBERS");
    page.paragraph(2, "", Ink::Plain, &load(view), 2);
    totals(page, view);
    page.blank();
    let heads = ["p50", "p90", "p95", "p99", "max"].map(|head| right(head, column(page)));
    page.line(&[(Ink::Faint, &format!("  {:<9}{}", "", heads.concat()))]);
    let overall = &view.breakdown.overall;
    let lines = [
        (
            "latency",
            &overall.latency,
            "due → answered: what users wait",
        ),
        ("service", &overall.service, "sent → answered"),
        ("late", &overall.late, "due → sent"),
    ];
    let has_room = page.columns() >= COLUMNS;
    for (name, times, meaning) in lines {
        percentiles(page, name, times, if has_room { meaning } else { "" });
    }
    if !has_room {
        let meanings = lines.map(|(name, _, meaning)| format!("{name} is {meaning}"));
        page.paragraph(2, "", Ink::Faint, &meanings.join("; "), 2);
    }
    if overall.requests < 100 {
        let note = "– stands where too few samples carry a figure (p90 needs 10, p95 20, p99 100)";
        page.paragraph(2, "", Ink::Faint, note, 2);
    }
}

/// Columns of a figure.
fn column(page: &Page) -> usize {
    if page.columns() >= 70 { 10 } else { 9 }
}

fn load(view: &View<'_>) -> String {
    let load = &view.recording.meta.load;
    let how = match (load.mode, load.rate) {
        (LoadMode::Closed, _) => format!(
            "{}, closed loop",
            numbers::counted(u64::from(load.connections), "connection")
        ),
        (LoadMode::Open, Some(rate)) => format!(
            "{} requests per second due, open loop, {} connections at most",
            numbers::plain(rate),
            load.connections
        ),
        (LoadMode::Open, None) => "open loop".to_owned(),
    };
    let window = numbers::duration_ms(view.recording.window.length().as_millis_f64());
    let warmup = numbers::duration_ms(load.warmup.as_millis_f64());
    format!("{how}; {window} measured after {warmup} of warm-up")
}

fn totals(page: &mut Page, view: &View<'_>) {
    let overall = &view.breakdown.overall;
    let rate = facts::answered_per_second(view).map_or(numbers::UNKNOWN.to_owned(), numbers::plain);
    let ink = |count: u64| if count == 0 { Ink::Plain } else { Ink::Bad };
    let score = match &view.recording.score {
        None => String::new(),
        Some(score) => match score.points {
            Some(points) => format!("   score {}", numbers::plain(points)),
            None => "   no score: checks failed".to_owned(),
        },
    };
    page.line(&[
        (Ink::Plain, "  "),
        (Ink::Strong, &numbers::counted(overall.requests, "request")),
        (Ink::Strong, &format!("   {rate}/s")),
        (
            ink(overall.errors),
            &format!("   {}", numbers::counted(overall.errors, "error")),
        ),
        (
            ink(overall.checks_failed),
            &format!(
                "   {}",
                numbers::counted(overall.checks_failed, "failed check")
            ),
        ),
        (Ink::Strong, &score),
    ]);
    if overall.unanswered > 0 {
        let sentence = format!(
            "{} still unanswered at the end (counted with at least its time so far)",
            numbers::count(overall.unanswered)
        );
        page.paragraph(2, "", Ink::Plain, &sentence, 2);
    }
}

fn percentiles(page: &mut Page, name: &str, sorted: &[recording::Nanos], meaning: &str) {
    let Percentiles {
        p50,
        p90,
        p95,
        p99,
        max,
    } = Percentiles::of(sorted);
    let values = [p50, p90, p95, p99, max]
        .map(|value| right(&numbers::duration_ms_or_unknown(value), column(page)));
    page.line(&[
        (Ink::Plain, &format!("  {name:<9}{}", values.concat())),
        (Ink::Faint, &format!("   {meaning}")),
    ]);
}
