//! The page of a run as one HTML file that needs no network.
//!
//! The file is a template, built from `web/` by `cargo xtask web`, with a document as JSON in it, which
//! the template's script draws. Its policy (Content-Security-Policy) lets only that script run and
//! nothing be fetched. Where scripts do not run, the terminal page is shown instead.

use serde_json::{Map, Value};
use words::Language;

use crate::{View, json, terminal};

const TEMPLATE: &str = include_str!("../assets/report.html");
const TEXT_PLACE: &str = "<!--HAKARU_TEXT-->";
const JSON_PLACE: &str = "/*HAKARU_JSON*/";

/// The page of a run, with what [`crate::profile::of_run`] says of its profile if it has one.
pub fn run(view: &View<'_>, profile: Option<Value>, language: Language) -> String {
    let mut document = json::value(view, language);
    document["profile"] = profile.unwrap_or_default();
    document["words"] = dictionary(language);
    let style = terminal::Style {
        language,
        ..terminal::Style::default()
    };
    let page = page(&document.to_string(), &terminal::run(view, style));
    page.replacen(
        "<html lang=\"en\"",
        &format!("<html lang=\"{}\"", language.code()),
        1,
    )
}

/// The page's own sentences in a language, by their English: those that its script holds, and counts, whose nouns it adds. None
/// for English.
fn dictionary(language: Language) -> Value {
    let sentences = words::japanese::sentences().into_iter();
    let is_wanted = language == Language::Japanese;
    let is_of_page = |english: &str| TEMPLATE.contains(english) || english.starts_with("{count} ");
    let of_page = sentences.filter(|one| is_wanted && is_of_page(one.english));
    of_page
        .map(|one| (one.english.to_owned(), Value::from(one.japanese)))
        .collect::<Map<_, _>>()
        .into()
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
