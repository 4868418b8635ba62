//! Whether an answer is what its entry demands, and what is taken from it.

use crate::answer::Answer;
use crate::ast::Response;
use crate::body::{Body, Language};
use crate::filter::Filter;
use crate::query::Seen;
use crate::render::content;
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
    /// A status of 500 or more that the flow did not ask for.
    ServerError(String),
}

/// Judges an answer; puts captured values into `variables` and those that give points into `scored`.
pub(crate) fn judge(
    step: &Step,
    answer: &Answer<'_>,
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
    let Some(response) = &step.entry.response else {
        return Verdict::Passed;
    };
    match demands(step, response, answer, variables, scored) {
        Ok(()) => Verdict::Passed,
        Err(reason) => Verdict::CheckFailed(reason),
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
    response: &Response,
    answer: &Answer<'_>,
    variables: &mut Variables,
    scored: &mut Vec<(usize, f64)>,
) -> Result<(), String> {
    if let Some(minor) = response.minor_version
        && minor != answer.minor_version
    {
        let came = answer.minor_version;
        return Err(format!("expected HTTP/1.{minor}, came HTTP/1.{came}"));
    }
    let seen = Seen::new(answer);
    captures(step, response, &seen, variables, scored)?;
    headers(response, answer, variables)?;
    if let Some(body) = &response.body {
        body_demand(body, step, &seen, variables)?;
    }
    for assert in &response.asserts {
        let found = assert.query.find(&seen, variables);
        let held = found
            .and_then(|found| filtered(&assert.filters, found))
            .and_then(|found| assert.predicate.holds(found.as_ref(), variables));
        held.map_err(|why| format!("line {}: {}: {why}", assert.place.line, assert.query))?;
    }
    Ok(())
}

fn captures(
    step: &Step,
    response: &Response,
    seen: &Seen<'_>,
    variables: &mut Variables,
    scored: &mut Vec<(usize, f64)>,
) -> Result<(), String> {
    for (capture, score) in response.captures.iter().zip(&step.scored) {
        let found = capture.query.find(seen, variables);
        let found = found.and_then(|found| filtered(&capture.filters, found));
        let line = capture.place.line;
        let value = match found {
            Ok(Some(value)) => value,
            Ok(None) => {
                return Err(format!(
                    "line {line}: nothing to capture as `{}`",
                    capture.name
                ));
            }
            Err(why) => return Err(format!("line {line}: capture `{}`: {why}", capture.name)),
        };
        if let (Some(score), Some(units)) = (score, value.as_units()) {
            scored.push((*score, units));
        }
        variables.set(&capture.name, value);
    }
    Ok(())
}

fn headers(
    response: &Response,
    answer: &Answer<'_>,
    variables: &mut Variables,
) -> Result<(), String> {
    for header in &response.headers {
        let name = header.key.render(variables)?;
        let wanted = header.value.render(variables)?;
        let mut values = answer.values(&name).peekable();
        let came = values
            .peek()
            .map(|value| String::from_utf8_lossy(value).into_owned());
        if !values.any(|value| value == wanted.as_bytes()) {
            let came = came.map_or_else(|| "none".to_owned(), |came| format!("{came:?}"));
            return Err(format!("expected header {name}: {wanted}, came {came}"));
        }
    }
    Ok(())
}

fn filtered(filters: &[Filter], found: Option<Value>) -> Result<Option<Value>, String> {
    match found {
        Some(value) => Filter::apply_all(filters, value),
        None => Ok(None),
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
        Body::Json(_) | Body::Multiline(Language::Json, _) => {
            let wanted: serde_json::Value = serde_json::from_slice(&wanted)
                .map_err(|error| format!("the expected body is not JSON: {error}"))?;
            *seen.json()? == wanted
        }
        _ => seen.bytes()? == wanted,
    };
    if equal {
        return Ok(());
    }
    let shown = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()).shown(),
        Err(_) => Value::Bytes(bytes.to_vec()).shown(),
    };
    let came = shown(seen.answer.body);
    Err(format!("expected the body {}, came {came}", shown(&wanted)))
}
