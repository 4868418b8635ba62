//! Pages in Japanese hold no English sentence.

use chromium::{Browser, Look};
use serde_json::{Value, json};
use words::Language;

use super::Beside;
use super::axe_tests::{LOAD, compared, tried};
use super::collect_tests;
use super::profile_tests::{collapsed, page_in, profiled};
use super::tests::{journal, settle, sweep, written};
use crate::profile::{difference_to_html, of_run};
use comparison::{Comparison, Tried};

/// Texts and names of elements with three English words in a row. Code is in no language; what
/// recordings and the journal keep, such as the reason of a failure, is English and says so.
const ENGLISH: &str = "(() => {
    const english = /(?:[A-Za-z][A-Za-z'’-]+[,;:]? ){2}[A-Za-z][A-Za-z'’-]+/;
    const shown = (element) => !element.closest('code, pre, .code, script, style, noscript, [lang=en]:not(html)');
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (shown(walker.currentNode.parentElement)) texts.push(walker.currentNode.data);
    for (const element of document.querySelectorAll('main *, nav *')) {
        if (!shown(element)) continue;
        for (const name of ['title', 'aria-label', 'aria-valuetext', 'placeholder']) texts.push(element.getAttribute(name) ?? '');
    }
    return texts.filter((text) => english.test(text)).map((text) => text.trim());
})()";

const DESKTOP: Look = Look {
    width: 1280,
    scheme: "light",
    media: "screen",
};

fn english(browser: &mut Browser, page: &str) -> Vec<String> {
    browser.open(&written(page).path, DESKTOP);
    browser
        .ask("document.querySelectorAll('details').forEach((details) => { details.open = true })");
    settle(browser);
    let found = browser.ask(ENGLISH);
    let found = found.as_array().expect("a list").iter();
    found
        .map(|text| text.as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn japanese_pages_hold_no_english_sentence() {
    let language = Language::Japanese;
    let (mut sample, profile) = profiled();
    // Sentences that no rule has made are in no catalogue.
    let finding = &mut sample.findings[0];
    finding.title = "同じ文が 25 回".into();
    finding.why = "往復が増える".into();
    finding.remedy.text = "1 文で取得する".into();
    finding.estimated_gain = "22%".into();
    let told = of_run(&sample.recording, &profile);
    let [before, after] = ["main;a 700\nmain;b 200", "main;a 200\nmain;b 300"].map(collapsed);
    let difference = stacks::diff(&before, &after);
    let comparison = Comparison {
        notes: Vec::new(),
        tried: tried().tried.map(|tried| Tried {
            title: "索引がない".into(),
            ..tried
        }),
        ..tried()
    };
    let mut load: Value = serde_json::from_str(LOAD).expect("a document");
    load["doubts"] = json!([]);
    let load = load.to_string();
    let pages = [
        (
            "run",
            super::run(&sample.view(), Beside::of_profile(told), language),
        ),
        ("try", compared(&comparison, language)),
        ("load", super::page(&load, "", language)),
        ("sweep", sweep().html(language)),
        ("log", journal(3).html(language)),
        ("collect", collect_tests::page(language)),
        ("profile", page_in(&before, language)),
        (
            "difference",
            difference_to_html(&before, &after, &difference, language),
        ),
    ];
    let mut browser = Browser::start();
    let mut found = Vec::new();
    for (kind, page) in pages {
        assert!(page.contains("<html lang=\"ja\""), "{kind}");
        let texts = english(&mut browser, &page).into_iter();
        found.extend(texts.map(|text| format!("{kind}: {text}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn english_sentences_are_found() {
    let mut browser = Browser::start();
    let page = super::page(LOAD, "", Language::English);
    let found = english(&mut browser, &page);
    assert!(
        found
            .iter()
            .any(|text| text == "Percentiles with no request beyond them are omitted."),
        "{found:?}"
    );
}
