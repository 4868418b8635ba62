//! Growth of memory beside the number of objects alive.

use recording::RuntimeSample;

use super::settings::hosted;
use super::*;
use crate::rule_id::RuleId;

/// An app growing by 3 MiB per second, with so many objects alive and so many major collections at
/// each second.
fn growing(alive: fn(u64) -> u64, majors: fn(u64) -> u64) -> Finding {
    growing_with(alive, majors, &[])
}

fn growing_with(
    alive: fn(u64) -> u64,
    majors: fn(u64) -> u64,
    settings: &[(&str, &str)],
) -> Finding {
    let app = [(ProcessRole::App, 0.1)];
    let run = hosted(&app, |second| (100 + 3 * second) << 20, 40).with(|recording| {
        for second in 0..40 {
            recording.runtime.push(RuntimeSample {
                at: Timestamp::from_monotonic_nanos(START + second * 1_000 * MS),
                gc_major: majors(second),
                heap_live: alive(second),
                ..RuntimeSample::default()
            });
        }
    });
    let set = |run: Run, (name, value): &(&str, &str)| run.set_to(name, value);
    let run = settings.iter().fold(run, set);
    let findings = run.findings().into_iter();
    let mut found = findings.filter(|finding| finding.rule == RuleId::MemoryGrowth);
    found.next().expect("memory grows")
}

fn says(finding: &Finding, text: &str) -> bool {
    let mut evidence = finding.evidence.iter().map(ToString::to_string);
    evidence.any(|line| line.contains(text))
}

const OBJECTS: &str = "Ruby objects";

#[test]
fn objects_that_are_held_are_no_fault_of_the_allocator() {
    // What collections leave, and garbage on top.
    let leaking = growing(
        |second| 100_000 + 1_000 * second + 50_000 * (second % 3),
        |second| second / 3,
    );
    let counts = "at least 115,000 are alive in the middle third of the run, at least 127,000";
    assert!(says(&leaking, counts), "{leaking:#?}");
    assert_eq!(leaking.remedy.exact, None);
    assert_eq!(leaking.remedy.safety, Safety::Code);
}

#[test]
fn memory_that_grows_without_objects_is_outside_of_their_heap() {
    let finding = growing(
        |second| 100_000 + 50_000 * (second % 3),
        |second| second / 3,
    );
    assert!(says(&finding, "hardly grows"), "{finding:#?}");
    let exact = finding.remedy.exact_text();
    assert_eq!(exact.as_deref(), Some("MALLOC_ARENA_MAX=2"));
}

#[test]
fn the_allocator_is_changed_where_it_is_the_c_librarys() {
    let check = |settings: &[(&str, &str)], expected: Option<&str>| {
        let finding = growing_with(|_| 100_000, |second| second / 3, settings);
        assert_eq!(finding.remedy.exact_text().as_deref(), expected);
        let text = finding.remedy.text.to_string();
        assert_eq!(text.contains("jemalloc"), expected.is_some(), "{text}");
    };
    check(&[], Some("MALLOC_ARENA_MAX=2"));
    check(
        &[("MALLOC_ARENA_MAX", "2")],
        Some("LD_PRELOAD=libjemalloc.so.2"),
    );
    check(&[("allocator", "jemalloc")], None);
}

#[test]
fn objects_that_no_major_collection_looked_at_say_nothing() {
    let finding = growing(|second| 100_000 + 1_000 * second, |_| 2);
    assert!(!says(&finding, OBJECTS), "{finding:#?}");
}
