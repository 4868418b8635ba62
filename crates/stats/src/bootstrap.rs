//! The bootstrap (Efron 1979): how far a sample's figures may be off, by the sample alone.

use crate::{mean, quantile};

/// Seed of the resamples, fixed to give equal intervals for equal facts.
const SEED: u64 = 1;

/// Two ends between which something lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies in the closed interval.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether zero lies outside; not of an interval of unknown values.
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Half of the distance between the ends.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Draws as many of `count` units as there are, with replacement, `resamples` times; `each` gets
/// the drawn indices.
pub fn resample(count: usize, resamples: usize, mut each: impl FnMut(&[usize])) {
    if count == 0 {
        return;
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut drawn = vec![0; count];
    for _ in 0..resamples {
        drawn.fill_with(|| random.usize(..count));
        each(&drawn);
    }
}

/// The percentile bootstrap's interval of `statistic` over the values; `None` without a value, or
/// when no resample has the statistic.
pub fn percentile_interval(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    resamples: usize,
    confidence: f64,
) -> Option<Interval> {
    let mut seen = Vec::with_capacity(resamples);
    let mut taken = Vec::with_capacity(values.len());
    resample(values.len(), resamples, |drawn| {
        taken.clear();
        taken.extend(drawn.iter().map(|index| values[*index]));
        seen.extend(statistic(&taken));
    });
    seen.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some(Interval {
        low: quantile(&seen, tail)?,
        high: quantile(&seen, 1.0 - tail)?,
    })
}

/// The percentile bootstrap's interval of the difference between the means of two independent
/// samples, `a` minus `b`; `None` with fewer than two values of either. The spread is widened for
/// few values by the root of n/(n - 1), which the bootstrap leaves out.
pub fn difference_interval(
    a: &[f64],
    b: &[f64],
    confidence: f64,
    resamples: usize,
) -> Option<Interval> {
    if a.len().min(b.len()) < 2 {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut drawn = |values: &[f64]| {
        let sum: f64 = (0..values.len())
            .map(|_| values[random.usize(..values.len())])
            .sum();
        sum / values.len() as f64
    };
    let mut seen: Vec<f64> = (0..resamples).map(|_| drawn(a) - drawn(b)).collect();
    seen.sort_by(f64::total_cmp);
    let center = mean(a)? - mean(b)?;
    let fewest = a.len().min(b.len()) as f64;
    let widened = |end: f64| center + (end - center) * (fewest / (fewest - 1.0)).sqrt();
    let tail = (1.0 - confidence) / 2.0;
    Some(Interval {
        low: widened(quantile(&seen, tail)?),
        high: widened(quantile(&seen, 1.0 - tail)?),
    })
}

/// Returns intervals of the means of several rows measured in the same units (one `Vec` a unit, one
/// value a row), all valid at once with probability `1 - alpha`. `None` with fewer than two units,
/// or units of unequal length.
///
/// By the wild bootstrap (Liu 1988, Annals of Statistics 16): each resample keeps or turns the sign
/// of every unit's deviation from the mean, all rows of a unit together, so that rows that move
/// together cost less than Bonferroni's bound asks; and the greatest studentised deviation over the
/// rows is what is bounded (Westfall & Young 1993). Drawing units with replacement instead takes
/// the same few units many times where there are few, and made intervals a hundred times too wide.
/// Signs of `n` units tell apart 1 in 2ⁿ⁻¹, so below that `alpha` the ends are infinite. A row
/// without any spread has an interval without width.
pub fn simultaneous_intervals(
    units: &[Vec<f64>],
    alpha: f64,
    resamples: usize,
) -> Option<Vec<Interval>> {
    let rows = units.first()?.len();
    if units.len() < 2 || units.iter().any(|unit| unit.len() != rows) {
        return None;
    }
    let seen: Vec<Moments> = (0..rows)
        .map(|row| Moments::of(units.iter().map(|unit| unit[row])))
        .collect();
    let factor = greatest_deviation(units, &seen, alpha, resamples);
    let interval = |moments: &Moments| {
        let reach = if moments.error > 0.0 {
            factor * moments.error
        } else {
            0.0
        };
        Interval {
            low: moments.mean - reach,
            high: moments.mean + reach,
        }
    };
    Some(seen.iter().map(interval).collect())
}

/// Returns the `1 - alpha` quantile, over the resamples, of the farthest row's distance from the
/// row's mean in standard errors.
fn greatest_deviation(units: &[Vec<f64>], seen: &[Moments], alpha: f64, resamples: usize) -> f64 {
    if alpha * 2f64.powi(units.len() as i32 - 1) < 1.0 {
        return f64::INFINITY;
    }
    let spread = seen.iter().enumerate().filter(|(_, row)| row.error > 0.0);
    let rows: Vec<Vec<f64>> = spread
        .map(|(row, seen)| units.iter().map(|unit| unit[row] - seen.mean).collect())
        .collect();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut signs = vec![1.0; units.len()];
    let mut greatest: Vec<f64> = (0..resamples)
        .map(|_| {
            signs.fill_with(|| if random.bool() { 1.0 } else { -1.0 });
            let deviation = |row: &Vec<f64>| {
                let turned = row.iter().zip(&signs).map(|(value, sign)| value * sign);
                Moments::of(turned).deviation()
            };
            rows.iter().map(deviation).fold(0.0, f64::max)
        })
        .collect();
    greatest.sort_by(f64::total_cmp);
    quantile(&greatest, 1.0 - alpha).unwrap_or(f64::INFINITY)
}

/// Mean and standard error of a row.
pub(crate) struct Moments {
    mean: f64,
    pub(crate) error: f64,
}

impl Moments {
    pub(crate) fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Moments {
        let count = values.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Moments {
            mean,
            error: (squares / (count - 1.0) / count).sqrt(),
        }
    }

    /// Returns the distance of the mean from zero, in standard errors.
    pub(crate) fn deviation(&self) -> f64 {
        if self.mean == 0.0 {
            0.0
        } else {
            (self.mean / self.error).abs()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::median;

    #[test]
    fn a_constant_has_no_width() {
        let units = vec![vec![2.0, -1.0]; 8];
        let intervals = simultaneous_intervals(&units, 0.05, 500).expect("units");
        assert_eq!(
            intervals[0],
            Interval {
                low: 2.0,
                high: 2.0
            }
        );
        assert_eq!(
            intervals[1],
            Interval {
                low: -1.0,
                high: -1.0
            }
        );
        let interval = percentile_interval(&[3.0; 5], median, 200, 0.95);
        assert_eq!(
            interval,
            Some(Interval {
                low: 3.0,
                high: 3.0
            })
        );
    }

    #[test]
    fn differences_of_samples_hold_their_means() {
        let a: Vec<f64> = (0..12).map(|value| 3.0 + f64::from(value % 4)).collect();
        let b: Vec<f64> = (0..9).map(|value| f64::from(value % 3)).collect();
        let interval = difference_interval(&a, &b, 0.95, 2_000).expect("values");
        assert!(
            interval.contains(3.5) && interval.half_width() < 1.5,
            "{interval:?}"
        );
        assert_eq!(difference_interval(&a, &[1.0], 0.95, 100), None);
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        assert_eq!(simultaneous_intervals(&[], 0.05, 100), None);
        assert_eq!(simultaneous_intervals(&[vec![1.0]], 0.05, 100), None);
        let uneven = [vec![1.0], vec![1.0, 2.0]];
        assert_eq!(simultaneous_intervals(&uneven, 0.05, 100), None);
        assert_eq!(percentile_interval(&[], median, 100, 0.95), None);
    }

    proptest! {
        #[test]
        fn intervals_hold_the_mean_and_widen_with_certainty(
            units in prop::collection::vec(prop::collection::vec(-5.0f64..5.0, 3), 6..20),
        ) {
            let sure = simultaneous_intervals(&units, 0.01, 400).expect("units");
            let less = simultaneous_intervals(&units, 0.2, 400).expect("units");
            for (row, (sure, less)) in sure.iter().zip(&less).enumerate() {
                let mean = units.iter().map(|unit| unit[row]).sum::<f64>() / units.len() as f64;
                prop_assert!(less.low - 1e-9 <= mean && mean <= less.high + 1e-9);
                prop_assert!(sure.low <= less.low && less.high <= sure.high);
            }
        }

        #[test]
        fn the_unit_of_measure_does_not_matter(
            units in prop::collection::vec(prop::collection::vec(-5.0f64..5.0, 2), 6..12),
            shift in -100.0f64..100.0,
        ) {
            let moved: Vec<Vec<f64>> = units.iter()
                .map(|unit| unit.iter().map(|value| value + shift).collect())
                .collect();
            let before = simultaneous_intervals(&units, 0.1, 300).expect("units");
            let after = simultaneous_intervals(&moved, 0.1, 300).expect("units");
            for (before, after) in before.iter().zip(&after) {
                prop_assert!((before.half_width() - after.half_width()).abs() <= 1e-6 * (1.0 + before.half_width()));
            }
        }
    }
}
