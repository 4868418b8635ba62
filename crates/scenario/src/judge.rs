//! Compares a response with the demands of the entry, and captures values.

use crate::answer::Answer;
use crate::ast::{Assert, Capture, KeyValue, Place, Response};
use crate::body::{Body, Language};
use crate::filter::Filter;
use crate::follow::Trail;
use crate::render::content;
use crate::seen::Seen;
use crate::step::{Expected, Step};
use crate::value::Value;
use crate::variables::Variables;

/// What became of a demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All held.
    Passed,
    /// A check failed; what was expected and what came, in a sentence.
    CheckFailed(String),
    /// A status of 500 or more, not demanded by the flow.
    ServerError(String),
    /// An invalid response: a WebSocket opened in a wrong way.
    BadAnswer(String),
    /// A check failed, and the entry demands a retry: no failure yet.
    Again(String),
    /// Another message than awaited, with the reason; the user still waits.
    NotYet(String),
}

impl Verdict {
    /// Returns the reason of a failure.
    pub fn into_reason(self) -> Option<String> {
        match self {
            Verdict::Passed => None,
            Verdict::CheckFailed(reason)
            | Verdict::ServerError(reason)
            | Verdict::BadAnswer(reason)
            | Verdict::Again(reason)
            | Verdict::NotYet(reason) => Some(reason),
        }
    }
}

/// Judges a response; puts captured values into `variables` and scored ones into `scored`.
pub(crate) fn judge(
    step: &Step,
    answer: &Answer<'_>,
    trail: &Trail,
    variables: &mut Variables,
    scored: &mut Vec<(usize, f64)>,
) -> Verdict {
    if let Some(reason) = status_fault(step.expected, answer.status) {
        return if answer.status >= 500 {
            Verdict::ServerError(reason)
        } else {
            Verdict::CheckFailed(reason)
        };
    }
    let mut faults = Faults::first();
    demands(
        step,
        &Seen::new(answer, trail),
        variables,
        scored,
        &mut faults,
    );
    faults.verdict()
}

/// Judges a message. One that is otherwise than expected is only not the one that is waited for;
/// from that one, what is to be captured must be there.
pub(crate) fn judge_message(
    step: &Step,
    answer: &Answer<'_>,
    trail: &Trail,
    variables: &mut Variables,
    scored: &mut Vec<(usize, f64)>,
) -> Verdict {
    let Some(response) = &step.entry.response else {
        return Verdict::Passed;
    };
    let seen = Seen::new(answer, trail);
    for assert in &response.asserts {
        if let Err(why) = assert_demand(assert, step, &seen, variables) {
            return Verdict::NotYet(why);
        }
    }
    let mut faults = Faults::first();
    captures(step, response, &seen, variables, scored, &mut faults);
    faults.verdict()
}

/// Returns all faults of a response, where [`judge`] stops at the first.
pub(crate) fn faults(
    step: &Step,
    answer: &Answer<'_>,
    trail: &Trail,
    variables: &mut Variables,
    scored: &mut Vec<(usize, f64)>,
) -> Vec<String> {
    let mut faults = Faults {
        all: true,
        found: Vec::new(),
    };
    faults
        .found
        .extend(status_fault(step.expected, answer.status));
    demands(
        step,
        &Seen::new(answer, trail),
        variables,
        scored,
        &mut faults,
    );
    faults.found
}

/// What is wrong with an answer, the first fault or all.
struct Faults {
    all: bool,
    found: Vec<String>,
}

impl Faults {
    fn verdict(mut self) -> Verdict {
        match self.found.pop() {
            None => Verdict::Passed,
            Some(reason) => Verdict::CheckFailed(reason),
        }
    }

    fn first() -> Faults {
        Faults {
            all: false,
            found: Vec::new(),
        }
    }

    /// Notes what came of a demand; whether to look further.
    fn note(&mut self, held: Result<(), String>) -> bool {
        self.found.extend(held.err());
        self.all || self.found.is_empty()
    }
}

fn status_fault(expected: Expected, status: u16) -> Option<String> {
    match expected {
        Expected::Any => None,
        Expected::Status(wanted) if wanted == status => None,
        Expected::Status(wanted) => Some(format!("expected status {wanted}, came {status}")),
        Expected::Unstated if status < 500 => None,
        Expected::Unstated => Some(format!("expected no server error, came status {status}")),
        Expected::Success if status < 400 => None,
        Expected::Success => Some(format!("expected a status below 400, came {status}")),
    }
}

fn demands(
    step: &Step,
    seen: &Seen<'_>,
    variables: &mut Variables,
    scored: &mut Vec<(usize, f64)>,
    faults: &mut Faults,
) {
    let Some(response) = &step.entry.response else {
        return;
    };
    let further = faults.note(version(response, seen.answer));
    if !further || !captures(step, response, seen, variables, scored, faults) {
        return;
    }
    for header in &response.headers {
        if !faults.note(header_demand(header, seen.answer, variables)) {
            return;
        }
    }
    if let Some(body) = &response.body
        && !faults.note(body_demand(body, step, seen, variables))
    {
        return;
    }
    for assert in &response.asserts {
        if !faults.note(assert_demand(assert, step, seen, variables)) {
            return;
        }
    }
}

fn version(response: &Response, answer: &Answer<'_>) -> Result<(), String> {
    let came = answer.minor_version;
    match response.minor_version {
        Some(minor) if minor != came => Err(format!(
            "expected HTTP/{}, came HTTP/{}",
            crate::answer::version(minor),
            answer.version()
        )),
        _ => Ok(()),
    }
}

fn assert_demand(
    assert: &Assert,
    step: &Step,
    seen: &Seen<'_>,
    variables: &mut Variables,
) -> Result<(), String> {
    let found = assert.query.find(seen, variables);
    let held = found
        .and_then(|found| filtered(&assert.filters, found, variables))
        .and_then(|found| {
            let predicate = &assert.predicate;
            predicate.holds(found.as_ref(), &step.files, variables)
        });
    held.map_err(|why| format!("{}{}: {why}", at(assert.place), assert.query))
}

/// Takes the captures; whether to look further.
fn captures(
    step: &Step,
    response: &Response,
    seen: &Seen<'_>,
    variables: &mut Variables,
    scored: &mut Vec<(usize, f64)>,
    faults: &mut Faults,
) -> bool {
    for (capture, score) in response.captures.iter().zip(&step.scored) {
        let taken = captured(capture, seen, variables).map(|value| {
            if let (Some(score), Some(units)) = (score, value.as_units()) {
                scored.push((*score, units));
            }
            variables.set(&capture.name, value);
        });
        if !faults.note(taken) {
            return false;
        }
    }
    true
}

fn captured(
    capture: &Capture,
    seen: &Seen<'_>,
    variables: &mut Variables,
) -> Result<Value, String> {
    let found = capture.query.find(seen, variables);
    let found = found.and_then(|found| filtered(&capture.filters, found, variables));
    let (at, name) = (at(capture.place), &capture.name);
    match found {
        Ok(Some(value)) if capture.redact && !matches!(value, Value::Text(_)) => Err(format!(
            "{at}a secret is a text, and `{name}` is {}",
            value.shown()
        )),
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(format!("{at}nothing to capture as `{name}`")),
        Err(why) => Err(format!("{at}capture `{name}`: {why}")),
    }
}

/// Returns the line of a flow named in a reason; empty outside of any file.
fn at(place: Place) -> String {
    match place.line {
        0 => String::new(),
        line => format!("line {line}: "),
    }
}

fn header_demand(
    header: &KeyValue,
    answer: &Answer<'_>,
    variables: &mut Variables,
) -> Result<(), String> {
    let name = header.key.render(variables)?;
    let wanted = header.value.render(variables)?;
    let mut values = answer.values(&name).peekable();
    let came = values
        .peek()
        .map(|value| String::from_utf8_lossy(value).into_owned());
    if values.any(|value| value == wanted.as_bytes()) {
        return Ok(());
    }
    let came = came.map_or_else(|| "none".to_owned(), |came| format!("{came:?}"));
    Err(format!("expected header {name}: {wanted}, came {came}"))
}

fn filtered(
    filters: &[Filter],
    found: Option<Value>,
    variables: &mut Variables,
) -> Result<Option<Value>, String> {
    match found {
        Some(value) => Filter::apply_all(filters, value, variables),
        None if filters.is_empty() => Ok(None),
        None => Err(format!("filter `{}` is given nothing", filters[0])),
    }
}

fn body_demand(
    body: &Body,
    step: &Step,
    seen: &Seen<'_>,
    variables: &mut Variables,
) -> Result<(), String> {
    let wanted = content(body, step, variables)?;
    let equal = match body {
        Body::Json(_) | Body::GraphQl(_) | Body::Multiline(Language::Json, _) => {
            let wanted: serde_json::Value = serde_json::from_slice(&wanted)
                .map_err(|error| format!("the expected body is not JSON: {error}"))?;
            *seen.json()? == wanted
        }
        Body::Bytes(_) | Body::File(_) => seen.bytes()? == wanted,
        _ => seen.text()?.as_bytes() == wanted,
    };
    if equal {
        return Ok(());
    }
    let shown = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()).shown(),
        Err(_) => Value::Bytes(bytes.to_vec()).shown(),
    };
    let came = shown(seen.bytes()?);
    Err(format!("expected the body {}, came {came}", shown(&wanted)))
}
