//! The summary for people: rate, percentiles, responses, errors, the generator, doubts,
//! expectations.

use figures::text::{Column, fold, left, one_line, table as fitted, width};
use figures::{counted, numbers};
use hdrhistogram::Histogram;
use load::{GoalVerdict, Outcomes, Pace};
use recording::{Nanos, Outcome};
use words::{Language, Phrase, Text, phrase, text};

use crate::{View, doubts, generators, json, quantile_ms};

/// Quantiles on the page.
const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("max", 1.0),
];
/// Kinds of failures shown with reasons.
const FAILURES_SHOWN: usize = 5;

/// The summary, without colour, at most `columns` wide.
pub fn summary(view: &View<'_>, columns: usize, language: Language) -> String {
    let section = |title: Phrase, texts: Vec<Text>| section(title, texts, language);
    let mut lines = head(view, language);
    lines.extend(table(view, columns, language));
    lines.extend(steps(view, columns, language));
    lines.extend(by_generator(view, columns, language));
    lines.extend(section(phrase!("FAILED"), failures(view)));
    lines.extend(section(phrase!("GENERATOR"), vec![generator(view)]));
    lines.extend(section(phrase!("MIND"), doubts::all(view)));
    lines.extend(section(phrase!("EXPECTED"), expectations(view, language)));
    fold(&(lines.join("\n") + "\n"), columns)
}

/// Announcement of the load, in one line.
pub fn announcement(view_url: &str, plan: &load::Plan) -> Text {
    let pace = match &plan.pace {
        Pace::Closed => closed(plan),
        Pace::Constant { per_second } => open(&per_second.to_string(), plan),
        Pace::Scheduled(schedule) => open(&schedule.to_string(), plan),
    };
    let duration = numbers::duration_ms(plan.duration.as_millis_f64());
    match plan.warmup {
        Nanos::ZERO => text!(
            "{url}: {pace}, for {duration}",
            url = view_url,
            pace,
            duration
        ),
        warmup => text!(
            "{url}: {pace}, for {duration} after {warmup} of warm-up",
            url = view_url,
            pace,
            duration,
            warmup = numbers::duration_ms(warmup.as_millis_f64())
        ),
    }
}

fn closed(plan: &load::Plan) -> Text {
    let connections = connections(plan);
    match &plan.level_up {
        None => text!("{connections}, closed loop", connections),
        Some(level) => text!(
            "{connections}, closed loop, {more} more each second while all is well, up to {most}",
            connections,
            more = numbers::count(level.users.into()),
            most = numbers::count(level.users_max.into())
        ),
    }
}

fn open(rate: &str, plan: &load::Plan) -> Text {
    text!(
        "{rate} requests per second due, open loop, at most {connections}",
        rate,
        connections = connections(plan)
    )
}

fn connections(plan: &load::Plan) -> Text {
    let connections = counted!(u64::from(plan.sockets()), "connection");
    match plan.streams {
        0 => connections,
        streams => text!(
            "{connections} of HTTP/2 by {streams} streams",
            connections,
            streams = numbers::count(streams.into())
        ),
    }
}

/// Says why requests without an answer are not among the failed ones.
fn unanswered(outcomes: &Outcomes) -> Option<Text> {
    let count = outcomes.of(Outcome::Unanswered);
    (count > 0).then(|| {
        text!(
            "  unanswered means still under way after the end, which is no failure: {count}",
            count = numbers::count(count)
        )
    })
}

fn head(view: &View<'_>, language: Language) -> Vec<String> {
    let say = |text: Text| text.written_in(language);
    let measured = view.measured;
    let outcomes = &measured.figures.outcomes;
    let length = measured.window.length();
    let mut lines = vec![say(announcement(view.url, view.plan))];
    if measured.stopped {
        lines.push(say(text!(
            "stopped early: these are the first {length}",
            length = numbers::duration_ms(length.as_millis_f64())
        )));
    }
    let bytes = measured.figures.body_bytes as f64 / length.as_secs_f64().max(1e-9);
    // Without an answer there is nothing to say of bodies.
    let bodies = match measured.figures.answered() {
        0 => Text::default(),
        _ => text!("   {rate}B/s of bodies", rate = numbers::plain(bytes)),
    };
    lines.push(String::new());
    lines.push(say(text!(
        "  {rate} requests/s   {requests}   {failed} failed{bodies}",
        rate = numbers::plain(measured.rps()),
        requests = counted!(outcomes.all(), "request"),
        failed = numbers::count(outcomes.failed()),
        bodies
    )));
    if view.plan.level_up.is_some() {
        let users = counted!(u64::from(measured.users), "user");
        lines.push(say(text!("  {users} at the end", users)));
    }
    let statuses: Vec<String> = (measured.figures.statuses.sorted().iter())
        .map(|(status, count)| format!("{status}: {}", numbers::count(*count)))
        .chain(
            json::errors(outcomes)
                .map(|(name, count)| (say(Text::named(name)), count))
                .map(|(name, count)| format!("{name}: {}", numbers::count(count))),
        )
        .collect();
    lines.push(format!("  {}", statuses.join("   ")));
    lines.extend(unanswered(outcomes).map(say));
    lines
}

fn table(view: &View<'_>, columns: usize, language: Language) -> Vec<String> {
    let figures = &view.measured.figures;
    let rows = [
        (
            phrase!("latency"),
            &figures.latency,
            phrase!("due → answered"),
        ),
        (
            phrase!("sent"),
            &figures.service,
            phrase!("sent → answered"),
        ),
        (phrase!("connect"), &figures.connecting, phrase!("")),
        (phrase!("tls"), &figures.handshakes, phrase!("handshake")),
    ];
    let rows = rows.iter().filter(|(_, times, _)| !times.is_empty());
    let rows = rows.map(|(name, times, meaning)| {
        let mut cells = vec![name.written_in(language)];
        cells.extend(quantiles(times));
        cells.push(meaning.written_in(language));
        cells
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut heads = vec![Column::words("", 0)];
    let names = QUANTILES.map(|(name, _)| (name, Text::named(name).written_in(language)));
    heads.extend(
        (names.iter()).map(|(name, head)| Column::figure(head, u8::from(*name == "p99.9"))),
    );
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

fn steps(view: &View<'_>, columns: usize, language: Language) -> Vec<String> {
    const NAMES: [Phrase; 5] = [
        phrase!("STEP"),
        phrase!("requests"),
        phrase!("failed"),
        phrase!("p50"),
        phrase!("p99"),
    ];
    let names = NAMES.map(|name| name.written_in(language));
    let [step, figures @ ..] = &names;
    let mut heads = vec![Column::words(step, 0)];
    heads.extend(figures.iter().map(|head| Column::figure(head, 0)));
    let figures = &view.measured.figures.steps;
    if figures.len() < 2 {
        return Vec::new();
    }
    let rows = view.steps.iter().zip(figures).map(|(name, figures)| {
        let cell =
            |quantile| numbers::duration_ms_or_unknown(quantile_ms(&figures.latency, quantile));
        let cells = [
            one_line(&name.line),
            numbers::count(figures.outcomes.all()),
            numbers::count(figures.outcomes.failed()),
            cell(0.5),
            cell(0.99),
        ];
        cells.to_vec()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    indented(&heads, &rows, columns)
}

fn by_generator(view: &View<'_>, columns: usize, language: Language) -> Vec<String> {
    let (heads, rows) = generators::table(view, language);
    indented(&generators::columns(&heads), &rows, columns)
}

fn failures(view: &View<'_>) -> Vec<Text> {
    let failures = view.measured.failures.iter().take(FAILURES_SHOWN);
    let lines = failures.map(|failure| {
        text!(
            "{count} × {outcome}: {reason} ({place})",
            count = numbers::count(failure.count),
            outcome = Text::named(failure.outcome.name()),
            reason = Text::named(&one_line(&failure.reason)),
            place = one_line(&failure.place)
        )
    });
    lines.collect()
}

fn generator(view: &View<'_>) -> Text {
    let measured = view.measured;
    let late = numbers::duration_ms_or_unknown(quantile_ms(&measured.figures.lateness, 0.99));
    text!(
        "{engine}, {share} of {threads} used, sent late by {late} at p99, {unsent} due and not sent",
        engine = measured.engine.to_string(),
        share = numbers::share(measured.generator_share()),
        threads = counted!(u64::from(measured.generator.threads), "thread"),
        late,
        unsent = numbers::count(measured.generator.unsent)
    )
}

fn expectations(view: &View<'_>, language: Language) -> Vec<Text> {
    let name = |verdict: GoalVerdict| {
        let name = match verdict {
            GoalVerdict::Held => phrase!("held"),
            GoalVerdict::Missed => phrase!("MISSED"),
            GoalVerdict::TooFew { .. } => phrase!("cannot be judged"),
        };
        name.written_in(language)
    };
    let met = view.goals.iter().map(|goal| goal.verdict);
    let columns = [GoalVerdict::Held, GoalVerdict::Missed]
        .into_iter()
        .chain(met)
        .map(|verdict| width(&name(verdict)))
        .max()
        .unwrap_or(0);
    let goals = view.goals.iter().map(|goal| {
        let verdict = left(&name(goal.verdict), columns);
        if let GoalVerdict::TooFew { needed, came } = goal.verdict {
            return text!(
                "{verdict}  {goal}   takes {needed}, there were {came}; run longer (-d)",
                verdict,
                goal = goal.text,
                needed = counted!(needed, "request"),
                came = numbers::count(came)
            );
        }
        let came = goal.came.as_ref().map(Text::from);
        text!(
            "{verdict}  {goal}   came {came}",
            verdict,
            goal = goal.text,
            came = came.unwrap_or_else(|| text!("nothing was measured"))
        )
    });
    goals.collect()
}

fn section(title: Phrase, lines: Vec<Text>, language: Language) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    let mut section = vec![String::new(), title.written_in(language)];
    let lines = lines.into_iter().map(|line| line.written_in(language));
    section.extend(lines.map(|line| format!("  {line}")));
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_under_way_at_the_end_are_told_apart_from_failures() {
        let mut outcomes = Outcomes::default();
        outcomes.add_many(Outcome::Ok, 1_743);
        assert_eq!(unanswered(&outcomes), None);
        outcomes.add_many(Outcome::Unanswered, 41);
        assert_eq!((outcomes.failed(), outcomes.all()), (0, 1_784));
        let line = unanswered(&outcomes).map(|text| text.written_in(Language::English));
        assert!(line.is_some_and(|line| line.ends_with("no failure: 41")));
    }
}
