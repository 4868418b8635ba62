//! Repeats processes disturbed by slow cores.
//!
//! What slows a core (a neighbour on its other thread, the clock rate) hits contenders by chance.
//! Which process is run again is decided by the cores' own pace alone, never by its figure, so that
//! the choice favours nobody.

use stats::baseline::{Baseline, Disturbance};

use crate::bench::Missing;
use crate::sample::Sample;

/// Runs of the same process, at most.
const RUNS_MAX: usize = 3;
/// Greatest share of repeated processes: on a host never calm, time is better spent on more blocks.
const AGAIN_SHARE: f64 = 0.25;

/// The usual pace of the host.
#[derive(Clone, Debug, Default)]
pub struct Calm {
    baseline: Baseline,
    measured: usize,
    again: usize,
}

impl Calm {
    /// Measures until the cores were as fast as usual, or often enough; returns the calmest.
    pub fn measure(
        &mut self,
        mut once: impl FnMut() -> Result<Sample, Missing>,
    ) -> Result<Sample, Missing> {
        let mut best: Option<Sample> = None;
        for _ in 0..RUNS_MAX {
            let sample = once()?;
            let seen = Disturbance {
                // The contender itself is most of what runs here.
                others: 0.0,
                pace: sample.pace.map(|pace| pace as u64),
            };
            let is_disturbed = self.baseline.judge(seen).is_disturbed();
            self.measured += 1;
            let pace = |sample: &Sample| sample.pace.unwrap_or(0.0);
            if best
                .as_ref()
                .is_none_or(|known| pace(&sample) < pace(known))
            {
                best = Some(sample);
            }
            if !is_disturbed || self.again as f64 > AGAIN_SHARE * self.measured as f64 {
                break;
            }
            self.again += 1;
        }
        best.ok_or(Missing::Interrupted)
    }

    /// Returns the number of repeated processes.
    pub fn again(&self) -> usize {
        self.again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_moments_are_measured_again() {
        let mut calm = Calm::default();
        let check = |calm: &mut Calm, paces: &[f64], expected: f64| {
            let mut paces = paces.iter();
            let sample = calm.measure(|| {
                Ok(Sample {
                    pace: paces.next().copied(),
                    ..Sample::default()
                })
            });
            assert_eq!(sample.expect("measured").pace, Some(expected));
            assert_eq!(paces.next(), None, "fewer runs than expected");
        };
        for _ in 0..8 {
            check(&mut calm, &[100.0], 100.0);
        }
        check(&mut calm, &[130.0, 101.0], 101.0);
        check(&mut calm, &[130.0, 120.0, 125.0], 120.0);
        assert_eq!(calm.again(), 4);
    }
}
