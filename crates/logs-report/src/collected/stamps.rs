//! Stamps of a host's log, moved by the offset of the host's clock to ours.

use collect::follow::Followed;
use collect::message::Entry;

/// Grain of the times of most logs: nginx and Apache write whole seconds, cut off.
const GRAIN_NS: i64 = 1_000_000_000;
/// Seconds of a series; what is later is not of a measurement.
const SECONDS_MAX: usize = 24 * 3600;
const MS_NS: i64 = 1_000_000;

/// Requests by the second of the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seconds {
    /// From the common zero of all hosts on.
    pub(crate) requests: Vec<u64>,
    /// Requests with an end before the window, beyond doubt: lines written late.
    pub(crate) early: u64,
}

/// Returns the requests by second after `origin_ns` of our clock; `None` without stamps, or for a
/// clock never compared with ours.
pub(super) fn seconds(ends_ms: &[i64], followed: &Followed, origin_ns: i64) -> Option<Seconds> {
    let (clock, began_ns) = (followed.clock?, followed.began_ns?);
    let doubt_ns = GRAIN_NS.saturating_add_unsigned(clock.bound_ns);
    let mut seconds = Seconds::default();
    for ended_ms in ends_ms {
        let ours_ns = clock.to_ours(ended_ms.saturating_mul(MS_NS));
        let is_early = clock.is_steady && ours_ns < began_ns.saturating_sub(doubt_ns);
        seconds.early += u64::from(is_early);
        let second = ours_ns
            .saturating_sub(origin_ns)
            .div_euclid(GRAIN_NS)
            .max(0);
        let second = usize::try_from(second).unwrap_or(SECONDS_MAX);
        if second >= SECONDS_MAX {
            continue;
        }
        if seconds.requests.len() <= second {
            seconds.requests.resize(second + 1, 0);
        }
        seconds.requests[second] += 1;
    }
    (!ends_ms.is_empty()).then_some(seconds)
}

/// Returns the time of a message, seconds after `origin_ns` of our clock; `None` for a clock never
/// compared with ours.
pub(super) fn at_s(entry: &Entry, followed: &Followed, origin_ns: Option<i64>) -> Option<f64> {
    let ours_ns = followed.clock?.to_ours(entry.at_us.saturating_mul(1_000));
    Some(ours_ns.saturating_sub(origin_ns?) as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use remote::clock::Offset;

    use super::*;

    /// A host whose clock is ahead of ours by so many milliseconds.
    fn followed(ahead_ms: i64) -> Followed {
        Followed {
            cores: 1,
            core_limit: None,
            usage: None,
            clock: Some(Offset {
                nanos: ahead_ms * MS_NS,
                bound_ns: 2_000_000,
                is_steady: true,
            }),
            logs: Vec::new(),
            database: None,
            inside: None,
            units: Vec::new(),
            began_ns: Some(100 * GRAIN_NS),
            lost: None,
        }
    }

    #[test]
    fn stamps_of_clocks_that_are_off_fall_into_the_seconds_of_ours() {
        let ours = [100_200, 100_900, 101_100, 103_050];
        for ahead_ms in [-300, 0, 300, 86_400_000] {
            let theirs = ours.map(|ms| ms + ahead_ms);
            let seconds = seconds(&theirs, &followed(ahead_ms), 100 * GRAIN_NS);
            let expected = Seconds {
                requests: vec![2, 1, 0, 1],
                early: 0,
            };
            assert_eq!(seconds, Some(expected), "{ahead_ms}");
        }
    }

    #[test]
    fn lines_of_before_the_window_are_early_beyond_grain_and_doubt() {
        let ends = [98_900, 98_997, 98_999, 99_500, 100_000];
        let seconds = seconds(&ends, &followed(0), 100 * GRAIN_NS).expect("stamps");
        assert_eq!(seconds.early, 2);
        assert_eq!(seconds.requests, [5]);
        assert_eq!(super::seconds(&[], &followed(0), 0), None);
    }
}
