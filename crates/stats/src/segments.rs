//! Finds changes in the level of a series: segments of equal level, by binary segmentation with a
//! test corrected for the number of looks.
//!
//! The stretch whose values differ most from the others, for how many they are, is cut out where
//! fewer than [`ALPHA`] of random orders of the same values give as great a difference; then the
//! parts are looked at alone. A stretch, not a split in two: a level that comes and goes again
//! leaves both halves alike (circular binary segmentation, Olshen and others 2004). Random orders
//! assume nothing about the shape of the values. Values near each other in time that are alike for
//! another reason than a change, such as a host's mood of the day, look like one: that is what
//! `least` is for. Time grows with the square of the number of values.

use crate::mean;

/// Probability of a split in a series without any change, at the first look; shared out to the
/// looks behind.
pub const ALPHA: f64 = 0.01;
/// Fewer values on a side of a split are an outlier, not a level.
pub const SIDE_MIN: usize = 3;
/// Random orders; the least measurable probability is one in so many plus one.
const ORDERS: usize = 1_999;
/// Seed of the random orders: the same series gives the same segments.
const SEED: u64 = 27;

/// Values of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Index of the first.
    pub from: usize,
    /// Index behind the last.
    pub to: usize,
    /// Mean of the values.
    pub level: f64,
}

/// Divides a series into segments; neighbours differ by `least` at least, in the unit of the
/// values. One segment where nothing changes, none of no values. Values that are no numbers are
/// taken as an error of the caller: the whole is one segment.
pub fn segments(values: &[f64], least: f64) -> Vec<Segment> {
    let mut cuts = vec![0];
    if values.iter().all(|value| value.is_finite()) {
        let mut random = fastrand::Rng::with_seed(SEED);
        split(values, 0, ALPHA, &mut random, &mut cuts);
    }
    cuts.push(values.len());
    cuts.sort_unstable();
    merge(values, cuts, least)
}

/// Values from an index up to another one.
#[derive(Clone, Copy)]
struct Stretch {
    from: usize,
    to: usize,
}

/// Adds the splits of the values, which begin at `offset`.
fn split(
    values: &[f64],
    offset: usize,
    alpha: f64,
    random: &mut fastrand::Rng,
    cuts: &mut Vec<usize>,
) {
    let Some((Stretch { from, to }, _)) = greatest(values) else {
        return;
    };
    let most = |values: &[f64]| greatest(values).map_or(0.0, |(_, difference)| difference);
    if !is_rare(values, most, alpha, random) {
        return;
    }
    // An end of the stretch may lie there for the other end's sake only.
    let mut is_cut = |from: usize, at: usize, to: usize| {
        let behind = Stretch {
            from: at - from,
            to: to - from,
        };
        let here = |values: &[f64]| difference(values, behind);
        at > from && at < to && is_rare(&values[from..to], here, alpha, random)
    };
    let found = [(0, from, to), (from, to, values.len())];
    let kept: Vec<usize> = found
        .into_iter()
        .filter(|(from, at, to)| is_cut(*from, *at, *to))
        .map(|(_, at, _)| at)
        .collect();
    let mut start = 0;
    for at in kept.iter().copied().chain([values.len()]) {
        // Parts are examined again: the whole keeps its chance of a false split.
        if !kept.is_empty() {
            split(
                &values[start..at],
                offset + start,
                alpha / 3.0,
                random,
                cuts,
            );
        }
        start = at;
    }
    cuts.extend(kept.iter().map(|at| offset + at));
}

/// The square of the difference between a stretch and the rest, weighted by how many each are. Of
/// deviations from the mean.
fn difference(values: &[f64], stretch: Stretch) -> f64 {
    let whole = mean(values).unwrap_or(0.0);
    let inside = &values[stretch.from..stretch.to];
    let sum: f64 = inside.iter().map(|value| value - whole).sum();
    weighted(sum, inside.len(), values.len())
}

fn weighted(sum: f64, inside: usize, count: usize) -> f64 {
    sum * sum * count as f64 / (inside as f64 * (count - inside) as f64)
}

/// Returns the stretch with the greatest difference from the rest.
fn greatest(values: &[f64]) -> Option<(Stretch, f64)> {
    let count = values.len();
    let whole = mean(values)?;
    let mut sums = vec![0.0];
    for value in values {
        sums.push(sums[sums.len() - 1] + value - whole);
    }
    let is_edge = |at: usize| at == 0 || at == count || (SIDE_MIN..=count - SIDE_MIN).contains(&at);
    let mut best: Option<(Stretch, f64)> = None;
    if count < 2 * SIDE_MIN {
        return None;
    }
    for from in (0..count).filter(|at| is_edge(*at)) {
        let ends = (from + SIDE_MIN..=count).filter(|at| is_edge(*at));
        for to in ends.filter(|to| count - (to - from) >= SIDE_MIN) {
            let found = weighted(sums[to] - sums[from], to - from, count);
            if best.is_none_or(|(_, greatest)| found > greatest) {
                best = Some((Stretch { from, to }, found));
            }
        }
    }
    best.filter(|(_, difference)| *difference > 0.0)
}

/// Whether no more than a share `alpha` of random orders give as great a statistic.
fn is_rare(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    alpha: f64,
    random: &mut fastrand::Rng,
) -> bool {
    let mut shuffled = values.to_vec();
    let allowed = (alpha * (ORDERS + 1) as f64).floor() as usize;
    // Equal values in another order sum to nearly, not exactly, the same.
    let bound = statistic(values) * (1.0 - 1e-9);
    let mut as_great = 1;
    for _ in 0..ORDERS {
        random.shuffle(&mut shuffled);
        as_great += usize::from(statistic(&shuffled) >= bound);
        if as_great > allowed {
            return false;
        }
    }
    as_great <= allowed
}

/// Takes splits away, the smallest first, until all neighbours differ by `least`.
fn merge(values: &[f64], mut cuts: Vec<usize>, least: f64) -> Vec<Segment> {
    loop {
        let segments: Vec<Segment> = cuts
            .windows(2)
            .filter_map(|ends| {
                let level = mean(&values[ends[0]..ends[1]])?;
                let (from, to) = (ends[0], ends[1]);
                Some(Segment { from, to, level })
            })
            .collect();
        let step = |pair: &[Segment]| (pair[1].level - pair[0].level).abs();
        let smallest = segments
            .windows(2)
            .filter(|pair| step(pair) < least)
            .min_by(|a, b| step(a).total_cmp(&step(b)));
        match smallest {
            Some(pair) => cuts.retain(|cut| *cut != pair[1].from),
            None => return segments,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values about levels, normal enough: sums of uniform ones.
    fn series(levels: &[(f64, usize)], noise: f64, random: &mut fastrand::Rng) -> Vec<f64> {
        let mut values = Vec::new();
        for (level, count) in levels {
            for _ in 0..*count {
                let sum: f64 = (0..12).map(|_| random.f64()).sum();
                values.push(level + noise * (sum - 6.0));
            }
        }
        values
    }

    fn check(values: &[f64], least: f64, expected: &[usize]) {
        let found = segments(values, least);
        let starts: Vec<usize> = found.iter().map(|one| one.from).collect();
        assert_eq!(starts, expected, "{values:?}: {found:?}");
    }

    #[test]
    fn levels_are_found_where_they_change() {
        let mut random = fastrand::Rng::with_seed(1);
        check(&[], 0.0, &[]);
        check(&[1.0], 0.0, &[0]);
        check(&[1.0; 40], 0.0, &[0]);
        check(&[f64::NAN; 40], 0.0, &[0]);
        check(
            &series(&[(1.0, 20), (1.1, 20)], 0.01, &mut random),
            0.0,
            &[0, 20],
        );
        let back = series(&[(1.0, 15), (1.2, 15), (1.0, 15)], 0.01, &mut random);
        check(&back, 0.03, &[0, 15, 30]);
        let short = series(&[(1.0, 8), (1.2, 8), (1.0, 8)], 0.005, &mut random);
        check(&short, 0.03, &[0, 8, 16]);
        check(
            &series(&[(1.0, 20), (1.02, 20)], 0.002, &mut random),
            0.03,
            &[0],
        );
    }

    #[test]
    fn an_outlier_is_no_level() {
        let mut random = fastrand::Rng::with_seed(2);
        let mut values = series(&[(1.0, 30)], 0.01, &mut random);
        values[12] = 5.0;
        check(&values, 0.0, &[0]);
    }

    /// Of series without a change, short and long, even and with a few wild values, about one in a
    /// hundred is split; 1 % of 600 exceeds the bound once in a thousand times.
    #[test]
    fn series_without_a_change_are_left_whole() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut split = 0;
        for round in 0..600 {
            let count = [8, 20, 40][round % 3];
            let mut values = series(&[(0.0, count)], 0.02, &mut random);
            if round % 2 == 1 {
                values
                    .iter_mut()
                    .for_each(|value| *value = value.powi(3) * 1e4);
            }
            split += usize::from(segments(&values, 0.0).len() > 1);
        }
        assert!(split <= 14, "{split} of 600");
    }

    /// A step of three times the scatter, ten values on either side, is the only one found, to
    /// within one value, in 9 of 10 series.
    #[test]
    fn steps_above_the_scatter_are_found() {
        let mut random = fastrand::Rng::with_seed(4);
        let found = (0..100).filter(|_| {
            let values = series(&[(0.0, 10), (0.03, 10)], 0.01, &mut random);
            matches!(&segments(&values, 0.0)[..], [_, second] if second.from.abs_diff(10) <= 1)
        });
        let found = found.count();
        assert!(found >= 90, "{found} of 100");
    }

    proptest! {
        #[test]
        fn segments_follow_each_other(values in prop::collection::vec(-1.0f64..1.0, 0..40), least in 0.0f64..0.5) {
            let found = segments(&values, least);
            prop_assert_eq!(found.first().map_or(0, |first| first.from), 0);
            prop_assert_eq!(found.last().map_or(0, |last| last.to), values.len());
            for pair in found.windows(2) {
                prop_assert_eq!(pair[0].to, pair[1].from);
                prop_assert!((pair[0].level - pair[1].level).abs() >= least);
            }
            for one in &found {
                prop_assert!(found.len() == 1 || one.to - one.from >= SIDE_MIN);
            }
        }

        /// Scale and offset of a series change nothing.
        #[test]
        fn units_change_nothing(values in prop::collection::vec(0i8..40, 0..30), step in prop::bool::ANY) {
            let raised = if step { 200.0 } else { 0.0 };
            let half = values.len() / 2;
            let plain: Vec<f64> = values.iter().enumerate()
                .map(|(at, value)| f64::from(*value) + if at < half { 0.0 } else { raised }).collect();
            let scaled: Vec<f64> = plain.iter().map(|value| value * 4.0 + 512.0).collect();
            let starts = |values: &[f64]| segments(values, 0.0).iter().map(|one| one.from).collect::<Vec<_>>();
            prop_assert_eq!(starts(&plain), starts(&scaled));
        }
    }
}
