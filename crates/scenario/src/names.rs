//! Checks the variables of an entry: each must have a value before the entry runs.

use std::collections::HashSet;

use crate::ast::{Entry, Place, Response};
use crate::filter::Filter;
use crate::message::Draft;
use crate::options::Setting;
use crate::query::Query;
use crate::step::Action;
use crate::template::{Expr, Source};

/// Variables present in every flow: see the crate's documentation.
pub(crate) const GENERATED: [&str; 4] = ["base_url", "iteration", "run", "user"];

/// Refuses variables without a value at the entry, and records the entry's captures and settings.
pub(crate) fn check_names<'a>(
    entry: &'a Entry,
    known: &mut HashSet<&'a str>,
) -> Result<(), (Place, String)> {
    for line in &entry.options.lines {
        for expr in line.exprs() {
            check_name(expr, known).map_err(|message| (line.place, message))?;
        }
        if let Setting::Variable(name, _) = &line.setting {
            own(name).map_err(|message| (line.place, message))?;
            known.insert(name);
        }
    }
    let parts = entry.request_exprs().into_iter();
    for expr in entry.url.exprs().chain(parts).chain(entry.cookie_exprs()) {
        check_name(expr, known).map_err(|message| (entry.place, message))?;
    }
    match &entry.response {
        Some(response) => check_response(response, known),
        None => Ok(()),
    }
}

/// The same for a step of a WebSocket. A message is judged before anything is captured from it.
pub(crate) fn check_draft_names<'a>(
    draft: &'a Draft,
    known: &mut HashSet<&'a str>,
) -> Result<(), String> {
    let message = |(_, message): (Place, String)| message;
    let Action::Message(spoken) = &draft.action else {
        return check_names(&draft.entry, known).map_err(message);
    };
    for expr in spoken.exprs() {
        check_name(expr, known)?;
    }
    let Some(response) = &draft.entry.response else {
        return Ok(());
    };
    check_asserts(response, known).map_err(message)?;
    check_captures(response, known).map_err(message)
}

fn check_response<'a>(
    response: &'a Response,
    known: &mut HashSet<&'a str>,
) -> Result<(), (Place, String)> {
    check_captures(response, known)?;
    for pair in &response.headers {
        for expr in pair.key.exprs().chain(pair.value.exprs()) {
            check_name(expr, known).map_err(|message| (pair.place, message))?;
        }
    }
    check_asserts(response, known)?;
    for expr in response.body.iter().flat_map(|body| body.exprs()) {
        check_name(expr, known).map_err(|message| (response.place, message))?;
    }
    Ok(())
}

fn check_captures<'a>(
    response: &'a Response,
    known: &mut HashSet<&'a str>,
) -> Result<(), (Place, String)> {
    for capture in &response.captures {
        own(&capture.name).map_err(|message| (capture.place, message))?;
        for expr in found_by(&capture.query, &capture.filters) {
            check_name(expr, known).map_err(|message| (capture.place, message))?;
        }
        known.insert(&capture.name);
    }
    Ok(())
}

fn check_asserts(response: &Response, known: &HashSet<&str>) -> Result<(), (Place, String)> {
    for assert in &response.asserts {
        let exprs = found_by(&assert.query, &assert.filters);
        for expr in exprs.chain(assert.predicate.exprs()) {
            check_name(expr, known).map_err(|message| (assert.place, message))?;
        }
    }
    Ok(())
}

/// Returns the expressions in the arguments of a query and of filters.
fn found_by<'a>(query: &'a Query, filters: &'a [Filter]) -> impl Iterator<Item = &'a Expr> {
    let filters = filters.iter().flat_map(Filter::exprs);
    query.exprs().into_iter().chain(filters)
}

/// Refuses a variable with a generated name, which no flow may set.
fn own(name: &str) -> Result<(), String> {
    match GENERATED.contains(&name) {
        true => Err(format!(
            "`{name}` has a value of its own; choose another name"
        )),
        false => Ok(()),
    }
}

/// Checks the variables of an expression, arguments of filters included.
fn check_name(expr: &Expr, known: &HashSet<&str>) -> Result<(), String> {
    for inner in expr.filters.iter().flat_map(Filter::exprs) {
        check_name(inner, known)?;
    }
    match &expr.source {
        Source::Variable(name) if !known.contains(name.as_str()) => Err(format!(
            "the variable `{name}` has no value here; set it in the configuration, name it in a feed, \
             or capture it in an entry above"
        )),
        _ => Ok(()),
    }
}
