//! Separates warm-up and steady state of a series.
//!
//! By Pettitt's change point (1979, Applied Statistics 28): ranks only, so that neither the shape
//! of the values nor a few outliers matter. The earliest change that the test finds is cut off, and
//! the rest is tested again, as long as a change is found in what is left; a change in the last
//! part means that the series has not settled.

use crate::mean;

/// Probability of a cut in a series without any change. Low, since several are looked at.
const ALPHA: f64 = 0.001;

/// Fewest values for a result of the test at level [`ALPHA`].
const VALUES_MIN: usize = 12;

/// Share of a series behind the last change from which the series has settled.
const STEADY_SHARE: f64 = 1.0 / 3.0;

/// Share of the level below which changes are no warm-up, however sure. Chosen by judgement.
const CHANGE_MIN: f64 = 0.05;

/// Result for a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settling {
    /// Index of the steady part's beginning; the length of the series if never steady.
    pub steady_from: usize,
    /// Mean before the steady part; `None` for a series steady from the start.
    pub before: Option<f64>,
    /// Mean of the steady part; `None` if never steady.
    pub after: Option<f64>,
}

/// Finds the end of the warm-up in values at equal distances in time.
pub fn settling(values: &[f64]) -> Settling {
    let mut steady_from = 0;
    while let Some(change) = change_point(&values[steady_from..]) {
        let (head, tail) = values[steady_from..].split_at(change);
        if !is_worth_it(head, tail) {
            break;
        }
        steady_from += change;
    }
    if ((values.len() - steady_from) as f64) < STEADY_SHARE * values.len() as f64 {
        steady_from = values.len();
    }
    let (before, after) = values.split_at(steady_from);
    Settling {
        steady_from,
        before: mean(before),
        after: mean(after),
    }
}

fn is_worth_it(head: &[f64], tail: &[f64]) -> bool {
    match (mean(head), mean(tail)) {
        (Some(head), Some(tail)) => (head - tail).abs() > CHANGE_MIN * tail.abs(),
        _ => false,
    }
}

/// Returns the index of the first value after the most likely change; `None` for changes explained
/// by chance.
pub fn change_point(values: &[f64]) -> Option<usize> {
    let count = values.len();
    if count < VALUES_MIN {
        return None;
    }
    let mut statistic = 0i64;
    let (mut greatest, mut at) = (0i64, 0);
    for split in 0..count - 1 {
        // Pettitt's recursion: what the value at the split adds is its rank sign against all
        // others.
        statistic += values
            .iter()
            .map(|other| sign(values[split], *other))
            .sum::<i64>();
        if statistic.abs() > greatest {
            (greatest, at) = (statistic.abs(), split + 1);
        }
    }
    let (k, n) = (greatest as f64, count as f64);
    let probability = 2.0 * (-6.0 * k * k / (n.powi(3) + n.powi(2))).exp();
    (probability < ALPHA).then_some(at)
}

fn sign(a: f64, b: f64) -> i64 {
    i64::from(a > b) - i64::from(a < b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values about a level, the same every time.
    fn around(level: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count)
            .map(|_| level * (0.95 + 0.1 * random.f64()))
            .collect()
    }

    #[test]
    fn a_steady_series_is_steady_from_the_start() {
        let settled = settling(&around(10.0, 80, 3));
        assert_eq!((settled.steady_from, settled.before), (0, None));
        assert_eq!(settling(&[]).steady_from, 0);
        assert_eq!(settling(&[5.0; 40]).steady_from, 0);
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values = [around(20.0, 15, 1), around(10.0, 60, 2)].concat();
        let settled = settling(&values);
        assert_eq!(settled.steady_from, 15);
        assert!(settled.before > settled.after, "{settled:?}");
    }

    #[test]
    fn two_steps_are_both_warm_up() {
        let values = [
            around(40.0, 12, 1),
            around(20.0, 14, 2),
            around(10.0, 70, 4),
        ]
        .concat();
        assert_eq!(settling(&values).steady_from, 26);
    }

    #[test]
    fn what_changes_near_the_end_never_settles() {
        let values = [around(20.0, 60, 1), around(10.0, 20, 2)].concat();
        assert_eq!(settling(&values).steady_from, values.len());
    }

    #[test]
    fn outliers_are_no_change() {
        let mut values = around(10.0, 80, 9);
        values[5] = 900.0;
        values[60] = 700.0;
        assert_eq!(settling(&values).steady_from, 0);
    }

    proptest! {
        #[test]
        fn the_cut_lies_within(values in prop::collection::vec(0.1f64..100.0, 0..120)) {
            let settled = settling(&values);
            prop_assert!(settled.steady_from <= values.len());
            prop_assert_eq!(settled.before.is_none(), settled.steady_from == 0);
        }

        /// Series without a change are cut about as rarely as the test says.
        #[test]
        fn chance_is_seldom_taken_for_a_change(seed in 0u64..200) {
            prop_assert_eq!(settling(&around(10.0, 60, seed)).steady_from, 0);
        }
    }
}
