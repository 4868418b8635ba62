//! The page of a run as one HTML file that needs no network.
//!
//! The file is a template, built from `web/` by `cargo xtask web`, with a document as JSON in it, which
//! the template's script draws. Its policy (Content-Security-Policy) lets only that script run and
//! nothing be fetched. Where scripts do not run, the terminal page is shown instead.

use serde_json::Value;

use crate::{View, json, terminal};

const TEMPLATE: &str = include_str!("../assets/report.html");
const TEXT_PLACE: &str = "<!--HAKARU_TEXT-->";
const JSON_PLACE: &str = "/*HAKARU_JSON*/";

/// The page of a run, with what [`crate::profile::of_run`] says of its profile if it has one.
pub fn run(view: &View<'_>, profile: Option<Value>) -> String {
    let mut document = json::value(view);
    document["profile"] = profile.unwrap_or_default();
    page(
        &document.to_string(),
        &terminal::run(view, terminal::Style::default()),
    )
}

/// A page around one of the documents of `docs/json.md`, with the text that stands in for it where
/// scripts do not run.
pub fn page(json: &str, text: &str) -> String {
    let (head, rest) = TEMPLATE
        .split_once(TEXT_PLACE)
        .expect("the template has a place for the text");
    let (middle, tail) = rest
        .split_once(JSON_PLACE)
        .expect("the template has a place for the data, after the text");
    [head, &escape_text(text), middle, &escape_json(json), tail].concat()
}

/// JSON that cannot end its script element, nor begin a comment in it: `<` occurs in texts only, where
/// its escape means the same.
fn escape_json(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn escape_text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod axe_tests;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod chart_tests;
#[cfg(test)]
mod profile_tests;
#[cfg(test)]
mod tests;
