//! Recordings with known costs: made from a simulation, to be found again by the model.

use recording::{
    Act, ActKind, AgentProcess, BurstKind, CpuSample, Exchange, Generator, Handled, HostSample,
    LoadFacts, Meta, Outcome, Parts, ProcessRole, ProcessSample, RequestId, SqlUse, TargetFacts,
    TextId, Timestamp, Window,
};

use super::*;
use crate::simulate;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const LENGTH_S: u64 = 10;
/// A request: 3 ms of CPU and 7 ms off the GVL in SQL, of which the database computes 2 ms; the
/// server takes 0.4 ms more, the generator 0.1 ms.
const RUN: u64 = 3 * MS;
const SQL: u64 = 7 * MS;
const DATABASE_SHARE: f64 = 2.0 / 7.0;
const SERVER: f64 = 0.4e6;
const GENERATOR: u64 = MS / 10;

fn at(nanos: u64) -> Timestamp {
    Timestamp::from_monotonic_nanos(nanos)
}

fn bursts() -> Vec<Burst> {
    [(BurstKind::Running, RUN), (BurstKind::Sql, SQL)]
        .map(|(kind, nanos)| Burst {
            kind,
            length: Nanos(nanos),
        })
        .to_vec()
}

fn truth() -> (Workload, Setup) {
    let demands = Demands {
        before: SERVER / 2.0,
        after: SERVER / 2.0,
        sql_cpu: DATABASE_SHARE,
        sql_scale: 1.0,
    };
    let setup = Setup {
        hand_out: HandOut::PumaInline,
        costs: Costs {
            generator: Nanos(GENERATOR),
            turnaround: Nanos(MS / 2),
            ..Costs::default()
        },
        ..Setup::closed(1, 2, 4, 20)
    };
    (Workload::new(&[bursts()], &demands).unwrap(), setup)
}

fn handled(id: u64, start: u64, sql: u64) -> Handled {
    Handled {
        id: RequestId(id),
        pid: 7,
        tid: 8,
        start: at(start),
        end: at(start + RUN + sql),
        status: 200,
        parts: Parts {
            running: Nanos(RUN),
            sql_waiting: Nanos(sql),
            ..Parts::default()
        },
        cpu: Some(CpuSample {
            running_wall: Nanos(RUN),
            running_cpu: Nanos(RUN),
            total_cpu: Nanos(RUN),
        }),
        bursts: bursts(),
        ..Handled::default()
    }
}

fn exchange(id: u64, due: u64) -> Exchange {
    Exchange {
        id: RequestId(id),
        due: at(due),
        sent: at(due),
        answered: at(due + RUN + SQL),
        line: TextId(1),
        step: 0,
        connection: 0,
        status: 200,
        outcome: Outcome::Ok,
        body_bytes: 2,
    }
}

/// The host after so many requests.
fn host(second: u64, requests: f64) -> HostSample {
    let process = |role, cpu: f64| ProcessSample {
        pid: 7 + role as u32,
        role,
        cpu: Nanos((requests * cpu) as u64),
        pss: Some(50 << 20),
        ..ProcessSample::default()
    };
    HostSample {
        at: at(second * SECOND),
        processes: vec![
            process(ProcessRole::App, RUN as f64 + SERVER),
            process(ProcessRole::Database, SQL as f64 * DATABASE_SHARE),
            process(ProcessRole::Generator, GENERATOR as f64),
        ],
        ..HostSample::default()
    }
}

/// Returns the recording of a run of the truth.
fn recording() -> Recording {
    let (workload, setup) = truth();
    let seen = simulate(&workload, &setup, 5, 20_000).unwrap();
    let count = (seen.rps * LENGTH_S as f64) as u64;
    let step = LENGTH_S * SECOND / count;
    let per_second = count as f64 / LENGTH_S as f64;
    Recording {
        meta: Meta {
            target: TargetFacts {
                server: "puma 6.6.0".to_owned(),
                workers: 1,
                threads: 2,
                ..TargetFacts::default()
            },
            load: LoadFacts {
                connections: 20,
                ..LoadFacts::default()
            },
            cores: 4,
            same_host: true,
            ..Meta::default()
        },
        window: Window {
            start: at(SECOND),
            end: at((1 + LENGTH_S) * SECOND),
        },
        exchanges: (1..count)
            .map(|id| exchange(id, SECOND + id * step))
            .collect(),
        handled: (1..count)
            .map(|id| handled(id, SECOND + id * step, SQL))
            .collect(),
        host: (0..LENGTH_S)
            .map(|second| host(1 + second, second as f64 * per_second))
            .collect(),
        agents: vec![AgentProcess {
            pid: 7,
            gvl: true,
            requests: count,
            ..AgentProcess::default()
        }],
        generator: Generator {
            cpu: Nanos(count * GENERATOR),
            threads: 1,
            unsent: 0,
        },
        ..Recording::default()
    }
}

fn model(recording: &Recording) -> Result<Model, NoModel> {
    Model::of(
        recording,
        &breakdown::join(recording),
        &breakdown::of(recording),
    )
}

fn near(what: &str, have: f64, want: f64, share: f64) {
    assert!(
        (have / want - 1.0).abs() <= share,
        "{what}: {have} is not within {share} of {want}"
    );
}

#[test]
fn costs_are_found_again() {
    let model = model(&recording()).unwrap();
    let means = model.workload().means();
    let pausing = model.predict(&model.recorded).pausing_mean.0 as f64;
    near("running", means.run + pausing, RUN as f64 + SERVER, 0.02);
    near(
        "waiting",
        means.wait,
        SQL as f64 * (1.0 - DATABASE_SHARE),
        0.05,
    );
    near("database", means.sql_cpu, SQL as f64 * DATABASE_SHARE, 0.05);
    let costs = model.recorded.costs;
    near(
        "generator",
        costs.generator.0 as f64,
        GENERATOR as f64,
        0.02,
    );
    near("turnaround", costs.turnaround.0 as f64, 0.5e6, 0.3);
    assert_eq!(costs.foreign, 0.0);
    assert!(model.error() < 0.02, "{}", model.error());
    assert_eq!(model.memory.worker, 50 << 20);
}

/// Of 1.0 ms between two requests, 0.8 ms are more than usual. Without SQL a request takes 3 ms
/// instead of 10, and 0.24 ms of those 0.8 ms are left.
#[test]
fn unexplained_time_shrinks_with_the_requests() {
    let mut model = model(&recording()).unwrap();
    model.recorded.threads = 1;
    let mut removal = Removal::default();
    removal.remove(0, BurstKind::Sql, 1.0);
    let mut rps_without = |turnaround: u64| {
        model.recorded.costs.turnaround = Nanos(turnaround);
        let baseline = model.baseline();
        let now: f64 = baseline.rps().expect("replayed");
        now * model.gain(&baseline, &removal).unwrap().throughput.ratio
    };
    let (usual, more) = (rps_without(200_000), rps_without(1_000_000));
    near("0.24 ms more", 1e9 / more - 1e9 / usual, 0.24e6, 0.1);
}

/// Predictions from two threads to others, to two workers, and to an open load meet the truth.
#[test]
fn other_settings_are_predicted_as_they_are() {
    let model = model(&recording()).unwrap();
    let (workload, truth) = truth();
    let open = Load::Open {
        rate: 120.0,
        arrivals: Arrivals::Even,
        connections: 20,
    };
    for (workers, threads, load) in [
        (1, 1, truth.load),
        (1, 5, truth.load),
        (2, 3, truth.load),
        (1, 3, open),
    ] {
        let with = |setup: Setup| Setup {
            workers,
            threads,
            load,
            ..setup
        };
        let real = simulate(&workload, &with(truth), 9, 20_000).unwrap();
        let seen = model.predict(&with(model.recorded));
        let what = format!("{workers} × {threads}");
        near(&what, seen.rps, real.rps, 0.03);
        near(
            &what,
            seen.latency_p50.0 as f64,
            real.latency_p50.0 as f64,
            0.06,
        );
        near(
            &what,
            seen.latency_p95.0 as f64,
            real.latency_p95.0 as f64,
            0.06,
        );
    }
}

/// 3.4 ms of the GVL a request: two workers serve 500/s at most, three are busy for 57 %.
#[test]
fn a_rate_needs_so_many_workers() {
    let model = model(&recording()).unwrap();
    let setup = Setup {
        threads: 5,
        load: Load::Open {
            rate: 500.0,
            arrivals: Arrivals::Even,
            connections: 100,
        },
        ..model.recorded
    };
    let goal = "p95 < 100ms".parse().unwrap();
    let found = crate::capacity::fewest_workers(&model, &setup, &goal, None);
    assert!(found.held);
    assert!((2..=3).contains(&found.setup.workers), "{found:?}");
    let never = "p95 < 5ms".parse().unwrap();
    assert!(!crate::capacity::fewest_workers(&model, &setup, &never, None).held);
}

/// Recorded at two threads and at five: each other statement makes one a tenth longer.
#[test]
fn the_databases_stretch_is_found_from_two_loads() {
    const STRETCH: f64 = 0.1;
    let sql_at = |threads: u32| {
        let (workload, truth) = truth();
        let costs = Costs {
            sql_stretch: STRETCH,
            ..truth.costs
        };
        let setup = Setup {
            threads,
            costs,
            ..truth
        };
        simulate(&workload, &setup, 3, 20_000).unwrap().sql_mean
    };
    let mut models = [2, 5].map(|threads| {
        let mut model = model(&recording()).unwrap();
        model.recorded.threads = threads;
        model.measured.sql_mean = sql_at(threads);
        model
    });
    let [first, second] = &mut models;
    assert!(first.learn_from(second));
    near("stretch", first.recorded.costs.sql_stretch, STRETCH, 0.25);
}

/// 40 calls without a wait, each 12 µs long because another thread had to be woken first: alone
/// there is no other.
#[test]
fn waking_others_is_no_wait() {
    const CALLS: u64 = 40;
    const WOKE: u64 = 12_000;
    let mut recording = recording();
    let call = |kind, nanos| Burst {
        kind,
        length: Nanos(nanos),
    };
    for handled in &mut recording.handled {
        let calls = (0..CALLS).flat_map(|_| {
            [
                call(BurstKind::Running, RUN / CALLS),
                call(BurstKind::OtherIo, WOKE),
            ]
        });
        handled.bursts = calls.chain([call(BurstKind::Sql, SQL)]).collect();
    }
    let model = model(&recording).unwrap();
    assert_eq!(model.recorded.costs.release, Nanos(WOKE));
    let means = model.workload().means();
    let pausing = model.predict(&model.recorded).pausing_mean.0 as f64;
    near("running", means.run + pausing, RUN as f64 + SERVER, 0.02);
    let wait = SQL as f64 * (1.0 - DATABASE_SHARE);
    near("waiting", means.wait, wait, 0.05);
}

/// A store on the same cores computes for most of the requests' waits: without requests to the
/// store, the cores are left to the app.
#[test]
fn a_store_computes_only_while_it_is_asked() {
    let mut recording = recording();
    for handled in &mut recording.handled {
        for burst in &mut handled.bursts {
            if burst.kind == BurstKind::Sql {
                burst.kind = BurstKind::OtherIo;
            }
        }
    }
    for sample in &mut recording.host {
        for process in &mut sample.processes {
            if process.role == ProcessRole::Database {
                process.role = ProcessRole::Store;
            }
        }
    }
    let mut model = model(&recording).unwrap();
    let asked = SQL as f64 * DATABASE_SHARE;
    near("asked", model.recorded.costs.asked.0 as f64, asked, 0.05);
    model.recorded.cores = 1;
    let mut removal = Removal::default();
    removal.remove(0, BurstKind::OtherIo, 0.9);
    let gain = model.gain(&model.baseline(), &removal).unwrap();
    // One core: 3.5 ms of the app and the generator a request, and 2 ms of the store, which it
    // leaves behind at times.
    near("gain", gain.throughput.ratio, 5.5 / 3.7, 0.15);
}

/// Each request has one statement, and took 0.2 ms of CPU off the GVL.
#[test]
fn cpu_off_the_gvl_is_given_to_switches_and_statements() {
    const OFF: u64 = MS / 5;
    let mut recording = recording();
    for handled in &mut recording.handled {
        handled.cpu = handled.cpu.map(|cpu| CpuSample {
            total_cpu: Nanos(RUN + OFF),
            ..cpu
        });
    }
    let model = model(&recording).unwrap();
    let replayed = model.predict(&model.recorded);
    near(
        "off the GVL",
        replayed.switching_mean.0 as f64,
        OFF as f64,
        0.03,
    );
    assert!(model.error() < 0.02, "{}", model.error());
}

/// Returns a recording whose running code had a core for half of the time.
fn half_on_core() -> Recording {
    let mut recording = recording();
    for handled in &mut recording.handled {
        handled.parts.running = Nanos(2 * RUN);
        if let Some(cpu) = &mut handled.cpu {
            cpu.running_wall = Nanos(2 * RUN);
        }
    }
    recording
}

/// All four cores were busy, hardly with the app: a second worker shares the cores with the other
/// programs as well.
#[test]
fn other_programs_are_seen() {
    let mut recording = half_on_core();
    for (second, sample) in (0u64..).zip(&mut recording.host) {
        sample.cpu_busy = Nanos(4 * second * SECOND);
    }
    let model = model(&recording).unwrap();
    let costs = model.recorded.costs;
    assert!(costs.foreign > 4.0, "{costs:?}");
    assert!(costs.stolen < 0.1, "{costs:?}");
    near("running", model.predict(&model.recorded).on_core, 0.5, 0.05);
}

/// Nobody else was on the cores: the hypervisor took half of each, and a second worker has as much
/// as the first.
#[test]
fn what_the_hypervisor_takes_slows_all_cores_alike() {
    let model = model(&half_on_core()).unwrap();
    let costs = model.recorded.costs;
    assert_eq!(costs.foreign, 0.0, "{costs:?}");
    near("stolen", costs.stolen, 0.5, 0.05);
    let gain = |model: &Model| {
        let setup = Setup {
            workers: 2,
            ..model.recorded
        };
        model.predict(&setup).rps / model.predict(&model.recorded).rps
    };
    let calm = self::model(&recording()).unwrap();
    near("two workers", gain(&model), gain(&calm), 0.05);
}

#[test]
fn what_a_recording_lacks_is_said() {
    let why = |change: fn(&mut Recording)| {
        let mut recording = recording();
        change(&mut recording);
        model(&recording).err()
    };
    assert_eq!(why(|r| r.agents.clear()), Some(NoModel::NoAgent));
    assert_eq!(why(|r| r.agents[0].gvl = false), Some(NoModel::NoGvl));
    assert_eq!(why(|r| r.meta.target.threads = 0), Some(NoModel::NoThreads));
    assert_eq!(
        why(|r| r.handled.truncate(7)),
        Some(NoModel::FewRequests(7))
    );
}

#[test]
fn servers_hand_out_as_they_do() {
    let check = |server: &str, expected| assert_eq!(hand_out(server), expected, "{server}");
    check("puma 5.6.5", HandOut::PumaInline);
    check("puma 6.6.0", HandOut::PumaInline);
    check("puma 7.0.0", HandOut::PumaReactor);
    check("puma 8.0.2", HandOut::PumaReactor);
    check("unicorn 6.1.0", HandOut::Shared);
}

/// Turns time in the database into native code of equal length, by the threads' clocks.
fn computing(recording: &mut Recording) {
    for handled in &mut recording.handled {
        handled.parts.other_io = handled.parts.sql_waiting;
        handled.parts.sql_waiting = Nanos::ZERO;
        handled.bursts[1].kind = BurstKind::OtherIo;
        if let Some(cpu) = &mut handled.cpu {
            cpu.total_cpu = cpu.running_cpu + handled.parts.other_io;
        }
    }
}

#[test]
fn native_code_is_told_from_waits_by_the_threads_clock() {
    let mut recording = recording();
    computing(&mut recording);
    let means = model(&recording).unwrap().workload().means();
    near("computing", means.computing, SQL as f64, 0.01);
    assert!(means.wait < 0.01 * SQL as f64, "{means:?}");
    for handled in &mut recording.handled {
        handled.cpu = handled.cpu.map(|cpu| CpuSample {
            total_cpu: cpu.running_cpu,
            ..cpu
        });
    }
    let means = model(&recording).unwrap().workload().means();
    assert_eq!(means.computing, 0.0);
    near("waits", means.wait, SQL as f64, 0.01);
}

/// Running code missed a core for half of the time, because native code of other threads was on all
/// cores.
#[test]
fn cores_that_run_native_code_are_not_stolen() {
    let mut recording = half_on_core();
    computing(&mut recording);
    for (second, sample) in (0u64..).zip(&mut recording.host) {
        sample.processes[0].cpu = Nanos(39 * second * SECOND / 10);
    }
    let costs = model(&recording).unwrap().recorded.costs;
    assert!(costs.stolen < 0.05, "{costs:?}");
}

/// With cores to spare, the part of a native stretch without CPU is a wait.
#[test]
fn native_code_may_wait_for_something_too() {
    let mut recording = recording();
    computing(&mut recording);
    for handled in &mut recording.handled {
        handled.cpu = handled.cpu.map(|cpu| CpuSample {
            total_cpu: cpu.running_cpu + Nanos(handled.parts.other_io.0 / 2),
            ..cpu
        });
    }
    let has = |model: &Model| model.predict(&model.recorded).rps;
    let slow = model(&recording).unwrap();
    near(
        "computing",
        slow.workload().means().computing,
        SQL as f64 / 2.0,
        0.01,
    );
    near("as recorded", has(&slow), slow.measured.rps, 0.05);
    assert!(slow.computing_share(0) < 1.0, "the rest is a wait");
}

/// Returns a recording of five threads; a request computes 1 ms and asks another service for 20 ms
/// while holding a Mutex. So each waits for the four before it.
fn taking_turns() -> Recording {
    const CALL: u64 = 20 * MS;
    const WAIT: u64 = 79 * MS;
    let mut recording = recording();
    recording.meta.target.threads = 5;
    let lock = Act {
        kind: ActKind::Lock,
        what: recording.texts.keep("Mutex"),
        site: recording.texts.keep("app/rates.rb:12"),
        count: 1,
        time: Nanos(WAIT),
    };
    let bursts = [
        (BurstKind::Running, MS),
        (BurstKind::Lock, WAIT),
        (BurstKind::Http, CALL),
    ];
    let count = 50 * LENGTH_S;
    recording.exchanges.truncate(count as usize);
    recording.handled.truncate(count as usize);
    let step = LENGTH_S * SECOND / (count + 1);
    for (seen, handled) in recording.exchanges.iter_mut().zip(&mut recording.handled) {
        let start = SECOND + seen.id.0 * step;
        *seen = Exchange {
            answered: at(start + MS + WAIT + CALL),
            ..exchange(seen.id.0, start)
        };
        handled.start = at(start);
        handled.end = seen.answered;
        handled.cpu = None;
        handled.parts = Parts {
            running: Nanos(MS),
            lock: Nanos(WAIT),
            http_waiting: Nanos(CALL),
            ..Parts::default()
        };
        handled.acts = vec![lock];
        handled.bursts = bursts
            .map(|(kind, nanos)| Burst {
                kind,
                length: Nanos(nanos),
            })
            .to_vec();
    }
    for (second, sample) in recording.host.iter_mut().enumerate() {
        *sample = host(1 + second as u64, second as f64 * 50.0);
    }
    recording
}

/// One line takes the lock, and the app comes there on two ways.
#[test]
fn ways_to_one_line_wait_for_one_lock() {
    let mut recording = taking_turns();
    let other = recording.texts.keep("app/rates.rb:12 < app/list.rb:3");
    for handled in recording.handled.iter_mut().step_by(2) {
        handled.acts[0].site = other;
    }
    let model = model(&recording).unwrap();
    near("the wait", model.lock_wait_mean().0 as f64, 79e6, 0.01);
    assert!(model.error() < 0.05, "{}", model.error());
}

#[test]
fn a_lock_is_replayed_and_not_its_waits() {
    let model = model(&taking_turns()).unwrap();
    assert!(model.error() < 0.05, "{}", model.error());
    near("the wait", model.lock_wait_mean().0 as f64, 79e6, 0.01);
    let baseline = model.baseline();
    let more_threads = Setup {
        threads: 10,
        ..model.recorded
    };
    let threads = model.gain_at(&baseline, &more_threads).unwrap();
    near("ten threads", threads.throughput.ratio, 1.0, 0.05);
    let without = |kind, share| {
        let mut removal = Removal::default();
        removal.remove(0, kind, share);
        model.gain(&baseline, &removal).unwrap().throughput.ratio
    };
    // Nobody waits: five calls at once.
    near("no lock", without(BurstKind::Lock, 1.0), 100.0 / 21.0, 0.1);
    // A call that takes half as long is held for half as long.
    near("half a call", without(BurstKind::Http, 0.5), 2.0, 0.1);
}

/// Of four lookups three wait for a core: 0.2 ms alone, 1.4 ms beside the scans. A scan takes what
/// it takes by its arguments.
#[test]
fn short_statements_beside_busy_cores_are_as_long_as_the_quick_ones() {
    let used = |digest, micros: u64| SqlUse {
        digest: TextId(digest),
        count: 1,
        time: Nanos(micros * 1_000),
        ..SqlUse::default()
    };
    let mut recording = recording();
    for (at, handled) in recording.handled.iter_mut().enumerate() {
        let lookup = if at % 4 == 0 { 200 } else { 1_400 };
        let scan = 3_000 + 2_000 * (at as u64 % 4);
        handled.sql = vec![used(5, lookup), used(6, scan)];
    }
    let joined = breakdown::join(&recording);
    let share = |busy: f64, at: usize| {
        let short = Short::of(&joined, 4, 4.0 * busy);
        short.share(&recording.handled[at])
    };
    near("quick", share(0.95, 4), 1.0, 0.01);
    near("waited", share(0.95, 5), (0.2 + 5.0) / (1.4 + 5.0), 0.01);
    near("idle cores", share(0.7, 5), 1.0, 0.01);
}

/// A route of one request in fifty, of which ten were recorded: half take 5 ms in SQL, half 205 ms.
/// The gain without that SQL is known no better for every one of them being in the sample five
/// times.
#[test]
fn a_rare_heavy_route_widens_the_interval() {
    let width = |heavy: u64| {
        let mut recording = recording();
        let line = recording.texts.keep("GET /rare");
        let mut rare = 0;
        for (exchange, handled) in recording.exchanges.iter_mut().zip(&mut recording.handled) {
            if exchange.id.0 % 50 == 0 {
                exchange.line = line;
                rare += 1;
                handled.bursts[1].length = Nanos(if rare % 2 == 0 { heavy } else { 5 * MS });
                if rare > 10 {
                    handled.bursts.clear();
                }
            }
        }
        let joined = breakdown::join(&recording);
        let route = joined
            .routes
            .iter()
            .position(|route| route.contains("rare"));
        let model = model(&recording).unwrap();
        let mut removal = Removal::default();
        removal.remove(route.unwrap(), BurstKind::Sql, 1.0);
        let gain = model.gain(&model.baseline(), &removal).unwrap();
        (gain.throughput.high / gain.throughput.low).ln()
    };
    let (even, uneven) = (width(5 * MS), width(205 * MS));
    assert!(uneven > 0.1 && uneven > 3.0 * even, "{even} {uneven}");
}

/// A request of 1.5 ms, a sleep of 40 ms, and 1.5 ms more, which the pause makes longer.
fn sleeping(after_ns: u64) -> Vec<Burst> {
    let kinds = [
        (BurstKind::Running, RUN / 2),
        (BurstKind::Sleep, 40 * MS),
        (BurstKind::Running, after_ns),
    ];
    kinds
        .map(|(kind, nanos)| Burst {
            kind,
            length: Nanos(nanos),
        })
        .to_vec()
}

/// What the recorded work took more after a sleep is gone without the sleep.
#[test]
fn work_is_shorter_without_the_pauses_before() {
    let (_, truth) = truth();
    let setup = Setup {
        threads: 1,
        costs: Costs {
            pause: crate::PAUSE,
            turnaround: crate::TURNAROUND,
            ..truth.costs
        },
        ..truth
    };
    let demands = Demands {
        before: SERVER / 2.0,
        after: SERVER / 2.0,
        ..Demands::default()
    };
    let real = |bursts: Vec<Burst>| {
        let workload = Workload::new(&[bursts], &demands).unwrap();
        simulate(&workload, &setup, 5, 5_000).unwrap()
    };
    let as_it_is = real(sleeping(RUN / 2));
    let mut awake = sleeping(RUN / 2);
    awake[1].length = Nanos(1);
    let truth = real(awake).rps / as_it_is.rps;

    let pausing = as_it_is.pausing_mean.0;
    assert!(pausing > 200_000, "{pausing}");
    let count = (as_it_is.rps * LENGTH_S as f64) as usize;
    let mut recording = recording();
    recording.meta.target.threads = 1;
    recording.exchanges.truncate(count);
    recording.handled.truncate(count);
    for handled in &mut recording.handled {
        let running = Nanos(RUN + pausing);
        handled.bursts = sleeping(RUN / 2 + pausing);
        handled.parts = Parts {
            running,
            sleep: Nanos(40 * MS),
            ..Parts::default()
        };
        handled.cpu = Some(CpuSample {
            running_wall: running,
            running_cpu: running,
            total_cpu: running,
        });
    }
    for (second, sample) in recording.host.iter_mut().enumerate() {
        let requests = second as f64 * as_it_is.rps;
        let app = RUN as f64 + SERVER + pausing as f64;
        sample.processes[0].cpu = Nanos((requests * app) as u64);
        sample.processes[1].cpu = Nanos::ZERO;
        sample.processes[2].cpu = Nanos((requests * GENERATOR as f64) as u64);
    }
    recording.generator.cpu = Nanos(count as u64 * GENERATOR);
    let model = model(&recording).unwrap();
    let mut removal = Removal::default();
    removal.remove(0, BurstKind::Sleep, 1.0);
    let gain = model.gain(&model.baseline(), &removal).unwrap();
    // As recorded, the work is 16 % longer than it will be.
    near("gain", gain.throughput.ratio, truth, 0.05);
}
