//! Result of a search for the highest rate.

use figures::numbers;
use load::{Found, Goal, Plan, Trial};
use serde::Serialize;
use words::{Language, Text, text};

use crate::quantile_ms;

/// Announcement of the search, in one line.
pub fn announcement(url: &str, plan: &Plan, goals: &[Goal]) -> Text {
    text!(
        "{url}: the highest rate with {goals}, within {time}",
        url,
        goals = joined(goals),
        time = numbers::duration_ms(plan.duration.as_millis_f64())
    )
}

fn joined(goals: &[Goal]) -> String {
    let goals: Vec<String> = goals.iter().map(Goal::to_string).collect();
    goals.join(", ")
}

/// A trial in one line.
pub fn line_of(trial: &Trial) -> Text {
    let latency = &trial.measured.figures.latency;
    let at = |quantile| numbers::duration_ms_or_unknown(quantile_ms(latency, quantile));
    let verdict = match trial.passed {
        true => text!("passed"),
        false => text!("failed: {why}", why = trial.why),
    };
    text!(
        "  {rate}/s   p50 {p50}   p99 {p99}   {verdict}",
        rate = format!("{:>9}", numbers::plain(trial.rate)),
        p50 = format!("{:>8}", at(0.5)),
        p99 = format!("{:>8}", at(0.99)),
        verdict
    )
}

/// The answer for people.
pub fn summary(found: &Found, language: Language) -> String {
    let shown = |rate: f64| format!("{rate:.1}");
    let mut texts = vec![match (found.rate, found.failed) {
        (Some(rate), Some(failed)) => text!(
            "highest rate: {rate} requests/s (passed); {failed} requests/s failed",
            rate = shown(rate),
            failed = shown(failed)
        ),
        (Some(rate), None) => text!(
            "{rate} requests/s passed, and no rate failed",
            rate = shown(rate)
        ),
        (None, Some(failed)) => text!(
            "no rate passed; the lowest that was tried, {failed} requests/s, failed",
            failed = shown(failed)
        ),
        (None, None) => text!("nothing was tried"),
    }];
    if !found.sure && (found.rate.is_some() || found.trials.is_empty()) {
        texts.push(text!(
            "the time was over before this was sure; give it more (-d)"
        ));
    }
    let lines = texts.iter().map(|text| text.written_in(language) + "\n");
    lines.collect()
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    url: &'a str,
    goals: Vec<String>,
    max_rate: Option<f64>,
    failed_rate: Option<f64>,
    sure: bool,
    trials: Vec<Tried<'a>>,
}

#[derive(Serialize)]
struct Tried<'a> {
    rate: f64,
    passed: bool,
    why: &'a str,
    rps: f64,
    requests: u64,
    failed: u64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    generator_cpu_share: f64,
}

/// The answer as JSON, with the curve: latency by rate.
pub fn document(url: &str, goals: &[Goal], found: &Found) -> String {
    let document = Document {
        format: "hakaru-find-max",
        version: 1,
        url,
        goals: goals.iter().map(Goal::to_string).collect(),
        max_rate: found.rate,
        failed_rate: found.failed,
        sure: found.sure,
        trials: found.trials.iter().map(tried).collect(),
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("maps have text keys and nothing else can fail") + "\n"
}

fn tried(trial: &Trial) -> Tried<'_> {
    let figures = &trial.measured.figures;
    Tried {
        rate: trial.rate,
        passed: trial.passed,
        why: &trial.why,
        rps: trial.measured.rps(),
        requests: figures.outcomes.all(),
        failed: figures.outcomes.failed(),
        p50_ms: quantile_ms(&figures.latency, 0.5),
        p99_ms: quantile_ms(&figures.latency, 0.99),
        generator_cpu_share: trial.measured.generator_share(),
    }
}
