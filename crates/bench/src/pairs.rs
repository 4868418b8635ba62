//! Paired blocks: the difference between A and B measured beside each other, with an interval.

use stats::mean;

/// One ABBA block, condensed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Mean of the two A measurements.
    pub(crate) a: f64,
    /// Mean of the two B measurements.
    pub(crate) b: f64,
}

impl Pair {
    fn mean(&self, other: &Pair) -> Pair {
        Pair {
            a: f64::midpoint(self.a, other.a),
            b: f64::midpoint(self.b, other.b),
        }
    }
}

/// Two boots after each other, one of each order, as one. The app that booted first and the one
/// that booted second differ by percents, and only the mean of both orders is free of that: a
/// median over boots of either order lies anywhere between the two. The last of an odd number stays
/// alone.
pub(crate) fn both_orders(boots: &[Vec<Pair>]) -> Vec<Vec<Pair>> {
    let both = |boots: &[Vec<Pair>]| match boots {
        [one, other] => one.iter().zip(other).map(|(a, b)| a.mean(b)).collect(),
        alone => alone.concat(),
    };
    boots.chunks(2).map(both).collect()
}

/// A median with a 95 % interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Resamples of the bootstrap: enough for the ends of a 95 % interval to move by less than a tenth
/// of the width.
const RESAMPLES: usize = 4_000;

/// The median over the boots of each boot's mean of `of`, with the percentile bootstrap's interval
/// (Efron 1979).
///
/// Boots are drawn with replacement, not pairs: where a process happens to lie in memory makes it
/// faster or slower by a percent for all of its life, so that its pairs say the same thing many
/// times over. `None` without a pair.
pub(crate) fn estimate(boots: &[Vec<Pair>], of: impl Fn(&Pair) -> f64) -> Option<Estimate> {
    let values: Vec<f64> = boots
        .iter()
        .filter_map(|pairs| mean(&pairs.iter().map(&of).collect::<Vec<_>>()))
        .collect();
    let interval = stats::percentile_interval(&values, median, RESAMPLES, 0.95)?;
    Some(Estimate {
        median: median(&values)?,
        low: interval.low,
        high: interval.high,
    })
}

/// The middle of the values, of an even number the mean of the two in the middle: the nearest rank
/// would be the lower one, which of few values lies far below the middle.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => None,
        0 => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boots of four pairs each.
    fn boots(pairs: impl Iterator<Item = Pair>) -> Vec<Vec<Pair>> {
        let pairs: Vec<Pair> = pairs.collect();
        pairs.chunks(4).map(<[Pair]>::to_vec).collect()
    }

    #[test]
    fn a_constant_difference_has_no_width() {
        let boots = boots((0..12).map(|number| Pair {
            a: f64::from(number),
            b: f64::from(number) + 2.0,
        }));
        let estimate = estimate(&boots, |pair| pair.b - pair.a).expect("pairs");
        assert_eq!(
            (estimate.low, estimate.median, estimate.high),
            (2.0, 2.0, 2.0)
        );
    }

    #[test]
    fn boots_that_differ_make_it_wide() {
        let boots = boots((0..40).map(|number| Pair {
            a: 0.0,
            b: f64::from(number / 4 * 7 % 10),
        }));
        let estimate = estimate(&boots, |pair| pair.b).expect("pairs");
        assert!(estimate.low <= estimate.median && estimate.median <= estimate.high);
        assert!(estimate.high - estimate.low >= 2.0);
    }

    #[test]
    fn what_the_order_does_is_gone() {
        let boot = |b: f64| vec![Pair { a: 1.0, b }];
        let units = both_orders(&[boot(1.5), boot(0.5), boot(1.2)]);
        let seen: Vec<f64> = units.iter().flatten().map(|pair| pair.b).collect();
        assert_eq!(seen, [1.0, 1.2]);
    }

    #[test]
    fn what_lies_evenly_around_nothing_is_nothing() {
        let even = (0..64).map(|number| Pair {
            a: 0.0,
            b: [-3.0, -1.0, 1.0, 3.0][number % 4],
        });
        let estimate = estimate(&boots(even), |pair| pair.b - pair.a).expect("pairs");
        assert_eq!(estimate.median, 0.0);
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        assert!(estimate(&[], |pair| pair.a).is_none());
    }
}
