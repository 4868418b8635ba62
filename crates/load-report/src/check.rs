//! What `hakaru check` shows of a pass: each exchange, the last line, and the JSON.

use figures::text::{left, width};
use figures::{counted, numbers};
use load::Checked;
use recording::Outcome;
use serde::Serialize;
use words::{Language, Text, text};

/// Returns the last line: how many requests there were, and how many failed.
pub fn summary(all: &[Checked], is_early: bool) -> Text {
    let (requests, failed) = (counted!(all.len() as u64, "request"), failed(all));
    match is_early {
        true => text!("ended early: {requests}, {failed} failed", requests, failed),
        false => text!("{requests}, {failed} failed", requests, failed),
    }
}

/// Returns the number of failures, retried ones excluded.
pub fn failed(all: &[Checked]) -> usize {
    all.iter()
        .filter(|checked| checked.outcome != Outcome::Ok && !checked.is_tried_again)
        .count()
}

/// Returns the lines of one exchange: the result and all errors, and request and response of a
/// failed one, or with `verbose` of each.
pub fn exchange(checked: &Checked, verbose: bool, language: Language) -> String {
    let good = checked.outcome == Outcome::Ok;
    let say = |text: Text| text.written_in(language);
    let marks = [text!("ok"), text!("FAILED"), text!("AGAIN")].map(say);
    let columns = marks.iter().map(|mark| width(mark)).max().unwrap_or(0);
    let [well, badly, again] = &marks;
    let mark = match (good, checked.is_tried_again) {
        (true, _) => well,
        (false, true) => again,
        (false, false) => badly,
    };
    let mark = left(mark, columns);
    let status = match checked.status {
        0 => "–".to_owned(),
        status => status.to_string(),
    };
    let time = numbers::duration_ms(checked.time.as_millis_f64());
    let mut text = format!(
        "{mark}  {status:>3}  {time:>8}  {}   ({})\n",
        checked.line, checked.place
    );
    if !good {
        let outcome = say(Text::named(checked.outcome.name()));
        text.push_str(&format!("        {outcome}\n"));
    }
    for fault in &checked.faults {
        let fault = say(Text::named(fault));
        text.push_str(&format!("        - {fault}\n"));
    }
    if !good || verbose || checked.is_message {
        text.push_str(&quoted(">", &checked.request));
        text.push_str(&quoted("<", &checked.response));
    }
    text
}

/// The lines of a text behind a mark, without what could steer a terminal.
fn quoted(mark: &str, text: &str) -> String {
    let clean = |c: char| match figures::line::steers(c) && c != '\t' {
        true => '?',
        false => c,
    };
    let line = |line: &str| {
        let line: String = line.trim_end_matches('\r').chars().map(clean).collect();
        format!("        {mark} {line}").trim_end().to_owned() + "\n"
    };
    text.trim_end().lines().map(line).collect()
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    /// Why the pass ended early, as of a run.
    ended_early: Option<&'static str>,
    requests: usize,
    failed: usize,
    exchanges: Vec<Exchange<'a>>,
}

#[derive(Serialize)]
struct Exchange<'a> {
    line: &'a str,
    place: &'a str,
    outcome: &'static str,
    status: u16,
    time_ms: f64,
    body_bytes: u64,
    faults: &'a [String],
    tried_again: bool,
    request: &'a str,
    response: &'a str,
}

/// Returns the pass as one document; `is_early` says whether the pass was interrupted.
pub fn json(all: &[Checked], is_early: bool) -> String {
    let exchanges: Vec<Exchange<'_>> = all.iter().map(exchange_of).collect();
    let document = Document {
        format: "hakaru-check",
        version: 1,
        ended_early: is_early.then_some("interrupted"),
        requests: all.len(),
        failed: failed(all),
        exchanges,
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("maps have text keys and nothing else can fail") + "\n"
}

fn exchange_of(checked: &Checked) -> Exchange<'_> {
    Exchange {
        line: &checked.line,
        place: &checked.place,
        outcome: checked.outcome.name(),
        status: checked.status,
        time_ms: checked.time.as_millis_f64(),
        body_bytes: checked.body_bytes,
        faults: &checked.faults,
        tried_again: checked.is_tried_again,
        request: &checked.request,
        response: &checked.response,
    }
}
