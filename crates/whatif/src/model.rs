//! Makes a model for simulation from a recording: the needs of each request, alone on the machine.
//!
//! Recorded stretches are wall time under one load; a simulation adds the waits of another one. So
//! waits that the recorded load caused are taken out first:
//! 1. Stretches with the GVL are scaled to CPU by their route's share of it (from the requests
//!    whose thread CPU was read). Stretches off the GVL are shortened by what waking the next
//!    thread took ([`Costs::release`]). Those that stand for many of a long request are taken
//!    apart again ([`unfold`]). Longer stretches off the GVL without another name are CPU for the
//!    share that the thread's clock says ([`sample`]), and need a core. Statements shorter than a
//!    time slice are as long as their first quartile where the cores were busy ([`short`]).
//! 2. What Puma and Ruby do beside the handler is the CPU of the app's processes less that of the
//!    handlers.
//! 3. The load generator's and the database's CPU a request come from the host's samples; the
//!    database's is put into the stretches in SQL, in proportion to their length.
//! 4. Other programs, and what records the run, are as many jobs on the cores as explain the CPU
//!    that they took by the host's samples.
//! 5. Waits for the lock that is waited for most are not replayed, but the lock is ([`lock`]).
//! 6. What the worker's pauses cost ([`Costs::pause`]) is taken out of the stretches after waits,
//!    and of the server's own work, by as much as a replay of the recorded setting adds.
//! 7. The recorded setting is replayed. What is missing of the recorded share of running time that
//!    was on a core has been stolen by the hypervisor: it slows all cores alike. Stretches in SQL
//!    are scaled until it gives their recorded mean, and what a request takes beside all this
//!    ([`Costs::turnaround`] where threads are the limit, [`Costs::wake`] where the GVL is) is
//!    found such that the replay gives the recorded throughput. What hand-overs and statements
//!    take of the app's CPU off the GVL ([`Costs::switch`]) is found such that it gives the
//!    recorded one.

mod calibrate;
mod costs;
mod gain;
mod lock;
mod sample;
mod short;
#[cfg(test)]
mod tests;
mod unfold;

use std::fmt;

use breakdown::{Breakdown, Joined};
use recording::{Burst, LoadMode, Nanos, Recording, RequestId};

pub use gain::{Baseline, Gain, Ratio, Removal};

use crate::engine::Engine;
use crate::workload::{Computing, Request};
use crate::{Arrivals, Costs, Demands, HandOut, Load, Prediction, Setup, Workload};
pub use lock::lock_identity;

use lock::Lock;
use short::Short;

/// Requests replayed for one prediction: p95 then varies by a percent or two between seeds.
pub const REPLAYED: u32 = 20_000;

/// Fewest requests of a replayed run of an open load, so as to have a p95, and most runs.
const RUN_MIN: u32 = 200;
const RUNS_MAX: u32 = 20;

/// Seed of all predictions: the same recording gives the same ones.
pub const SEED: u64 = 1;

/// A model of an app made from a recording, to predict other numbers of workers and threads.
#[derive(Clone, Debug)]
pub struct Model {
    requests: Vec<Vec<Burst>>,
    /// The route of each of `requests`.
    routes: Vec<usize>,
    /// The recorded request behind each of `requests`; some occur several times.
    ids: Vec<RequestId>,
    /// Native code in each of `requests`, run without the GVL.
    computing: Vec<Computing>,
    /// Whether each of `requests` waited for the lock.
    locking: Vec<bool>,
    lock: Option<Lock>,
    /// CPU by which the first recorded millisecond is longer after a long wait, ns, found by
    /// replay.
    pause: f64,
    demands: Demands,
    workload: Workload,
    /// The recorded setting, with the costs found.
    pub recorded: Setup,
    /// Measurements of the recorded setting.
    pub measured: Measured,
    /// Memory of the app's processes.
    pub memory: Memory,
    /// Most connections to the database allowed to each worker, if known.
    pub database_pool: Option<u32>,
    /// Number of recorded requests behind the model.
    pub sampled: usize,
    /// Length of the recording.
    length: Nanos,
}

/// Measurements of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Answered requests a second.
    pub rps: f64,
    /// Median of due → answered.
    pub latency_p50: Nanos,
    /// 95th percentile of due → answered.
    pub latency_p95: Nanos,
    /// Mean time a request waited for the GVL.
    pub gvl_wait_mean: Nanos,
    /// Mean time a request was in SQL, off the GVL.
    pub sql_mean: Nanos,
}

/// Memory of the app's processes, bytes; shared pages are divided among the sharing processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// One worker.
    pub worker: u64,
    /// All processes but workers, such as a cluster's master.
    pub other: u64,
}

/// Reason for a recording without predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoModel {
    /// No view from inside: attached, without the agent, or another server.
    NoAgent,
    /// The agent recorded requests, but the server did not report the number of workers and
    /// threads.
    NoThreads,
    /// Too few requests were recorded with stretches.
    FewRequests(usize),
    /// No Ruby with GVL events.
    NoGvl,
}

impl Model {
    /// Makes a model from a recording.
    ///
    /// # Errors
    /// [`NoModel`] says what the recording lacks.
    pub fn of(
        recording: &Recording,
        joined: &Joined<'_>,
        breakdown: &Breakdown,
    ) -> Result<Model, NoModel> {
        let target = &recording.meta.target;
        if recording.agents.iter().all(|agent| agent.requests == 0) {
            return Err(NoModel::NoAgent);
        }
        if recording.agents.iter().all(|agent| !agent.gvl) {
            return Err(NoModel::NoGvl);
        }
        if target.workers == 0 || target.threads == 0 {
            return Err(NoModel::NoThreads);
        }
        let lock = Lock::of(recording, joined);
        let short = Short::of(joined, recording.meta.cores, costs::busy(recording));
        let sample::Sample {
            requests,
            routes,
            computing,
            locking,
            ids,
            recorded: sampled,
            release,
        } = sample::requests(joined, breakdown, lock.as_ref(), &short)?;
        let measured = measured(recording, breakdown);
        let demands = costs::demands(recording, breakdown);
        let as_recorded = requests.iter().map(|bursts| Request::new(bursts));
        let workload = Workload::of(as_recorded, &demands);
        let workload = workload.ok_or(NoModel::FewRequests(sampled))?;
        let recorded = Setup {
            workers: target.workers,
            threads: target.threads,
            cores: recording.meta.cores.max(1),
            load: load(recording),
            hand_out: hand_out(&target.server),
            costs: Costs {
                release,
                ..costs::costs(recording, breakdown)
            },
            lock_places: lock.as_ref().map_or(1, |lock| lock.places),
        };
        let mut model = Model {
            sampled,
            length: recording.window.length(),
            requests,
            routes,
            ids,
            computing,
            locking,
            lock,
            pause: 0.0,
            demands,
            workload,
            recorded,
            measured,
            memory: costs::memory(recording),
            database_pool: target.database_pool,
        };
        let sums = calibrate::Sums {
            on_core: sample::on_core_overall(breakdown),
            others: costs::others(recording),
            ours: costs::ours(recording),
            stolen: costs::stolen(recording),
            off_gvl: costs::off_gvl(breakdown),
        };
        calibrate::fit(&mut model, &sums);
        Ok(model)
    }

    /// Learns from a second run under another load how much stretches in SQL grow with each other
    /// ([`Costs::sql_stretch`]). Says whether it could: both runs must have SQL, and the second
    /// must have more of it at once, or less.
    pub fn learn_from(&mut self, second: &Model) -> bool {
        calibrate::fit_stretch(self, second)
    }

    /// Returns the prediction for the setup. Its costs should be those of [`Model::recorded`].
    pub fn predict(&self, setup: &Setup) -> Prediction {
        self.predict_with(setup, REPLAYED)
    }

    /// Returns the prediction for the setup from `count` replayed requests. An open load is
    /// replayed as several runs of the recorded length, each from the beginning, and the typical
    /// one is returned: what piles up from a rare moment on (a second connection on the only thread
    /// of Puma 6) stays until the load ends, so the longer a run, the worse it looks.
    pub fn predict_with(&self, setup: &Setup, count: u32) -> Prediction {
        let replay = |seed, count| Engine::new(&self.workload, setup, seed, count).run();
        let Load::Open { rate, .. } = setup.load else {
            return replay(SEED, count);
        };
        let a_run = (rate * self.length.as_secs_f64()) as u32;
        let runs = (count / a_run.max(1)).clamp(1, RUNS_MAX) | 1;
        let seeds = SEED..SEED + u64::from(runs);
        let seen: Vec<Prediction> = seeds
            .map(|seed| replay(seed, a_run.clamp(RUN_MIN, count.max(RUN_MIN))))
            .collect();
        Prediction::typical(&seen)
    }

    /// Returns the memory of the app's processes with `workers` workers, bytes.
    pub fn memory_of(&self, workers: u32) -> u64 {
        self.memory.other + self.memory.worker * u64::from(workers)
    }

    /// Returns the relative difference in throughput between the replay of the recorded setting and
    /// the run.
    pub fn error(&self) -> f64 {
        let replayed = self.predict(&self.recorded).rps;
        (replayed / self.measured.rps - 1.0).abs()
    }

    /// Share of a route's time off the GVL without another name in which native code computes, or
    /// waits for a core to do so, 0 to 1.
    pub fn computing_share(&self, route: usize) -> f64 {
        let at = self.routes.iter().position(|of| *of == route);
        at.map_or(0.0, |at| {
            let computing = &self.computing[at];
            (computing.share / computing.on_core).min(1.0)
        })
    }

    /// The requests as replayed.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Mean wait of a request for the replayed lock; zero without one.
    pub fn lock_wait_mean(&self) -> Nanos {
        self.lock
            .as_ref()
            .map_or(Nanos::ZERO, |lock| lock.wait_mean)
    }

    fn set_demands(&mut self, demands: Demands) {
        self.demands = demands;
        let requests = (0..self.requests.len()).map(|at| self.request(at));
        if let Some(workload) = Workload::of(requests, &demands) {
            self.workload = workload;
        }
    }

    fn set_pause(&mut self, pause: f64) {
        self.pause = pause;
        self.set_demands(self.demands);
    }

    fn set_held(&mut self, held: f64) {
        if let Some(lock) = &mut self.lock {
            lock.held = held;
        }
        self.set_demands(self.demands);
    }

    /// Returns a recorded request with the native code and the lock found for the request.
    fn request(&self, at: usize) -> Request<'_> {
        let lock = self.lock.as_ref().filter(|_| self.locking[at]);
        Request {
            computing: self.computing[at],
            holding: lock.map(|lock| lock.held),
            pause: self.pause,
            ..Request::new(&self.requests[at])
        }
    }
}

fn measured(recording: &Recording, breakdown: &Breakdown) -> Measured {
    let overall = &breakdown.overall;
    let latency = |q| stats::quantile(&overall.latency, q).unwrap_or_default();
    Measured {
        rps: overall.answered as f64 / recording.window.length().as_secs_f64().max(1e-9),
        latency_p50: latency(0.5),
        latency_p95: latency(0.95),
        gvl_wait_mean: Nanos((overall.balance.gvl_wait * 1e6).max(0.0) as u64),
        sql_mean: costs::sql_mean(breakdown, recording),
    }
}

fn load(recording: &Recording) -> Load {
    let load = &recording.meta.load;
    match (load.mode, load.rate) {
        (LoadMode::Open, Some(rate)) => Load::Open {
            rate,
            arrivals: Arrivals::Even,
            connections: load.connections.max(1),
        },
        _ => Load::Closed {
            clients: load.connections.max(1),
            think: Nanos::ZERO,
        },
    }
}

/// Returns the dispatch of a server named as in `puma 6.6.0`.
fn hand_out(server: &str) -> HandOut {
    let mut words = server.split([' ', '.']);
    match (
        words.next(),
        words.next().and_then(|major| major.parse().ok()),
    ) {
        (Some("puma"), Some(7u32..)) => HandOut::PumaReactor,
        (Some("puma"), _) => HandOut::PumaInline,
        _ => HandOut::Shared,
    }
}

impl fmt::Display for NoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoModel::NoAgent => f.write_str(
                "the run has no view from inside, so there are no requests to replay; let hakaru start the app, with the agent",
            ),
            NoModel::NoThreads => f.write_str(
                "the server did not say how many workers and threads it has; run it under Puma 5.6 or later, or Unicorn",
            ),
            NoModel::FewRequests(count) => write!(
                f,
                "only {count} requests were recorded with their stretches, {} are needed; run longer or with more load",
                sample::REQUESTS_MIN
            ),
            NoModel::NoGvl => f.write_str(
                "this Ruby tells no GVL events, so what waits cannot be told from what runs; use Ruby 3.2 or later",
            ),
        }
    }
}

impl std::error::Error for NoModel {}
