//! Predicts throughput and latency with other numbers of workers and threads, by a discrete-event
//! simulation replaying recorded requests.
//!
//! Mean-value analysis is immediate, but assumes exponential bursts and errs by 15 % on regular
//! ones; it is here as a bound only ([`bound`]). The model ([`simulate`]):
//! - `workers` × `threads`; connections and requests come to threads as [`HandOut`] says.
//! - A thread goes through its request's stretches. Those that run need the worker's GVL, which is
//!   handed over first come, first served; a holder whom others wait for gives it up after Ruby's
//!   quantum.
//! - Holders of GVLs, the load generator and the database need a core: they wait for a free one,
//!   and take turns in time slices when there are more of them, as Linux has it. Other programs
//!   count as so many more of them.
//! - Waking a thread takes CPU, and where a core idles it takes that core a while to run it
//!   ([`Costs::wake`]).
//! - A worker whose threads have all paused takes more CPU for what it runs next
//!   ([`Costs::pause`]).
//! - A stretch in SQL is a wait, which grows with the others in SQL by [`Costs::sql_stretch`], and
//!   then CPU of the database. Other stretches off the GVL take as long as they took.
//! - Closed and open loads ([`Load`]); a latency counts from when a request was due.
//!
//! - The lock that a recording's requests wait for most has places and a queue of its own
//!   ([`Setup::lock_places`]).
//!
//! Not modelled: other locks that threads hold against each other (a recorded wait for one is a
//! wait like any other), memory, and the start of threads and processes.
//!
//! Deterministic by seed. Pure: no clock, no I/O. Start reading at [`simulate`], then `engine`;
//! [`Model`] makes its input from a recording.

pub mod advice;
mod agenda;
pub mod bound;
pub mod capacity;
mod cores;
mod engine;
pub mod goal;
mod model;
mod pause;
pub mod question;
pub mod search;
mod setup;
#[cfg(test)]
mod tests;
mod workload;

use recording::Nanos;

pub use model::{Baseline, Gain, Measured, Memory, Model, NoModel, Ratio, Removal, lock_identity};
pub use setup::{Arrivals, Costs, HandOut, Load, Setup, TURNAROUND};
pub use workload::{Demands, Means, Workload};

/// Ruby's time slice for threads (fixed in 3.2 and 3.3, the default later).
pub const QUANTUM: Nanos = Nanos(100_000_000);

/// Wait of a thread of Puma 5 or 6 for a connection's next request (`FAST_TRACK_KA_TIMEOUT`).
pub const INLINE_WAIT: Nanos = Nanos(200_000_000);

/// Requests served in one go on a connection while others wait (Puma's `max_fast_inline`).
pub const INLINE_MOST: u32 = 10;

/// Puma's `wait_for_less_busy_worker` by default.
pub const ACCEPT_DELAY: Nanos = Nanos(5_000_000);

/// CPU with which Puma's reactor or accepting thread passes a connection on. Only its order
/// matters: it is small beside a request, but it needs the GVL.
pub const DISPATCH: Nanos = Nanos(30_000);

/// CPU of a statement's way to the database and back, in switches of the GVL ([`Costs::switch`]):
/// sent, asleep, awake, received. Chosen by judgement: on the chat a statement takes 25 µs of the
/// app's CPU off the GVL with one thread, a switch 4 to 7 µs with five.
pub const STATEMENT: f64 = 4.0;

/// Cost of waking and switching with no idle core, as a share of the cost beside an idle one. By
/// the chat's recordings of 2026-11-22 and 23 (benchmarks/whatif): to let go of the GVL takes 2 µs
/// in place of 8, and the CPU off the GVL is half.
pub const BESIDE_BUSY: f64 = 0.4;

/// CPU by which the first millisecond of work takes longer after a long pause, for a model from a
/// recording. Found by experiment: Ruby methods with objects of their own, as many as take 0.03 to
/// 2.4 ms, that sleep between their turns (benchmarks/whatif): 0.6 to 1.2 ms on virtual machines.
pub const PAUSE: Nanos = Nanos(800_000);

/// Time constants of a pause's cost, ns: a pause of so long has 63 % of the effect of a long one,
/// and work of so much CPU ends 63 % of the effect. By the same experiment.
pub(crate) const COOLING: f64 = 25e6;
pub(crate) const WARMING: f64 = 300e3;

/// Statistics of a simulated run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Requests a second.
    pub rps: f64,
    /// Median of due → answered.
    pub latency_p50: Nanos,
    /// 95th percentile of due → answered.
    pub latency_p95: Nanos,
    /// 99th percentile of due → answered.
    pub latency_p99: Nanos,
    /// Mean of due → answered.
    pub latency_mean: Nanos,
    /// Requests due and not answered, mean over time.
    pub in_system_mean: f64,
    /// Mean time from a request's arrival until a thread took the request.
    pub queue_mean: Nanos,
    /// Mean time a request waited for the GVL.
    pub gvl_wait_mean: Nanos,
    /// Mean time a request was in SQL.
    pub sql_mean: Nanos,
    /// Mean CPU of a request's hand-overs of the GVL and of the statements' round trips, not part
    /// of the stretches.
    pub switching_mean: Nanos,
    /// Mean CPU of a request's work after pauses of the worker, not part of the stretches.
    pub pausing_mean: Nanos,
    /// Mean time a request waited for the lock.
    pub lock_wait_mean: Nanos,
    /// Share of the lock's places in use, mean over time and workers, 0 to 1.
    pub lock_busy: f64,
    /// Share of the GVL's slices spent on a core, 0 to 1.
    pub on_core: f64,
    /// Share of time a worker's GVL was held, mean over the workers, 0 to 1.
    pub gvl_busy: f64,
    /// Share of the cores in use, 0 to 1.
    pub cores_busy: f64,
    /// Share of the threads with a request, 0 to 1.
    pub threads_busy: f64,
}

impl Prediction {
    /// Returns the median of each figure over `runs`; all zero without a run.
    fn typical(runs: &[Prediction]) -> Prediction {
        let number = |figure: fn(&Prediction) -> f64| {
            let figures: Vec<f64> = runs.iter().map(figure).collect();
            stats::median(&figures).unwrap_or_default()
        };
        let nanos = |figure: fn(&Prediction) -> Nanos| {
            let mut figures: Vec<u64> = runs.iter().map(|run| figure(run).0).collect();
            figures.sort_unstable();
            Nanos(stats::quantile(&figures, 0.5).unwrap_or_default())
        };
        Prediction {
            rps: number(|run| run.rps),
            latency_p50: nanos(|run| run.latency_p50),
            latency_p95: nanos(|run| run.latency_p95),
            latency_p99: nanos(|run| run.latency_p99),
            latency_mean: nanos(|run| run.latency_mean),
            in_system_mean: number(|run| run.in_system_mean),
            queue_mean: nanos(|run| run.queue_mean),
            gvl_wait_mean: nanos(|run| run.gvl_wait_mean),
            sql_mean: nanos(|run| run.sql_mean),
            switching_mean: nanos(|run| run.switching_mean),
            pausing_mean: nanos(|run| run.pausing_mean),
            lock_wait_mean: nanos(|run| run.lock_wait_mean),
            lock_busy: number(|run| run.lock_busy),
            on_core: number(|run| run.on_core),
            gvl_busy: number(|run| run.gvl_busy),
            cores_busy: number(|run| run.cores_busy),
            threads_busy: number(|run| run.threads_busy),
        }
    }
}

/// Replays `count` requests after a warm-up of uncounted ones, and returns the statistics. `None`
/// for a `count` of zero.
pub fn simulate(workload: &Workload, setup: &Setup, seed: u64, count: u32) -> Option<Prediction> {
    (count > 0).then(|| engine::Engine::new(workload, setup, seed, count).run())
}
