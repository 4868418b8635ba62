//! Level changes of one contender over many stored benches.
//!
//! Machines are looked at apart, and benches on cores of an unusual pace are left out, as
//! [`crate::past`] claims nothing of them. What is left is divided by [`stats::segments`]; a change
//! must exceed the [`DRIFT`] of hosts.

use stats::segments::{self, SIDE_MIN};
use stats::{mean, median};

use crate::past::{DRIFT, Kept};

/// Fewer benches of a machine show no change point.
pub const BENCHES_MIN: usize = 2 * SIDE_MIN;

/// Greatest number of benches considered per machine, the newest: the time grows with the square.
pub const BENCHES_MAX: usize = 300;

/// A bench of the history.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The machine of the bench.
    pub machine: &'a str,
    /// The measured figures.
    pub kept: &'a Kept,
}

/// Benches of one machine and one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Indices of the level's benches in the history, ascending.
    pub points: Vec<usize>,
    /// How many times as good as the level before on the same machine; `None` for the first.
    pub ratio: Option<f64>,
}

/// Returns the levels of a history, machine by machine in order of first occurrence, the oldest
/// level first. A bench without figures or on cores of another pace than its machine's median is in
/// none, nor is one before the newest [`BENCHES_MAX`].
pub fn levels(points: &[Point<'_>]) -> Vec<Level> {
    let mut machines: Vec<&str> = Vec::new();
    for point in points {
        if !machines.contains(&point.machine) {
            machines.push(point.machine);
        }
    }
    machines
        .into_iter()
        .flat_map(|machine| of_machine(points, machine))
        .collect()
}

fn of_machine(points: &[Point<'_>], machine: &str) -> Vec<Level> {
    let here = |point: &Point<'_>| point.machine == machine;
    let paces: Vec<f64> = points
        .iter()
        .filter(|point| here(point))
        .filter_map(|point| point.kept.pace)
        .collect();
    let usual = median(&paces);
    let is_usual = |kept: &Kept| match (kept.pace, usual) {
        (Some(pace), Some(usual)) => (pace / usual).ln().abs() <= DRIFT.ln_1p(),
        _ => true,
    };
    let (places, goodness): (Vec<usize>, Vec<f64>) = points
        .iter()
        .enumerate()
        .filter(|(_, point)| here(point) && is_usual(point.kept))
        .filter_map(|(index, point)| Some((index, point.kept.goodness()?)))
        .unzip();
    let skipped = goodness.len().saturating_sub(BENCHES_MAX);
    let (places, goodness) = (&places[skipped..], &goodness[skipped..]);
    let found = segments::segments(goodness, DRIFT.ln_1p());
    let level = |index: usize| {
        let segment = found[index];
        let before = index.checked_sub(1).map(|before| found[before].level);
        Level {
            points: places[segment.from..segment.to].to_vec(),
            ratio: before.map(|before| (segment.level - before).exp()),
        }
    };
    (0..found.len()).map(level).collect()
}

impl Kept {
    /// Returns the logarithm of the figure's goodness: greater is better. `None` without figures.
    fn goodness(&self) -> Option<f64> {
        let sign = if self.is_more_better { 1.0 } else { -1.0 };
        mean(&self.logs).map(|log| sign * log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns benches of a job with the given durations, with a wobble below 1 %.
    fn kept(seconds: &[f64]) -> Vec<Kept> {
        let one = |(index, seconds): (usize, &f64)| Kept {
            name: ["join".into(), "ruby".into()],
            unit: "i/s".into(),
            value: Some(1.0 / seconds),
            logs: vec![(seconds * (1.0 + 0.002 * (index * 7 % 5) as f64)).ln(); 12],
            pace: Some(100.0),
            is_more_better: false,
        };
        seconds.iter().enumerate().map(one).collect()
    }

    fn points(all: &[Kept]) -> Vec<Point<'_>> {
        let point = |kept| Point { machine: "a", kept };
        all.iter().map(point).collect()
    }

    #[test]
    fn a_change_is_found_with_its_ratio() {
        let all = kept(&[vec![1.0; 10], vec![1.1; 10]].concat());
        let levels = levels(&points(&all));
        assert_eq!(levels.len(), 2, "{levels:?}");
        assert_eq!(levels[1].points, (10..20).collect::<Vec<_>>());
        let ratio = levels[1].ratio.expect("a level before");
        assert!((ratio - 1.0 / 1.1).abs() < 0.01, "{ratio}");
        assert_eq!(levels[0].ratio, None);
    }

    #[test]
    fn less_than_drift_and_few_benches_show_none() {
        let check = |seconds: &[f64]| {
            let all = kept(seconds);
            assert_eq!(levels(&points(&all)).len(), 1, "{seconds:?}");
        };
        check(&[vec![1.0; 10], vec![1.02; 10]].concat());
        check(&[1.0, 1.0, 2.0, 2.0]);
        assert_eq!(levels(&[]), []);
    }

    #[test]
    fn another_machine_and_another_pace_are_no_change() {
        let mut all = kept(&[vec![1.0; 10], vec![1.1; 9]].concat());
        let mut points: Vec<Point<'_>> = points(&all);
        points[10..]
            .iter_mut()
            .for_each(|point| point.machine = "b");
        let apart = levels(&points);
        assert_eq!(
            apart.iter().filter(|level| level.ratio.is_some()).count(),
            0
        );
        all[10..]
            .iter_mut()
            .for_each(|kept| kept.pace = Some(110.0));
        let left: Vec<usize> = levels(&self::points(&all))
            .into_iter()
            .flat_map(|level| level.points)
            .collect();
        assert_eq!(left, (0..10).collect::<Vec<_>>());
    }
}
