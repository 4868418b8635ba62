//! Paired blocks: what differs between A and B measured beside each other, and how sure that is.

/// One ABBA block, condensed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Mean of the two A measurements.
    pub(crate) a: f64,
    /// Mean of the two B measurements.
    pub(crate) b: f64,
}

/// A median with its 95 % interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Resamples of the bootstrap: the ends of a 95 % interval then move by less than a tenth of its width.
const RESAMPLES: usize = 4_000;

/// The median over the pairs of `of`, with the percentile bootstrap's interval (Efron 1979): pairs are
/// drawn with replacement, since the block and not the request is the unit.
pub(crate) fn estimate(pairs: &[Pair], of: impl Fn(&Pair) -> f64) -> Estimate {
    let values: Vec<f64> = pairs.iter().map(of).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut drawn: Vec<f64> = (0..values.len())
                .map(|_| values[random.usize(..values.len())])
                .collect();
            median(&mut drawn)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    Estimate {
        median: median(&mut values.clone()),
        low: medians[RESAMPLES / 40],
        high: medians[RESAMPLES - 1 - RESAMPLES / 40],
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        (values[middle - 1] + values[middle]) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_difference_has_no_width() {
        let pairs: Vec<Pair> = (0..10)
            .map(|number| Pair {
                a: f64::from(number),
                b: f64::from(number) + 2.0,
            })
            .collect();
        let estimate = estimate(&pairs, |pair| pair.b - pair.a);
        assert_eq!(
            (estimate.low, estimate.median, estimate.high),
            (2.0, 2.0, 2.0)
        );
    }

    #[test]
    fn the_interval_holds_the_median() {
        let pairs: Vec<Pair> = (0..30)
            .map(|number| Pair {
                a: 0.0,
                b: f64::from(number * 7 % 30),
            })
            .collect();
        let estimate = estimate(&pairs, |pair| pair.b);
        assert!(estimate.low <= estimate.median && estimate.median <= estimate.high);
        assert!(estimate.low < estimate.high);
    }
}
