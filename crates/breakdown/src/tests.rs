use proptest::prelude::*;
use recording::{
    AnswerFacts, AskedAgain, CpuSample, Exchange, Handled, Nanos, Outcome, Parts, Recording,
    RequestId, Sameness, SqlUse, Timestamp, Window,
};

use super::*;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Timestamp {
    Timestamp::from_monotonic_nanos(ms * MS)
}

fn empty() -> Recording {
    let mut recording = Recording {
        window: Window {
            start: at(1_000),
            end: at(2_000),
        },
        ..Recording::default()
    };
    recording.meta.same_host = true;
    recording
}

/// Adds an exchange due at 1,000 ms + `due`, sent 1 ms later, and answered 100 ms after being sent.
fn exchange(recording: &mut Recording, id: u64, line: &str, due: u64) -> Exchange {
    Exchange {
        id: RequestId(id),
        due: at(1_000 + due),
        sent: at(1_001 + due),
        answered: at(1_101 + due),
        line: recording.texts.keep(line),
        step: 0,
        connection: 0,
        status: 200,
        outcome: Outcome::Ok,
        body_bytes: 10,
    }
}

/// Returns a record of 80 ms in the app from 12 ms after `exchange` was sent: no part accounts for
/// 5 ms.
fn handled(exchange: &Exchange) -> Handled {
    let start = exchange.sent + Nanos(12 * MS);
    Handled {
        id: exchange.id,
        ready: Some(exchange.sent + Nanos(2 * MS)),
        start,
        end: start + Nanos(80 * MS),
        parts: Parts {
            gvl_wait: Nanos(5 * MS),
            gc: Nanos(MS),
            sql_running: Nanos(2 * MS),
            sql_waiting: Nanos(8 * MS),
            http_running: Nanos(MS),
            http_waiting: Nanos(3 * MS),
            lock: Nanos(4 * MS),
            sleep: Nanos(10 * MS),
            other_io: Nanos(MS),
            running: Nanos(40 * MS),
        },
        statements: 3,
        allocations: Some(7),
        ..Handled::default()
    }
}

fn one_request() -> Recording {
    let mut recording = empty();
    let sent = exchange(&mut recording, 1, "GET /channel/12", 0);
    recording.handled.push(handled(&sent));
    recording.exchanges.push(sent);
    recording
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

fn total(balance: &Balance) -> f64 {
    let b = balance;
    b.queue
        + b.gvl_wait
        + b.gc
        + b.sql
        + b.http
        + b.lock
        + b.sleep
        + b.other_io
        + b.cpu
        + b.cpu_wait
        + b.respond
        + b.unaccounted
}

#[test]
fn every_term_has_its_time() {
    let breakdown = of(&one_request());
    let route = &breakdown.routes[0];
    assert_eq!(route.route, "GET /channel/:id");
    let balance = route.balance;
    close(balance.queue, 12.0);
    close(balance.receive, 2.0);
    close(balance.gvl_wait, 5.0);
    close(balance.gc, 1.0);
    close(balance.sql, 10.0);
    close(balance.http, 4.0);
    close(balance.lock, 4.0);
    close(balance.sleep, 10.0);
    close(balance.other_io, 1.0);
    close(balance.cpu, 40.0);
    close(balance.cpu_wait, 0.0);
    close(balance.respond, 8.0);
    close(balance.unaccounted, 5.0);
    close(total(&balance), route.seen_mean_ms);
    assert_eq!(route.latency, [Nanos(101 * MS)]);
    assert_eq!(route.service, [Nanos(100 * MS)]);
    assert_eq!(route.late, [Nanos(MS)]);
    close(route.statements, 3.0);
    close(route.allocations, 7.0);
    close(route.body_bytes, 10.0);
    assert_eq!(breakdown.overall.balance, balance);
}

#[test]
fn on_two_hosts_queue_and_respond_are_one() {
    let mut recording = one_request();
    recording.meta.same_host = false;
    // The clocks of two hosts have nothing to do with each other.
    let skewed = &mut recording.handled[0];
    (skewed.start, skewed.end) = (at(7), at(87));
    let balance = of(&recording).routes[0].balance;
    close(balance.queue, 20.0);
    close(balance.receive, 0.0);
    close(balance.respond, 0.0);
    close(balance.unaccounted, 5.0);
}

#[test]
fn stamps_out_of_order_stay_visible() {
    let mut recording = one_request();
    let late = &mut recording.handled[0];
    late.end = late.start + Nanos(90 * MS);
    late.ready = Some(at(0));
    let balance = of(&recording).routes[0].balance;
    close(balance.respond, -2.0);
    close(balance.receive, 0.0);
}

#[test]
fn requests_that_the_app_never_saw_are_counted() {
    let mut recording = one_request();
    let unseen = exchange(&mut recording, 2, "GET /channel/12", 10);
    let failed = Exchange {
        outcome: Outcome::TimedOut,
        ..exchange(&mut recording, 3, "GET /channel/7", 20)
    };
    let wrong = Exchange {
        outcome: Outcome::CheckFailed,
        ..exchange(&mut recording, 4, "GET /channel/8", 30)
    };
    let open = Exchange {
        outcome: Outcome::Unanswered,
        ..exchange(&mut recording, 5, "GET /channel/9", 40)
    };
    // No request could be made of the flow.
    let unsent = exchange(&mut recording, 6, "GET /channel/10", 50);
    let unsent = Exchange {
        outcome: Outcome::CheckFailed,
        sent: unsent.due,
        status: 0,
        ..unsent
    };
    let refused = Exchange {
        outcome: Outcome::ConnectFailed,
        ..exchange(&mut recording, 7, "GET /channel/11", 60)
    };
    let cut_off = Exchange {
        outcome: Outcome::Disconnected,
        ..exchange(&mut recording, 8, "GET /channel/13", 70)
    };
    recording
        .exchanges
        .extend([unseen, failed, wrong, open, unsent, refused, cut_off]);
    let breakdown = of(&recording);
    let route = &breakdown.routes[0];
    assert_eq!((route.requests, route.answered, route.unseen), (8, 3, 2));
    assert_eq!((route.errors, route.checks_failed), (3, 2));
    assert_eq!(route.unanswered, 1);
    // Not of those that were not sent, refused or cut off.
    assert_eq!(route.latency.len(), 5);
    assert_eq!(route.late.len(), 6);
    close(route.balance.queue, 12.0);
}

#[test]
fn of_a_dense_load_a_part_stands_for_all() {
    let mut recording = one_request();
    recording.handled[0].sql = vec![SqlUse {
        count: 3,
        rows: 5,
        time: Nanos(10 * MS),
        ..SqlUse::default()
    }];
    let without = |recording: &mut Recording, due| exchange(recording, 0, "GET /channel/12", due);
    let others = [10, 20, 30, 40, 50].map(|due| without(&mut recording, due));
    let lost = exchange(&mut recording, 2, "GET /channel/12", 60);
    recording.exchanges.extend(others.into_iter().chain([lost]));
    let breakdown = of(&recording);
    let route = &breakdown.routes[0];
    // One of two with a number has a record, so of seven requests half have: four, rounded.
    assert_eq!((route.answered, route.told, route.unseen), (7, 1, 4));
    assert_eq!(route.service.len(), 7);
    close(route.balance.queue, 12.0);
    let sql = &breakdown.sql[0];
    assert_eq!((sql.count, sql.rows), (11, 18));
    close(sql.time_ms, 35.0);
    close(sql.routes[0].1, 3.0);
}

#[test]
fn warm_up_is_left_out() {
    let mut recording = one_request();
    recording.exchanges[0].due = at(999);
    let breakdown = of(&recording);
    assert_eq!(breakdown.overall.requests, 0);
    assert!(breakdown.routes.is_empty());
}

#[test]
fn nothing_gives_nothing() {
    let breakdown = of(&Recording::default());
    assert_eq!(breakdown.overall.requests, 0);
    assert_eq!(breakdown.overall.balance, Balance::default());
}

#[test]
fn running_time_is_split_by_the_sample() {
    let mut recording = one_request();
    recording.handled[0].cpu = Some(CpuSample {
        running_wall: Nanos(40 * MS),
        running_cpu: Nanos(30 * MS),
        total_cpu: Nanos(35 * MS),
    });
    // A route without a sample of its own takes the run's ratio.
    let other = exchange(&mut recording, 2, "GET /", 5);
    recording.handled.push(handled(&other));
    recording.exchanges.push(other);
    let breakdown = of(&recording);
    for route in &breakdown.routes {
        close(route.balance.cpu, 30.0);
        close(route.balance.cpu_wait, 10.0);
    }
    close(breakdown.overall.balance.cpu, 30.0);
    let sampled = &breakdown
        .routes
        .iter()
        .find(|r| r.cpu_sampled == 1)
        .unwrap();
    close(sampled.cpu_total_ms.unwrap(), 35.0);
}

#[test]
fn the_framework_names_routes() {
    let mut recording = one_request();
    let route = recording.texts.keep("GET /channel/:channel_id");
    recording.handled[0].route = route;
    let same_line = exchange(&mut recording, 2, "GET /channel/12", 1);
    let fits = exchange(&mut recording, 3, "GET /channel/99", 2);
    recording.exchanges.extend([same_line, fits]);
    let breakdown = of(&recording);
    assert_eq!(breakdown.routes.len(), 1);
    assert_eq!(breakdown.routes[0].route, "GET /channel/:channel_id");
    assert_eq!(breakdown.routes[0].requests, 3);
}

#[test]
fn statements_are_summed() {
    let mut recording = one_request();
    let digest = recording.texts.keep("SELECT * FROM user WHERE id = ?");
    let used = |recording: &mut Recording, site: &str, count| SqlUse {
        digest,
        site: recording.texts.keep(site),
        count,
        rows: u64::from(count),
        time: Nanos(u64::from(count) * MS),
        gvl_wait: Nanos(MS),
    };
    let (a, b) = (
        used(&mut recording, "app.rb:1", 2),
        used(&mut recording, "app.rb:9", 10),
    );
    recording.handled[0].sql = vec![a, b];
    let second = exchange(&mut recording, 2, "GET /channel/3", 1);
    recording.handled.push(handled(&second));
    recording.exchanges.push(second);
    let sql = of(&recording).sql;
    assert_eq!(sql.len(), 1);
    assert_eq!((sql[0].count, sql[0].rows), (12, 12));
    close(sql[0].time_ms, 12.0);
    close(sql[0].gvl_wait_ms, 2.0);
    assert_eq!(sql[0].routes, [("GET /channel/:id".to_owned(), 6.0)]);
    assert_eq!(sql[0].called_from, ["app.rb:9", "app.rb:1"]);
}

#[test]
fn source_lines_leave_helpers_out() {
    let mut recording = one_request();
    for (digest, line, count) in [("a", 1, 1), ("b", 2, 1), ("c", 3, 2), ("c", 4, 9)] {
        let helper = ["db.rb:5 in rows", "db.rb:7 in first"][line % 2];
        let site = format!("db.rb:5 in rows < {helper} < app.rb:{line} < app.rb:100");
        let used = SqlUse {
            digest: recording.texts.keep(digest),
            site: recording.texts.keep(&site),
            count,
            ..SqlUse::default()
        };
        recording.handled[0].sql.push(used);
    }
    let sql = of(&recording).sql;
    let c = sql.iter().find(|sql| sql.digest == "c").unwrap();
    let expected = [
        "app.rb:4 < app.rb:100",
        "db.rb:7 in first < app.rb:3 < app.rb:100",
    ];
    assert_eq!(c.called_from, expected);
}

proptest! {
    /// Whatever the stamps say, the terms add up to what was measured.
    #[test]
    fn the_balance_adds_up(
        stamps in prop::collection::vec((0u64..2_000, 0u64..2_000, 0u64..90, prop::bool::ANY), 1..30),
        same_host in prop::bool::ANY,
    ) {
        let mut recording = empty();
        recording.meta.same_host = same_host;
        for (index, (start, length, running, sampled)) in stamps.into_iter().enumerate() {
            let line = format!("GET /{}", if index % 3 == 0 { "a" } else { "b" });
            let sent = exchange(&mut recording, index as u64 + 1, &line, index as u64);
            let mut inside = handled(&sent);
            inside.start = at(start);
            inside.end = at(start + length);
            inside.parts.running = Nanos(running * MS);
            inside.cpu = sampled.then_some(CpuSample {
                running_wall: Nanos(running * MS),
                running_cpu: Nanos(running * MS / 2),
                total_cpu: Nanos(running * MS),
            });
            recording.handled.push(inside);
            recording.exchanges.push(sent);
        }
        let breakdown = of(&recording);
        for route in breakdown.routes.iter().chain([&breakdown.overall]) {
            prop_assert!((total(&route.balance) - route.seen_mean_ms).abs() < 1e-6);
        }
        let weighted: f64 = breakdown.routes.iter().map(|r| r.balance.cpu * r.requests as f64).sum();
        let overall = breakdown.overall.balance.cpu * breakdown.overall.requests as f64;
        prop_assert!((weighted - overall).abs() < 1e-6);
    }
}

#[test]
fn bodies_of_answers_that_show_nothing_are_left_out_of_what_is_shown() {
    let mut recording = empty();
    for (id, status, body_bytes) in [(1, 200, 900), (2, 304, 0), (3, 302, 60), (4, 200, 1_100)] {
        let exchange = Exchange {
            status,
            body_bytes,
            ..exchange(&mut recording, id, "GET /list", id)
        };
        recording.exchanges.push(exchange);
    }
    let route = &of(&recording).routes[0];
    close(route.shown_bytes, 1_000.0);
    close(route.body_bytes, 515.0);
}

#[test]
fn heads_of_answers_are_added_up_by_route() {
    let mut recording = empty();
    let route = recording.texts.keep("GET /icons/:file");
    let (png, gif) = (
        recording.texts.keep("image/png"),
        recording.texts.keep("image/gif"),
    );
    for (id, status, seen, kind) in [(1, 200, 3, gif), (2, 200, 8, png), (3, 404, 90, gif)] {
        let line = format!("GET /icons/{id}.png");
        let exchange = exchange(&mut recording, id, &line, id);
        let handled = Handled {
            route,
            ..handled(&exchange)
        };
        recording.answers.push(AnswerFacts {
            line: exchange.line,
            status,
            seen,
            content_type: kind,
            with_etag: 1,
            repeated: seen,
            repeated_equal: seen - 1,
            ..AnswerFacts::default()
        });
        recording.exchanges.push(exchange);
        recording.handled.push(handled);
    }
    let breakdown = of(&recording);
    let answers = breakdown.routes[0].answers.as_ref().expect("answers");
    assert_eq!((answers.seen, answers.lines), (11, 2));
    assert_eq!((answers.repeated, answers.repeated_equal), (11, 9));
    assert_eq!(answers.with_etag, 2);
    assert_eq!(answers.content_type.as_deref(), Some("image/png"));
    assert_eq!(answers.cache_control, None);
    assert_eq!(breakdown.routes[0].body_bytes_max, 10);
}

/// One URL with a reason against a cache shared by all speaks for the route.
#[test]
fn urls_asked_again_are_one_result_by_route() {
    let check = |kinds: [Option<(Sameness, u32)>; 3], expected: Option<(u64, Sameness, u32)>| {
        let mut recording = empty();
        for (id, asked) in (1..).zip(kinds) {
            let exchange = exchange(&mut recording, id, &format!("GET /pages/{id}"), id);
            let asked_again = asked.map(|(sameness, sessions)| AskedAgain {
                visitors: 2,
                sessions,
                apart: Nanos(3),
                sameness,
            });
            recording.answers.push(AnswerFacts {
                line: exchange.line,
                status: 200,
                seen: id,
                asked_again,
                ..AnswerFacts::default()
            });
            recording.exchanges.push(exchange);
        }
        let routes = answers(&recording);
        assert_eq!(routes[0].lines[0], recording.answers[2].line);
        let asked = routes[0].answers.asked_again;
        let told = asked.map(|asked| (asked.urls, asked.least.sameness, asked.least.sessions));
        assert_eq!((routes.len(), told), (1, expected));
    };
    let (same, change) = (Sameness::Same, Sameness::BodiesChange);
    check([None; 3], None);
    let least = Some((2, same, 1));
    check([Some((same, 2)), Some((same, 1)), None], least);
    let all = [Some((same, 1)), Some((change, 2)), Some((same, 0))];
    check(all, Some((3, change, 2)));
}

/// The first requests of each thread are always in the sample, however rare the routes are.
#[test]
fn a_sample_counts_by_its_routes_requests() {
    let mut recording = one_request();
    let sampled = |handled: &mut Handled, ms: u64| {
        handled.allocations = Some(ms);
        handled.cpu = Some(CpuSample {
            running_wall: Nanos(ms * MS),
            running_cpu: Nanos(ms * MS),
            total_cpu: Nanos(ms * MS),
        });
    };
    sampled(&mut recording.handled[0], 30);
    for number in 2..=4 {
        let other = exchange(&mut recording, number, "GET /", 5);
        let mut its = Handled {
            allocations: None,
            ..handled(&other)
        };
        if number == 2 {
            sampled(&mut its, 10);
        }
        recording.handled.push(its);
        recording.exchanges.push(other);
    }
    let overall = of(&recording).overall;
    close(overall.cpu_total_ms.unwrap(), 15.0);
    close(overall.allocations, 15.0);
}
