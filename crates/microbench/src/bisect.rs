//! Which commit made it slower? Halving over a line of commits, each step a bench of the commit in
//! the middle beside both ends.
//!
//! The ends stand in every step's blocks, so that a step never compares with what the machine did
//! earlier. A commit belongs to the end that it is nearer to; that is claimed once its interval
//! beside that end lies within half of the difference of the ends.

use stats::comparison::Verdict;

/// A search at work: indices into the line of commits, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisect {
    good: usize,
    bad: usize,
}

/// Where the commit in the middle belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// As the older end.
    Good,
    /// As the newer end.
    Bad,
    /// Cannot be told.
    Unclear,
}

impl Bisect {
    /// Over so many commits, the first and last of which differ.
    pub fn new(commits: usize) -> Bisect {
        Bisect {
            good: 0,
            bad: commits.saturating_sub(1),
        }
    }

    /// The commit to measure next; `None` when the first one that differs is known.
    pub fn middle(&self) -> Option<usize> {
        (self.bad > self.good + 1).then_some(self.good + (self.bad - self.good) / 2)
    }

    /// Takes a step; what cannot be told ends the search.
    pub fn take(&mut self, middle: usize, side: Side) -> bool {
        match side {
            Side::Good => self.good = middle,
            Side::Bad => self.bad = middle,
            Side::Unclear => return false,
        }
        true
    }

    /// The last commit known to be as the older end, and the first known to be as the newer one.
    pub fn found(&self) -> (usize, usize) {
        (self.good, self.bad)
    }

    /// Steps that are left at most.
    pub fn steps(&self) -> u32 {
        (self.bad - self.good).next_power_of_two().trailing_zeros()
    }
}

/// The equivalence bound of a step: half of the difference between the ends, in logarithms.
pub fn margin(ends_ratio: f64) -> f64 {
    (ends_ratio.ln().abs() / 2.0).exp_m1()
}

/// Where the middle belongs, by what is claimed of it beside both ends and by its two ratios.
pub fn side(good: (Verdict, f64), bad: (Verdict, f64)) -> Side {
    let is_same = |verdict| verdict == Verdict::Same;
    match (is_same(good.0), is_same(bad.0)) {
        (true, false) => Side::Good,
        (false, true) => Side::Bad,
        // Both are within half of the difference: the nearer one, if it is clearly nearer.
        _ => {
            let [good, bad] = [good.1, bad.1].map(|ratio| ratio.ln().abs());
            if good < 0.6 * bad {
                Side::Good
            } else if bad < 0.6 * good {
                Side::Bad
            } else {
                Side::Unclear
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found_in_as_many_steps_as_halving_takes() {
        for commits in 2..70 {
            for planted in 1..commits {
                let mut bisect = Bisect::new(commits);
                let most = bisect.steps();
                let mut steps = 0;
                while let Some(middle) = bisect.middle() {
                    let side = if middle < planted {
                        Side::Good
                    } else {
                        Side::Bad
                    };
                    assert!(bisect.take(middle, side));
                    steps += 1;
                }
                assert_eq!(bisect.found(), (planted - 1, planted));
                assert!(steps <= most, "{commits} {planted}");
            }
        }
    }

    #[test]
    fn the_nearer_end_decides() {
        assert_eq!(
            side((Verdict::Same, 1.0), (Verdict::Lower, 0.97)),
            Side::Good
        );
        assert_eq!(
            side((Verdict::Unclear, 1.028), (Verdict::Same, 1.0)),
            Side::Bad
        );
        assert_eq!(
            side((Verdict::Unclear, 1.002), (Verdict::Unclear, 0.97)),
            Side::Good
        );
        assert_eq!(
            side((Verdict::Unclear, 1.015), (Verdict::Unclear, 0.985)),
            Side::Unclear
        );
        assert!((margin(1.03) - 0.0149).abs() < 1e-4);
    }
}
