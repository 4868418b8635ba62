//! Waking threads. What that takes depends on whether a core idles.

use super::Engine;
use crate::BESIDE_BUSY;

impl Engine<'_> {
    /// Returns the time until a thread woken now runs, ns; `None` with no idle core, where a turn
    /// is all to wait for.
    pub(super) fn wake(&self) -> Option<f64> {
        let nanos = self.setup.costs.wake.0 as f64;
        (nanos > 0.0 && self.cores.idle()).then_some(nanos)
    }

    /// Returns and records the present cost, ns, of `beside_idle` ns of CPU for waking or being
    /// woken.
    pub(super) fn switching(&mut self, beside_idle: f64) -> f64 {
        let share = if self.cores.idle() { 1.0 } else { BESIDE_BUSY };
        let cpu = beside_idle * share;
        if self.done >= self.warmup {
            self.seen.switching += cpu;
        }
        cpu
    }
}

#[cfg(test)]
mod tests {
    use recording::{Burst, BurstKind, Nanos};

    use crate::{BESIDE_BUSY, Costs, Demands, Prediction, STATEMENT, Setup, Workload, simulate};

    const MS: u64 = 1_000_000;

    /// Returns the replay of requests of 3 ms of one kind from five clients, on as many threads of
    /// one worker.
    fn replay(kind: BurstKind, cores: u32, costs: Costs) -> Prediction {
        let length = Nanos(3 * MS);
        let requests = [vec![Burst { kind, length }]];
        let workload = Workload::new(&requests, &Demands::default()).unwrap();
        let setup = Setup {
            costs,
            ..Setup::closed(1, 5, cores, 5)
        };
        simulate(&workload, &setup, 1, 5_000).unwrap()
    }

    fn near(have: f64, want: f64) {
        assert!((have / want - 1.0).abs() < 0.02, "{have} is not {want}");
    }

    #[test]
    fn only_a_core_that_idles_has_to_be_woken() {
        let costs = Costs {
            wake: Nanos(MS),
            ..Costs::default()
        };
        near(replay(BurstKind::Running, 4, costs).rps, 250.0);
        near(replay(BurstKind::Running, 1, costs).rps, 1_000.0 / 3.0);
    }

    #[test]
    fn a_switch_takes_cpu_with_the_gvl_and_less_where_no_core_idles() {
        let costs = Costs {
            switch: Nanos(MS),
            ..Costs::default()
        };
        let beside_idle = replay(BurstKind::Running, 4, costs);
        near(beside_idle.rps, 250.0);
        near(beside_idle.switching_mean.as_millis_f64(), 1.0);
        let beside_busy = replay(BurstKind::Running, 1, costs);
        near(beside_busy.rps, 1_000.0 / (3.0 + BESIDE_BUSY));
        near(beside_busy.switching_mean.as_millis_f64(), BESIDE_BUSY);
    }

    #[test]
    fn a_statements_way_takes_cpu_beside_its_wait() {
        let costs = Costs {
            switch: Nanos(MS / 100),
            ..Costs::default()
        };
        let seen = replay(BurstKind::Sql, 16, costs);
        near(seen.sql_mean.as_millis_f64(), 3.0);
        near(seen.switching_mean.as_millis_f64(), STATEMENT / 100.0);
    }
}
