//! A load in Prometheus' text format, for a file to be read once: a load is too short to be
//! scraped.
//!
//! Names follow OpenTelemetry's conventions for HTTP clients, with `_` for `.`; what only a load
//! has begins with `hakaru_load_`.

use std::fmt::Write;

use hdrhistogram::Histogram;
use load::Outcomes;
use recording::Outcome;

use crate::{View, quantile_ms};

/// Quantiles of each summary, as far as the number of requests supports one.
const QUANTILES: [(&str, f64); 6] = [
    ("0.5", 0.5),
    ("0.9", 0.9),
    ("0.95", 0.95),
    ("0.99", 0.99),
    ("0.999", 0.999),
    ("1", 1.0),
];

/// Returns all figures; times are in seconds.
pub fn text(view: &View<'_>) -> String {
    let figures = &view.measured.figures;
    let mut out = Text::default();
    out.family(
        "http_client_request_duration_seconds",
        "summary",
        "From due to the last byte of the response, by step of the scenario.",
    );
    for (label, step) in view.steps.iter().zip(&figures.steps) {
        let labels = step_labels(&label.line, &label.place);
        out.summary(
            "http_client_request_duration_seconds",
            &labels,
            &step.latency,
        );
    }
    for (name, help, histogram) in [
        (
            "hakaru_load_latency_seconds",
            "From due to the last byte, of all requests.",
            &figures.latency,
        ),
        (
            "hakaru_load_sent_latency_seconds",
            "From sent to the last byte, of all requests.",
            &figures.service,
        ),
        (
            "hakaru_load_lateness_seconds",
            "From due to sent, where a connection stood ready: the generator's own delay.",
            &figures.lateness,
        ),
        (
            "hakaru_load_connect_seconds",
            "To a connection, without TLS.",
            &figures.connecting,
        ),
    ] {
        out.family(name, "summary", help);
        out.summary(name, "", histogram);
    }
    counts(view, &mut out);
    out.0
}

fn counts(view: &View<'_>, out: &mut Text) {
    let measured = view.measured;
    let figures = &measured.figures;
    let requests = "hakaru_load_requests_total";
    out.family(requests, "counter", "Requests by step and outcome.");
    for (label, step) in view.steps.iter().zip(&figures.steps) {
        let labels = step_labels(&label.line, &label.place);
        for (outcome, count) in by_outcome(&step.outcomes) {
            let labels = format!("{labels},outcome={}", quoted(outcome.name()));
            out.line(requests, &labels, count as f64);
        }
    }
    let responses = "hakaru_load_responses_total";
    out.family(responses, "counter", "Responses by status.");
    for (status, count) in figures.statuses.sorted() {
        let labels = format!("http_response_status_code=\"{status}\"");
        out.line(responses, &labels, count as f64);
    }
    let generator = &measured.generator;
    for (name, kind, help, value) in [
        (
            "hakaru_load_body_bytes_total",
            "counter",
            "Bytes of responses' bodies.",
            figures.body_bytes as f64,
        ),
        (
            "hakaru_load_unsent_total",
            "counter",
            "Requests due and never sent.",
            generator.unsent as f64,
        ),
        (
            "hakaru_load_generator_cpu_seconds_total",
            "counter",
            "CPU time of the generator.",
            generator.cpu.as_secs_f64(),
        ),
        (
            "hakaru_load_seconds",
            "gauge",
            "Length of the measured part.",
            measured.window.length().as_secs_f64(),
        ),
        (
            "hakaru_load_requests_per_second",
            "gauge",
            "Complete responses per second of the measured part.",
            measured.rps(),
        ),
    ] {
        out.family(name, kind, help);
        out.line(name, "", value);
    }
}

fn by_outcome(outcomes: &Outcomes) -> impl Iterator<Item = (Outcome, u64)> {
    let all = Outcome::ALL.into_iter();
    let counted = all.map(|outcome| (outcome, outcomes.of(outcome)));
    counted.filter(|(_, count)| *count > 0)
}

/// Returns the labels of a step: method, path as written, and place.
fn step_labels(line: &str, place: &str) -> String {
    let (method, route) = line.split_once(' ').unwrap_or((line, ""));
    let labels = [
        ("http_request_method", method),
        ("http_route", route),
        ("step", place),
    ];
    labels
        .map(|(name, value)| format!("{name}={}", quoted(value)))
        .join(",")
}

/// Returns a label's value between quotes.
fn quoted(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// Lines of the format.
#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &str, value: f64) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            labels => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }

    fn summary(&mut self, name: &str, labels: &str, histogram: &Histogram<u64>) {
        let comma = if labels.is_empty() { "" } else { "," };
        for (word, quantile) in QUANTILES {
            if let Some(ms) = quantile_ms(histogram, quantile).filter(|_| !histogram.is_empty()) {
                let labels = format!("{labels}{comma}quantile=\"{word}\"");
                self.line(name, &labels, ms / 1e3);
            }
        }
        let sum = histogram.mean() * histogram.len() as f64 / 1e9;
        self.line(&format!("{name}_sum"), labels, sum);
        self.line(&format!("{name}_count"), labels, histogram.len() as f64);
    }
}
