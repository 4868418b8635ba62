//! Sums over the counted requests, and the resulting prediction.

use recording::Nanos;

use super::Engine;
use crate::Prediction;

/// Sums over the counted requests.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) latency: Vec<u64>,
    /// Requests ended by a thread.
    pub(super) served: u64,
    pub(super) queue: f64,
    pub(super) gvl_wait: f64,
    pub(super) sql: f64,
    pub(super) switching: f64,
    pub(super) pausing: f64,
    pub(super) lock_wait: f64,
    /// Time between taking a GVL and giving the GVL up, and the CPU used meanwhile, ns.
    pub(super) slices: f64,
    pub(super) slices_cpu: f64,
    /// Time of the first counted request, ns.
    pub(super) began: f64,
    /// Requests due and not answered, now.
    pub(super) in_system: u32,
    in_system_time: f64,
    held: f64,
    locked: f64,
    worked: f64,
    threads_busy: f64,
}

impl Engine<'_> {
    pub(super) fn add_passed(&mut self, passed: f64, worked: f64) {
        let held = self.workers.iter().filter(|worker| worker.holder.is_some());
        self.seen.held += passed * held.count() as f64;
        let places = self.setup.lock_places.max(1);
        let locked = self.workers.iter().map(|worker| worker.lock.held);
        self.seen.locked += passed * f64::from(locked.sum::<u32>()) / f64::from(places);
        self.seen.worked += worked;
        self.seen.threads_busy += passed * f64::from(self.threads_busy);
        self.seen.in_system_time += passed * f64::from(self.seen.in_system);
    }

    pub(super) fn predict(mut self) -> Prediction {
        let mut latency = std::mem::take(&mut self.seen.latency);
        latency.sort_unstable();
        let quantile = |q| Nanos(stats::quantile(&latency, q).unwrap_or(0));
        let answered = latency.len().max(1) as f64;
        let served = self.seen.served.max(1) as f64;
        let length = (self.now - self.seen.began).max(1.0);
        let mean = |sum: f64| Nanos((sum / served) as u64);
        Prediction {
            rps: latency.len() as f64 / length * 1e9,
            latency_p50: quantile(0.5),
            latency_p95: quantile(0.95),
            latency_p99: quantile(0.99),
            latency_mean: Nanos((latency.iter().sum::<u64>() as f64 / answered) as u64),
            in_system_mean: self.seen.in_system_time / length,
            queue_mean: mean(self.seen.queue),
            gvl_wait_mean: mean(self.seen.gvl_wait),
            sql_mean: mean(self.seen.sql),
            switching_mean: mean(self.seen.switching),
            pausing_mean: mean(self.seen.pausing),
            lock_wait_mean: mean(self.seen.lock_wait),
            lock_busy: self.seen.locked / length / self.workers.len() as f64,
            on_core: self.seen.slices_cpu / self.seen.slices.max(1.0),
            gvl_busy: self.seen.held / length / self.workers.len() as f64,
            cores_busy: self.seen.worked / length / f64::from(self.setup.cores.max(1)),
            threads_busy: self.seen.threads_busy / length / self.threads.len() as f64,
        }
    }
}
