//! The highest rate of a server whose limit is known.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::common::{ok, plan, read_request, serve, single};
use load::{Found, Goal, Plan, find_max};
use recording::Nanos;

/// Service time of each response.
const SERVICE: Duration = Duration::from_millis(10);
const PLACES: usize = 4;
/// Four at a time, each 10 ms.
const LIMIT: f64 = 400.0;

/// A server with few places. When an answer leaves is computed, not slept up to step by step, so
/// that late wake-ups do not lower its limit.
fn few_at_a_time() -> SocketAddr {
    let places = Mutex::new(vec![Instant::now(); PLACES]);
    serve(move |mut stream| {
        while read_request(&mut stream).is_some() {
            let leaves = {
                let mut places = places.lock().expect("no panic");
                let first = places.iter_mut().min().expect("places");
                *first = (*first).max(Instant::now()) + SERVICE;
                *first
            };
            std::thread::sleep(leaves.saturating_duration_since(Instant::now()));
            if stream.write_all(&ok("x")).is_err() {
                return;
            }
        }
    })
}

fn search(goals: &str, address: SocketAddr, seconds: u64) -> Found {
    let plan = Plan {
        duration: Nanos(seconds * 1_000_000_000),
        ..plan(500)
    };
    let goals = Goal::parse_all(goals).expect("goals");
    let stop = AtomicBool::new(false);
    find_max(&plan, &single(address), &goals, &stop, &mut |_| {}).expect("it runs")
}

#[test]
fn the_limit_of_a_server_with_few_places() {
    let found = search("p99 < 200ms, errors < 0.1%", few_at_a_time(), 15);
    let rate = found.rate.expect("a rate passed");
    let tried: Vec<_> = found
        .trials
        .iter()
        .map(|t| (t.rate, t.why.clone()))
        .collect();
    // On a shared machine trials of a second are rougher than the three per cent of longer ones.
    assert!(
        (rate / LIMIT - 1.0).abs() < 0.1,
        "{rate} of {LIMIT}: {tried:?}"
    );
}

#[test]
fn a_goal_that_never_holds() {
    let found = search("p50 < 1ms", few_at_a_time(), 3);
    assert_eq!(found.rate, None);
    assert!(
        found
            .trials
            .iter()
            .all(|trial| trial.why.starts_with("p50 < 1ms: came "))
    );
}
