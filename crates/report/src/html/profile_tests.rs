//! The pages with flame graphs, in a browser.

use recording::{Burst, BurstKind, Handled, Nanos, Parts, SqlUse};
use serde_json::Value;
use stacks::Profile;

use chromium::{Browser, Look};
use words::Language;

use super::Beside;
use super::tests::{HOSTILE, SECTIONS, check_looks, settle, written};
use crate::profile::{CountedView, ProfileView, difference_to_html, of_run, to_html};
use crate::samples::Sample;

const DESKTOP: Look = Look {
    width: 1280,
    scheme: "light",
    media: "screen",
};

pub(super) fn collapsed(text: &str) -> Profile {
    let read = stacks::import::read(text.as_bytes());
    read.expect("collapsed stacks").profile
}

/// Stacks with long and hostile names, a deep one, and several states.
fn stretched() -> Profile {
    let long = "Long::Name#".to_owned() + &"x1234567".repeat(30);
    let deep: Vec<String> = (0..400).map(|depth| format!("down{depth}")).collect();
    let mut profile = collapsed(&format!(
        "main;a 700\nmain;{long} 200\nmain;{} 50\n{} 100",
        HOSTILE.replace(';', ""),
        deep.join(";")
    ));
    for (index, sample) in profile.samples.iter_mut().enumerate() {
        sample.state = stacks::State::ALL[index % 9];
    }
    profile.notes = vec![HOSTILE.to_owned()];
    profile.facts = vec![("code_bytes".to_owned(), 3e6), ("gc_ms".to_owned(), 12.5)];
    profile
}

pub(super) fn page_of(profile: &Profile) -> String {
    page_in(profile, Language::English)
}

pub(super) fn page_in(profile: &Profile, language: Language) -> String {
    let counted = CountedView {
        method: "Spec.new".to_owned(),
        sites: vec![("a.rb:3 in run".to_owned(), 8, 6)],
        missed: 1,
    };
    to_html(
        &ProfileView {
            number: Some(4),
            profile,
            counted: Some(&counted),
        },
        language,
    )
}

#[test]
fn pages_with_flame_graphs_fit_every_screen_and_complain_of_nothing() {
    let mut browser = Browser::start();
    let profile = stretched();
    check_looks(&mut browser, &page_of(&profile), "profile,calls");
    let empty = Profile::default();
    check_looks(&mut browser, &page_of(&empty), "profile,calls");
    let after = collapsed("main;a 200\nmain;b 300");
    let page = difference_to_html(
        &profile,
        &after,
        &stacks::diff(&profile, &after),
        Language::English,
    );
    check_looks(&mut browser, &page, "difference,changes");
}

#[test]
fn a_runs_page_shows_its_routes_and_slowest_requests() {
    let mut browser = Browser::start();
    let (sample, profile) = profiled();
    let told = of_run(&sample.recording, &profile);
    assert_eq!(told["flame"]["graphs"][1]["name"], "GET /message");
    assert_eq!(told["exemplars"].as_array().map(Vec::len), Some(3));
    let page = super::run(&sample.view(), Beside::of_profile(told), Language::English);
    let sections = SECTIONS.join(",").replace("sql", "stacks,sql");
    check_looks(&mut browser, &page, &sections);
    browser.open(&written(&page).path, DESKTOP);
    let pieces = "document.querySelectorAll('#stacks article .line button').length";
    assert!(browser.ask(pieces).as_u64().is_some_and(|count| count > 0));
    browser.ask("document.querySelector('#stacks article .line button').click()");
    settle(&mut browser);
    let stack = browser.ask("document.querySelector('#stacks article ol').textContent");
    assert_eq!(stack, "Kernel#sleepObject#handle");
}

/// A run with ten recorded requests of one route, each with a sleep in the samples.
pub(super) fn profiled() -> (Sample, Profile) {
    let mut sample = Sample::chat();
    let recording = &mut sample.recording;
    let route = recording.texts.keep("GET /message");
    let mut profile = collapsed("handle 1");
    let thread = profile.samples[0].thread;
    profile.samples.clear();
    profile.unit = stacks::Unit::Nanos;
    let stack: Vec<stacks::Location> = ["Kernel#sleep", "Object#handle"]
        .map(|name| stacks::Frame {
            name: name.to_owned(),
            ..stacks::Frame::default()
        })
        .map(|frame| stacks::Location {
            frame: profile.frame_id(frame),
            line: 0,
        })
        .to_vec();
    let stack = profile.stack_id(&stack);
    profile.begun = recording.exchanges[0].due.monotonic_nanos();
    for exchange in &recording.exchanges[..10] {
        let start = exchange.sent + Nanos(1_000_000);
        let end = start + Nanos(60_000_000);
        recording.handled.push(Handled {
            id: exchange.id,
            start,
            end,
            route,
            bursts: vec![Burst {
                kind: BurstKind::Sleep,
                length: Nanos(50_000_000),
            }],
            parts: Parts {
                sleep: Nanos(50_000_000),
                running: Nanos(10_000_000),
                ..Parts::default()
            },
            sql: vec![SqlUse {
                digest: route,
                count: 3,
                ..SqlUse::default()
            }],
            ..Handled::default()
        });
        profile.samples.push(stacks::Sample {
            stack,
            thread,
            state: stacks::State::Sleep,
            weight: 50_000_000,
            bytes: 0,
            count: 1,
            at: end.monotonic_nanos() - profile.begun,
            request: exchange.id.0,
        });
    }
    (sample, profile)
}

/// Text below the graph of the profile's page.
fn details(browser: &mut Browser) -> String {
    settle(browser);
    let text = browser.ask("document.querySelector('.details').innerText");
    text.as_str().unwrap_or_default().replace('\n', " ")
}

fn press(browser: &mut Browser, key: &str) {
    browser.ask(&format!(
        "document.querySelector('[role=application]').dispatchEvent(
            new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true, cancelable: true }}))"
    ));
}

#[test]
fn the_graph_is_walked_searched_and_turned_round() {
    let mut browser = Browser::start();
    let profile = collapsed("main;work;digits 600\nmain;work;table 300\nmain;rest;digits 100");
    browser.open(&written(&page_of(&profile)).path, DESKTOP);
    assert!(details(&mut browser).starts_with("1,000 samples in all."));
    for key in ["ArrowDown", "ArrowDown", "Enter"] {
        press(&mut browser, key);
    }
    let text = details(&mut browser);
    assert!(
        text.starts_with("work no Ruby file 900 samples (90.0%), own 0 samples (0%)"),
        "{text}"
    );
    press(&mut browser, "Backspace");
    assert!(details(&mut browser).starts_with("main"));

    // The middle of the third row is the widest call of the second.
    let click = "(() => {
        const graph = document.querySelector('[role=application]');
        const place = graph.getBoundingClientRect();
        const at = { clientX: place.left + place.width / 2, clientY: place.top + 2.5 * 20, bubbles: true };
        graph.dispatchEvent(new MouseEvent('click', at));
    })()";
    press(&mut browser, "Escape");
    settle(&mut browser);
    browser.ask(click);
    assert!(details(&mut browser).starts_with("work"));

    browser.ask(
        "(() => { const input = document.querySelector('input[type=search]');
           input.value = 'DIGITS'; input.dispatchEvent(new Event('input')); })()",
    );
    settle(&mut browser);
    assert_eq!(
        browser.ask("document.querySelector('.found').textContent"),
        "70.0% of all"
    );

    browser.ask("[...document.querySelectorAll('.tools button')].find((one) => one.textContent === 'Turned round').click()");
    settle(&mut browser);
    press(&mut browser, "ArrowDown");
    assert!(details(&mut browser).starts_with("digits"));
    browser.ask("[...document.querySelectorAll('.details button')].find((one) => one.textContent === 'Who calls it').click()");
    settle(&mut browser);
    for key in ["ArrowDown", "ArrowDown"] {
        press(&mut browser, key);
    }
    let text = details(&mut browser);
    assert!(
        text.starts_with("work no Ruby file 600 samples (85.7%)"),
        "{text}"
    );
}

/// A small app behind a deep stack of gems, as a web app is.
fn behind_gems() -> Profile {
    let mut profile = collapsed("main;a 1");
    let one = profile.samples[0];
    profile.samples.clear();
    let gems = (0..40).map(|depth| (format!("Gem#call{depth}"), "/gems/rack-3.1/lib/rack.rb"));
    let gems: Vec<(String, &str)> = gems.collect();
    let app = [
        ("Orders#index", "/srv/app/orders.rb", 8),
        ("Order#total", "/srv/app/order.rb", 2),
    ];
    for (name, file, count) in app {
        // The innermost first.
        let mut frames = vec![
            (name.to_owned(), file),
            ("App#call".to_owned(), "/srv/app/app.rb"),
        ];
        frames.extend(gems.iter().rev().cloned());
        let stack: Vec<stacks::Location> = frames
            .into_iter()
            .map(|(name, file)| stacks::Location {
                frame: profile.frame_id(stacks::Frame {
                    name,
                    file: file.to_owned(),
                    line: 1,
                }),
                line: 1,
            })
            .collect();
        let stack = profile.stack_id(&stack);
        let seen = stacks::Sample { stack, ..one };
        profile.samples.extend(std::iter::repeat_n(seen, count));
    }
    profile
}

#[test]
fn the_graph_begins_with_the_app_and_goes_to_matches() {
    let mut browser = Browser::start();
    let page = written(&page_of(&behind_gems()));
    browser.open(&page.path, DESKTOP);
    let text = details(&mut browser);
    assert!(
        text.starts_with("App#call srv/app/app.rb:1 The first method of the app: 10 samples"),
        "{text}"
    );
    let scrolled = browser.ask("document.querySelector('[role=application]').scrollTop");
    assert!(
        scrolled.as_f64().is_some_and(|top| top > 100.0),
        "{scrolled}"
    );
    let cue = "document.querySelector('.cue').textContent.includes('above')";
    assert_eq!(browser.ask(cue), true);

    let search = "(() => { const input = document.querySelector('input[type=search]');
        input.value = 'order'; input.dispatchEvent(new Event('input', { bubbles: true })); })()";
    browser.ask(search);
    settle(&mut browser);
    let enter = |shift: bool| {
        format!(
            "document.querySelector('input[type=search]').dispatchEvent(
                new KeyboardEvent('keydown', {{ key: 'Enter', shiftKey: {shift}, bubbles: true, cancelable: true }}))"
        )
    };
    for (shift, expected) in [
        (false, "Orders#index"),
        (false, "Order#total"),
        (true, "Orders#index"),
    ] {
        browser.ask(&enter(shift));
        let text = details(&mut browser);
        assert!(text.starts_with(expected), "{text}");
    }
    assert_eq!(browser.ask("location.hash"), "#profile?search=order");

    browser.ask("[...document.querySelectorAll('.tools label')].find((one) => one.textContent.includes('only my code')).click()");
    settle(&mut browser);
    browser.ask("document.querySelector('[role=application]').focus()");
    press(&mut browser, "Escape");
    for _ in 0..2 {
        press(&mut browser, "ArrowDown");
    }
    let text = details(&mut browser);
    assert!(
        text.starts_with("App#call"),
        "below all and the gems: {text}"
    );
    assert_eq!(browser.ask("location.hash"), "#profile?search=order&mine=1");
}

#[test]
fn the_graph_shows_a_thread_in_time() {
    let mut browser = Browser::start();
    let mut profile = collapsed("main;late 700\nmain;early 200");
    let [late, early] = [profile.samples[0], profile.samples[1]];
    let at = |sample, at| stacks::Sample { at, ..sample };
    profile.samples = vec![
        at(late, 2_000_000),
        at(early, 1_000_000),
        at(early, 3_000_000),
    ];
    browser.open(&written(&page_of(&profile)).path, DESKTOP);
    browser.ask("[...document.querySelectorAll('.tools button')].find((one) => one.textContent === 'In time').click()");
    let mut walked = Vec::new();
    for key in ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"] {
        press(&mut browser, key);
        let text = details(&mut browser);
        walked.push(text.split(' ').next().unwrap_or_default().to_owned());
    }
    assert_eq!(walked, ["main", "early", "late", "early"]);
    let said =
        browser.ask("document.querySelector('.flame').textContent.includes('its first 2.00 ms')");
    assert_eq!(said, true);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn an_address_shows_what_it_names() {
    let mut browser = Browser::start();
    let page = written(&page_of(&behind_gems()));
    browser.open_at(&page.path, "#profile?focus=Order%23total&mine=1", DESKTOP);
    let text = details(&mut browser);
    assert!(
        text.starts_with("Order#total srv/app/order.rb:1 2 samples"),
        "{text}"
    );
    let checked = "[...document.querySelectorAll('.tools label')].find((one) => one.textContent.includes('only my code')).firstElementChild.checked";
    assert_eq!(browser.ask(checked), true);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_million_samples_are_a_small_page() {
    let mut profile = collapsed("main;a 1");
    let one = profile.samples[0];
    profile.samples.clear();
    for branch in 0..40_000u32 {
        let stack: Vec<stacks::Location> = (0..8)
            .map(|depth| stacks::Location {
                frame: profile.frame_id(stacks::Frame {
                    name: format!("Some::Class{}#method_{}", branch >> depth, depth),
                    file: format!("/app/lib/some/class{}.rb", branch >> depth),
                    line: depth,
                }),
                line: depth,
            })
            .collect();
        let stack = profile.stack_id(&stack);
        let seen = stacks::Sample { stack, ..one };
        profile.samples.extend(std::iter::repeat_n(seen, 25));
    }
    assert_eq!(profile.observations(), 1_000_000);
    let page = page_of(&profile);
    assert!(page.len() < 6 << 20, "{} bytes", page.len());
    let mut browser = Browser::start();
    browser.open(&written(&page).path, DESKTOP);
    assert!(details(&mut browser).contains("1,000,000 samples in all"));
    press(&mut browser, "ArrowDown");
    assert!(!details(&mut browser).is_empty());
    assert_eq!(browser.complaints(), [""; 0]);
    assert_eq!(
        browser.ask("document.querySelectorAll('canvas').length"),
        Value::from(1)
    );
}
