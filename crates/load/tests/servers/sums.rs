//! Loads of which sums are kept.

use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{
    answer, millis, ok, on_each_engine, plan, read_request, serve, serve_answers, single,
};
use load::{Arrivals, Interval, Measured, Pace, Plan, Schedule, Via, measure};
use recording::{Nanos, Outcome};
use scenario::Scenario;

fn measured(plan: &Plan, scenario: &Scenario) -> (Measured, Vec<Interval>) {
    let mut intervals = Vec::new();
    let stop = AtomicBool::new(false);
    let result = measure(plan, scenario, &stop, millis(50), &mut |interval| {
        intervals.push(interval.clone());
    });
    (result.expect("the load runs"), intervals)
}

#[test]
fn sums_and_intervals_tell_the_same() {
    let count = AtomicU64::new(0);
    let address = serve_answers(move |_| match count.fetch_add(1, Ordering::Relaxed) % 10 {
        0 => answer("500 Oops", "", "x"),
        1 => answer("404 Not Found", "", "xy"),
        _ => ok("hello"),
    });
    let plan = Plan {
        threads: 2,
        warmup: millis(50),
        ..plan(5)
    };
    let (measured, intervals) = measured(&plan, &single(address));
    let figures = &measured.figures;
    let all = figures.outcomes.all();
    assert!(all > 10, "only {all} requests");
    let ended: u64 = intervals
        .iter()
        .map(|interval| interval.outcomes.all())
        .sum();
    assert_eq!(ended, all + figures.warmup);
    assert!(figures.warmup > 0);
    assert_eq!(figures.latency.len(), all);
    assert_eq!(figures.service.len(), all);
    assert_eq!(figures.steps.len(), 1);
    assert_eq!(figures.steps[0].outcomes, figures.outcomes);
    assert!(figures.in_time <= all && measured.rps() > 0.0);
    let statuses = figures.statuses.sorted();
    let seen: Vec<u16> = statuses.iter().map(|(status, _)| *status).collect();
    assert_eq!(seen, [200, 404, 500]);
    assert_eq!(statuses[2].1, figures.outcomes.of(Outcome::ServerError));
    assert_eq!(statuses[1].1, figures.outcomes.of(Outcome::CheckFailed));
    let bytes: u64 = (statuses.iter().zip([5, 2, 1]))
        .map(|((_, count), size)| count * size)
        .sum();
    assert_eq!(figures.body_bytes, bytes);
    // Five connections were made, in the warm-up or after.
    assert_eq!(figures.connecting.len(), 5);
    let numbers: Vec<i64> = intervals.iter().map(|interval| interval.number).collect();
    assert!(numbers.is_sorted() && numbers[0] == -1, "{numbers:?}");
}

#[test]
fn an_open_load_sends_what_is_due_and_counts_silence_as_at_least() {
    let address = serve(|mut stream| while read_request(&mut stream).is_some() {});
    let plan = Plan {
        pace: Pace::Scheduled(Schedule::parse("0..400/150ms", Arrivals::Even).expect("a rate")),
        drain: millis(50),
        connections: 20,
        ..plan(20)
    };
    for plan in on_each_engine(&plan) {
        let (measured, _) = measured(&plan, &single(address));
        let figures = &measured.figures;
        // 150 ms at a mean of 200 a second are 30 requests; 20 users wait for an answer, 10 are
        // never sent.
        assert_eq!(figures.outcomes.of(Outcome::Unanswered), 20);
        assert_eq!(measured.generator.unsent, 10);
        assert_eq!(figures.in_time, 0);
        assert_eq!(figures.latency.len(), 20);
        assert!(
            figures.latency.min() >= 50_000_000,
            "{}",
            figures.latency.min()
        );
    }
}

#[test]
fn unanswered_connections_are_in_no_percentile() {
    let plan = Plan {
        duration: millis(100),
        ..plan(2)
    };
    let scenario = Scenario::single("http://127.0.0.1:1/").expect("a URL");
    let (measured, _) = measured(&plan, &scenario);
    assert!(measured.figures.outcomes.of(Outcome::ConnectFailed) > 0);
    assert!(measured.figures.latency.is_empty());
    assert_eq!(measured.rps(), 0.0);
}

#[test]
fn a_connection_for_each_request() {
    let address = serve(|mut stream| {
        let request = read_request(&mut stream).expect("a request");
        assert!(request.contains("\r\nConnection: close\r\n"), "{request}");
        let _ =
            std::io::Write::write_all(&mut stream, &answer("200 OK", "Connection: close\r\n", "x"));
    });
    let plan = Plan {
        keep_alive: false,
        ..plan(2)
    };
    for plan in on_each_engine(&plan) {
        let (measured, _) = measured(&plan, &single(address));
        let outcomes = &measured.figures.outcomes;
        assert!(outcomes.of(Outcome::Ok) > 2, "{:?}", measured.failures);
        assert_eq!(outcomes.failed(), 0, "{:?}", measured.failures);
        assert!(measured.figures.connecting.len() >= outcomes.of(Outcome::Ok));
    }
}

#[test]
fn a_unix_socket() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("app.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while std::io::Read::read(&mut stream, &mut bytes).is_ok_and(|bytes| bytes > 0) {
                    let _ = std::io::Write::write_all(&mut stream, &ok("hello"));
                }
            });
        }
    });
    let plan = Plan {
        via: Some(Via::Unix(path)),
        ..plan(3)
    };
    let scenario = Scenario::single("http://app.local/").expect("a URL");
    for plan in on_each_engine(&plan) {
        let (measured, _) = measured(&plan, &scenario);
        let outcomes = &measured.figures.outcomes;
        assert!(outcomes.of(Outcome::Ok) > 3, "{}", plan.engine);
        assert_eq!(outcomes.failed(), 0, "{:?}", measured.failures);
    }
}

#[test]
fn another_host_and_a_stop() {
    let address = serve_answers(|request| {
        assert!(request.contains("\r\nHost: app.local\r\n"), "{request}");
        ok("x")
    });
    let plan = Plan {
        via: Some(Via::parse(&address.to_string()).expect("an address")),
        duration: Nanos(60_000_000_000),
        ..plan(1)
    };
    let scenario = Scenario::single("http://app.local/").expect("a URL");
    let stop = AtomicBool::new(false);
    let result = measure(&plan, &scenario, &stop, millis(20), &mut |_| {
        stop.store(true, Ordering::Relaxed);
    });
    let measured = result.expect("the load runs");
    assert!(measured.stopped && measured.window.length() < millis(10_000));
    assert_eq!(
        measured.figures.outcomes.failed(),
        0,
        "{:?}",
        measured.failures
    );
}
