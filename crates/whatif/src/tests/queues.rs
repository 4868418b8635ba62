//! Queues with results known by a formula.

use super::*;

/// M/D/1: mean wait is ρ / (2 (1 − ρ)) services (Pollaczek and Khinchine).
#[test]
fn a_regular_server_queues_as_theory_says() {
    let setup = Setup {
        load: open(70.0, Arrivals::Poisson),
        ..Setup::closed(1, 1, 2, 1)
    };
    let seen = simulate(&workload(&[request(10.0, 0.0)]), &setup, 7, 200_000).unwrap();
    near(
        seen.queue_mean.as_millis_f64(),
        10.0 * 0.7 / (2.0 * 0.3),
        0.05,
    );
    near(seen.rps, 70.0, 0.02);
    near(seen.gvl_busy, 0.7, 0.02);
}

/// M/M/1: latency is exponential with mean S / (1 − ρ), so the median is ln 2 times the mean.
#[test]
fn an_exponential_server_queues_as_theory_says() {
    let setup = Setup {
        load: open(60.0, Arrivals::Poisson),
        ..Setup::closed(1, 1, 2, 1)
    };
    let seen = simulate(&exponential(10.0), &setup, 3, 200_000).unwrap();
    near(seen.latency_mean.as_millis_f64(), 25.0, 0.05);
    near(
        seen.latency_p50.as_millis_f64(),
        25.0 * std::f64::consts::LN_2,
        0.05,
    );
    near(seen.latency_p95.as_millis_f64(), 25.0 * 20f64.ln(), 0.05);
}

/// Two servers, one queue: the mean wait of M/M/2 is ρ² / (1 − ρ²) services (Erlang).
#[test]
fn two_workers_queue_as_theory_says() {
    let setup = Setup {
        load: open(140.0, Arrivals::Poisson),
        ..Setup::closed(2, 1, 2, 1)
    };
    let seen = simulate(&exponential(10.0), &setup, 3, 200_000).unwrap();
    near(seen.queue_mean.as_millis_f64(), 10.0 * 0.49 / 0.51, 0.06);
}

/// D/D/1 below capacity: nobody waits for anybody.
#[test]
fn even_arrivals_at_an_even_server_never_wait() {
    let setup = Setup {
        load: open(90.0, Arrivals::Even),
        ..Setup::closed(1, 1, 2, 1)
    };
    let seen = replay(&[request(10.0, 0.0)], &setup);
    assert_eq!(seen.latency_p99, Nanos(10_000_000));
    assert_eq!(seen.queue_mean, Nanos::ZERO);
}

/// More is due than the server can handle: the last of 5,000 has waited for half of the others.
#[test]
fn an_open_load_above_capacity_falls_behind() {
    let setup = Setup {
        load: open(200.0, Arrivals::Even),
        ..Setup::closed(1, 1, 2, 1)
    };
    let seen = replay(&[request(10.0, 0.0)], &setup);
    near(seen.rps, 100.0, 0.01);
    near(seen.latency_p99.as_secs_f64(), 25.0, 0.02);
}
