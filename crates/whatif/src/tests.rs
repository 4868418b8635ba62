use proptest::prelude::*;
use recording::BurstKind;

use super::*;

const MS: f64 = 1e6;

/// Running for `run_ms`, then `off_ms` without the GVL.
fn request(run_ms: f64, off_ms: f64) -> Vec<Burst> {
    vec![
        Burst {
            kind: BurstKind::Running,
            length: Nanos((run_ms * MS) as u64),
        },
        Burst {
            kind: BurstKind::Sql,
            length: Nanos((off_ms * MS) as u64),
        },
    ]
}

fn setup(workers: u32, threads: u32, cores: u32, clients: u32) -> Setup {
    Setup {
        workers,
        threads,
        cores,
        load: Load::Closed {
            clients,
            think: Nanos::ZERO,
        },
        turnaround: TURNAROUND,
    }
}

/// Predicted requests a second of a closed load on requests that are all alike.
fn rps(run_ms: f64, off_ms: f64, setup: &Setup) -> f64 {
    simulate(&[request(run_ms, off_ms)], setup, 1, 5_000)
        .unwrap()
        .rps
}

fn near(have: f64, want: f64, share: f64) {
    assert!(
        (have / want - 1.0).abs() <= share,
        "{have} is not within {share} of {want}"
    );
}

/// C = 4.9 ms, Z = 10.3 ms, 20 clients, one worker: what was measured.
#[test]
fn published_measurements_are_met() {
    for (threads, measured) in [(1, 65.0), (2, 125.0), (3, 185.0), (5, 204.0)] {
        near(rps(4.9, 10.3, &setup(1, threads, 4, 20)), measured, 0.05);
    }
}

/// 3 ms with the GVL, 7 ms without, 5 busy threads: a request waits 5C − (C + Z) for the GVL.
#[test]
fn gvl_wait_follows_from_saturation() {
    let setup = Setup {
        turnaround: Nanos::ZERO,
        ..setup(1, 5, 4, 5)
    };
    let seen = simulate(&[request(3.0, 7.0)], &setup, 1, 5_000).unwrap();
    near(seen.gvl_wait_mean.as_millis_f64(), 5.0, 0.02);
    near(seen.rps, 1000.0 / 3.0, 0.01);
    near(seen.gvl_busy, 1.0, 0.01);
    near(seen.latency_p50.as_millis_f64(), 15.0, 0.02);
}

#[test]
fn workers_add_up_until_cores_run_out() {
    near(rps(5.0, 0.01, &setup(1, 2, 4, 20)), 200.0, 0.02);
    near(rps(5.0, 0.01, &setup(2, 2, 4, 20)), 400.0, 0.02);
    near(rps(5.0, 0.01, &setup(4, 2, 2, 20)), 400.0, 0.02);
    let seen = simulate(&[request(5.0, 0.01)], &setup(4, 2, 2, 20), 1, 5_000).unwrap();
    near(seen.cores_busy, 1.0, 0.02);
}

#[test]
fn sleepers_exhaust_threads() {
    let seen = simulate(&[request(0.1, 1000.0)], &setup(1, 5, 2, 20), 1, 2_000).unwrap();
    near(seen.rps, 5.0, 0.01);
    near(seen.queue_mean.as_millis_f64(), 3_000.0, 0.02);
    near(seen.threads_busy, 1.0, 0.01);
}

#[test]
fn long_bursts_give_way_after_the_quantum() {
    // Without a quantum the short request would wait for a whole second.
    let short = || request(1.0, 0.0);
    let long = vec![request(1_000.0, 0.0), short(), short(), short()];
    let seen = simulate(&long, &setup(1, 2, 2, 2), 3, 4_000).unwrap();
    assert!(seen.latency_p50.as_millis_f64() < 1_000.0, "{seen:?}");
}

/// M/D/1: mean wait is ρ / (2 (1 − ρ)) services.
#[test]
fn open_load_queues_as_theory_says() {
    let setup = Setup {
        load: Load::Open { rate: 70.0 },
        turnaround: Nanos::ZERO,
        ..setup(1, 1, 2, 1)
    };
    let seen = simulate(&[request(10.0, 0.0)], &setup, 7, 200_000).unwrap();
    near(
        seen.queue_mean.as_millis_f64(),
        10.0 * 0.7 / (2.0 * 0.3),
        0.05,
    );
    near(seen.rps, 70.0, 0.02);
    near(seen.gvl_busy, 0.7, 0.02);
}

#[test]
fn nothing_to_replay_predicts_nothing() {
    let setup = setup(1, 1, 1, 1);
    assert_eq!(simulate(&[], &setup, 1, 100), None);
    assert_eq!(simulate(&[vec![], request(0.0, 0.0)], &setup, 1, 100), None);
    assert_eq!(simulate(&[request(1.0, 1.0)], &setup, 1, 0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Same seed, same answer; and bounds that hold for any queueing network of this kind.
    #[test]
    fn bounds_hold(
        lengths in prop::collection::vec((0.0f64..150.0, 0.0f64..50.0), 1..6),
        workers in 1u32..4,
        threads in 1u32..8,
        cores in 1u32..4,
        clients in 1u32..30,
        seed in any::<u64>(),
    ) {
        let requests: Vec<Vec<Burst>> = lengths.iter().map(|(run, off)| request(run + 0.1, *off)).collect();
        let setup = setup(workers, threads, cores, clients);
        let seen = simulate(&requests, &setup, seed, 2_000).unwrap();
        prop_assert_eq!(Some(seen), simulate(&requests, &setup, seed, 2_000));
        prop_assert!(seen.gvl_busy <= 1.0 + 1e-9 && seen.cores_busy <= 1.0 + 1e-9);
        prop_assert!(seen.threads_busy <= 1.0 + 1e-9);
        prop_assert!(seen.latency_p50 <= seen.latency_p95 && seen.latency_p95 <= seen.latency_p99);
        prop_assert!(seen.rps > 0.0 && seen.rps.is_finite());
    }
}
