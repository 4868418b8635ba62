//! The summary for people: rate, percentiles, answers, errors, the generator, doubts, expectations.

use findings::numbers;
use hdrhistogram::Histogram;
use load::Pace;
use recording::Nanos;
use report::text::{Column, fold, one_line, table as fitted};

use crate::{View, doubts, json, quantile_ms};

/// The quantiles that are shown.
const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("max", 1.0),
];
/// Kinds of failures that are shown with their reason.
const FAILURES_SHOWN: usize = 5;

/// The summary, without colour, at most `columns` wide.
pub fn summary(view: &View<'_>, columns: usize) -> String {
    let mut lines = head(view);
    lines.extend(table(view, columns));
    lines.extend(steps(view, columns));
    lines.extend(failures(view));
    lines.extend(section("GENERATOR", vec![generator(view)]));
    lines.extend(section("MIND", doubts::all(view)));
    lines.extend(section("EXPECTED", expectations(view)));
    fold(&(lines.join("\n") + "\n"), columns)
}

/// What is being done, in one line.
pub fn announcement(view_url: &str, plan: &load::Plan) -> String {
    let pace = match &plan.pace {
        Pace::Closed => closed(plan),
        Pace::Constant { per_second } => open(&per_second.to_string(), plan),
        Pace::Scheduled(schedule) => open(&schedule.to_string(), plan),
    };
    let warmup = match plan.warmup {
        Nanos::ZERO => String::new(),
        warmup => format!(
            " after {} of warm-up",
            numbers::duration_ms(warmup.as_millis_f64())
        ),
    };
    let duration = numbers::duration_ms(plan.duration.as_millis_f64());
    format!("{view_url}: {pace}, for {duration}{warmup}")
}

fn closed(plan: &load::Plan) -> String {
    let connections = numbers::counted(plan.connections.into(), "connection");
    match &plan.level_up {
        None => format!("{connections}, closed loop"),
        Some(level) => format!(
            "{connections}, closed loop, {} more each second while all is well, up to {}",
            numbers::count(level.users.into()),
            numbers::count(level.users_max.into())
        ),
    }
}

fn open(rate: &str, plan: &load::Plan) -> String {
    format!(
        "{rate} requests per second due, open loop, at most {}",
        numbers::counted(plan.connections.into(), "connection")
    )
}

fn head(view: &View<'_>) -> Vec<String> {
    let measured = view.measured;
    let outcomes = &measured.figures.outcomes;
    let length = measured.window.length();
    let mut lines = vec![announcement(view.url, view.plan)];
    if measured.stopped {
        lines.push(format!(
            "stopped early: these are the first {}",
            numbers::duration_ms(length.as_millis_f64())
        ));
    }
    let bytes = measured.figures.body_bytes as f64 / length.as_secs_f64().max(1e-9);
    // Without an answer there is nothing to say of bodies.
    let bodies = match outcomes.answered() {
        0 => String::new(),
        _ => format!("   {}B/s of bodies", numbers::plain(bytes)),
    };
    lines.push(String::new());
    lines.push(format!(
        "  {} requests/s   {}   {} failed{bodies}",
        numbers::plain(measured.rps()),
        numbers::counted(outcomes.all(), "request"),
        numbers::count(outcomes.failed()),
    ));
    if view.plan.level_up.is_some() {
        let users = numbers::counted(measured.users.into(), "user");
        lines.push(format!("  {users} at the end"));
    }
    let statuses: Vec<String> = (measured.figures.statuses.sorted().iter())
        .map(|(status, count)| format!("{status}: {}", numbers::count(*count)))
        .chain(
            json::errors(outcomes)
                .map(|(name, count)| format!("{name}: {}", numbers::count(count))),
        )
        .collect();
    lines.push(format!("  {}", statuses.join("   ")));
    lines
}

fn table(view: &View<'_>, columns: usize) -> Vec<String> {
    let figures = &view.measured.figures;
    let rows = [
        ("latency", &figures.latency, "due → answered"),
        ("sent", &figures.service, "sent → answered"),
        ("connect", &figures.connecting, ""),
        ("tls", &figures.handshakes, "handshake"),
    ];
    let rows = rows.iter().filter(|(_, times, _)| !times.is_empty());
    let rows = rows.map(|(name, times, meaning)| {
        let mut cells = vec![(*name).to_owned()];
        cells.extend(quantiles(times));
        cells.push((*meaning).to_owned());
        cells
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut heads = vec![Column::words("", 0)];
    heads.extend(QUANTILES.map(|(name, _)| Column::figure(name, u8::from(name == "p99.9"))));
    heads.push(Column::words("", 2));
    indented(&heads, &rows, columns)
}

/// A table behind an empty line; columns of nothing need no heads.
fn indented(heads: &[Column<'_>], rows: &[Vec<String>], columns: usize) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let lines = fitted(heads, rows, columns.saturating_sub(2));
    let lines = lines.into_iter().map(|line| format!("  {line}"));
    [String::new()].into_iter().chain(lines).collect()
}

fn quantiles(histogram: &Histogram<u64>) -> impl Iterator<Item = String> {
    (QUANTILES.iter())
        .map(|(_, quantile)| numbers::duration_ms_or_unknown(quantile_ms(histogram, *quantile)))
}

fn steps(view: &View<'_>, columns: usize) -> Vec<String> {
    const HEADS: [Column<'static>; 5] = [
        Column::words("STEP", 0),
        Column::figure("requests", 0),
        Column::figure("failed", 0),
        Column::figure("p50", 0),
        Column::figure("p99", 0),
    ];
    let figures = &view.measured.figures.steps;
    if figures.len() < 2 {
        return Vec::new();
    }
    let rows = view.scenario.steps().zip(figures).map(|(name, figures)| {
        let cell =
            |quantile| numbers::duration_ms_or_unknown(quantile_ms(&figures.latency, quantile));
        let cells = [
            one_line(name.line),
            numbers::count(figures.outcomes.all()),
            numbers::count(figures.outcomes.failed()),
            cell(0.5),
            cell(0.99),
        ];
        cells.to_vec()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    indented(&HEADS, &rows, columns)
}

fn failures(view: &View<'_>) -> Vec<String> {
    let failures = view.measured.failures.iter().take(FAILURES_SHOWN);
    let lines = failures.map(|failure| {
        let (count, name) = (numbers::count(failure.count), failure.outcome.name());
        let (place, reason) = (one_line(&failure.place), one_line(&failure.reason));
        format!("{count} × {name}: {reason} ({place})")
    });
    section("FAILED", lines.collect())
}

fn generator(view: &View<'_>) -> String {
    let measured = view.measured;
    let late = numbers::duration_ms_or_unknown(quantile_ms(&measured.figures.lateness, 0.99));
    format!(
        "{}, {} of {} used, sent late by {late} at p99, {} due and not sent",
        measured.engine,
        numbers::share(measured.generator_share()),
        numbers::counted(measured.generator.threads.into(), "thread"),
        numbers::count(measured.generator.unsent),
    )
}

fn expectations(view: &View<'_>) -> Vec<String> {
    let goals = view.goals.iter().map(|goal| {
        let verdict = if goal.held { "held  " } else { "MISSED" };
        let came = goal.came.as_deref().unwrap_or("nothing was measured");
        format!("{verdict}  {}   came {came}", goal.text)
    });
    goals.collect()
}

fn section(title: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    let mut section = vec![String::new(), title.to_owned()];
    section.extend(lines.into_iter().map(|line| format!("  {line}")));
    section
}
