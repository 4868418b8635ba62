//! Requests that failed, each kind with one request and its answer.

use recording::{Failure, Outcome};

use crate::context::Context;
use crate::numbers;
use crate::text::{fit, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Kinds shown; more would hide the rest of the page.
const KINDS_MAX: usize = 5;
/// Lines kept of a request and of an answer.
const LINES_MAX: usize = 12;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    // What was still open when the run ended did not fail.
    let mut failures: Vec<&Failure> = context
        .recording
        .failures
        .iter()
        .filter(|failure| failure.outcome != Outcome::Unanswered)
        .collect();
    failures.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.place.cmp(&b.place)));
    let hidden = failures.len().saturating_sub(KINDS_MAX);
    let mut findings: Vec<Finding> = failures
        .into_iter()
        .take(KINDS_MAX)
        .map(|failure| finding(context, failure))
        .collect();
    if let Some(last) = findings.last_mut()
        && hidden > 0
    {
        last.evidence.push(format!(
            "{hidden} more kinds of failure are in the recording"
        ));
    }
    findings
}

fn finding(context: &Context<'_>, failure: &Failure) -> Finding {
    let line = context.text(failure.line);
    let route = context.joined.route_of_line(failure.line).unwrap_or(line);
    let requests = context.breakdown.overall.requests.max(failure.count).max(1);
    let share = failure.count as f64 / requests as f64;
    let outcome = failure.outcome.name();
    let mut evidence = vec![
        format!(
            "{} of {} requests ({}) at {}",
            numbers::count(failure.count),
            numbers::count(requests),
            percent(share),
            failure.place
        ),
        failure.reason.clone(),
    ];
    let (request, response) = (lines(&failure.request), lines(&failure.response));
    evidence.push(format!("request: {}", first(&request)));
    evidence.push(format!(
        "answer: {}{}",
        first(&response),
        said(&failure.response)
    ));
    // What a page has no room for comes last.
    let more = |name: &'static str, lines: Vec<String>| {
        lines
            .into_iter()
            .skip(1)
            .map(move |line| format!("{name}: {line}"))
    };
    evidence.extend(more("request", request));
    evidence.extend(more("answer", response));
    Finding {
        rule: "errors",
        route: route.to_owned(),
        title: title(&format!(
            "{} × {outcome}: {route} ({})",
            numbers::count(failure.count),
            failure.place
        )),
        why: why(failure.outcome).to_owned(),
        evidence,
        remedy: Remedy {
            text: remedy(failure.outcome).to_owned(),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: format!(
            "{} of the requests are answered as they should",
            percent(share)
        ),
        gain_share: share,
        gain: None,
        confidence: Confidence::High,
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .take(LINES_MAX)
        .map(|line| fit(line, 160))
        .collect()
}

/// How an answer's body begins: an app often says there what went wrong.
fn said(response: &str) -> String {
    let body = ["\r\n\r\n", "\n\n"]
        .into_iter()
        .find_map(|gap| response.split_once(gap))
        .map_or("", |(_, body)| body);
    let line = body.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or(String::new(), |line| {
        format!("; its body: {}", fit(line, 100))
    })
}

fn first(lines: &[String]) -> &str {
    lines.first().map_or("none", String::as_str)
}

fn why(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::CheckFailed => {
            "the answer is wrong, so its speed means nothing, and the run has no score"
        }
        Outcome::ServerError => {
            "errors are often answered faster than the work they replace, which flatters the numbers"
        }
        Outcome::ConnectFailed => {
            "requests that are not let in are missing from the server's side of every number"
        }
        Outcome::TimedOut => "its latency is only known to be at least this long",
        Outcome::Ok | Outcome::Unanswered | Outcome::Disconnected | Outcome::BadAnswer => {
            "the client got no complete answer"
        }
    }
}

fn remedy(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::CheckFailed => {
            "compare the answer below with what the flow expects, and mend whichever is wrong"
        }
        Outcome::ServerError => "read the app's error output for this request and mend its cause",
        Outcome::ConnectFailed => {
            "see whether the app still runs, and whether its listen backlog is too short for this load"
        }
        Outcome::TimedOut => {
            "see what holds the threads, or lower the load until requests are answered in time"
        }
        Outcome::Ok | Outcome::Unanswered | Outcome::Disconnected | Outcome::BadAnswer => {
            "see whether a worker was killed or restarted, and the app's error output"
        }
    }
}
