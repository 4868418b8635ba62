//! A contest of several contenders over several rows, in blocks: every pair of contenders compared
//! in every row, with claims valid all at once.
//!
//! A block measures each contender twice, in an order and then in its reverse ([`order`]), so that
//! a drift that is a straight line favours none. For each pair of a row it gives the log ratio and,
//! from the two measurements of each, the A/A arm that [`crate::comparison`] describes. How fast
//! the cores were meanwhile is taken out as [`crate::covariate`] says.
//!
//! - **Pairs and rows**: the intervals of all pairs of all open rows hold at once
//!   ([`crate::simultaneous_intervals`]). Rows that are decided are measured no more; what they
//!   were allowed to err is not given to the others.
//! - **Looks**: after each fifth of the blocks, [`ALPHA`] being spent as in a comparison.
//! - **Same** is a claim of its own: the interval lies within the equivalence bound. An interval
//!   within the bound that also excludes 1 is still the same, since a difference below the bound
//!   is one that was said not to matter.

use crate::bootstrap::Moments;
use crate::comparison::{BLOCKS_MIN, Block, Measured, Verdict};
use crate::covariate;
use crate::{Interval, mean, simultaneous_intervals};

/// Probability of any claimed difference in a contest of equals. Below the promised 5 %, since
/// intervals from the signs of a dozen blocks err a little more often than they say: 5.5 % of 400
/// simulated contests at 5 %.
pub const ALPHA: f64 = 0.04;
/// Looks in all. More would leave less of [`ALPHA`] for the last.
const LOOKS: usize = 5;
/// Resamples: enough for the 0.3 % spent by the first look.
const RESAMPLES: usize = 2_000;

/// Size of a contest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Contenders.
    pub contenders: usize,
    /// Rows, such as scripts.
    pub rows: usize,
    /// Blocks after which the contest ends at the latest.
    pub blocks_max: usize,
    /// Equivalence bound: the share below which differences are none.
    pub margin: f64,
}

/// A row's measurements in one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// Earlier and later measurement by contender, both above zero; `None` for a failed one.
    pub values: Vec<Option<[f64; 2]>>,
    /// Times of the fixed piece of work on the cores by contender, earlier and later; empty if not
    /// watched.
    pub paces: Vec<[f64; 2]>,
}

/// Result for two contenders in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Index of the first contender.
    pub a: usize,
    /// Index of the second contender, above the first.
    pub b: usize,
    /// b/a: geometric mean over the blocks; `None` when one of the two has failed.
    pub ratio: Option<f64>,
    /// Standard error of the ratio's logarithm; `None` with too few blocks.
    pub error: Option<f64>,
    /// Confidence interval of the ratio; `None` with too few blocks.
    pub interval: Option<Interval>,
    /// The conclusion about b.
    pub verdict: Verdict,
}

/// A contest at work.
#[derive(Clone, Debug)]
pub struct Contest {
    setup: Setup,
    rounds: Vec<Vec<Round>>,
    pairs: Vec<Vec<Pair>>,
    blocks: usize,
    spent: f64,
}

/// Returns the order of a block's measurements: each contender twice, the second half being the
/// mirror of the first. Blocks of an odd number begin with the reverse of the one before; every
/// second one shuffles again.
pub fn order(contenders: usize, block: usize, seed: u64) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(seed.wrapping_add(block as u64 / 2));
    let mut first: Vec<usize> = (0..contenders).collect();
    random.shuffle(&mut first);
    if !block.is_multiple_of(2) {
        first.reverse();
    }
    let mirror: Vec<usize> = first.iter().rev().copied().collect();
    [first, mirror].concat()
}

impl Contest {
    /// A contest without any block.
    pub fn new(setup: Setup) -> Contest {
        let pair = |(a, b)| Pair {
            a,
            b,
            ratio: None,
            error: None,
            interval: None,
            verdict: Verdict::Unclear,
        };
        let pairs: Vec<Pair> = (0..setup.contenders)
            .flat_map(|a| (a + 1..setup.contenders).map(move |b| (a, b)))
            .map(pair)
            .collect();
        Contest {
            setup,
            rounds: vec![Vec::new(); setup.rows],
            pairs: vec![pairs; setup.rows],
            blocks: 0,
            spent: 0.0,
        }
    }

    /// Returns the number of blocks added.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Blocks of a row.
    pub fn blocks_of(&self, row: usize) -> usize {
        self.rounds[row].len()
    }

    /// Returns the rows still to be measured by a block.
    pub fn open(&self) -> Vec<usize> {
        (0..self.setup.rows)
            .filter(|row| self.is_open(*row))
            .collect()
    }

    /// Returns the pairs of a row as of the last look.
    pub fn pairs(&self, row: usize) -> &[Pair] {
        &self.pairs[row]
    }

    /// Takes a block: a round for each open row. Returns whether another block is worth measuring.
    pub fn add(&mut self, rounds: Vec<(usize, Round)>) -> bool {
        for (row, round) in rounds {
            self.rounds[row].push(round);
        }
        self.blocks += 1;
        if self.blocks >= self.setup.blocks_max {
            return false;
        }
        if self.is_look() {
            let alpha = self.alpha();
            if alpha > 0.0 {
                self.spent += alpha;
                self.look(alpha);
            }
        }
        !self.open().is_empty()
    }

    /// The last look, which spends what is left.
    pub fn end(&mut self) {
        let alpha = ALPHA - self.spent;
        self.spent = ALPHA;
        self.look(alpha);
    }

    /// Returns the geometric mean of b/a over all rows with an interval, for each pair; from the
    /// blocks of all rows. Rows in which a contender of the pair failed are left out of its mean.
    pub fn overall(&self) -> Vec<Pair> {
        let blocks = self.rounds.iter().map(Vec::len).min().unwrap_or(0);
        let Some(pairs) = self.pairs.first() else {
            return Vec::new();
        };
        let each = pairs.iter().map(|pair| {
            let columns: Vec<Vec<f64>> = (0..self.setup.rows)
                .filter_map(|row| self.ratios(row, pair.a, pair.b))
                .collect();
            let units: Vec<Vec<f64>> = (0..blocks)
                .filter_map(|block| {
                    let values: Vec<f64> = columns.iter().map(|column| column[block]).collect();
                    Some(vec![mean(&values)?])
                })
                .collect();
            let of_rows: Vec<f64> = columns.iter().filter_map(|column| mean(column)).collect();
            let of_blocks: Vec<f64> = units.iter().map(|unit| unit[0]).collect();
            let interval = (units.len() >= BLOCKS_MIN)
                .then(|| simultaneous_intervals(&units, ALPHA, RESAMPLES))
                .flatten()
                .map(|intervals| intervals[0]);
            self.pair_of(*pair, (mean(&of_rows), error(&of_blocks)), interval)
        });
        each.collect()
    }

    fn is_open(&self, row: usize) -> bool {
        let undecided = |pair: &Pair| {
            pair.verdict == Verdict::Unclear
                && (self.rounds[row].is_empty() || self.ratios(row, pair.a, pair.b).is_some())
        };
        self.pairs[row].is_empty() || self.pairs[row].iter().any(undecided)
    }

    fn is_look(&self) -> bool {
        let most = self.setup.blocks_max;
        self.blocks >= BLOCKS_MIN
            && (1..LOOKS).any(|look| (most * look).div_ceil(LOOKS) == self.blocks)
    }

    /// Returns the share of [`ALPHA`] spent by a look now; nothing with too few blocks for so small
    /// a probability.
    fn alpha(&self) -> f64 {
        let share = self.blocks as f64 / self.setup.blocks_max as f64;
        let alpha = ALPHA * share * share - self.spent;
        // Twice what so few signs distinguish, since those are drawn and not counted out.
        let finest = 0.5_f64.powi(self.blocks as i32 - 2);
        if alpha.min(ALPHA - self.spent - alpha) >= finest {
            alpha
        } else {
            0.0
        }
    }

    /// Returns ln(b/a) of each block of a row; `None` if one of both failed in any.
    fn ratios(&self, row: usize, a: usize, b: usize) -> Option<Vec<f64>> {
        let rounds = &self.rounds[row];
        let blocks: Option<Vec<Block>> = rounds
            .iter()
            .map(|round| {
                let sides = Measured {
                    a: round.values[a]?,
                    b: round.values[b]?,
                };
                let pace = (round.paces.get(a).zip(round.paces.get(b)))
                    .map(|(a, b)| Measured { a: *a, b: *b });
                let none = Measured {
                    a: [1.0; 2],
                    b: [1.0; 2],
                };
                Some(Block::of(&[sides, pace.unwrap_or(none)]))
            })
            .collect();
        let blocks = blocks?;
        if blocks.len() < BLOCKS_MIN {
            return Some(blocks.iter().map(|block| block.ratios[0]).collect());
        }
        Some(covariate::without(&blocks, 0, 1))
    }

    fn look(&mut self, alpha: f64) {
        let mut places = Vec::new();
        let mut columns = Vec::new();
        for row in self.open() {
            for index in 0..self.pairs[row].len() {
                let pair = self.pairs[row][index];
                if let Some(column) = self.ratios(row, pair.a, pair.b) {
                    places.push((row, index));
                    columns.push(column);
                }
            }
        }
        let all = self.setup.rows * self.pairs.first().map_or(0, Vec::len);
        let intervals = intervals(&columns, alpha * columns.len() as f64 / all.max(1) as f64);
        for (place, (row, index)) in places.into_iter().enumerate() {
            let pair = self.pairs[row][index];
            // What was claimed at an earlier look is not taken back by a later one.
            if pair.verdict == Verdict::Unclear {
                let interval = intervals.as_ref().map(|all| all[place]);
                let column = &columns[place];
                self.pairs[row][index] =
                    self.pair_of(pair, (mean(column), error(column)), interval);
            }
        }
    }

    fn pair_of(
        &self,
        pair: Pair,
        (mean, error): (Option<f64>, Option<f64>),
        interval: Option<Interval>,
    ) -> Pair {
        Pair {
            ratio: mean.map(f64::exp),
            error,
            verdict: interval.map_or(Verdict::Unclear, |interval| {
                verdict(interval, self.setup.margin)
            }),
            interval: interval.map(|interval| Interval {
                low: interval.low.exp(),
                high: interval.high.exp(),
            }),
            ..pair
        }
    }
}

/// Standard error of the mean; `None` for too few values. Few tell their own spread badly: the
/// error is widened to the standard deviation of Student's t.
fn error(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let student = ((count - 1.0) / (count - 3.0)).sqrt();
    let is_known = values.len() >= BLOCKS_MIN;
    is_known.then(|| Moments::of(values.iter().copied()).error * student)
}

fn intervals(columns: &[Vec<f64>], alpha: f64) -> Option<Vec<Interval>> {
    let blocks = columns.iter().map(Vec::len).min()?;
    if blocks < BLOCKS_MIN {
        return None;
    }
    let unit = |block| columns.iter().map(|column| column[block]).collect();
    let units: Vec<Vec<f64>> = (0..blocks).map(unit).collect();
    simultaneous_intervals(&units, alpha, RESAMPLES)
}

fn verdict(interval: Interval, margin: f64) -> Verdict {
    let margin = margin.ln_1p();
    if -margin <= interval.low && interval.high <= margin {
        Verdict::Same
    } else if interval.high < 0.0 {
        Verdict::Lower
    } else if interval.low > 0.0 {
        Verdict::Higher
    } else {
        Verdict::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_mirrors_its_order_and_blocks_take_turns() {
        for contenders in 1..6 {
            for block in 0..8 {
                let order = order(contenders, block, 7);
                let mut mirrored = order.clone();
                mirrored.reverse();
                assert_eq!(order, mirrored);
                let mut first = order[..contenders].to_vec();
                first.sort_unstable();
                assert_eq!(first, (0..contenders).collect::<Vec<_>>());
            }
        }
        assert_eq!(order(2, 0, 1)[0], order(2, 1, 1)[1]);
    }

    fn round(values: &[f64], wobble: f64) -> Round {
        let twice = |value: &f64| Some([value * (1.0 + wobble), value * (1.0 - wobble)]);
        Round {
            values: values.iter().map(twice).collect(),
            paces: Vec::new(),
        }
    }

    #[test]
    fn decided_rows_are_measured_no_more() {
        let setup = Setup {
            contenders: 3,
            rows: 2,
            blocks_max: 40,
            margin: 0.01,
        };
        let mut contest = Contest::new(setup);
        let mut random = fastrand::Rng::with_seed(3);
        while {
            let rows = contest.open();
            let measured = rows.into_iter().map(|row| {
                let noise = 0.2 * (random.f64() - 0.5);
                let third = if row == 0 { 3.0 } else { 1.0 + noise };
                (row, round(&[1.0, 2.0, third], 0.001))
            });
            let measured = measured.collect();
            contest.add(measured)
        } {}
        contest.end();
        assert_eq!(contest.blocks_of(0), 16);
        assert_eq!(contest.blocks_of(1), 40);
        let verdicts: Vec<Verdict> = contest.pairs(0).iter().map(|pair| pair.verdict).collect();
        assert_eq!(verdicts, [Verdict::Higher; 3]);
        assert_eq!(contest.pairs(1)[0].verdict, Verdict::Higher);
    }

    #[test]
    fn who_fails_is_left_out_and_the_others_go_on() {
        let setup = Setup {
            contenders: 3,
            rows: 1,
            blocks_max: 12,
            margin: 0.01,
        };
        let mut contest = Contest::new(setup);
        for _ in 0..12 {
            let mut round = round(&[1.0, 2.0, 4.0], 0.001);
            round.values[1] = None;
            contest.add(vec![(0, round)]);
        }
        contest.end();
        let ratios: Vec<Option<f64>> = contest.pairs(0).iter().map(|pair| pair.ratio).collect();
        assert!(ratios[0].is_none() && ratios[2].is_none());
        assert!((ratios[1].expect("both ran") - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_difference_within_the_bound_is_the_same() {
        let check = |low, high, expected| {
            let interval = Interval { low, high };
            assert_eq!(verdict(interval, 0.01), expected, "{low} {high}");
        };
        check(0.001, 0.004, Verdict::Same);
        check(0.001, 0.02, Verdict::Higher);
        check(-0.02, 0.004, Verdict::Unclear);
        check(-0.03, -0.02, Verdict::Lower);
    }
}
