//! Several generators beside each other: requests, lateness and start of each.

use figures::numbers;
use figures::text::{Column, one_line};
use hdrhistogram::Histogram;
use load::Engine;
use recording::Nanos;
use words::{Language, Phrase, Text, phrase, text};

use crate::doubts::SHARE_BUSY;
use crate::{View, quantile_ms};

/// Greatest spread of the starts without a doubt, as a part of the measured time.
const SPREAD_PART: f64 = 0.02;

/// One generator's own figures.
#[derive(Clone, Debug)]
pub struct GeneratorLine {
    /// Part of the load, K/N.
    pub part: String,
    /// Source of the result: a file, a host, a pod.
    pub name: String,
    /// Name of the generator's host, as reported by the host.
    pub host: String,
    /// Engine used by the generator.
    pub engine: Engine,
    /// Start of the generator after the first generator's start, by the hosts' own clocks.
    pub started_after: Nanos,
    /// Bound of the error of `started_after`, where the hosts' clocks were compared.
    pub clock_bound: Option<Nanos>,
    /// Requests due in the window.
    pub requests: u64,
    /// Failed requests.
    pub failed: u64,
    /// Requests due and never sent.
    pub unsent: u64,
    /// Share of the time spent by the generator's threads on a core, from 0 to 1.
    pub share: f64,
    /// Lateness of the generator (due → sent), nanoseconds.
    pub lateness: Histogram<u64>,
    /// Whether the generator was stopped early.
    pub stopped: bool,
}

/// Returns heads and rows of the table of generators.
pub(crate) fn table(view: &View<'_>, language: Language) -> (Vec<String>, Vec<Vec<String>>) {
    const NAMES: [Phrase; 9] = [
        phrase!("PART"),
        phrase!("host"),
        phrase!("requests"),
        phrase!("failed"),
        phrase!("not sent"),
        phrase!("busy"),
        phrase!("late p50"),
        phrase!("late p99"),
        phrase!("began after"),
    ];
    let heads = NAMES.map(|name| name.written_in(language)).to_vec();
    let late = |line: &GeneratorLine, quantile| {
        numbers::duration_ms_or_unknown(quantile_ms(&line.lateness, quantile))
    };
    let rows = view.generators.iter().map(|line| {
        vec![
            line.part.clone(),
            one_line(&line.host),
            numbers::count(line.requests),
            numbers::count(line.failed),
            numbers::count(line.unsent),
            numbers::share(line.share),
            late(line, 0.5),
            late(line, 0.99),
            began_after(line),
        ]
    });
    (heads, rows.collect())
}

/// Returns the start of a generator after the first one's, and the uncertainty of the difference.
fn began_after(line: &GeneratorLine) -> String {
    let after = numbers::duration_ms(line.started_after.as_millis_f64());
    match line.clock_bound {
        None => after,
        Some(bound) => format!("{after} ± {}", numbers::duration_ms(bound.as_millis_f64())),
    }
}

/// Columns of the table: two of words, then figures.
pub(crate) fn columns(heads: &[String]) -> Vec<Column<'_>> {
    heads
        .iter()
        .enumerate()
        .map(|(place, head)| match place {
            0 | 1 => Column::words(head, 0),
            _ => Column::figure(head, 0),
        })
        .collect()
}

/// Time between the first start and the last.
pub fn spread(lines: &[GeneratorLine]) -> Nanos {
    let latest = lines.iter().map(|line| line.started_after).max();
    latest.unwrap_or(Nanos::ZERO)
}

/// Reasons in single generators to distrust the sum.
pub(crate) fn doubts(view: &View<'_>) -> Vec<Text> {
    let busy = view
        .generators
        .iter()
        .filter(|line| line.share > SHARE_BUSY);
    let mut doubts: Vec<Text> = busy
        .map(|line| {
            text!(
                "generator {part} on {host} was busy {share} of the time; its requests may have been late because of it",
                part = line.part.clone(),
                host = one_line(&line.host),
                share = numbers::share(line.share)
            )
        })
        .collect();
    let (spread, length) = (spread(view.generators), view.measured.window.length());
    if spread.as_secs_f64() > length.as_secs_f64() * SPREAD_PART {
        doubts.push(text!(
            "the generators began {spread} apart, by their hosts' clocks: the load was not whole at its begin and end",
            spread = numbers::duration_ms(spread.as_millis_f64())
        ));
    }
    doubts
}
