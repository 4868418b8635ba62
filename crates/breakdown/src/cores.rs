//! Whether the cores were equally fast all the time.

use recording::{Nanos, Recording};

/// Ratio to the fastest quarter of seconds from which a second is slow; chance alone gives 1.02.
const SLOW: f64 = 1.05;
/// Seconds from which anything is said.
const SECONDS_MIN: usize = 4;

/// Changes in the speed of the cores within the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreSpeed {
    /// Share of the seconds with slow cores.
    pub slow_share: f64,
    /// Time of the same work in slow seconds, as a multiple of the fastest quarter's; 1 without
    /// slow seconds.
    pub slower: f64,
    /// Mean time of the work: distinguishes a slow run from a fast one of the same program on the
    /// same host.
    pub pace: Nanos,
}

impl CoreSpeed {
    /// Share of the time lost to slow cores.
    pub fn lost(&self) -> f64 {
        self.slow_share * (self.slower - 1.0)
    }
}

/// Returns the speed by the times of the fixed piece of work, second by second; `None` without some
/// seconds of watched cores.
pub fn core_speed(recording: &Recording) -> Option<CoreSpeed> {
    let window = recording.window;
    let inside = recording.host.iter().filter(|one| window.contains(one.at));
    let mut paces: Vec<Nanos> = inside.filter_map(|sample| sample.core_pace).collect();
    if paces.len() < SECONDS_MIN {
        return None;
    }
    paces.sort_unstable();
    let fast = paces[paces.len() / 4].0.max(1) as f64;
    let ratios = paces.iter().map(|pace| pace.0 as f64 / fast);
    let slow: Vec<f64> = ratios.filter(|ratio| *ratio > SLOW).collect();
    let sum: Nanos = paces.iter().copied().sum();
    Some(CoreSpeed {
        pace: Nanos(sum.0 / paces.len() as u64),
        slow_share: slow.len() as f64 / paces.len() as f64,
        slower: match slow.len() {
            0 => 1.0,
            count => slow.iter().sum::<f64>() / count as f64,
        },
    })
}

#[cfg(test)]
mod tests {
    use recording::{HostSample, Timestamp, Window};

    use super::*;

    fn speed(paces: &[u64]) -> Option<CoreSpeed> {
        let at = Timestamp::from_monotonic_nanos;
        let sample = |(second, pace): (usize, &u64)| HostSample {
            at: at(second as u64),
            core_pace: (*pace > 0).then_some(Nanos(*pace)),
            ..HostSample::default()
        };
        core_speed(&Recording {
            window: Window {
                start: at(0),
                end: at(paces.len() as u64),
            },
            host: paces.iter().enumerate().map(sample).collect(),
            ..Recording::default()
        })
    }

    #[test]
    fn slow_seconds_are_told_from_fast_ones() {
        let told = |slow_share, slower, pace| {
            let pace = Nanos(pace);
            Some(CoreSpeed {
                slow_share,
                slower,
                pace,
            })
        };
        assert_eq!(speed(&[100, 102, 99, 103]), told(0.0, 1.0, 101));
        assert_eq!(speed(&[100, 125, 100, 125]), told(0.5, 1.25, 112));
        assert_eq!(speed(&[0, 125, 125, 125, 125]), told(0.0, 1.0, 125));
        assert_eq!(speed(&[100, 125, 100]), None);
        assert_eq!(speed(&[0; 9]), None);
        let lost = speed(&[100, 125, 100, 125]).map(|speed| speed.lost());
        assert_eq!(lost, Some(0.125));
    }
}
