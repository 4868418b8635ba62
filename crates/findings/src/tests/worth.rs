//! Costs that are most of one route and little of the run.

use super::costs::{found, in_state, profile};
use super::*;
use stacks::State;
use words::Text;

use crate::rule_id::RuleId;

const SITE: &str = "app/web.rb:9 in create";
const WEB: &str = "create /srv/app/web.rb 9";
const SERVER: &str = "spawn_thread /gems/puma.rb 3";

/// `count` requests of a route with `work`.
fn light(count: u64, work: Work) -> Run {
    Run::new().requests("GET /session", count, work)
}

/// The run with another route taking nearly all of the time, without clients for a replay: what is
/// tested here is a share of time.
fn beside_heavy(run: Run) -> Run {
    let run = run.with(|recording| recording.meta.load.connections = 0);
    let heavy = Work {
        running: 400.0,
        ..Work::default()
    };
    run.requests("GET /report", 100, heavy)
}

/// Evidence of a hint naming the route; `None` without a finding of the rule.
#[track_caller]
fn hint(findings: &[Finding], rule: RuleId) -> Option<String> {
    let finding = findings.iter().find(|finding| finding.rule == rule)?;
    assert_eq!(finding.confidence, Confidence::Low, "{finding:#?}");
    let says = |line: &&Text| line.to_string().contains("per request on GET /session");
    let evidence = finding.evidence.iter().find(says);
    Some(evidence.expect("evidence of the route").to_string())
}

/// 50 requests of `running` and 10 ms, the latter in a wait.
fn waiting(running: f64, what: &str) -> Run {
    let work = Work {
        running,
        ..Work::default()
    };
    let run = light(50, work).with(|recording| {
        for handled in &mut recording.handled {
            handled.parts.other_io = nanos(10.0);
        }
    });
    run.doing(ActKind::OtherIo, what, SITE, 1, 10.0)
}

#[test]
fn a_wait_that_is_most_of_a_cheap_route_is_a_hint() {
    let findings = beside_heavy(waiting(2.0, "")).findings();
    assert_eq!(
        hint(&findings, RuleId::Wait).as_deref(),
        Some(
            "10.0 ms of 12.0 ms per request on GET /session, waits for a thread and the GVL left out: little of this \
             run, most of that route"
        )
    );
    // Less than half of the route.
    let findings = beside_heavy(waiting(12.0, "")).findings();
    assert_eq!(hint(&findings, RuleId::Wait), None);
}

/// Of a rare route hardly any request has its CPU read, but samples name the method.
#[test]
fn a_password_hashed_on_a_cheap_route_computes() {
    let of = |method: &str| {
        let run = waiting(2.0, "").set_to("app root", "/srv");
        let profile = in_state(&run, State::Io, &[(100, &[method, WEB, SERVER])]);
        found(&beside_heavy(run), &profile)
    };
    let findings = of("BCrypt::Engine.__bc_crypt");
    hint(&findings, RuleId::CpuOffGvl).expect("a finding");
    let finding = findings.iter().find(|it| it.rule == RuleId::CpuOffGvl);
    let evidence = &finding.expect("a finding").evidence;
    let named = "100% of it in BCrypt::Engine.__bc_crypt";
    assert!(evidence.iter().any(|line| *line == named), "{evidence:#?}");
    // A method that reads waits for the other side.
    let findings = of("IO#read");
    assert_eq!(hint(&findings, RuleId::CpuOffGvl), None);
    hint(&findings, RuleId::Wait).expect("a finding");
}

#[test]
fn a_program_that_is_most_of_a_cheap_route_is_a_hint() {
    let of = |running| {
        let findings = beside_heavy(waiting(running, "a subprocess")).findings();
        hint(&findings, RuleId::Subprocess)
    };
    assert!(of(2.0).is_some());
    assert_eq!(of(12.0), None);
}

#[test]
fn a_few_slow_requests_say_nothing_of_a_route() {
    let work = Work {
        running: 2.0,
        ..Work::default()
    };
    let of = |count| {
        let run = light(count, work).with(|recording| {
            for handled in &mut recording.handled {
                handled.parts.other_io = nanos(10.0);
            }
        });
        let run = run.doing(ActKind::OtherIo, "", SITE, 1, 10.0);
        hint(&beside_heavy(run).findings(), RuleId::Wait)
    };
    assert!(of(20).is_some());
    assert_eq!(of(19), None);
}

/// 50 requests with 12 ms in calls of another service, and `running`.
fn calling(running: f64) -> Run {
    let work = Work {
        running,
        ..Work::default()
    };
    let run = light(50, work).with(|recording| {
        for handled in &mut recording.handled {
            handled.parts.http_waiting = nanos(12.0);
        }
    });
    run.issuing("HTTP GET rates.example", SITE, 1, 12.0)
}

#[test]
fn a_service_that_is_most_of_a_cheap_route_is_a_hint() {
    let of = |running| hint(&beside_heavy(calling(running)).findings(), RuleId::SlowHttp);
    assert!(of(2.0).is_some());
    assert_eq!(of(20.0), None);
}

/// 50 requests running for 8 ms, with `share` of 100 samples below a line of a method.
fn running(share: u64, line: &str) -> Vec<Finding> {
    let work = Work {
        running: 8.0,
        ..Work::default()
    };
    let run = light(50, work).set_to("app root", "/srv");
    let profile = profile(
        &run,
        &[
            (share, &["gsub <internal:string>", line, WEB, SERVER]),
            (100 - share, &["call /gems/rack.rb 1", SERVER]),
        ],
    );
    found(&beside_heavy(run), &profile)
}

#[test]
fn a_method_that_is_most_of_a_cheap_route_is_a_hint() {
    let of = |share, line| hint(&running(share, line), RuleId::HotMethod);
    let method = "render /srv/app/markup.rb 7";
    assert!(of(80, method).is_some());
    assert_eq!(of(40, method), None, "less than half of the route");
    let template = "show /srv/app/views/show.erb 3";
    assert_eq!(of(80, template), None, "pages are what apps are for");
}

#[test]
fn rows_that_are_most_of_a_cheap_route_are_a_hint() {
    let work = Work {
        running: 8.0,
        sql: 1.0,
        ..Work::default()
    };
    let of = |share: u64| {
        let statement = "SELECT * FROM shipments WHERE due_on BETWEEN ? AND ?";
        let run = light(50, work).issuing(statement, SITE, 1, 1.0);
        let run = run.with(|recording| {
            for handled in &mut recording.handled {
                handled.sql[0].rows = 1_200;
            }
            for exchange in &mut recording.exchanges {
                exchange.body_bytes = 40;
            }
        });
        let load = "instantiate /gems/active_record/result.rb 8";
        let profile = profile(
            &run,
            &[
                (share, &["new", load, WEB, SERVER]),
                (100 - share, &["call /gems/rack.rb 1", SERVER]),
            ],
        );
        hint(&found(&beside_heavy(run), &profile), RuleId::RowsInRuby)
    };
    assert!(of(80).is_some());
    assert_eq!(of(30), None);
}

/// 50 requests with a locking statement of 1 or 20 ms, and `running`.
fn locking(running: f64) -> Run {
    let work = Work {
        running,
        ..Work::default()
    };
    let mut run = light(50, work);
    run.0.meta.target.database = "mariadb 10.11".to_owned();
    let digest = run.text("UPDATE counters SET value = value + ? WHERE id = ?");
    let site = run.text(SITE);
    for (at, handled) in run.0.handled.iter_mut().enumerate() {
        let time = nanos(if at % 5 == 0 { 1.0 } else { 20.0 });
        handled.parts.sql_waiting = time;
        handled.sql.push(SqlUse {
            digest,
            site,
            count: 1,
            rows: 0,
            time,
            gvl_wait: Nanos::ZERO,
        });
    }
    run
}

#[test]
fn a_row_that_a_cheap_route_waits_for_is_a_hint() {
    let of = |running| hint(&beside_heavy(locking(running)).findings(), RuleId::RowLock);
    assert!(of(2.0).is_some());
    assert_eq!(of(30.0), None);
}

#[test]
fn a_pattern_that_is_most_of_a_cheap_route_is_a_hint() {
    let of = |ms: f64| {
        let work = Work {
            running: 2.0,
            sql: ms,
            ..Work::default()
        };
        let statement = "SELECT * FROM message WHERE content LIKE ? LIMIT ?";
        let run = light(50, work).issuing(statement, SITE, 1, ms);
        let run = run.explained(statement, vec![full_scan("message", &MESSAGE)]);
        hint(&beside_heavy(run).findings(), RuleId::IndexUnusable)
    };
    assert!(of(12.0).is_some());
    // Found after a few rows: LIMIT ends the search.
    assert_eq!(of(0.8), None);
}
