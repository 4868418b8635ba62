//! Charts in a browser: values, zoom, and paper.

use words::Language;

use super::browser::{Browser, Look};
use super::tests::{settle, written};
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

/// What the second chart of the window says of itself: it is in one group with the first.
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

/// Left edge, width, and a height within the first chart of the window, which is brought onto the screen.
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
        &written(&super::run(&Sample::chat().view(), None, Language::English)).path,
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
        &written(&super::run(&Sample::chat().view(), None, Language::English)).path,
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
    let page = written(&super::run(&Sample::chat().view(), None, Language::English));
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
