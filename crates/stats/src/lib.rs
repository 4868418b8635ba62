//! Quantiles with intervals, comparisons in paired blocks, and the settling of a series. Pure
//! arithmetic; knows no unit.
//!
//! Start reading at [`comparison`], which says what may be claimed of A and B ([`contest`]: of
//! several); [`bootstrap`] makes its intervals, [`covariate`] takes out of them what something else
//! explains, [`warmup`] separates warm-up from steady state. [`design`] says how many blocks of
//! which length, [`settle`] how much warm-up, [`segments`] where a history changes, [`calm`] and
//! [`baseline`] what of a measurement the host disturbed. Here are the quantiles.
//!
//! A quantile here is the *nearest rank*: the smallest value of the sample such that at least a
//! share `q` of the sample is not above it. It is always a value of the sample, never one in
//! between, so a p99 of 80 samples is the greatest one; ask [`quantile_interval`] how far it can be
//! trusted.

pub mod baseline;
pub mod bootstrap;
pub mod calm;
pub mod comparison;
pub mod contest;
pub mod covariate;
pub mod design;
pub mod segments;
pub mod settle;
pub mod warmup;

pub use bootstrap::{Interval, difference_interval, percentile_interval, simultaneous_intervals};

/// Index of the `q`-quantile in a sorted sample of `count` values by nearest rank; `None` when
/// empty.
///
/// `q` is clamped to 0..=1.
pub fn rank(count: usize, q: f64) -> Option<usize> {
    let last = count.checked_sub(1)?;
    let rank = (q.clamp(0.0, 1.0) * count as f64).ceil() as usize;
    Some(rank.saturating_sub(1).min(last))
}

/// The `q`-quantile of values sorted ascending, by nearest rank; `None` when empty.
pub fn quantile<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    rank(sorted.len(), q).map(|index| sorted[index])
}

/// The median of values in any order, by nearest rank; `None` when empty. NaN sorts last.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// The mean; `None` when empty.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Two values between which the true `q`-quantile lies with probability `confidence` at least.
///
/// By order statistics: the number of samples below the true quantile is binomial(count, q),
/// whatever the distribution, if the samples are independent. Requests of one run are not quite
/// (they queue behind each other), so the interval is a lower bound of the doubt. `None` when the
/// sample is too small to bound the quantile on both sides: p99 at 95 % needs 368 samples or more.
pub fn quantile_interval<T: Copy>(sorted: &[T], q: f64, confidence: f64) -> Option<(T, T)> {
    let (low, high) = interval_ranks(sorted.len(), q, confidence)?;
    Some((sorted[low], sorted[high]))
}

/// The indices behind [`quantile_interval`].
pub fn interval_ranks(count: usize, q: f64, confidence: f64) -> Option<(usize, usize)> {
    if count == 0 || !(0.0..=1.0).contains(&q) || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    let mut below = 0.0;
    let mut low = None;
    for successes in 0..=count {
        let probability = binomial(count, successes, q);
        if below <= tail {
            low = successes.checked_sub(1);
        }
        below += probability;
        if below >= 1.0 - tail {
            // P(successes ≤ this) is enough: the value of rank successes + 1 bounds from above.
            return (successes < count)
                .then_some(())
                .and(low)
                .map(|low| (low, successes));
        }
    }
    None
}

/// Probability of `successes` out of `count` trials of probability `p`, by logarithms.
fn binomial(count: usize, successes: usize, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { count };
        return f64::from(u8::from(successes == certain));
    }
    let (n, k) = (count as f64, successes as f64);
    let choices = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    (choices + k * p.ln() + (n - k) * (1.0 - p).ln()).exp()
}

/// Returns ln(n!): from 10 on by Stirling's series, with an error below 1e-9; by multiplying below.
fn ln_factorial(n: f64) -> f64 {
    if n < 10.0 {
        return (2..=n as u32).map(|factor| f64::from(factor).ln()).sum();
    }
    let series = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3)) + 1.0 / (1260.0 * n.powi(5));
    n * n.ln() - n + 0.5 * (2.0 * std::f64::consts::PI * n).ln() + series
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(sorted: &[u32], q: f64, expected: Option<u32>) {
        assert_eq!(quantile(sorted, q), expected, "{q} of {sorted:?}");
    }

    #[test]
    fn quantiles_are_values_of_the_sample() {
        check(&[], 0.5, None);
        check(&[7], 0.0, Some(7));
        check(&[7], 1.0, Some(7));
        check(&[1, 2], 0.5, Some(1));
        check(&[1, 2, 3], 0.5, Some(2));
        check(&[1, 2, 3, 4], 0.75, Some(3));
        check(&[1, 2, 3, 4], 0.76, Some(4));
        check(&(1..=100).collect::<Vec<_>>(), 0.99, Some(99));
        check(&(1..=80).collect::<Vec<_>>(), 0.99, Some(80));
        check(&[1, 2], 7.0, Some(2));
    }

    #[test]
    fn means_and_medians() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 4.0]), Some(2.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }

    /// Ranks from published tables of the sign test's interval for the median, counted from one.
    #[test]
    fn intervals_agree_with_tables() {
        let ranks = |count| interval_ranks(count, 0.5, 0.95).map(|(low, high)| (low + 1, high + 1));
        assert_eq!(ranks(5), None);
        assert_eq!(ranks(6), Some((1, 6)));
        assert_eq!(ranks(10), Some((2, 9)));
        assert_eq!(ranks(20), Some((6, 15)));
        assert_eq!(ranks(100), Some((40, 61)));
    }

    #[test]
    fn small_samples_do_not_bound_a_tail() {
        assert_eq!(interval_ranks(367, 0.99, 0.95), None);
        assert!(interval_ranks(368, 0.99, 0.95).is_some());
        assert_eq!(quantile_interval::<u32>(&[], 0.5, 0.95), None);
    }

    proptest! {
        #[test]
        fn intervals_hold_the_quantile(count in 1usize..3_000, q in 0.01f64..0.99) {
            if let (Some((low, high)), Some(at)) = (interval_ranks(count, q, 0.95), rank(count, q)) {
                prop_assert!(low <= at && at <= high && high < count);
            }
        }

        #[test]
        fn quantiles_do_not_fall(mut values in prop::collection::vec(any::<u32>(), 1..50), a in 0.0f64..1.0, b in 0.0f64..1.0) {
            values.sort_unstable();
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            prop_assert!(quantile(&values, low) <= quantile(&values, high));
        }
    }
}
