//! Failed requests, each kind with one request and the response.

use crate::rule_id::RuleId;
use figures::counted;
use recording::{Failure, Outcome};
use words::{Text, text};

use crate::context::Context;
use crate::text::{fit, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use figures::numbers;

/// Kinds shown; more would hide the rest of the page.
const KINDS_MAX: usize = 5;
/// Most lines shown of a request and of a response.
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
        last.evidence.push(text!(
            "{hidden} more kinds of failure are in the recording",
            hidden
        ));
    }
    findings
}

fn finding(context: &Context<'_>, failure: &Failure) -> Finding {
    let line = context.text(failure.line);
    let route = context.joined.route_of_line(failure.line).unwrap_or(line);
    let requests = context.breakdown.overall.requests.max(failure.count).max(1);
    let share = failure.count as f64 / requests as f64;
    let outcome = Text::named(failure.outcome.name());
    let mut evidence = vec![
        text!(
            "{count} of {requests} requests ({share}) at {place}",
            count = numbers::count(failure.count),
            requests = numbers::count(requests),
            share = percent(share),
            place = failure.place
        ),
        failure.reason.as_str().into(),
    ];
    let (request, response) = (lines(&failure.request), lines(&failure.response));
    evidence.push(text!("request: {request}", request = first(&request)));
    evidence.push(text!(
        "answer: {answer}{said}",
        answer = first(&response),
        said = said(&failure.response)
    ));
    // What a page has no room for comes last.
    let more = |name: Text, lines: Vec<String>| {
        lines
            .into_iter()
            .skip(1)
            .map(move |line| text!("{name}: {line}", name, line))
    };
    evidence.extend(more(text!("request"), request));
    evidence.extend(more(text!("answer"), response));
    Finding {
        rule: RuleId::Errors,
        route: route.to_owned(),
        title: title(text!(
            "{route} failed {times}: {outcome} ({place})",
            times = counted!(failure.count, "time"),
            outcome,
            route,
            place = failure.place
        )),
        why: why(failure),
        evidence,
        remedy: Remedy {
            text: remedy(failure),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{share} of the requests would no longer fail",
            share = percent(share)
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

/// Returns the beginning of a response's body: an app often says there what went wrong.
fn said(response: &str) -> Text {
    let body = ["\r\n\r\n", "\n\n"]
        .into_iter()
        .find_map(|gap| response.split_once(gap))
        .map_or("", |(_, body)| body);
    let line = body.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or(Text::default(), |line| {
        text!("; its body: {body}", body = fit(line, 100))
    })
}

fn first(lines: &[String]) -> Text {
    lines
        .first()
        .map_or_else(|| text!("none"), |line| line.as_str().into())
}

/// Whether no request could be made of the flow: a check of an answer has one.
fn is_unsent(failure: &Failure) -> bool {
    failure.outcome == Outcome::CheckFailed && failure.response.is_empty()
}

fn why(failure: &Failure) -> Text {
    match failure.outcome {
        Outcome::CheckFailed if is_unsent(failure) => {
            text!("the request could not be made, so what follows in the flow was not measured")
        }
        Outcome::CheckFailed => {
            text!("the answer is wrong, so its speed means nothing, and the run has no score")
        }
        Outcome::ServerError => {
            text!(
                "errors are often answered faster than the work they replace, which flatters the numbers"
            )
        }
        Outcome::ConnectFailed => {
            text!("refused requests are missing from every number of the server's side")
        }
        Outcome::TimedOut => text!("its latency is only known to be at least this long"),
        Outcome::Ok | Outcome::Unanswered | Outcome::Disconnected | Outcome::BadAnswer => {
            text!("the client got no complete answer")
        }
    }
}

fn remedy(failure: &Failure) -> Text {
    match failure.outcome {
        Outcome::CheckFailed if is_unsent(failure) => {
            text!("give the flow what its request needs: a capture, a variable, a row of its feed")
        }
        Outcome::CheckFailed => {
            text!("compare the answer below with what the flow expects, and fix whichever is wrong")
        }
        Outcome::ServerError => {
            text!("read the app's error output for this request and fix its cause")
        }
        Outcome::ConnectFailed => {
            text!(
                "check whether the app still runs, and whether its listen backlog is too short for this load"
            )
        }
        Outcome::TimedOut => {
            text!(
                "check what holds the threads, or lower the load until requests are answered in time"
            )
        }
        Outcome::Ok | Outcome::Unanswered | Outcome::Disconnected | Outcome::BadAnswer => {
            text!("check whether a worker was killed or restarted, and read the app's error output")
        }
    }
}
