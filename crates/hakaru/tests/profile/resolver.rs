//! `apps/resolver`: the profile leads to the constructor, counting gives the reason, the difference
//! confirms the repair.

use std::process::Command;

use serde_json::Value;

use crate::support::Place;

fn json(place: &Place, arguments: &[&str]) -> (Value, String) {
    let output = place.hakaru(arguments);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    (serde_json::from_slice(&output.stdout).expect("JSON"), talk)
}

/// Parses `N specs told, M distinct`, the app's own count.
fn told(talk: &str) -> (u64, u64) {
    let line = talk
        .lines()
        .find(|line| line.contains("specs told"))
        .expect("the app tells");
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    (
        numbers.next().expect("told"),
        numbers.next().expect("distinct"),
    )
}

#[test]
fn the_constructor_is_found_counted_and_seen_to_be_gone() {
    let place = Place::of_app("resolver");
    let (before, _) = json(&place, &["profile", "--json", "--", "ruby", "resolve.rb"]);
    let rows = before["inclusive"].as_array().expect("a table").iter();
    let constructor = rows
        .clone()
        .find(|row| row["frame"] == "Resolver::Spec#initialize");
    let share = constructor.expect("it is there")["share"]
        .as_f64()
        .unwrap_or_default();
    assert!(share > 0.5, "the constructor holds {share}");

    let counting = [
        "profile",
        "--json",
        "--count",
        "Resolver::Spec.new",
        "--",
        "ruby",
        "resolve.rb",
    ];
    let (counted, talk) = json(&place, &counting);
    let (told, distinct) = told(&talk);
    assert_eq!(counted["counted"]["calls"], told);
    assert_eq!(counted["counted"]["repeats"], told - distinct);
    let caller = counted["counted"]["callers"][0]["caller"]
        .as_str()
        .unwrap_or_default();
    assert!(caller.contains("registry.rb"), "{caller}");

    let patched = Command::new("git")
        .args(["apply", "solutions/01-remember-specs.patch"])
        .current_dir(place.folder.path())
        .status();
    assert!(patched.expect("git runs").success());
    json(&place, &["profile", "--json", "--", "ruby", "resolve.rb"]);
    let (diff, _) = json(&place, &["profile", "diff", "1", "3", "--json"]);
    let frames = diff["frames"].as_array().expect("frames").iter();
    let changed = frames
        .clone()
        .find(|row| row["frame"] == "Resolver::Spec#initialize");
    let changed = changed.expect("it changed");
    assert_eq!(changed["sure"], true, "{changed}");
    let left = changed["after"]["weight"]["ms"]
        .as_f64()
        .unwrap_or_default();
    let was = changed["before"]["weight"]["ms"]
        .as_f64()
        .unwrap_or_default();
    assert!(left < 0.15 * was, "{left} of {was} ms are left");
}
