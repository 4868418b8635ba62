//! Finds the warm-up needed, from the response times of first boots.

use std::time::Duration;

use crate::median;
use crate::warmup::settling;

/// Requests per point of the series.
const REQUESTS_A_POINT: usize = 10;
/// More points cost time and show no more.
const POINTS_MAX: usize = 80;
/// Fewer points show nothing.
const POINTS_MIN: usize = 16;
/// Factor for boots settling later than the first one.
const ROOM: f64 = 1.5;
/// Seconds of warm-up at least: a connection's first requests are never typical.
const WARMUP_MIN: f64 = 0.5;

/// Share of additional requests needed in the steady part of a closed load. Without think times
/// requests get faster by as much as there are more of them (Little's law). Where there are not so
/// many more, times went from one state of the server's queue to another, which is no warm-up.
const MORE_MIN: f64 = 0.05;

/// Returns the seconds from the first request until the response times of a boot had settled;
/// `None` if not settled, or with too few requests to tell. `samples` holds for each request when
/// it was due, in seconds, and how long it took. `is_saturating`: the load is closed, and no user
/// pauses.
pub fn settled_after(samples: &[(f64, f64)], is_saturating: bool) -> Option<f64> {
    let first = samples.iter().map(|(at, _)| *at).min_by(f64::total_cmp)?;
    let last = samples.iter().map(|(at, _)| *at).max_by(f64::total_cmp)?;
    let length = last - first;
    let points = (samples.len() / REQUESTS_A_POINT).min(POINTS_MAX);
    if points < POINTS_MIN || length <= 0.0 {
        return None;
    }
    let mut series: Vec<Vec<f64>> = vec![Vec::new(); points];
    for (at, took) in samples {
        let point = (((at - first) / length * points as f64) as usize).min(points - 1);
        series[point].push(*took);
    }
    let medians: Vec<f64> = series.iter().filter_map(|values| median(values)).collect();
    let settled = settling(&medians);
    let share = settled.steady_from as f64 / medians.len() as f64;
    let steady = samples
        .iter()
        .filter(|(at, _)| at - first >= share * length);
    let steady = steady.count();
    if is_saturating && !has_more(samples.len() - steady, steady, share) {
        return Some(0.0);
    }
    settled.after?;
    Some(share * length)
}

/// Whether the request rate is clearly higher behind a share of the time than before.
fn has_more(before: usize, behind: usize, share: f64) -> bool {
    // Nothing lies behind what never settles.
    share >= 1.0 || behind as f64 / (1.0 - share) > (1.0 + MORE_MIN) * before as f64 / share
}

/// Returns the warm-up before each measurement: enough for the slower side, never more than
/// `configured` when both settled. `settled` holds the seconds of each side, `None` where a side
/// did not settle.
pub fn warmup(settled: &[Option<f64>], configured: Duration) -> Duration {
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

    /// A request every 10 ms, slow for `slow` requests and fast afterwards.
    fn boot(slow: usize, all: usize) -> Vec<(f64, f64)> {
        let took = |index: usize| if index < slow { 40.0 } else { 10.0 };
        (0..all)
            .map(|index| {
                (
                    index as f64 / 100.0,
                    took(index) + (index % 7) as f64 / 10.0,
                )
            })
            .collect()
    }

    #[test]
    fn a_boot_settles_where_its_times_change() {
        let settled = settled_after(&boot(200, 800), false).expect("it settles");
        assert!((1.8..=2.2).contains(&settled), "{settled}");
        assert_eq!(settled_after(&boot(0, 800), false), Some(0.0));
        assert_eq!(settled_after(&boot(600, 800), false), None, "too late");
        assert_eq!(settled_after(&boot(10, 100), false), None, "too few");
        // As many requests before as behind it: the queue changed, not the app.
        assert_eq!(settled_after(&boot(200, 800), true), Some(0.0));
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
