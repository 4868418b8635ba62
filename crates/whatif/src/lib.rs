//! What would other numbers of workers and threads give? A simulation that replays recorded bursts.
//!
//! Mean-value analysis answers at once, but assumes exponential bursts and errs by 15 % on regular
//! ones, so recorded requests are replayed instead. The model ([`simulate`]):
//! - `workers` × `threads`; each worker has one FIFO queue of requests and one GVL.
//! - A thread takes a request and goes through its bursts. Off the GVL it just waits, however many
//!   others do: databases that slow down with concurrency are not modelled yet.
//! - The GVL is handed over first come, first served; a holder whom others wait for gives it up after
//!   Ruby's quantum of 100 ms.
//! - Holders share the cores equally (processor sharing, as a fair scheduler gives): with `h` holders
//!   on `cores` cores each runs at min(1, cores / h). What else needs these cores (database, load
//!   generator) is not modelled: give it its cores by counting fewer.
//! - Between two requests a thread is busy for `turnaround` (exponential, off the GVL): writing the
//!   answer, taking the next. Its randomness also keeps equal requests from falling into step.
//! - Closed load: each client belongs to one worker, as a keep-alive connection does. Open load:
//!   Poisson arrivals, each to the worker with fewest requests.
//!
//! Deterministic by seed. Pure: no clock, no I/O. Start reading at [`simulate`], then `engine`.

mod engine;
mod requests;
#[cfg(test)]
mod tests;

use recording::{Burst, Nanos};

/// Ruby's time slice for threads (fixed in 3.2 and 3.3, the default later).
pub const QUANTUM: Nanos = Nanos(100_000_000);

/// What a thread takes between two requests where nothing better is known. From the published
/// measurement: 65 requests a second at one thread where bursts of 15.2 ms alone would give 65.8.
pub const TURNAROUND: Nanos = Nanos(200_000);

/// Share of the requests that are replayed before anything is counted: queues fill up meanwhile.
const WARMUP_SHARE: f64 = 0.1;

/// What is tried out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Worker processes, at least 1.
    pub workers: u32,
    /// Threads a worker, at least 1.
    pub threads: u32,
    /// Cores for the workers, at least 1.
    pub cores: u32,
    /// How requests arrive.
    pub load: Load,
    /// Mean time a thread is busy between two requests, see [`TURNAROUND`].
    pub turnaround: Nanos,
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// So many clients, each sending its next request `think` after its last was answered.
    Closed {
        /// Clients, at least 1.
        clients: u32,
        /// Time between answer and next request.
        think: Nanos,
    },
    /// Poisson arrivals.
    Open {
        /// Requests a second, above zero.
        rate: f64,
    },
}

/// What the simulation saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Requests a second.
    pub rps: f64,
    /// Median of arrival → end of the handler.
    pub latency_p50: Nanos,
    /// 95th percentile of it.
    pub latency_p95: Nanos,
    /// 99th percentile of it.
    pub latency_p99: Nanos,
    /// Mean time a request waited for a thread.
    pub queue_mean: Nanos,
    /// Mean time a request waited for the GVL.
    pub gvl_wait_mean: Nanos,
    /// Share of time a worker's GVL was held, mean over the workers, 0 to 1.
    pub gvl_busy: f64,
    /// Share of the cores in use, 0 to 1.
    pub cores_busy: f64,
    /// Share of the threads that had a request, 0 to 1.
    pub threads_busy: f64,
}

/// Replays `count` requests drawn from `requests` with equal chance (so a uniform sample of requests
/// brings its routes' weights along) and says what they met.
///
/// `None` when there is nothing to replay: no requests, all of them empty, or a `count` of zero.
pub fn simulate(
    requests: &[Vec<Burst>],
    setup: &Setup,
    seed: u64,
    count: u32,
) -> Option<Prediction> {
    let requests = requests::Flat::new(requests)?;
    if count == 0 {
        return None;
    }
    Some(engine::Engine::new(&requests, setup, seed, count).run())
}
