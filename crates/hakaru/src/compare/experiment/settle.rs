//! How long the warm-up has to be, seen from the first boots.

use std::time::Duration;

use recording::{Timestamp, Window};
use stats::median;
use stats::warmup::settling;

use crate::segment::Segment;

/// Requests that make a point of the series.
const REQUESTS_A_POINT: usize = 10;
/// More points cost time and show no more.
const POINTS_MAX: usize = 80;
/// Fewer show nothing.
const POINTS_MIN: usize = 16;
/// Room for boots that settle later than the first one did.
const ROOM: f64 = 1.5;
/// A connection's first requests are never typical.
const WARMUP_MIN: f64 = 0.5;

/// In a closed load without think times requests get faster by as much as there are more of them (Little's law). Where
/// there are not by this share more, times went from one state of the server's queue to another: that is no warm-up.
const MORE_MIN: f64 = 0.05;

/// Seconds from the first request until the times of this boot had settled; `None` when they had not, or nothing can be said.
/// Only what was due while the cores were calm is looked at, and only that time counts: a host that gets faster is no app that
/// warms up. `is_saturating`: the load is closed, and nobody thinks.
pub(super) fn after(segment: &Segment, is_saturating: bool) -> Option<f64> {
    let answered = (segment.exchanges.iter()).filter(|exchange| exchange.outcome.was_answered());
    let seen: Vec<(f64, f64)> = answered
        .filter_map(|exchange| {
            let took = exchange.answered.since(exchange.sent);
            Some((calm_s(&segment.calm, exchange.due)?, took.as_millis_f64()))
        })
        .collect();
    let first = seen.iter().map(|(at, _)| *at).min_by(f64::total_cmp)?;
    let last = seen.iter().map(|(at, _)| *at).max_by(f64::total_cmp)?;
    let length = last - first;
    let points = (seen.len() / REQUESTS_A_POINT).min(POINTS_MAX);
    if points < POINTS_MIN || length <= 0.0 {
        return None;
    }
    let mut series: Vec<Vec<f64>> = vec![Vec::new(); points];
    for (at, took_ms) in &seen {
        let point = (((at - first) / length * points as f64) as usize).min(points - 1);
        series[point].push(*took_ms);
    }
    let medians: Vec<f64> = series.iter().filter_map(|values| median(values)).collect();
    let settled = settling(&medians);
    let share = settled.steady_from as f64 / medians.len() as f64;
    let steady = seen.iter().filter(|(at, _)| at - first >= share * length);
    let steady = steady.count();
    if is_saturating && !has_more(seen.len() - steady, steady, share) {
        return Some(0.0);
    }
    settled.after?;
    Some(share * length)
}

/// Calm time until then, seconds; `None` when that is no calm moment.
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

/// Whether clearly more requests are answered in the same time behind this share of it than before.
fn has_more(before: usize, behind: usize, share: f64) -> bool {
    // Nothing lies behind what never settles.
    share >= 1.0 || behind as f64 / (1.0 - share) > (1.0 + MORE_MIN) * before as f64 / share
}

/// The warm-up before each measurement: enough for the slower side, never more than was configured when both settled.
pub(super) fn warmup(settled: &[Option<f64>], configured: Duration) -> Duration {
    let Some(longest) = settled
        .iter()
        .copied()
        .try_fold(0.0, |most: f64, one| Some(most.max(one?)))
    else {
        return configured;
    };
    let wanted = Duration::from_secs_f64((longest * ROOM).max(WARMUP_MIN));
    if longest * ROOM <= configured.as_secs_f64() {
        wanted.min(configured)
    } else {
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_faster_afterwards_was_no_warm_up() {
        assert!(has_more(100, 300, 0.3));
        assert!(!has_more(300, 690, 0.3), "as many");
        assert!(!has_more(0, 100, 0.0), "steady from the start");
        assert!(has_more(100, 0, 1.0), "never steady");
    }

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

    #[test]
    fn the_slower_side_decides() {
        let check = |settled: &[Option<f64>], expected_s: f64| {
            let warmup = warmup(settled, Duration::from_secs(3));
            assert!(
                (warmup.as_secs_f64() - expected_s).abs() < 1e-9,
                "{settled:?}: {warmup:?}"
            );
        };
        check(&[Some(0.0), Some(0.0)], 0.5);
        check(&[Some(0.4), Some(1.0)], 1.5);
        check(&[Some(4.0), Some(1.0)], 6.0);
        check(&[None, Some(1.0)], 3.0);
    }
}
