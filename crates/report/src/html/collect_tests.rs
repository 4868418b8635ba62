//! The page of `hakaru collect`, and the hosts' part of a run's page.

use chromium::{Browser, Look};
use serde_json::{Value, json};
use words::Language;

use super::Beside;
use super::tests::{HOSTILE, SECTIONS, check_looks, settle, width_on_a_phone, written};
use crate::samples::Sample;

/// A document of `hakaru collect` on a proxy and an app with agents, with hostile text in every
/// field from a host.
pub(super) fn collected() -> Value {
    let long = "x1234567".repeat(30);
    let states = json!({
        "gvl_wait": 0.4, "gc": 0.0, "sql": 1.2, "http": 0.0, "lock": 0.1, "sleep": 0.0,
        "other_io": 0.0, "running": 2.3,
    });
    let route = |name: &str| {
        json!({
            "route": name, "requests": 1000, "failed": 2, "time_s": 4.1, "waited_s": 0.5,
            "states_s": states.clone(),
        })
    };
    let statement = |digest: &str, site: &str| json!({ "digest": digest, "site": site, "calls": 4000, "rows": 8000, "time_s": 1.2, "gvl_wait_s": 0.1 });
    let inside = json!({
        "error": null, "notes": [HOSTILE], "server": HOSTILE, "ruby": HOSTILE, "processes": 2,
        "requests": 2000, "dropped": 3,
        "routes": [route(&format!("{HOSTILE} {long}")), route("")],
        "statements": [statement(HOSTILE, &long), statement(&long, ""), statement("", HOSTILE)],
    });
    let layer = |kind: &str, mean_s: f64, terms_s: Value| {
        json!({
            "kind": kind, "host": kind, "other": null, "mean_s": mean_s, "terms_s": terms_s,
            "text": format!("{kind} on {HOSTILE}"),
        })
    };
    let terms = json!({
        "queue": 0.0005, "gvl_wait": 0.0004, "gc": 0.0, "sql": 0.0002, "http": 0.0, "lock": 0.0001,
        "sleep": 0.0, "other_io": 0.0, "running": 0.0023, "unaccounted": 0.0001,
    });
    let message = json!({ "at_s": 1.5, "count": 2, "message": long.as_str() });
    let unit = json!({
        "unit": "app.service", "error": HOSTILE, "entries": 9, "warnings": 0, "errors": 2,
        "messages": [message],
    });
    let log = json!({ "path": long.as_str(), "bytes": 0, "truncations": 0, "error": HOSTILE });
    let host = |name: &str, inside: Value| {
        let (unit, log) = (unit.clone(), log.clone());
        json!({
            "name": name, "roles": [name], "error": null, "cores": 2, "inside": inside,
            "units": [unit], "logs": [log],
        })
    };
    json!({
        "format": "hakaru-collect", "version": 1, "seconds": 10.0, "notes": [],
        "hosts": [host("web", Value::Null), host("app", inside)],
        "balance": {
            "requests": 2000, "mean_s": 0.0046,
            "layers": [layer("proxy", 0.001, Value::Null), layer("app", 0.0036, terms)],
        },
        "routes": [], "statements": [], "unread": [],
    })
}

pub(super) fn page(language: Language) -> String {
    super::page(&collected().to_string(), "", language)
}

#[test]
fn the_inside_of_hosts_fits_every_screen_and_complains_of_nothing() {
    let mut browser = Browser::start();
    check_looks(&mut browser, &page(Language::English), "hosts");
    let beside = Beside {
        hosts: Some(collected()),
        ..Beside::default()
    };
    let run = super::run(&Sample::chat().view(), beside, Language::English);
    let mut sections = SECTIONS.to_vec();
    sections.insert(4, "hosts");
    check_looks(&mut browser, &run, &sections.join(","));
}

#[test]
fn long_words_of_a_host_do_not_push_its_figures_off_a_phone() {
    let width = width_on_a_phone(&page(Language::English), "#hosts table");
    assert!(width < 1_200, "{width}");
}

#[test]
fn the_inside_of_a_host_has_bars_and_statements_and_names_stay_text() {
    let page = written(&page(Language::English));
    let mut browser = Browser::start();
    let look = Look {
        width: 390,
        scheme: "dark",
        media: "screen",
    };
    browser.open(&page.path, look);
    settle(&mut browser);
    // Of the balance, of the app's part of it, and of two routes.
    let bars = "[...document.querySelectorAll('#hosts figure [role=img]')].map((bar) => bar.getAttribute('aria-label'))";
    let bars = browser.ask(bars);
    let bars: Vec<&str> = (bars.as_array().expect("a list").iter())
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(bars.len(), 4, "{bars:?}");
    assert!(bars[1].starts_with("running 2.30 ms 64%"), "{bars:?}");
    assert!(bars[2].starts_with("running 2.30 ms 56%"), "{bars:?}");
    let statements = "[...document.querySelectorAll('#hosts [role=region]')].at(-1).querySelectorAll('tbody tr').length";
    assert_eq!(browser.ask(statements), 3);
    let text = browser.ask("document.querySelector('#hosts').textContent");
    let text = text.as_str().expect("a text");
    for found in [
        HOSTILE,
        "3 records lost",
        "requests whose route has no name",
    ] {
        assert!(text.contains(found), "{found}: {text}");
    }
    assert_eq!(
        browser.ask("document.querySelectorAll('#page script, main script').length"),
        0
    );
}
