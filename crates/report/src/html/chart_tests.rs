//! Charts in a browser: values, zoom, and paper.

use std::collections::BTreeSet;

use chromium::{Browser, Look};
use words::Language;

use super::Beside;
use super::axe_tests::{LOAD, compared, tried};
use super::profile_tests::{collapsed, page_of, profiled};
use super::tests::{journal, settle, sweep, written};
use crate::profile::of_run;
use crate::samples::Sample;

const DESKTOP: Look = Look {
    width: 1280,
    scheme: "light",
    media: "screen",
};

fn press(browser: &mut Browser, key: &str) {
    browser.ask(&format!(
        "document.querySelector('#seconds [role=slider]').dispatchEvent(
            new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true, cancelable: true }}))"
    ));
    settle(browser);
}

/// Attribute of the window's second chart, which is in one group with the first.
fn neighbour_says(browser: &mut Browser, attribute: &str) -> String {
    let question = format!(
        "document.querySelectorAll('#seconds [role=slider]')[1].getAttribute('{attribute}')"
    );
    browser
        .ask(&question)
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Left edge, width, and a height within the first chart of the window, which is brought onto the
/// screen.
fn place(browser: &mut Browser) -> [f64; 3] {
    let question = "(() => { const one = document.querySelector('#seconds .u-over');
        one.scrollIntoView({ block: 'center' });
        const place = one.getBoundingClientRect();
        return [place.left, place.width, place.top + 20]; })()";
    let place = browser.ask(question);
    settle(browser);
    [0, 1, 2].map(|index: usize| place[index].as_f64().unwrap())
}

#[test]
fn charts_give_values_by_keyboard_and_pointer() {
    let mut browser = Browser::start();
    browser.open(
        &written(&super::run(
            &Sample::chat().view(),
            Beside::default(),
            Language::English,
        ))
        .path,
        DESKTOP,
    );
    assert_eq!(
        neighbour_says(&mut browser, "aria-valuetext"),
        "arrow keys read values"
    );
    press(&mut browser, "Home");
    press(&mut browser, "ArrowRight");
    let text = neighbour_says(&mut browser, "aria-valuetext");
    assert!(text.starts_with("from second 1: p50 "), "{text}");
    let legend = browser.ask("document.querySelectorAll('#seconds .now')[1].textContent");
    assert!(text.contains(legend.as_str().unwrap()), "{text}: {legend}");

    let [left, width, y] = place(&mut browser);
    browser.pointer("mouseMoved", left + width - 2.0, y);
    settle(&mut browser);
    let last = neighbour_says(&mut browser, "aria-valuemax");
    assert_eq!(neighbour_says(&mut browser, "aria-valuenow"), last);
}

#[test]
fn charts_share_their_zoom() {
    let mut browser = Browser::start();
    browser.open(
        &written(&super::run(
            &Sample::chat().view(),
            Beside::default(),
            Language::English,
        ))
        .path,
        DESKTOP,
    );
    let resets = "[...document.querySelectorAll('#seconds figcaption button')].length";
    assert_eq!(browser.ask(resets), 0);
    let [left, width, y] = place(&mut browser);
    browser.pointer("mousePressed", left + width * 0.25, y);
    browser.pointer("mouseMoved", left + width * 0.75, y);
    browser.pointer("mouseReleased", left + width * 0.75, y);
    settle(&mut browser);
    let charts = browser.ask("document.querySelectorAll('#seconds .uplot').length");
    assert_eq!(browser.ask(resets), charts, "each chart can show all again");
    press(&mut browser, "Escape");
    assert_eq!(browser.ask(resets), 0);
    press(&mut browser, "+");
    assert_eq!(browser.ask(resets), charts);
    browser.ask("document.querySelector('#seconds figcaption button').click()");
    settle(&mut browser);
    assert_eq!(browser.ask(resets), 0);
}

#[test]
fn paper_loses_nothing() {
    let mut browser = Browser::start();
    let page = written(&super::run(
        &Sample::chat().view(),
        Beside::default(),
        Language::English,
    ));
    let paper = Look {
        width: 718,
        scheme: "dark",
        media: "print",
    };
    browser.open(&page.path, paper);
    browser.ask("dispatchEvent(new Event('beforeprint'))");
    settle(&mut browser);
    let hidden = "[...document.querySelectorAll('th button, td button')]
        .filter((one) => one.getBoundingClientRect().height < 5).length";
    assert_eq!(browser.ask(hidden), 0, "heads and names are printed");
    assert_eq!(
        browser.ask("document.querySelectorAll('details:not([open])').length"),
        0
    );
    let cut = "[...document.querySelectorAll('canvas, table')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length";
    assert_eq!(browser.ask(cut), 0, "nothing is wider than the sheet");
    let ground = "getComputedStyle(document.documentElement).colorScheme";
    assert_eq!(browser.ask(ground), "light");
    browser.ask("dispatchEvent(new Event('afterprint'))");
    settle(&mut browser);
    assert_eq!(
        browser.ask("document.querySelectorAll('details[open]').length"),
        0
    );
}

/// Text of the page without elements for screens alone: every visible text, with all folded text.
const SEEN: &str = "(() => {
    document.querySelectorAll('details').forEach((details) => { details.open = true });
    const texts = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const control = element.closest('nav, .screen-only, noscript, script, .u-legend, .beside, .above, .below, .under')
            || (element.closest('button') && !element.closest('th, .line'));
        const place = element.getBoundingClientRect();
        if (!control && place.width > 1 && place.height > 1) texts.add(walker.currentNode.data.trim());
    }
    return [...texts].filter((text) => text !== '');
})()";

#[test]
fn paper_has_the_texts_of_the_screen() {
    let (sample, profile) = profiled();
    let told = of_run(&sample.recording, &profile);
    let language = Language::English;
    let pages = [
        (
            "run",
            super::run(&sample.view(), Beside::of_profile(told), language),
        ),
        ("try", compared(&tried(), language)),
        ("load", super::page(LOAD, "", language)),
        ("sweep", sweep().html(language)),
        ("log", journal(60).html(language)),
        ("profile", page_of(&collapsed("main;a 700\nmain;b 200"))),
    ];
    let mut browser = Browser::start();
    for (kind, page) in pages {
        let page = written(&page);
        let mut seen = |look: Look| {
            browser.open(&page.path, look);
            if look.media == "print" {
                browser.ask("dispatchEvent(new Event('beforeprint'))");
                settle(&mut browser);
                let cut = "[...document.querySelectorAll('canvas, table, img, svg')]
                    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length";
                assert_eq!(browser.ask(cut), 0, "{kind} is wider than the sheet");
            }
            let texts = browser.ask(SEEN);
            let texts = texts.as_array().expect("a list").iter();
            texts.map(ToString::to_string).collect::<BTreeSet<_>>()
        };
        let on_screen = seen(DESKTOP);
        let on_paper = seen(Look {
            width: 718,
            media: "print",
            ..DESKTOP
        });
        assert!(on_screen.len() > 10, "{kind}: {on_screen:?}");
        let lost: Vec<_> = on_screen.difference(&on_paper).collect();
        assert!(lost.is_empty(), "{kind}: not on paper: {lost:?}");
        if kind == "log" {
            assert!(on_paper.contains("\"1\""), "the oldest run too");
        }
    }
}
