//! Cost of work after a pause, whose memory has left the caches.
//!
//! What a pause costs grows with the square root of the work after it: the more has run, the more
//! of the memory needed next is there already.

use crate::{COOLING, WARMING};

/// Work for which the cost is given, ns.
const UNIT: f64 = 1e6;

/// State of the caches, for a worker or a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pause {
    /// Effect of the pauses so far on what runs next, 0 to 1.
    effect: f64,
    /// CPU since the last pause, ns.
    run: f64,
}

impl Pause {
    /// Rests for `nanos`.
    pub(crate) fn rest(&mut self, nanos: f64) {
        if nanos > 0.0 {
            let left = self.effect * (-self.run / WARMING).exp();
            self.effect = 1.0 - (1.0 - left) * (-nanos / COOLING).exp();
            self.run = 0.0;
        }
    }

    /// Runs for `cpu` nanoseconds; returns the CPU to be paid besides, where a long pause costs the
    /// first millisecond `most`.
    pub(crate) fn run(&mut self, cpu: f64, most: f64) -> f64 {
        let before = (self.run / UNIT).sqrt();
        self.run += cpu.max(0.0);
        most * self.effect * ((self.run / UNIT).sqrt() - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;
    const MOST: f64 = 0.6 * MS;

    /// Returns what all turns of work of `run_ms` pay, each after one of the pauses.
    fn paid(pauses_ms: &[f64], run_ms: f64) -> f64 {
        let mut pause = Pause::default();
        let each = pauses_ms.iter().map(|ms| {
            pause.rest(ms * MS);
            pause.run(run_ms * MS, MOST)
        });
        each.sum::<f64>() / MS
    }

    #[test]
    fn a_long_pause_costs_all_of_it_and_a_short_one_little() {
        assert!((paid(&[500.0], 1.0) - 0.6).abs() < 0.001);
        assert!((paid(&[500.0], 4.0) - 1.2).abs() < 0.001);
        assert!(paid(&[0.5], 1.0) < 0.02);
        assert!(paid(&[5.0], 1.0) < paid(&[10.0], 1.0));
        assert_eq!(paid(&[0.0], 5.0), 0.0);
    }

    #[test]
    fn what_runs_in_pieces_pays_as_much_as_in_one() {
        let together = paid(&[500.0, 0.0, 0.0, 0.0], 0.05);
        assert!((together - paid(&[500.0], 0.2)).abs() < 1e-9);
        // Short work leaves a part of the effect to what follows a short rest.
        assert!(paid(&[500.0, 0.1], 0.05) > 1.5 * paid(&[500.0], 0.05));
        assert!(paid(&[500.0, 0.1], 5.0) < 1.01 * paid(&[500.0], 5.0));
    }
}
