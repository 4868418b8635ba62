//! Failures, and doubts about the numbers.

use super::*;
use crate::rule_id::RuleId;

#[test]
fn failures_come_with_their_exchange() {
    let mut run = healthy();
    let line = run.text("GET /channel/12");
    let run = run.with(|r| {
        r.failures.push(Failure {
            outcome: Outcome::CheckFailed,
            line,
            place: "flows/read.hurl:12".to_owned(),
            reason: "expected 20 messages, got 19".to_owned(),
            request: "GET /channel/12\nAccept: */*".to_owned(),
            response: "HTTP/1.1 200 OK\n\n[]".to_owned(),
            count: 10,
        });
    });
    let findings = run.check(&["errors"]);
    assert_eq!(
        findings[0].title,
        "GET /channel/:id failed 10 times: check failed (flows/read.hurl:12)"
    );
    assert!((findings[0].gain_share - 0.01).abs() < 1e-9);
    // The first four say it all.
    let place = "10 of 1,000 requests (1%) at flows/read.hurl:12";
    assert_eq!(findings[0].evidence[0], place);
    assert_eq!(findings[0].evidence[2], "request: GET /channel/12");
    assert_eq!(
        findings[0].evidence[3],
        "answer: HTTP/1.1 200 OK; its body: []"
    );
}

#[test]
fn a_request_that_could_not_be_made_has_no_wrong_answer() {
    let mut run = healthy();
    let line = run.text("GET {{next}}");
    let run = run.with(|r| {
        r.failures.push(Failure {
            outcome: Outcome::CheckFailed,
            line,
            place: "flows/read.hurl:12".to_owned(),
            reason: "not sent: no variable `next`".to_owned(),
            request: String::new(),
            response: String::new(),
            count: 10,
        });
    });
    let findings = run.check(&["errors"]);
    let why = findings[0].why.to_string();
    assert!(why.contains("could not be made"), "{why}");
    let remedy = findings[0].remedy.text.to_string();
    assert!(remedy.contains("what its request needs"), "{remedy}");
}

#[test]
fn open_requests_at_the_end_are_no_errors() {
    let run = healthy().with(|r| {
        for exchange in r.exchanges.iter_mut().rev().take(20) {
            exchange.outcome = Outcome::Unanswered;
        }
        r.failures.push(Failure {
            outcome: Outcome::Unanswered,
            line: TextId::NONE,
            place: String::new(),
            reason: String::new(),
            request: String::new(),
            response: String::new(),
            count: 20,
        });
    });
    run.check(&[]);
}

#[test]
fn pages_that_are_none_are_said() {
    let answered = |status: u16, share: u64| {
        healthy().with(|r| {
            for exchange in r.exchanges.iter_mut().filter(|e| e.id.0 % 100 < share) {
                exchange.status = status;
            }
        })
    };
    let findings = answered(301, 100).check(&["hollow-answers"]);
    assert_eq!(
        findings[0].evidence,
        ["GET /channel/:id is answered 301 1,000 times"]
    );
    answered(404, 95).check(&["hollow-answers"]);
    answered(303, 50).check(&[]);
    answered(304, 100).check(&[]);
}

/// Rails answers 404 for a path without a route in a fraction of the time of a page.
#[test]
fn a_run_of_pages_that_do_not_exist_advises_no_capacity() {
    let busy = Work {
        queue: 40.0,
        running: 9.0,
        ..Work::default()
    };
    let answered = |status: u16| {
        let run = Run::new().requests("GET /nothing", 1_000, busy).with(|r| {
            r.host = host(11_000.0, 0.0, 9_500.0, 100.0);
            for exchange in &mut r.exchanges {
                exchange.status = status;
            }
        });
        let rules = run.findings().into_iter();
        rules.map(|finding| finding.rule.name()).collect::<Vec<_>>()
    };
    let has_capacity = |rules: &[&str]| {
        let mut rules = rules.iter();
        rules.any(|rule| ["workers", "threads"].contains(rule))
    };
    let (pages, refusals) = (answered(200), answered(404));
    assert!(has_capacity(&pages), "{pages:?}");
    assert_eq!(refusals[0], "hollow-answers");
    assert!(!has_capacity(&refusals), "{refusals:?}");
}

#[test]
fn refusals_of_half_of_the_pages_are_said_with_what_to_do() {
    let refused = |share: u64| {
        healthy().with(|r| {
            for exchange in r.exchanges.iter_mut().filter(|e| e.id.0 % 100 < share) {
                exchange.status = 404;
            }
        })
    };
    refused(40).check(&[]);
    let findings = refused(60).check(&["hollow-answers"]);
    let remedy = findings[0].remedy.text.to_string();
    assert!(
        remedy.starts_with("write paths that the app has"),
        "{remedy}"
    );
}

#[test]
fn a_busy_generator_is_said() {
    healthy()
        .with(|r| r.generator.cpu = nanos(9_000.0))
        .check(&["generator-busy"]);
    healthy()
        .with(|r| r.generator.cpu = nanos(7_000.0))
        .check(&[]);
    healthy()
        .with(|r| r.generator.unsent = 3)
        .check(&["generator-busy"]);
    let late = healthy().with(|r| {
        r.meta.load.mode = LoadMode::Open;
        for exchange in &mut r.exchanges {
            exchange.due = Timestamp::from_monotonic_nanos(
                exchange.sent.monotonic_nanos().max(START + 3 * MS) - 3 * MS,
            );
        }
    });
    late.check(&["generator-busy"]);
}

/// Ten seconds on two cores, from idle counters to the given ones, in milliseconds.
fn host(busy: f64, steal: f64, app: f64, generator: f64) -> Vec<HostSample> {
    let sample = |at: u64, share: f64| HostSample {
        at: Timestamp::from_monotonic_nanos(START + at * MS),
        cpu_busy: nanos(busy * share),
        cpu_steal: nanos(steal * share),
        processes: [
            (1, ProcessRole::App, app),
            (2, ProcessRole::Generator, generator),
        ]
        .into_iter()
        .map(|(pid, role, cpu)| ProcessSample {
            pid,
            role,
            name: String::new(),
            cpu: nanos(cpu * share),
            rss: 0,
            ..ProcessSample::default()
        })
        .collect(),
        ..HostSample::default()
    };
    vec![sample(0, 0.0), sample(5_000, 0.5), sample(9_999, 1.0)]
}

#[test]
fn a_busy_host_is_said() {
    let check = |host: Vec<HostSample>, expected: &[&str]| {
        healthy().with(|r| r.host = host).check(expected);
    };
    check(host(12_000.0, 0.0, 9_000.0, 2_500.0), &[]);
    check(host(16_000.0, 0.0, 9_000.0, 2_500.0), &["host-busy"]);
    check(host(12_000.0, 800.0, 9_000.0, 2_500.0), &["host-busy"]);
    check(host(19_800.0, 0.0, 14_000.0, 5_500.0), &["host-busy"]);
    check(host(19_800.0, 0.0, 19_000.0, 600.0), &["cpu-saturated"]);
    check(host(80_000.0, 0.0, 9_000.0, 2_500.0), &[]);
    check(Vec::new(), &[]);
}

#[test]
fn cores_that_slow_down_are_said() {
    let host = |slow: u64| {
        let sample = |second: u64| HostSample {
            at: Timestamp::from_monotonic_nanos(START + second * 999 * MS),
            core_pace: Some(Nanos(if second < slow { 70_000 } else { 53_000 })),
            ..HostSample::default()
        };
        (0..10).map(sample).collect()
    };
    let run = |slow| healthy().with(|r| r.host = host(slow));
    run(0).check(&[]);
    let findings = run(4).findings();
    let doubt = findings
        .iter()
        .find(|finding| finding.rule == RuleId::HostBusy);
    let told = "the cores were 1.32x slower for 40% of the time";
    assert!(
        doubt.is_some_and(|doubt| doubt.title.to_string().contains(told)),
        "{doubt:?}"
    );
}

#[test]
fn few_samples_are_said() {
    let work = Work {
        running: 1.0,
        ..Work::default()
    };
    Run::new()
        .requests("GET /", 367, work)
        .check(&["few-samples"]);
    Run::new().requests("GET /", 368, work).check(&[]);
}

#[test]
fn changing_runs_are_said() {
    let run = |length: fn(u64) -> f64| {
        let mut run = Run::new();
        let line = run.text("GET /");
        for index in 0..1_000 {
            let due = START + index * 10 * MS;
            let work = Work {
                running: length(index / 100),
                ..Work::default()
            };
            run.request(line, Timestamp::from_monotonic_nanos(due), work);
        }
        run
    };
    run(|second| 10.0 - second as f64 * 0.8).check(&["warming-up"]);
    run(|second| 2.0 + second as f64).check(&["drifting"]);
    run(|second| 5.0 + (second % 3) as f64).check(&[]);
    run(|second| if second == 0 { 50.0 } else { 5.0 }).check(&[]);
}

#[test]
fn a_blind_agent_is_said() {
    healthy()
        .with(|r| r.handled.clear())
        .check(&["agent-missing"]);
    healthy()
        .with(|r| r.agents[0].dropped = 1)
        .check(&["agent-dropped"]);
    healthy()
        .with(|r| r.agents[0].gvl = false)
        .check(&["agent-no-gvl"]);
    healthy()
        .with(|r| r.handled.truncate(900))
        .check(&["agent-missing"]);
    healthy().with(|r| r.handled.truncate(990)).check(&[]);
}
