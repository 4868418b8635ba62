use serde_json::Value;
use words::Language;

use figures::text::COLUMNS;

use super::{CountedView, ProfileView, difference, difference_json, json, page};

fn profile(text: &str) -> stacks::Profile {
    stacks::import::read(text.as_bytes())
        .expect("collapsed stacks")
        .profile
}

fn counted() -> CountedView {
    CountedView {
        method: "Spec.new".to_owned(),
        sites: vec![("a.rb:3 in run".to_owned(), 8, 6)],
        missed: 1,
    }
}

#[test]
fn the_json_has_the_promised_keys_and_nothing_after_it() {
    let profile = profile("main;a 7\nmain;b 3");
    let counted = counted();
    let text = json(&ProfileView {
        number: Some(4),
        profile: &profile,
        counted: Some(&counted),
    });
    let value: Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(value["samples"], 10);
    for key in [
        "interval_us",
        "duration_s",
        "self",
        "inclusive",
        "states",
        "cost",
    ] {
        assert!(!value[key].is_null(), "{key}");
    }
    assert_eq!(value["self"][0]["frame"], "a");
    assert_eq!(value["self"][0]["share"], 0.7);
    assert_eq!(value["inclusive"][0]["frame"], "main");
    assert_eq!(value["states"]["running"]["share"], 1.0);
    assert_eq!(value["cost"]["dropped"], 0);
    assert_eq!(value["counted"]["repeats"], 6);
}

#[test]
fn the_page_shows_the_table_the_flame_graph_and_the_calls() {
    let profile = profile("main;run;a 70\nmain;run;b 30\nmain;run;c 1");
    let counted = counted();
    let view = ProfileView {
        number: None,
        profile: &profile,
        counted: Some(&counted),
    };
    let text = page(&view, COLUMNS, Language::English);
    assert!(
        text.contains("  69.3%          70        69.3%   a"),
        "{text}"
    );
    assert!(text.contains("main → run"), "a chain is one line: {text}");
    assert!(text.contains("and 1 narrower branch\n"), "{text}");
    assert!(text.contains("8, of these 6 (75.0%)"), "{text}");
}

#[test]
fn the_difference_tells_sure_changes_from_noise() {
    let (before, after) = (profile("m;old 500\nm;x 500"), profile("m;new 500\nm;x 500"));
    let diff = stacks::diff(&before, &after);
    let text = difference((&before, &after), &diff, COLUMNS, Language::English);
    let narrower = text.find("NARROWER").expect("something got narrower");
    let wider = text.find("WIDER").expect("something got wider");
    assert!(
        narrower < wider && text[narrower..wider].contains("old"),
        "{text}"
    );
    let value: Value =
        serde_json::from_str(&difference_json(&before, &after, &diff)).expect("JSON");
    assert_eq!(value["frames"][0]["sure"], true);
    assert_eq!(value["before"]["samples"], 1000);
}
