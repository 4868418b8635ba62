use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use chromium::{Browser, Look};
use words::Language;

use super::axe_tests::LOAD;
use super::*;
use crate::journal::{Journal, Line, Tried};
use crate::samples::Sample;
use crate::sweep::{Ended, Step, Sweep};

pub(super) const HOSTILE: &str =
    "</script><script>alert(1)</script><!-- </noscript> <!--HAKARU_TEXT--> /*HAKARU_JSON*/";

/// The document between the marks of the template.
fn embedded(page: &str) -> &str {
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).unwrap();
    rest.split_once("</script>").unwrap().0
}

#[test]
fn nothing_recorded_ends_its_element() {
    let mut sample = Sample::chat();
    sample.findings[0].title = HOSTILE.into();
    sample.breakdown.sql[0].digest = HOSTILE.to_owned();
    let page = run(&sample.view(), Beside::default(), Language::English);
    let value: Value = serde_json::from_str(embedded(&page)).unwrap();
    assert_eq!(value["findings"][0]["title"], HOSTILE);
    assert_eq!(value["sql"][0]["digest"], HOSTILE);
    for element in ["<script", "</script", "</noscript"] {
        let count = |page: &str| page.matches(element).count();
        assert_eq!(count(&page), count(TEMPLATE), "{element}");
    }
}

#[test]
fn the_text_stands_in_where_scripts_do_not_run() {
    let page = run(&Sample::chat().view(), Beside::default(), Language::English);
    let text = page.split_once("<noscript>").unwrap().1;
    let text = text.split_once("</noscript>").unwrap().0;
    assert!(
        text.contains("Fix first: 25 times the same statement"),
        "{text}"
    );
}

#[test]
fn the_template_is_small_and_needs_no_network() {
    const BYTES_MAX: usize = 256 * 1024;
    assert!(TEMPLATE.len() <= BYTES_MAX, "{} bytes", TEMPLATE.len());
    assert!(TEMPLATE.contains("default-src 'none'"));
    for fetched in [" src=", " href=\"http", "url(", "@import"] {
        assert!(
            !TEMPLATE.contains(fetched),
            "{fetched:?} is in the template"
        );
    }
}

pub(super) struct Written {
    _folder: TempDir,
    pub(super) path: PathBuf,
}

pub(super) fn written(page: &str) -> Written {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("page.html");
    fs::write(&path, page).unwrap();
    Written {
        _folder: folder,
        path,
    }
}

/// A run with long words and hostile text in every free field.
pub(super) fn stretched() -> Sample {
    let mut sample = Sample::chat();
    let long = format!("GET /{}", "x1234567".repeat(30));
    sample.breakdown.routes[0].route.clone_from(&long);
    sample.breakdown.sql[0].digest = format!("{HOSTILE} {long}");
    sample.findings[0].title = format!("{HOSTILE} {long}").into();
    sample.findings[0].evidence = vec![long.as_str().into(); 3];
    sample.findings[0].remedy.exact = Some(long.clone().into());
    sample.recording.meta.target.command.clone_from(&long);
    sample.recording.failures[0].response = long;
    sample
}

/// Waits until the page has been drawn.
pub(super) fn settle(browser: &mut Browser) {
    browser.ask("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
}

/// Returns the width in pixels of what a selector finds first on a page on a phone.
pub(super) fn width_on_a_phone(page: &str, selector: &str) -> u64 {
    let page = written(page);
    let mut browser = Browser::start();
    let look = Look {
        width: 360,
        scheme: "light",
        media: "screen",
    };
    browser.open(&page.path, look);
    settle(&mut browser);
    let width = browser.ask(&format!("document.querySelector('{selector}').offsetWidth"));
    width.as_u64().expect("a width")
}

pub(super) const SECTIONS: [&str; 9] = [
    "verdict", "routes", "findings", "balance", "latency", "seconds", "sql", "failures", "sure",
];

pub(super) fn check_looks(browser: &mut Browser, page: &str, sections: &str) {
    let page = written(page);
    for (width, scheme, media) in [
        (360, "light", "screen"),
        (360, "dark", "screen"),
        (1280, "light", "screen"),
        (1280, "dark", "screen"),
        (800, "light", "print"),
    ] {
        let look = Look {
            width,
            scheme,
            media,
        };
        browser.open(&page.path, look);
        browser.ask(
            "document.querySelectorAll('details').forEach((details) => { details.open = true })",
        );
        let found = browser.ask(
            "[...document.querySelectorAll('main > section')]
                .filter((section) => section.getBoundingClientRect().height > 20)
                .map((section) => section.id).join()",
        );
        assert_eq!(found, sections, "{look:?}");
        let overflow = browser
            .ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, 0, "{look:?}: the page is wider than the screen");
        assert_eq!(browser.complaints(), [""; 0], "{look:?}");
    }
}

#[test]
fn steps_of_a_load_are_wide_enough_to_be_read_on_a_phone() {
    let width = width_on_a_phone(&page(LOAD, "", Language::English), "#answers th[scope=row]");
    assert!(width > 150, "{width}");
}

#[test]
fn the_page_fits_every_screen_and_complains_of_nothing() {
    let mut browser = Browser::start();
    for sample in [Sample::chat(), stretched(), Sample::default()] {
        check_looks(
            &mut browser,
            &run(&sample.view(), Beside::default(), Language::English),
            &SECTIONS.join(","),
        );
    }
}

/// A sweep with a long command.
pub(super) fn sweep() -> Sweep {
    let step = |connections: u32| Step {
        connections,
        run: Some(i64::from(connections)),
        rps: Some(600.0 - 500.0 / f64::from(connections)),
        latency_ms: [Some(f64::from(connections)), Some(40.0), None],
        ..Step::default()
    };
    Sweep {
        command: format!("puma -t 5:5 {}", "x1234567".repeat(30)),
        steps: [1, 10, 200].map(step).to_vec(),
        ended: Ended::Complete,
        left_out: vec![500],
        notes: Vec::new(),
    }
}

/// A journal of `runs` runs, the last ones of the same load and with a tried remedy.
pub(super) fn journal(runs: i64) -> Journal {
    let line = |number: i64| Line {
        number,
        complete: true,
        commit: "0123456789abcdef".to_owned(),
        dirty: "1 file changed".to_owned(),
        settings: format!("connections = {}", if number < 3 { number } else { 3 }),
        rps: Some(100.0 * number as f64),
        notes: vec![HOSTILE.to_owned()],
        trials: vec![Tried {
            finding: "3: missing index".to_owned(),
            remedy: "CREATE INDEX a".into(),
            decision: "faster".to_owned(),
            verdict: "B is faster at p50".to_owned(),
            ..Tried::default()
        }],
        ..Line::default()
    };
    Journal::of((1..=runs).map(line).collect())
}

#[test]
fn the_pages_of_sweep_and_log_fit_too() {
    let mut browser = Browser::start();
    check_looks(&mut browser, &sweep().html(Language::English), "sweep");
    assert_eq!(
        browser.ask("document.querySelectorAll('.uplot canvas').length"),
        3
    );
    check_looks(&mut browser, &journal(3).html(Language::English), "log");
    let newest = "document.querySelector('tbody th').textContent";
    assert_eq!(browser.ask(newest), "3");
    let changed = "document.querySelector('tbody tr').textContent.includes('connections')";
    assert_eq!(browser.ask(changed), true);
}

#[test]
fn a_long_journal_is_paged_and_searched() {
    let mut browser = Browser::start();
    let look = Look {
        width: 1280,
        scheme: "light",
        media: "screen",
    };
    browser.open(&written(&journal(3000).html(Language::English)).path, look);
    let rows = "document.querySelectorAll('tbody tr').length";
    assert_eq!(browser.ask(rows), 50);
    browser.ask("document.querySelector('.more button').click()");
    settle(&mut browser);
    assert_eq!(browser.ask(rows), 100);
    let charts = "document.querySelectorAll('.uplot canvas').length";
    assert_eq!(browser.ask(charts), 2, "requests per second and p95");
    browser.ask(
        "(() => { const input = document.querySelector('input[type=search]');
           input.value = '2999'; input.dispatchEvent(new Event('input', { bubbles: true })); })()",
    );
    settle(&mut browser);
    assert_eq!(browser.ask(rows), 1);
    let tried = "document.querySelector('tbody td:last-child').textContent.includes('B is faster')";
    assert_eq!(browser.ask(tried), true);
}

#[test]
fn findings_after_the_third_are_folded_until_a_link_leads_there() {
    let mut sample = Sample::chat();
    sample.findings = vec![sample.findings[0].clone(); 5];
    let page = written(&run(&sample.view(), Beside::default(), Language::English));
    let mut browser = Browser::start();
    let look = Look {
        width: 390,
        scheme: "light",
        media: "screen",
    };
    browser.open(&page.path, look);
    let open = "[...document.querySelectorAll('#findings .whole')].map((one) => one.open).join()";
    assert_eq!(browser.ask(open), "false,false");
    browser.ask("location.hash = '#finding-5'");
    settle(&mut browser);
    assert_eq!(browser.ask(open), "false,true");
}

#[test]
fn findings_lead_to_their_rows() {
    let mut sample = Sample::chat();
    let digest = &sample.breakdown.sql[0].digest;
    sample.findings[0].evidence = vec![format!("25 × 0.40 ms at app.rb:120: {digest}").into()];
    let page = written(&run(&sample.view(), Beside::default(), Language::English));
    let mut browser = Browser::start();
    for width in [390, 1280] {
        let look = Look {
            width,
            scheme: "light",
            media: "screen",
        };
        browser.open(&page.path, look);
        let marked = "[...document.querySelectorAll('.asked')].map((row) => row.dataset.row)";
        assert_eq!(browser.ask(marked), Value::Array(Vec::new()));
        for (place, row) in [("sql", "sql-1"), ("route", "route-1")] {
            browser.ask(&format!(
                "document.querySelector('.links a[href=\"#{row}\"]').click()"
            ));
            settle(&mut browser);
            settle(&mut browser);
            let marked = browser.ask(marked);
            let marked = marked.as_array().expect("a list");
            assert!(
                !marked.is_empty() && marked.iter().all(|one| one == row),
                "{place}: {marked:?}"
            );
            let top = format!(
                "[...document.querySelectorAll('[data-row=\"{row}\"]')].filter((one) => one.getClientRects().length > 0)
                    .some((one) => one.getBoundingClientRect().top >= 0 && one.getBoundingClientRect().bottom <= innerHeight)"
            );
            assert_eq!(
                browser.ask(&top),
                true,
                "{place} at {width} is on the screen"
            );
        }
    }
}

#[test]
fn the_page_can_be_used() {
    let mut browser = Browser::start();
    let look = Look {
        width: 1280,
        scheme: "light",
        media: "screen",
    };
    browser.open(
        &written(&run(
            &Sample::chat().view(),
            Beside::default(),
            Language::English,
        ))
        .path,
        look,
    );
    let mut check = |question: &str, expected: Value| {
        assert_eq!(browser.ask(question), expected, "{question}");
    };
    check("document.title", "Hakaru run 3".into());
    check(
        "document.querySelectorAll('.uplot canvas').length",
        6.into(),
    );
    check(
        "getComputedStyle(document.body).backgroundColor === getComputedStyle(document.body).color",
        false.into(),
    );
    check(
        "document.querySelector('.first a').getAttribute('href') === '#' + document.querySelector('article').id",
        true.into(),
    );
    let sorted = "document.querySelector('#sql th:nth-child(2)').ariaSort";
    check(sorted, "none".into());
    check(
        "document.querySelector('#sql th:nth-child(2) button').click()",
        Value::Null,
    );
    check(
        "new Promise((done) => setTimeout(done)).then(() => 1)",
        1.into(),
    );
    check(sorted, "descending".into());
    check(
        "fetch('about:blank').then(() => 'went out', () => 'refused')",
        "refused".into(),
    );
}

#[test]
fn a_japanese_page_says_so_and_brings_its_words() {
    let sample = Sample::chat();
    let page = run(&sample.view(), Beside::default(), Language::Japanese);
    assert!(page.contains("<html lang=\"ja\""));
    let document = &page[page.find("id=\"data\"").expect("the data")..];
    for words in ["\"What to fix\":\"直すもの\"", "サーバーの空きスレッド待ち"] {
        assert!(document.contains(words), "{words}");
    }
    let english = run(&sample.view(), Beside::default(), Language::English);
    assert!(english.contains("<html lang=\"en\""));
    assert!(english.contains("\"words\":{}"));
}
