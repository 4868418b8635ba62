//! What source lines cost by the samples of the run, and the findings that follow.

use stacks::{Frame, Location, Profile, Sample, State, ThreadOf};

use super::*;
use crate::costs::Costs;

const LIST: &str = "app/views/list.erb:3 < app/views/list.erb:2";
const WEB: &str = "get /srv/app/web.rb 9";
const LINE: &str = "each /srv/app/views/list.erb 3";
const LOOP: &str = "list /srv/app/views/list.erb 2";

/// Samples of every request, innermost frame first: `name file line`.
fn profile(run: &Run, samples: &[(u64, &[&str])]) -> Profile {
    let mut profile = Profile::default();
    let thread = profile.thread_id(ThreadOf { pid: 1, tid: 1 });
    for (weight, stack) in samples {
        let stack: Vec<Location> = stack
            .iter()
            .map(|frame| location(&mut profile, frame))
            .collect();
        let stack = profile.stack_id(&stack);
        profile
            .samples
            .extend(run.0.handled.iter().map(|handled| Sample {
                stack,
                state: State::Running,
                thread,
                weight: *weight,
                bytes: 0,
                count: 1,
                at: 0,
                request: handled.id.0,
            }));
    }
    profile
}

fn location(profile: &mut Profile, frame: &str) -> Location {
    let mut words = frame.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (name, file) = (next().to_owned(), next().to_owned());
    let line = next().parse().unwrap_or(0);
    let frame = profile.frame_id(Frame {
        name,
        file,
        line: 1,
    });
    Location { frame, line }
}

/// 1,000 requests that take 4 ms with the GVL and 1 ms in the database, for 40 statements of one line.
fn listing() -> Run {
    let work = Work {
        running: 4.0,
        sql: 1.0,
        ..Work::default()
    };
    let run = Run::new().requests("GET /list", 1_000, work);
    run.issuing("SELECT name FROM users WHERE id = ?", LIST, 40, 1.0)
}

#[test]
fn a_statement_costs_what_runs_below_its_line_but_the_making_of_rows() {
    let run = listing();
    let profile = profile(
        &run,
        &[
            (50, &["build /gems/ar/relation.rb 5", LINE, LOOP, WEB]),
            (
                20,
                &["new", "instantiate /gems/ar/result.rb 8", LINE, LOOP, WEB],
            ),
            // In a method that the line calls, and not in the statement.
            (10, &["price /srv/app/models/order.rb 4", LINE, LOOP, WEB]),
            (20, &["render /gems/erb.rb 1", WEB]),
        ],
    );
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined);
    let below = |route, site: &str| costs.share_below(route, site, site);
    assert_eq!(below(0, LIST), Some(0.5));
    assert_eq!(below(0, "app/web.rb:1"), None);
    assert_eq!(below(1, LIST), None);
}

#[test]
fn a_hot_method_is_the_apps_innermost_and_issues_no_statement() {
    let run = listing();
    let profile = profile(
        &run,
        &[
            (
                40,
                &["Array#include?", "find_all /srv/app/lib/roster.rb 15", WEB],
            ),
            (30, &["find_all /srv/app/lib/roster.rb 13", WEB]),
            (10, &["build /gems/ar.rb 5", LINE, LOOP, WEB]),
            (20, &["call /gems/rack.rb 1"]),
        ],
    );
    let joined = breakdown::join(&run.0);
    let hot = Costs::of(&profile, &run.0, &joined).hot_methods();
    let [hot] = hot.as_slice() else {
        panic!("{hot:#?}");
    };
    assert_eq!(
        (&*hot.method, &*hot.line),
        ("find_all", "app/lib/roster.rb:15")
    );
    assert!((hot.share - 0.7).abs() < 1e-9);
    assert_eq!(hot.innermost.0, "Array#include?");
}

/// The findings of a run with these samples.
fn found(run: &Run, profile: &Profile) -> Vec<Finding> {
    all(Facts {
        recording: &run.0,
        breakdown: &breakdown::of(&run.0),
        profile: Some(profile),
    })
}

#[test]
fn what_a_statement_gives_counts_the_code_around_the_driver() {
    let run = listing();
    let below = profile(
        &run,
        &[
            (75, &["build /gems/ar.rb 5", LINE, LOOP, WEB]),
            (25, &[WEB]),
        ],
    );
    let gain = |findings: &[Finding]| {
        let found = findings.iter().find(|finding| finding.rule == "n-plus-one");
        found.map_or(0.0, |finding| finding.gain_share)
    };
    let (with, without) = (gain(&found(&run, &below)), gain(&run.findings()));
    assert!(with > 2.0 * without, "{with} and {without}");
}

#[test]
fn one_loop_is_one_finding_on_all_its_routes() {
    let work = Work {
        running: 1.0,
        sql: 2.0,
        ..Work::default()
    };
    let run = Run::new()
        .requests("GET /list", 500, work)
        .requests("GET /", 500, work)
        .issuing("SELECT name FROM users WHERE id = ?", LIST, 40, 1.0)
        .issuing(
            "SELECT body FROM notes WHERE user_id = ?",
            "app/views/list.erb:4 < app/views/list.erb:2",
            40,
            0.5,
        )
        .issuing(
            "SELECT id FROM tags WHERE note_id = ?",
            "app/web.rb:7",
            40,
            0.5,
        );
    let findings = run.findings();
    let repeats: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.rule == "n-plus-one")
        .collect();
    assert_eq!(repeats.len(), 2, "{repeats:#?}");
    assert!(
        repeats[0].title.contains("and 3 more"),
        "{}",
        repeats[0].title
    );
    assert!(
        repeats[0]
            .evidence
            .iter()
            .any(|line| line.contains("notes"))
    );
}
