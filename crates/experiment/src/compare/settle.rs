//! When a boot had settled, in calm time.

use recording::{Timestamp, Window};

use crate::measurement::Measurement;

/// Returns the seconds from the first request until response times after the boot had settled;
/// `None` for times still falling, or for too few. Only what was due while the cores were calm is
/// looked at, and only that time counts: a host that gets faster is no app that warms up.
/// `is_saturating`: the load is closed, and no user pauses.
pub(super) fn after(measurement: &Measurement, is_saturating: bool) -> Option<f64> {
    let answered = (measurement.exchanges.iter())
        .filter(|exchange| exchange.was_answered())
        .filter_map(|exchange| {
            let took = exchange.answered.since(exchange.sent);
            let at = calm_s(&measurement.calm, exchange.due)?;
            Some((at, took.as_millis_f64()))
        });
    let samples: Vec<(f64, f64)> = answered.collect();
    stats::settle::settled_after(&samples, is_saturating)
}

/// Returns the calm time until `at`, seconds; `None` for an instant which is not calm.
fn calm_s(calm: &[Window], at: Timestamp) -> Option<f64> {
    let count = calm.partition_point(|window| window.start <= at);
    let (now, before) = calm[..count].split_last()?;
    let passed: f64 = before
        .iter()
        .map(|window| window.length().as_secs_f64())
        .sum();
    now.contains(at)
        .then(|| passed + at.since(now.start).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calm_time_passes() {
        let at = |ms: u64| Timestamp::from_monotonic_nanos(ms * 1_000_000);
        let window = |[start, end]: [u64; 2]| Window {
            start: at(start),
            end: at(end),
        };
        let calm = [[1_000, 1_500], [2_000, 2_500]].map(window);
        let check = |ms: u64, expected: Option<f64>| {
            assert_eq!(calm_s(&calm, at(ms)), expected, "{ms}");
        };
        check(999, None);
        check(1_250, Some(0.25));
        check(1_500, None);
        check(2_250, Some(0.75));
        assert_eq!(calm_s(&[], at(0)), None);
    }
}
