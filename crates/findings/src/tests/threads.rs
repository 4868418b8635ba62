//! Thread advice.

use super::*;
use crate::{Exact, PumaFlags};

/// Work behind a queue, with a little running time.
fn queued(work: Work) -> Work {
    Work {
        queue: 1_500.0,
        running: 2.0,
        ..work
    }
}

/// Five threads, each sleeping for a second, serve five requests a second.
#[test]
fn sleepers_exhaust_the_threads() {
    let fetch = queued(Work {
        sleep: 1_000.0,
        ..Work::default()
    });
    let other = queued(Work {
        sql: 2.0,
        ..Work::default()
    });
    let run = Run::new()
        .requests("GET /fetch", 50, fetch)
        .requests("GET /message", 350, other);
    let findings = run.check(&["threads"]);
    let finding = &findings[0];
    assert!(
        finding
            .title
            .to_string()
            .starts_with("all 5 threads are busy and requests queue for 1.50 s;")
    );
    assert_eq!(finding.route, "GET /fetch");
    assert!(
        finding.evidence[0].to_string().contains("in sleep"),
        "{:?}",
        finding.evidence
    );
    assert_eq!(finding.remedy.safety, Safety::Careful);
    let Some(Exact::Puma(PumaFlags {
        threads: Some(threads),
        ..
    })) = finding.remedy.exact
    else {
        panic!("{:?}", finding.remedy);
    };
    assert!((10..=20).contains(&threads), "{threads}");
    // The pool bounds it.
    let pooled = run
        .with(|r| r.meta.target.database_pool = Some(8))
        .findings();
    assert_eq!(pooled[0].remedy.exact_text().as_deref(), Some("-t 8:8"));
}

/// C = 3 ms, Z = 7 ms: three threads reach 90 % of what any number can.
#[test]
fn gvl_bound_apps_want_fewer_threads() {
    let work = Work {
        queue: 20.0,
        running: 3.0,
        sql: 7.0,
        gvl_wait: 35.0,
        ..Work::default()
    };
    let run = Run::new()
        .with(|r| r.meta.target.threads = 15)
        .requests("GET /", 3_300, work);
    let findings = run.check(&["threads"]);
    assert!(
        findings[0]
            .title
            .to_string()
            .starts_with("15 threads are too many: requests wait 35.0 ms")
    );
    assert!(matches!(
        findings[0].remedy.exact_text().as_deref(),
        Some("-t 3:3" | "-t 4:4")
    ));
    assert!(
        findings[0]
            .evidence
            .iter()
            .any(|line| line.to_string().contains("(recommended)"))
    );
}

/// A handler only computing keeps the GVL from start to end: a thread waiting for the GVL has not
/// started yet.
#[test]
fn one_thread_is_enough_for_a_handler_that_never_waits() {
    let work = Work {
        queue: 95.0,
        running: 5.0,
        ..Work::default()
    };
    let findings = Run::new()
        .requests("GET /", 2_000, work)
        .check(&["threads"]);
    let title = &findings[0].title;
    assert!(
        title
            .to_string()
            .starts_with("5 threads are too many: they take turns on one GVL; 1 gives 9"),
        "{title}"
    );
    assert_eq!(findings[0].remedy.exact_text().as_deref(), Some("-t 1:1"));
    // It makes nothing faster.
    assert_eq!(findings[0].confidence, Confidence::Low);
}

#[test]
fn a_replay_that_does_not_fit_says_nothing() {
    let work = Work {
        queue: 1_000.0,
        running: 1.0,
        sleep: 10.0,
        ..Work::default()
    };
    Run::new().requests("GET /", 400, work).check(&[]);
}

/// All threads are held by sleeps of a second, while everything else queues.
fn exhausted(by: impl FnOnce(Run) -> Run) -> Run {
    let fetch = queued(Work {
        sleep: 1_000.0,
        ..Work::default()
    });
    let other = queued(Work {
        sql: 2.0,
        ..Work::default()
    });
    by(Run::new().requests("GET /fetch", 50, fetch))
        .requests("GET /message", 350, other)
        .issuing("SELECT a FROM t WHERE id = ?", "app.rb:1", 100, 1.9)
}

/// More threads would wait for the row as well; SQLite has no locks of rows, so there the time is
/// the statement's own.
#[test]
fn threads_that_wait_for_one_row_want_no_others() {
    let fetch = queued(Work {
        sql: 1_000.0,
        ..Work::default()
    });
    let other = queued(Work {
        sql: 2.0,
        ..Work::default()
    });
    let adds_threads = |database: &str| {
        let statement = "UPDATE counters SET value = value + ? WHERE id = ?";
        let mut run = Run::new()
            .with(|r| r.meta.target.database = database.to_owned())
            .requests("GET /fetch", 50, fetch)
            .issuing(statement, "app.rb:1", 1, 1_000.0);
        for handled in run.0.handled.iter_mut().step_by(5) {
            handled.sql[0].time = nanos(10.0);
        }
        let findings = run.requests("GET /message", 350, other).findings();
        findings.iter().any(|it| it.rule.name() == "threads")
    };
    assert!(adds_threads("sqlite"));
    assert!(!adds_threads("mariadb 10.11"));
}

fn rules(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule.name()).collect()
}

#[test]
fn a_dominating_queue_is_answered_before_what_gives_little() {
    let findings = exhausted(|run| run).findings();
    assert_eq!(rules(&findings), ["threads", "n-plus-one"], "{findings:#?}");
    assert!(findings[1].gain_share < 0.5 * findings[0].gain_share);
}

#[test]
fn more_threads_stand_behind_what_holds_them() {
    let sleeps = |run: Run| run.doing(ActKind::Sleep, "", "app.rb:7 in fetch", 1, 1_000.0);
    let findings = exhausted(sleeps).findings();
    assert_eq!(rules(&findings)[..2], ["sleep", "threads"], "{findings:#?}");
    let gain = findings[0].gain.expect("a replay");
    assert!(gain.throughput.low > 1.5, "{gain:?}");
}
