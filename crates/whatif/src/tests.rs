use recording::{Burst, BurstKind};

use super::*;
use crate::workload::{Computing, Request};

mod laws;
mod queues;

const MS: f64 = 1e6;

/// Running for `run_ms`, then `off_ms` without the GVL.
fn request(run_ms: f64, off_ms: f64) -> Vec<Burst> {
    [(BurstKind::Running, run_ms), (BurstKind::Sleep, off_ms)]
        .map(|(kind, ms)| Burst {
            kind,
            length: Nanos((ms * MS) as u64),
        })
        .to_vec()
}

fn workload(requests: &[Vec<Burst>]) -> Workload {
    Workload::new(requests, &Demands::default()).unwrap()
}

/// Returns requests with exponential running times of a mean: deciles would do, but many are
/// smoother.
fn exponential(mean_ms: f64) -> Workload {
    const COUNT: u32 = 2_000;
    let quantile = |k: u32| -(1.0 - (f64::from(k) + 0.5) / f64::from(COUNT)).ln();
    let requests: Vec<Vec<Burst>> = (0..COUNT)
        .map(|k| request(mean_ms * quantile(k), 0.0))
        .collect();
    workload(&requests)
}

fn open(rate: f64, arrivals: Arrivals) -> Load {
    Load::Open {
        rate,
        arrivals,
        connections: 10_000,
    }
}

fn with_turnaround(setup: Setup) -> Setup {
    Setup {
        costs: Costs {
            turnaround: TURNAROUND,
            ..Costs::default()
        },
        ..setup
    }
}

fn replay(requests: &[Vec<Burst>], setup: &Setup) -> Prediction {
    simulate(&workload(requests), setup, 1, 5_000).unwrap()
}

/// Returns the predicted requests per second of a closed load of identical requests.
fn rps(run_ms: f64, off_ms: f64, setup: Setup) -> f64 {
    replay(&[request(run_ms, off_ms)], &with_turnaround(setup)).rps
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
        let setup = Setup::closed(1, threads, 4, 20);
        near(rps(4.9, 10.3, setup), measured, 0.05);
        let puma = Setup {
            hand_out: HandOut::PumaInline,
            ..setup
        };
        near(rps(4.9, 10.3, puma), measured, 0.05);
    }
}

/// 3 ms with the GVL, 7 ms without, 5 busy threads: a request waits 5C − (C + Z) for the GVL.
#[test]
fn gvl_wait_follows_from_saturation() {
    let seen = replay(&[request(3.0, 7.0)], &Setup::closed(1, 5, 4, 5));
    near(seen.gvl_wait_mean.as_millis_f64(), 5.0, 0.02);
    near(seen.rps, 1000.0 / 3.0, 0.01);
    near(seen.gvl_busy, 1.0, 0.01);
    near(seen.latency_p50.as_millis_f64(), 15.0, 0.02);
}

/// Each hand-over costs 1 ms: C + 1 is then what a request takes of the GVL.
#[test]
fn handing_over_takes_time_of_the_gvl() {
    let setup = Setup {
        costs: Costs {
            wake: Nanos(1_000_000),
            ..Costs::default()
        },
        ..Setup::closed(1, 5, 4, 5)
    };
    near(replay(&[request(3.0, 0.0)], &setup).rps, 250.0, 0.01);
}

/// A worker with a wait of 60 ms in each request pays for pauses; an always busy one does not.
#[test]
fn pauses_of_a_worker_take_cpu() {
    let pausing = |threads, off_ms| {
        let costs = Costs {
            pause: Nanos(600_000),
            ..Costs::default()
        };
        let setup = Setup {
            costs,
            ..Setup::closed(1, threads, 4, threads)
        };
        replay(&[request(1.0, off_ms)], &setup)
    };
    let alone = pausing(1, 60.0);
    let paid = 0.6 * (1.0 - (-60.0f64 / 25.0).exp());
    near(alone.pausing_mean.as_millis_f64(), paid, 0.02);
    near(alone.rps, 1e3 / (61.0 + paid), 0.01);
    assert!(pausing(5, 3.0).pausing_mean < Nanos(3_000));
    // Pauses of one thread during which others run cost little.
    assert!(4 * pausing(20, 60.0).pausing_mean.0 < alone.pausing_mean.0);
}

#[test]
fn workers_add_up_until_cores_run_out() {
    near(rps(5.0, 0.01, Setup::closed(1, 2, 4, 20)), 200.0, 0.02);
    near(rps(5.0, 0.01, Setup::closed(2, 2, 4, 20)), 400.0, 0.02);
    near(rps(5.0, 0.01, Setup::closed(4, 2, 2, 20)), 400.0, 0.02);
    let seen = replay(&[request(5.0, 0.01)], &Setup::closed(4, 2, 2, 20));
    near(seen.cores_busy, 1.0, 0.02);
}

/// 4 ms of the server and 1 ms of the generator on one core.
#[test]
fn the_generator_needs_its_share_of_the_cores() {
    let costs = Costs {
        generator: Nanos(1_000_000),
        ..Costs::default()
    };
    let on = |cores| Setup {
        costs,
        ..Setup::closed(1, 2, cores, 20)
    };
    near(replay(&[request(4.0, 0.0)], &on(1)).rps, 200.0, 0.02);
    near(replay(&[request(4.0, 0.0)], &on(2)).rps, 250.0, 0.02);
}

/// Two other programs on two cores leave one of four shares to each of ours.
#[test]
fn other_programs_take_their_share() {
    let setup = Setup {
        costs: Costs {
            foreign: 2.0,
            ..Costs::default()
        },
        ..Setup::closed(2, 1, 2, 2)
    };
    let seen = replay(&[request(5.0, 0.0)], &setup);
    near(seen.rps, 200.0, 0.02);
    near(seen.on_core, 0.5, 0.01);
}

/// 1 ms of Ruby, and so long off the GVL.
fn ruby_and(kind: BurstKind, ms: f64) -> [Burst; 2] {
    [(BurstKind::Running, 1.0), (kind, ms)].map(|(kind, ms)| Burst {
        kind,
        length: Nanos((ms * MS) as u64),
    })
}

/// 16 threads whose requests take 5 ms of CPU, 1 ms with the GVL: the cores decide, then the GVL.
fn check_cores_then_gvl(workload: &Workload) {
    let rps = |cores| {
        let setup = Setup::closed(1, 16, cores, 20);
        simulate(workload, &setup, 1, 5_000).unwrap().rps
    };
    near(rps(2), 400.0, 0.02);
    near(rps(16), 1_000.0, 0.02);
}

/// 1 ms of Ruby and 4 ms of the database's CPU.
#[test]
fn the_database_needs_its_share_of_the_cores() {
    let bursts = ruby_and(BurstKind::Sql, 4.0);
    let demands = Demands {
        sql_cpu: 1.0,
        ..Demands::default()
    };
    check_cores_then_gvl(&Workload::new(&[bursts.to_vec()], &demands).unwrap());
}

/// 1 ms of Ruby and 4 ms of native code without the GVL. As waits these would serve 1,000 requests
/// a second on two cores.
#[test]
fn native_code_needs_its_share_of_the_cores() {
    let bursts = ruby_and(BurstKind::OtherIo, 8.0);
    // On a core for half of the time in which it wanted one.
    let computing = Computing {
        share: 0.5,
        on_core: 0.5,
    };
    let requests = std::iter::once(Request {
        computing,
        ..Request::new(&bursts)
    });
    check_cores_then_gvl(&Workload::of(requests, &Demands::default()).unwrap());
}

/// 1 ms of Ruby, a wait for a lock, 20 ms elsewhere: under a lock the 20 ms come one after the
/// other, whatever the number of threads; a pool of three lets three in.
#[test]
fn what_is_done_under_a_lock_is_done_by_so_many_at_once() {
    let bursts = [
        (BurstKind::Running, 1.0),
        (BurstKind::Lock, 80.0),
        (BurstKind::Http, 20.0),
    ];
    let bursts = bursts.map(|(kind, ms)| Burst {
        kind,
        length: Nanos((ms * MS) as u64),
    });
    let rps = |held, threads, lock_places| {
        let request = Request {
            holding: Some(held),
            ..Request::new(&bursts)
        };
        let workload = Workload::of(std::iter::once(request), &Demands::default()).unwrap();
        let setup = Setup {
            lock_places,
            ..Setup::closed(1, threads, 4, 40)
        };
        simulate(&workload, &setup, 1, 5_000).unwrap()
    };
    let seen = rps(1.0, 5, 1);
    near(seen.rps, 50.0, 0.02);
    // Five at the lock: each waits for the four before it, less its own 1 ms.
    near(seen.lock_wait_mean.0 as f64, 79.0 * MS, 0.02);
    near(seen.lock_busy, 1.0, 0.02);
    near(rps(1.0, 10, 1).rps, 50.0, 0.02);
    near(rps(1.0, 10, 3).rps, 150.0, 0.02);
    near(rps(0.5, 10, 1).rps, 100.0, 0.02);
    // Held for no time, only the threads are the limit.
    near(rps(0.0, 5, 1).rps, 5.0 / 0.021, 0.02);
}

/// 10 ms in SQL alone; with three others 1 + 3 × 0.5 times as long.
#[test]
fn sql_stretches_with_what_else_is_in_sql() {
    let bursts = vec![Burst {
        kind: BurstKind::Sql,
        length: Nanos(10_000_000),
    }];
    let setup = Setup {
        costs: Costs {
            sql_stretch: 0.5,
            ..Costs::default()
        },
        ..Setup::closed(1, 4, 2, 4)
    };
    let seen = replay(&[bursts], &setup);
    near(seen.sql_mean.as_millis_f64(), 25.0, 0.05);
}

#[test]
fn sleepers_exhaust_threads() {
    let seen = replay(&[request(0.1, 1000.0)], &Setup::closed(1, 5, 2, 20));
    near(seen.rps, 5.0, 0.01);
    near(seen.queue_mean.as_millis_f64(), 3_000.0, 0.02);
    near(seen.threads_busy, 1.0, 0.01);
}

#[test]
fn long_bursts_give_way_after_the_quantum() {
    // Without a quantum the short request would wait for a whole second.
    let short = || request(1.0, 0.0);
    let long = vec![request(1_000.0, 0.0), short(), short(), short()];
    let seen = replay(&long, &Setup::closed(1, 2, 2, 2));
    assert!(seen.latency_p50.as_millis_f64() < 1_000.0, "{seen:?}");
}

/// Puma 6 with one thread serves ten requests of a connection and closes the connection, as others
/// wait to be accepted: one of ten requests waits for 19 × 10 others, as on a real Puma 6.6.
#[test]
fn a_thread_keeps_its_connection_for_ten_requests() {
    let setup = Setup {
        hand_out: HandOut::PumaInline,
        ..Setup::closed(1, 1, 2, 20)
    };
    let seen = replay(&[request(5.0, 0.0)], &setup);
    near(seen.rps, 200.0, 0.02);
    near(seen.latency_p50.as_millis_f64(), 5.0, 0.02);
    near(seen.latency_p95.as_millis_f64(), 955.0, 0.02);
    near(seen.in_system_mean, 20.0, 0.01);
    // Puma 7 takes turns: each of 20 clients waits for 19 others.
    let setup = Setup {
        hand_out: HandOut::PumaReactor,
        ..setup
    };
    let seen = replay(&[request(5.0, 0.0)], &setup);
    near(seen.latency_p50.as_millis_f64(), 100.0, 0.03);
    near(seen.latency_p95.as_millis_f64(), 100.0, 0.03);
}

/// Without a spare thread each response waits for a check of new connections, off the GVL: a second
/// hand-over of 1 ms.
#[test]
fn a_spare_thread_saves_a_hand_over() {
    let rps = |threads: u32| {
        let setup = Setup {
            hand_out: HandOut::PumaInline,
            costs: Costs {
                wake: Nanos(1_000_000),
                ..Costs::default()
            },
            ..Setup::closed(1, threads, 4, 5)
        };
        replay(&[request(3.0, 0.0)], &setup).rps
    };
    near(rps(5), 200.0, 0.02);
    near(rps(6), 250.0, 0.02);
}

/// At 60 % of the capacity a Puma has hardly any queue, with any dispatch.
#[test]
fn an_open_load_below_capacity_stays_calm() {
    let requests: Vec<Vec<Burst>> = (0..40)
        .map(|k| request(2.0 + 0.05 * f64::from(k), 7.0))
        .collect();
    for hand_out in [HandOut::PumaInline, HandOut::PumaReactor] {
        for (threads, rate) in [(1, 60.0), (2, 120.0), (5, 180.0)] {
            let setup = Setup {
                load: Load::Open {
                    rate,
                    arrivals: Arrivals::Even,
                    connections: 20,
                },
                hand_out,
                ..Setup::closed(1, threads, 2, 1)
            };
            let seen = replay(&requests, &setup);
            near(seen.rps, rate, 0.02);
            assert!(
                seen.latency_p95.as_millis_f64() < 25.0,
                "{hand_out:?} {threads}: {seen:?}"
            );
        }
    }
}

/// Connections thinking longer than a thread's wait come back through the reactor.
#[test]
fn thinking_clients_share_the_threads() {
    for hand_out in [HandOut::PumaInline, HandOut::PumaReactor, HandOut::Shared] {
        let setup = Setup {
            load: Load::Closed {
                clients: 10,
                think: Nanos(500_000_000),
            },
            hand_out,
            ..Setup::closed(2, 5, 2, 1)
        };
        let seen = replay(&[request(1.0, 9.0)], &setup);
        near(seen.rps, 10.0 / 0.51, 0.03);
        near(seen.latency_p50.as_millis_f64(), 10.0, 0.1);
    }
}

#[test]
fn nothing_to_replay_predicts_nothing() {
    let demands = Demands {
        before: 1.0,
        ..Demands::default()
    };
    assert!(Workload::new(&[], &demands).is_none());
    assert!(Workload::new(&[vec![], request(0.0, 0.0)], &demands).is_none());
    let workload = workload(&[request(1.0, 1.0)]);
    assert_eq!(simulate(&workload, &Setup::closed(1, 1, 1, 1), 1, 0), None);
}

/// Published values of the two-station analysis: half in I/O, relative to one thread (1.60, 1.88,
/// 1.99).
#[test]
fn mean_values_are_those_of_the_textbook() {
    let workload = workload(&[request(5.0, 5.0)]);
    for (threads, times) in [(1, 1.0), (2, 1.60), (3, 1.88), (5, 1.99)] {
        near(
            bound::rps_mean_value(&workload, threads),
            100.0 * times,
            0.005,
        );
    }
}
