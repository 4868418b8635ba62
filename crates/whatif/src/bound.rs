//! Upper bounds on throughput, and mean-value analysis for comparison.

use crate::{Load, Setup, Workload};

/// Returns the most requests per second possible in the setup, in whatever order things happen: the
/// tightest bound of the GVLs, the cores, the threads and the clients, each taken alone (asymptotic
/// bounds, Denning and Buzen 1978).
pub fn rps_max(workload: &Workload, setup: &Setup) -> f64 {
    let means = workload.means();
    let (run, wait, beside) = (means.run, means.wait, means.beside());
    let generator = setup.costs.generator.0 as f64;
    let alone = run + wait + beside;
    let workers = f64::from(setup.workers.max(1));
    let threads = workers * f64::from(setup.threads.max(1));
    let turnaround = setup.costs.turnaround.0 as f64;
    let bounds = [
        workers / run,
        f64::from(setup.cores.max(1)) / (run + beside + generator),
        threads / (alone + turnaround),
        1.0 / generator,
        offered(&setup.load, alone + generator),
    ];
    bounds.into_iter().fold(f64::INFINITY, f64::min) * 1e9
}

/// Returns the requests per nanosecond offered by the clients when each request takes `alone` ns.
fn offered(load: &Load, alone: f64) -> f64 {
    match *load {
        Load::Closed { clients, think } => f64::from(clients.max(1)) / (alone + think.0 as f64),
        Load::Open { rate, .. } => rate / 1e9,
    }
}

/// Returns the requests per second of `threads` threads of one worker, never idle, by exact
/// mean-value analysis of one queue for the GVL and a delay (Reiser and Lavenberg 1980). It assumes
/// exponential bursts and so is below what regular ones reach; the truth lies between it and
/// [`rps_max`].
pub fn rps_mean_value(workload: &Workload, threads: u32) -> f64 {
    let means = workload.means();
    let (run, wait, beside) = (means.run, means.wait, means.beside());
    let delay = wait + beside;
    let (mut queued, mut rate) = (0.0, 0.0);
    for number in 1..=threads.max(1) {
        let response = run * (1.0 + queued);
        rate = f64::from(number) / (response + delay);
        queued = rate * response;
    }
    rate * 1e9
}
