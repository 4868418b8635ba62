//! Finds the commit with a slowdown by a search over a line of commits with unreliable steps: each
//! step is a bench of a commit in the middle beside both ends.
//!
//! The ends stand in every step's blocks, so that a step never compares with what the machine did
//! earlier. A step does not decide: it moves the *belief*, how probable it is of each commit that
//! it is the first that differs (Burnashev and Zigangirov's search with noisy comparisons). The
//! next step measures where the belief is halved, so a step that showed little is repeated by
//! itself, and one that erred is set right by those behind it. At the end the commit that is
//! believed is measured beside the one before it; a commit of which that shows nothing is not
//! named.

use stats::comparison::Verdict;
use stats::contest::Pair;

/// Belief at which a commit is named.
const SURE: f64 = 0.99;
/// Greatest factor by which a step multiplies odds: two other steps outweigh one whose error is
/// larger than the blocks say, such as in a disturbance as long as the step.
const ODDS_MAX: f64 = 10_000.0;
/// Odds from which a step counts as clear.
const ODDS_CLEAR: f64 = 20.0;
/// Logarithm by which equivalent commits may differ for good: the location of the code differs from
/// one to the next.
const UNRELATED: f64 = 0.002;
/// Precise steps in a row with results between both ends, after which more would show the same,
/// such as where several commits share the difference.
const BETWEEN_MAX: usize = 3;
/// Steps beyond what halving without errors takes: on a noisy host a place takes two or three.
const STEPS_MORE: usize = 12;
/// Benches of the ends, each twice as long as the one before, after which the ends count as equal.
const ENDS_MAX: u32 = 2;

/// What is measured next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Both ends, for so many times the time of a step.
    Ends(u32),
    /// The commit of the given index, beside both ends.
    Middle(usize),
    /// The commit of the given index, beside the one before.
    Last(usize),
}

/// Outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The commit is as the older end.
    Older,
    /// The commit is as the newer end.
    Newer,
    /// Not much.
    Unclear,
}

/// How a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// No difference between the ends is shown.
    Alike,
    /// Index of the first differing commit, and the ratio to the one before.
    Found(usize, f64),
    /// The commit lies behind the first index and up to the second, with 95 %.
    Within(usize, usize),
}

/// A logarithm of a ratio, with the standard error.
#[derive(Clone, Copy, Debug)]
struct Difference {
    log: f64,
    error: f64,
}

/// A search at work: commits are indices, the oldest first.
#[derive(Clone, Debug)]
pub struct Search {
    /// Logarithm of the odds of each commit but the first, up to a common constant.
    belief: Vec<f64>,
    ends: Vec<Difference>,
    differ: bool,
    steps_left: usize,
    between: usize,
    confirmed: Option<(usize, f64)>,
}

impl Search {
    /// Over so many commits, two at least.
    pub fn new(commits: usize) -> Search {
        let places = commits.saturating_sub(1).max(1);
        Search {
            belief: vec![0.0; places],
            ends: Vec::new(),
            differ: false,
            steps_left: halvings(places) + STEPS_MORE,
            between: 0,
            confirmed: None,
        }
    }

    /// What to measure next; `None` at the end.
    pub fn next(&self) -> Option<Step> {
        if !self.differ {
            let before = self.ends.len() as u32;
            return (before < ENDS_MAX).then_some(Step::Ends(1 << before));
        }
        if self.confirmed.is_some() || self.steps_left == 0 || self.between >= BETWEEN_MAX {
            return None;
        }
        match self.believed() {
            Some(commit) => Some(Step::Last(commit)),
            None => Some(Step::Middle(self.halving())),
        }
    }

    /// Returns the commits measured by a step, the oldest first.
    pub fn commits(&self, step: Step) -> Vec<usize> {
        let last = self.belief.len();
        match step {
            Step::Ends(_) => vec![0, last],
            Step::Middle(middle) => vec![0, middle, last],
            Step::Last(commit) => vec![commit - 1, commit],
        }
    }

    /// Returns the equivalence bound of a step, half of the difference between the ends; `None`
    /// while the difference is unknown.
    pub fn margin(&self) -> Option<f64> {
        self.differ.then(|| (self.apart().abs() / 2.0).exp_m1())
    }

    /// Takes the verdict of a step's bench on each pair of commits, in the order of
    /// [`Search::commits`]; `None` when a ratio is missing.
    pub fn take(&mut self, step: Step, pairs: &[Pair]) -> Option<Side> {
        let known = |a, b| {
            let pair = pairs.iter().find(|pair| (pair.a, pair.b) == (a, b))?;
            let difference = Difference {
                log: pair.ratio?.ln(),
                // Too few blocks tell nothing.
                error: pair.error.unwrap_or(f64::INFINITY),
            };
            Some((difference, pair.verdict))
        };
        let (odds, most) = match step {
            Step::Ends(_) => {
                let (ends, verdict) = known(0, 1)?;
                self.ends.push(ends);
                self.differ = matches!(verdict, Verdict::Lower | Verdict::Higher);
                if self.differ && self.belief.len() == 1 {
                    self.confirmed = Some((1, ends.log.exp()));
                }
                return Some(Side::Unclear);
            }
            Step::Middle(middle) => {
                let (older, newer) = (known(0, 1)?.0, known(1, 2)?.0);
                self.ends.push(known(0, 2)?.0);
                let (odds, most) = odds_of_middle(older, newer, self.apart());
                let (before, behind) = self.belief.split_at_mut(middle);
                before.iter_mut().for_each(|belief| *belief += odds / 2.0);
                behind.iter_mut().for_each(|belief| *belief -= odds / 2.0);
                (odds, most)
            }
            Step::Last(commit) => {
                let seen = known(0, 1)?.0;
                let (odds, most) = odds_of_last(seen, self.apart());
                self.belief[commit - 1] += odds;
                let is_sure = odds > 0.0 && self.believed() == Some(commit);
                self.confirmed = is_sure.then(|| (commit, seen.log.exp()));
                (odds, most)
            }
        };
        self.steps_left = self.steps_left.saturating_sub(1);
        let side = if odds.abs() < ODDS_CLEAR.ln() {
            Side::Unclear
        } else if odds > 0.0 {
            Side::Newer
        } else {
            Side::Older
        };
        let is_between = side == Side::Unclear && most > 2.0 * ODDS_CLEAR.ln();
        self.between = if is_between { self.between + 1 } else { 0 };
        Some(side)
    }

    /// The newer end over the older one, by all benches of both.
    pub fn ratio(&self) -> f64 {
        self.apart().exp()
    }

    /// Returns the number of steps left, if each step is clear.
    pub fn steps(&self) -> usize {
        match self.belief.len() {
            1 => 0,
            places => halvings(places) + 1,
        }
    }

    /// What is known at the end, or at Ctrl-C.
    pub fn end(&self) -> End {
        match self.confirmed {
            Some((commit, ratio)) => End::Found(commit, ratio),
            None if !self.differ => End::Alike,
            None => self.within(),
        }
    }

    fn shares(&self) -> Vec<f64> {
        let most = self.belief.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = self.belief.iter().map(|one| (one - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    fn believed(&self) -> Option<usize> {
        let shares = self.shares();
        let place = shares.iter().position(|share| *share >= SURE)?;
        Some(place + 1)
    }

    /// The commit between whose two sides the belief is divided most evenly.
    fn halving(&self) -> usize {
        let shares = self.shares();
        let mut before = 0.0;
        let mut best = (f64::MAX, 1);
        for (index, share) in shares.iter().enumerate().take(shares.len() - 1) {
            before += share;
            let uneven = f64::abs(before - 0.5);
            if uneven < best.0 {
                best = (uneven, index + 1);
            }
        }
        best.1
    }

    /// Without 2.5 % of the belief at either side.
    fn within(&self) -> End {
        let shares = self.shares();
        let first = outside(shares.iter());
        let last = shares.len() - outside(shares.iter().rev());
        End::Within(first, last.max(first + 1))
    }

    /// Returns the logarithm of the newer end over the older one: the mean of all benches, weighted
    /// by precision.
    fn apart(&self) -> f64 {
        let weight = |one: &Difference| 1.0 / variance(one.error, UNRELATED);
        let sum: f64 = self.ends.iter().map(weight).sum();
        let weighted = self.ends.iter().map(|one| one.log * weight(one));
        weighted.sum::<f64>() / sum.max(f64::MIN_POSITIVE)
    }
}

/// How many of the first hold no more than 2.5 % together.
fn outside<'a>(mut shares: impl Iterator<Item = &'a f64>) -> usize {
    let mut sum = 0.0;
    let reached = shares.position(|share| {
        sum += share;
        sum > 0.025
    });
    reached.unwrap_or(0)
}

/// Returns the logarithm of the odds for the middle being like the newer end, given the ratios to
/// both ends; and the value expected of such a middle.
///
/// Their difference is the distance of the ends when it is, and minus that when it is as the older
/// one. Both ratios hold the middle's own error, so their errors add up at worst.
fn odds_of_middle(older: Difference, newer: Difference, apart: f64) -> (f64, f64) {
    let seen = older.log - newer.log;
    let variance = variance(older.error + newer.error, 2.0 * UNRELATED);
    odds(seen, apart, variance)
}

/// Returns the logarithm of the odds for a commit differing from the one before as the ends do, and
/// not being equal; and the value expected of such a commit.
fn odds_of_last(seen: Difference, apart: f64) -> (f64, f64) {
    let centred = seen.log - apart / 2.0;
    odds(centred, apart / 2.0, variance(seen.error, UNRELATED))
}

/// Returns logarithmic odds for a value of either `apart` or `-apart`, within a normal error;
/// limited to the greatest odds of a step.
fn odds(seen: f64, apart: f64, variance: f64) -> (f64, f64) {
    let most = ODDS_MAX.ln();
    let of = |seen: f64| 2.0 * seen * apart / variance;
    (of(seen).clamp(-most, most), of(apart))
}

fn variance(error: f64, unrelated: f64) -> f64 {
    error * error + unrelated * unrelated
}

/// Steps in which halving without errors finds one of so many.
fn halvings(places: usize) -> usize {
    places.next_power_of_two().trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pairs of a bench of commits at the given logarithms, each with the given error.
    fn pairs(levels: &[f64], error: f64) -> Vec<Pair> {
        let each = (0..levels.len()).flat_map(|a| (a + 1..levels.len()).map(move |b| (a, b)));
        each.map(|(a, b)| Pair {
            a,
            b,
            ratio: Some((levels[b] - levels[a]).exp()),
            error: Some(error),
            interval: None,
            verdict: Verdict::Higher,
        })
        .collect()
    }

    fn search(levels: &[f64], error: f64) -> (End, usize) {
        let mut search = Search::new(levels.len());
        let mut steps = 0;
        while let Some(step) = search.next() {
            let commits = search.commits(step);
            let seen: Vec<f64> = commits.iter().map(|commit| levels[*commit]).collect();
            search.take(step, &pairs(&seen, error)).expect("all ratios");
            steps += 1;
        }
        (search.end(), steps)
    }

    fn planted(commits: usize, first: usize, log: f64) -> Vec<f64> {
        let level = |commit| if commit < first { 0.0 } else { log };
        (0..commits).map(level).collect()
    }

    #[test]
    fn every_place_is_found_in_as_many_steps_as_halving_takes() {
        for commits in 2..70 {
            for first in 1..commits {
                let (end, steps) = search(&planted(commits, first, 0.03), 0.002);
                let End::Found(found, ratio) = end else {
                    panic!("{commits} {first}: {end:?}");
                };
                assert_eq!(found, first, "{commits}");
                assert!((ratio.ln() - 0.03).abs() < 1e-9);
                let most = 1 + Search::new(commits).steps();
                assert!(steps <= most, "{commits} {first}: {steps}");
            }
        }
    }

    #[test]
    fn faster_commits_are_found_as_slower_ones_are() {
        let (end, _) = search(&planted(20, 7, -0.04), 0.002);
        assert!(matches!(end, End::Found(7, _)), "{end:?}");
    }

    #[test]
    fn a_step_that_erred_is_set_right() {
        let levels = planted(64, 40, 0.03);
        let mut search = Search::new(64);
        let mut steps = 0;
        while let Some(step) = search.next() {
            let commits = search.commits(step);
            let mut seen: Vec<f64> = commits.iter().map(|commit| levels[*commit]).collect();
            if steps == 2 {
                // The middle is measured at the wrong end.
                seen[1] = 0.03 - seen[1];
            }
            search.take(step, &pairs(&seen, 0.002));
            steps += 1;
        }
        assert!(matches!(search.end(), End::Found(40, _)), "{search:?}");
    }

    #[test]
    fn a_difference_that_two_commits_share_is_not_laid_to_one() {
        let level = |commit| match commit {
            0..20 => 0.0,
            20..40 => 0.015,
            _ => 0.03,
        };
        let levels: Vec<f64> = (0..64).map(level).collect();
        let (end, steps) = search(&levels, 0.002);
        let End::Within(from, to) = end else {
            panic!("{end:?}");
        };
        assert!(from < 20 && to >= 40 && steps < 12, "{from} {to} {steps}");
    }

    #[test]
    fn ends_that_are_alike_are_said_to_be_after_a_second_look() {
        let mut search = Search::new(9);
        for times in [1, 2] {
            assert_eq!(search.next(), Some(Step::Ends(times)));
            let mut pairs = pairs(&[0.0, 0.001], 0.002);
            pairs[0].verdict = Verdict::Unclear;
            search.take(Step::Ends(times), &pairs);
        }
        assert_eq!((search.next(), search.end()), (None, End::Alike));
    }

    #[test]
    fn steps_of_too_few_blocks_tell_nothing() {
        let mut search = Search::new(9);
        search.take(Step::Ends(1), &pairs(&[0.0, 0.03], 0.002));
        let mut few = pairs(&[0.0, 0.0, 0.03], 0.002);
        few.iter_mut().for_each(|pair| pair.error = None);
        assert_eq!(search.take(Step::Middle(4), &few), Some(Side::Unclear));
        assert_eq!(
            (search.end(), search.ratio()),
            (End::Within(0, 8), 0.03_f64.exp())
        );
    }

    #[test]
    fn a_commit_without_a_figure_is_no_step() {
        let mut search = Search::new(9);
        let mut pairs = pairs(&[0.0, 0.03], 0.002);
        pairs[0].ratio = None;
        assert_eq!(search.take(Step::Ends(1), &pairs), None);
    }
}
