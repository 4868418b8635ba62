//! The page of a run as one HTML file, complete without a network.
//!
//! The file is a template, built from `web/` by `cargo xtask web`, with a document as JSON in it,
//! which the template's script draws. Its policy (Content-Security-Policy) lets only that script
//! run and nothing be fetched. Where scripts do not run, the terminal page is shown instead.

use serde_json::{Map, Value};
use words::Language;

use crate::{View, json, terminal};

const TEMPLATE: &str = include_str!("../assets/report.html");
const TEXT_PLACE: &str = "<!--HAKARU_TEXT-->";
const JSON_PLACE: &str = "/*HAKARU_JSON*/";
/// Catalogue of the sentences used only by the HTML page.
const CATALOGUE: &str = "html";

/// Documents of a run beside the run's own.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// [`crate::profile::of_run`] of the run's profile.
    pub profile: Option<Value>,
    /// What the hosts of the run recorded, in the form of `hakaru collect`.
    pub hosts: Option<Value>,
    /// The hosts' part of the terminal page, where scripts do not run.
    pub hosts_text: String,
}

impl Beside {
    /// A profile, and nothing else.
    pub fn of_profile(profile: Value) -> Beside {
        Beside {
            profile: Some(profile),
            ..Beside::default()
        }
    }
}

/// Returns the page of a run, with the documents beside.
pub fn run(view: &View<'_>, beside: Beside, language: Language) -> String {
    let mut document = json::value(view, language);
    document["profile"] = beside.profile.unwrap_or_default();
    document["hosts"] = beside.hosts.unwrap_or_default();
    let style = terminal::Style {
        language,
        ..terminal::Style::default()
    };
    let text = terminal::run(view, style) + &beside.hosts_text;
    page(&document.to_string(), &text, language)
}

/// The page's own sentences in a language, by the English sentence: sentences of the page's
/// catalogue, sentences shared with other pages, and counts with nouns. None for English.
fn dictionary(language: Language) -> Value {
    let sentences = words::japanese::sentences().into_iter();
    let is_wanted = language == Language::Japanese;
    let is_of_page = |one: &words::japanese::Sentence| {
        one.area == CATALOGUE
            || one.english.starts_with("{count} ")
            || TEMPLATE.contains(one.english)
    };
    let of_page = sentences.filter(|one| is_wanted && is_of_page(one));
    of_page
        .map(|one| (one.english.to_owned(), Value::from(one.japanese)))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns a page around one of the documents of `docs/json.md`, with `text` shown where scripts do
/// not run. Its own sentences are in the language; those of the document and the text are what they
/// are.
pub fn page(json: &str, text: &str, language: Language) -> String {
    let (_, keys) = json.split_once('{').expect("a document is an object");
    let json = format!("{{\"words\":{},{keys}", dictionary(language));
    let (head, rest) = TEMPLATE
        .split_once(TEXT_PLACE)
        .expect("the template has a place for the text");
    let (middle, tail) = rest
        .split_once(JSON_PLACE)
        .expect("the template has a place for the data, after the text");
    let english = format!("<html lang=\"{}\"", Language::English.code());
    let head = head.replacen(&english, &format!("<html lang=\"{}\"", language.code()), 1);
    [&head, &escape_text(text), middle, &escape_json(&json), tail].concat()
}

/// Escapes JSON so as to keep texts from ending the script element or beginning a comment inside:
/// `<` occurs in texts only, where the escape means the same.
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
mod bench_tests;
#[cfg(test)]
mod chart_tests;
#[cfg(test)]
mod collect_tests;
#[cfg(test)]
mod japanese_tests;
#[cfg(test)]
mod profile_tests;
#[cfg(test)]
mod tests;
