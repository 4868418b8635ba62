//! axe-core on each kind of page: what assistive technology would stumble over.
//!
//! axe-core is a package of `web/`, fetched by npm with the others, and only tests read it.

use std::fs;

use stacks::Profile;
use stats::comparison::Verdict;

use chromium::{Browser, Look};
use words::Language;

use super::Beside;
use super::collect_tests;
use super::profile_tests::{collapsed, page_of, profiled};
use super::tests::{journal, settle, stretched, sweep, written};
use crate::comparison;
use crate::comparison::tests::{comparison, row};
use crate::profile::{difference_to_html, of_run};
use ::comparison::{Comparison, Tried};

/// Output of `hakaru load --json` on the chat, with a missed expectation.
pub(super) const LOAD: &str = include_str!("load.json");

fn axe() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../web/node_modules/axe-core/axe.min.js"
    );
    fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {path}: {error}; `cargo xtask web` fetches it"))
}

/// Violations reported by axe-core, a line for each rule and element, and a check of a complete
/// run.
const VIOLATIONS: &str = "axe.run(document, { resultTypes: ['violations'] }).then((found) => ({
    looked: found.passes.length,
    violations: found.violations.flatMap((rule) =>
        rule.nodes.map((node) => `${rule.id} (${rule.impact}): ${node.html.slice(0, 160)}`)),
}))";

fn check(pages: &[(&str, String)]) {
    let axe = axe();
    let mut browser = Browser::start();
    let mut violations = Vec::new();
    for (kind, page) in pages {
        let page = written(page);
        for (width, scheme) in [
            (390, "light"),
            (390, "dark"),
            (1440, "light"),
            (1440, "dark"),
        ] {
            let look = Look {
                width,
                scheme,
                media: "screen",
            };
            browser.open(&page.path, look);
            browser.ask(
                "document.querySelectorAll('details').forEach((details) => { details.open = true })",
            );
            settle(&mut browser);
            browser.ask(&axe);
            let found = browser.ask(VIOLATIONS);
            assert!(found["looked"].as_u64() > Some(10), "{kind}: {found}");
            for violation in found["violations"].as_array().unwrap() {
                violations.push(format!("{kind} {width} {scheme}: {violation}"));
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn axe_objects_to_an_element_without_a_name() {
    let page = written("<!doctype html><html lang=en><title>t</title><h1>h</h1><button></button>");
    let mut browser = Browser::start();
    let look = Look {
        width: 390,
        scheme: "light",
        media: "screen",
    };
    browser.open(&page.path, look);
    browser.ask(&axe());
    let found = browser.ask(VIOLATIONS)["violations"].to_string();
    assert!(found.contains("button-name"), "{found}");
}

#[test]
fn pages_of_runs_are_accessible() {
    let (sample, profile) = profiled();
    let page = super::run(
        &sample.view(),
        Beside::of_profile(of_run(&sample.recording, &profile)),
        Language::English,
    );
    check(&[
        ("run", page),
        (
            "long words",
            super::run(&stretched().view(), Beside::default(), Language::English),
        ),
    ]);
}

#[test]
fn pages_of_several_runs_are_accessible() {
    check(&[
        ("compare", compared(&faster(), Language::English)),
        ("try", compared(&tried(), Language::English)),
        ("load", super::page(LOAD, "", Language::English)),
        ("sweep", sweep().html(Language::English)),
        ("log", journal(3).html(Language::English)),
        ("collect", collect_tests::page(Language::English)),
    ]);
}

pub(super) fn compared(comparison: &Comparison, language: Language) -> String {
    super::page(
        &comparison::compact(comparison, language),
        &comparison::text(comparison, figures::text::COLUMNS, language),
        language,
    )
}

fn faster() -> Comparison {
    comparison(vec![
        row("rps", 2.1, Verdict::Higher),
        row("p50", 0.46, Verdict::Lower),
        row("p99", 1.8, Verdict::Higher),
        row("cpu", 1.0, Verdict::Same),
    ])
}

pub(super) fn tried() -> Comparison {
    Comparison {
        tried: Some(Tried {
            run: 3,
            number: 1,
            title: "no index on `message`".into(),
            remedy: "CREATE INDEX a".into(),
            is_kept: false,
            afterwards: "taken back: `hakaru try 1 --keep` keeps it".into(),
        }),
        notes: vec!["the host was busy".into()],
        ..faster()
    }
}

#[test]
fn pages_of_profiles_are_accessible() {
    let profile = collapsed("main;a 700\nmain;b 200");
    let after = collapsed("main;a 200\nmain;b 300");
    check(&[
        ("profile", page_of(&profile)),
        ("empty profile", page_of(&Profile::default())),
        (
            "difference",
            difference_to_html(
                &profile,
                &after,
                &stacks::diff(&profile, &after),
                Language::English,
            ),
        ),
    ]);
}
