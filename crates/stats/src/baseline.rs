//! The usual state of a host: whether a measurement was disturbed in relation to earlier ones.

use crate::{median, quantile};

/// Share of the cores used by others above the usual share from which a measurement is disturbed.
/// Chosen by judgement.
const DISTURBED: f64 = 0.05;
/// Ratio to the usual pace up to which slow cores are no disturbance. A neighbour all the time
/// makes one of two 1.4 times as slow, so that both together are 1.1 to 1.2 times; at 1.08 a
/// request of `three-servers` cpu took 1 to 2 % more, which is what a measurement is good for
/// anyway.
const SLOW: f64 = 1.08;
/// Quantile of the measurements' paces taken as the usual pace of the cores.
const FAST_SHARE: f64 = 0.25;

/// Disturbance of a measurement by the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbance {
    /// Core time used by other programs and the hypervisor, as a share of all, 0 to 1.
    pub others: f64,
    /// Time of the fixed piece of work on a core in the calmest moments; `None` if the cores cannot
    /// be watched.
    pub pace: Option<u64>,
}

/// A disturbance in relation to what is usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relative {
    /// Share of the cores used by others, 0 to 1.
    pub others: f64,
    /// Pace of the cores in relation to the usual one; 1 is usual, more is slower.
    pub slowness: f64,
    /// The greater of both in relation to the limit; above 1 the measurement is better repeated.
    pub excess: f64,
}

/// Disturbances of the measurements so far.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    others: Vec<f64>,
    paces: Vec<u64>,
}

impl Baseline {
    /// Relates a measurement to the ones before, and adds the measurement to the baseline. The
    /// first one is as usual.
    pub fn judge(&mut self, seen: Disturbance) -> Relative {
        let limit = median(&self.others).map(|usual| DISTURBED + 2.0 * usual);
        let fast = quantile(&self.paces, FAST_SHARE);
        let slowness = (seen.pace.zip(fast)).map_or(1.0, |(pace, fast)| pace as f64 / fast as f64);
        let taken = limit.map_or(0.0, |limit| seen.others / limit);
        self.others.push(seen.others);
        self.paces.extend(seen.pace);
        self.paces.sort_unstable();
        Relative {
            others: seen.others,
            slowness,
            excess: taken.max(slowness / SLOW),
        }
    }
}

impl Relative {
    /// Whether the measurement is better repeated.
    pub fn is_disturbed(&self) -> bool {
        self.excess > 1.0
    }

    /// Whether slow cores are the cause of a disturbance; otherwise other programs are.
    pub fn is_slow(&self) -> bool {
        self.slowness > SLOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_disturbs_nothing() {
        let check = |before: &[f64], others: f64, expected: bool| {
            let mut usual = Baseline::default();
            let seen = |others| Disturbance { others, pace: None };
            for others in before {
                usual.judge(seen(*others));
            }
            let judged = usual.judge(seen(others));
            assert_eq!(judged.is_disturbed(), expected, "{before:?} {others}");
        };
        check(&[], 0.5, false);
        check(&[0.0, 0.0], 0.04, false);
        check(&[0.0, 0.0], 0.06, true);
        check(&[0.2, 0.1, 0.2], 0.4, false);
        check(&[0.2, 0.1, 0.2], 0.5, true);
    }

    #[test]
    fn slow_cores_disturb_unless_they_are_nearly_always_slow() {
        let check = |before: &[u64], pace: u64, expected: Option<&str>| {
            let mut usual = Baseline::default();
            let mut judge = |pace| {
                usual.judge(Disturbance {
                    others: 0.0,
                    pace: Some(pace),
                })
            };
            for pace in before {
                judge(*pace);
            }
            let judged = judge(pace);
            let slowness = format!("{:.2}", judged.slowness);
            let slower = (judged.is_disturbed() && judged.is_slow()).then_some(slowness);
            assert_eq!(slower.as_deref(), expected, "{before:?} {pace}");
            assert_eq!(judged.is_disturbed(), expected.is_some());
        };
        let slower = Some("1.25");
        check(&[], 100, None);
        check(&[60, 61], 62, None);
        check(&[60, 60], 75, slower);
        check(&[75, 60, 75, 60, 75], 75, slower);
        check(&[75, 75, 75, 75, 60], 75, None);
        check(&[75, 75], 60, None);
    }
}
