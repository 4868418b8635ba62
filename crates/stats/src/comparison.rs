//! A comparison of A and B in blocks: which claims are allowed after how many blocks, and when to
//! stop.
//!
//! A block measures each side twice, in the order A B B A or B A A B, and gives two values a row:
//! the log ratio B/A, and the same arithmetic on A and B against themselves ([`Block::of`]), which
//! is the A/A arm: what it shows is the noise of the host, drawn from the very measurements that
//! are compared.
//!
//! - **Rows**: throughput and percentiles. The intervals of all rows hold at once
//!   ([`crate::simultaneous_intervals`]), so that many rows do not mean many chances for a false
//!   claim.
//! - **Looks**: after each quarter of the blocks. The chance of a false claim, [`ALPHA`] in all,
//!   is spent over the looks as the square of the share of the blocks that are done (Lan & DeMets
//!   1983, Biometrika 70; Kim & DeMets 1987, Biometrika 74, with ρ = 2), so that nearly half is
//!   left for the last. What looks spend adds up to [`ALPHA`] and no dependence between them is
//!   used, so the bound holds whatever that is. An end before the last look (Ctrl-C, the budget)
//!   is a look that spends the rest.
//! - **Stop**: when every watched row is decided, or when what is left of the blocks can decide
//!   none of the others any more.

use crate::{Interval, mean, median, simultaneous_intervals};

/// Probability of any claimed difference in any row at any look of a comparison of equals.
pub const ALPHA: f64 = 0.05;

/// Fewer blocks allow no claim: the signs of five distinguish no more than 1 in 16.
pub const BLOCKS_MIN: usize = 6;

/// Share below which differences are called none once the interval lies within. Chosen by
/// judgement: hosts that others use drift by as much from one minute to the next.
pub const SAME_MARGIN: f64 = 0.03;

/// Looks in all. More would leave less of [`ALPHA`] for each.
const LOOKS: usize = 4;

/// Resamples: enough for the 0.3 % spent by the first look.
const RESAMPLES: usize = 2_000;

/// Factor beyond the needed end at which the expected end of an interval makes the rest hopeless; a
/// guess from a quarter of the blocks is easily off by a half.
const HOPELESS: f64 = 2.0;

/// One block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// ln(B/A) of each row.
    pub ratios: Vec<f64>,
    /// ln of the ratio of equals, for each row; the expected value is 0.
    pub noise: Vec<f64>,
}

/// A block's four measurements of one row, each above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// A, the earlier one first.
    pub a: [f64; 2],
    /// B, the earlier one first.
    pub b: [f64; 2],
}

impl Block {
    /// Makes a block of the rows' measurements.
    ///
    /// With the four in order of time `w x y z`, the ratio is ±(x + y − w − z)/2 and the noise (w +
    /// y − x − z)/2 of their logarithms: a drift that is a straight line is not in the first, and
    /// the second is as wide as the first.
    pub fn of(rows: &[Measured]) -> Block {
        let ratio = |row: &Measured| {
            let [a, b] = [row.a, row.b].map(|side| (side[0].ln() + side[1].ln()) / 2.0);
            b - a
        };
        let noise = |row: &Measured| {
            let [a, b] = [row.a, row.b].map(|side| side[0].ln() - side[1].ln());
            (a - b) / 2.0
        };
        Block {
            ratios: rows.iter().map(ratio).collect(),
            noise: rows.iter().map(noise).collect(),
        }
    }
}

/// Verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B is lower.
    Lower,
    /// B is higher.
    Higher,
    /// A difference, if there is one, is below [`SAME_MARGIN`].
    Same,
    /// Neither can be said.
    Unclear,
}

/// A row at a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// B/A: geometric mean over the blocks.
    pub ratio: f64,
    /// Simultaneous confidence interval of `ratio`; `None` with too few blocks.
    pub interval: Option<Interval>,
    /// The conclusion from `interval`.
    pub verdict: Verdict,
    /// Half of the width of the A/A arm's interval, as a share; `None` when there are too few
    /// blocks.
    pub noise: Option<f64>,
}

/// A finished comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Rows in the order of the blocks' values.
    pub rows: Vec<Row>,
    /// Blocks counted.
    pub blocks: usize,
    /// Least difference distinguishable from chance with so many blocks, as a share: the median of
    /// the watched rows' noise. `None` when there are too few blocks.
    pub noise_floor: Option<f64>,
    /// Whether A or B differed from themselves by more than chance allows: then no claim should be
    /// trusted.
    pub noise_claims: bool,
}

/// Next step after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Measure another one.
    More,
    /// Every watched row is decided.
    Decided,
    /// The blocks left can decide none of the undecided watched rows.
    Hopeless,
    /// All planned blocks are there.
    Full,
}

/// A comparison at work.
#[derive(Clone, Debug)]
pub struct Comparison {
    blocks: Vec<Block>,
    blocks_max: usize,
    /// Indices of the rows waited for.
    watched: Vec<usize>,
    spent: f64,
    /// Number of blocks and rows of the last look, for an end right after.
    looked: Option<(usize, Vec<Row>)>,
}

impl Comparison {
    /// Starts a comparison of at most `blocks_max` blocks, to be stopped when all `watched` rows
    /// are decided.
    pub fn new(blocks_max: usize, watched: Vec<usize>) -> Comparison {
        Comparison {
            blocks: Vec::new(),
            blocks_max: blocks_max.max(1),
            watched,
            spent: 0.0,
            looked: None,
        }
    }

    /// Blocks so far.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Adds a block, and takes a look if due.
    pub fn add(&mut self, block: Block) -> Next {
        self.blocks.push(block);
        let count = self.blocks.len();
        if count >= self.blocks_max {
            return Next::Full;
        }
        if count < BLOCKS_MIN || !self.is_look(count) {
            return Next::More;
        }
        let alpha = self.alpha_at(count);
        self.spent += alpha;
        let rows = self.look(alpha);
        let unclear: Vec<usize> = (self.watched.iter().copied())
            // A row with a value that nobody knows is never decided, and need not be waited for.
            .filter(|row| rows[*row].verdict == Verdict::Unclear && !rows[*row].ratio.is_nan())
            .collect();
        let next = if unclear.is_empty() {
            Next::Decided
        } else if unclear.iter().all(|row| self.is_hopeless(*row)) {
            Next::Hopeless
        } else {
            Next::More
        };
        if next == Next::Decided {
            self.looked = Some((count, rows));
        }
        next
    }

    /// Returns the results so far, whenever called.
    pub fn end(&self) -> Outcome {
        let rows = match &self.looked {
            Some((count, rows)) if *count == self.blocks.len() => rows.clone(),
            _ => self.look((ALPHA - self.spent).max(0.0)),
        };
        let watched: Vec<f64> = (self.watched.iter())
            .filter_map(|row| rows.get(*row)?.noise)
            .filter(|noise| !noise.is_nan())
            .collect();
        let noise = self.intervals(|block| &block.noise, ALPHA);
        Outcome {
            rows,
            blocks: self.blocks.len(),
            noise_floor: median(&watched),
            noise_claims: noise.is_some_and(|rows| rows.iter().any(Interval::excludes_zero)),
        }
    }

    fn is_look(&self, count: usize) -> bool {
        (1..LOOKS).any(|look| (self.blocks_max * look).div_ceil(LOOKS) == count)
    }

    /// Returns the share of [`ALPHA`] spent by a look after `count` blocks. So few blocks
    /// distinguish no probabilities below 1 in 2ⁿ⁻¹: a look that spends less, or leaves less for an
    /// end right after it, would buy nothing and only take from the end.
    fn alpha_at(&self, count: usize) -> f64 {
        let share = count as f64 / self.blocks_max as f64;
        let alpha = ALPHA * share * share - self.spent;
        let finest = 0.5_f64.powi(count as i32 - 1);
        let left = ALPHA - self.spent - alpha;
        if alpha.min(left) >= finest {
            alpha
        } else {
            0.0
        }
    }

    fn intervals(&self, of: impl Fn(&Block) -> &Vec<f64>, alpha: f64) -> Option<Vec<Interval>> {
        let units: Vec<Vec<f64>> = self.blocks.iter().map(|block| of(block).clone()).collect();
        (units.len() >= BLOCKS_MIN)
            .then(|| simultaneous_intervals(&units, alpha, RESAMPLES))
            .flatten()
    }

    fn look(&self, alpha: f64) -> Vec<Row> {
        let Some(first) = self.blocks.first() else {
            return Vec::new();
        };
        let ratios = self.intervals(|block| &block.ratios, alpha);
        let noise = self.intervals(|block| &block.noise, ALPHA);
        let row = |row: usize| {
            let values: Vec<f64> = self.blocks.iter().map(|block| block.ratios[row]).collect();
            let interval = ratios.as_ref().map(|rows| rows[row]);
            Row {
                ratio: mean(&values).unwrap_or(0.0).exp(),
                verdict: interval.map_or(Verdict::Unclear, verdict),
                interval: interval.map(|interval| Interval {
                    low: interval.low.exp(),
                    high: interval.high.exp(),
                }),
                noise: noise.as_ref().map(|rows| rows[row].half_width().exp_m1()),
            }
        };
        (0..first.ratios.len()).map(row).collect()
    }

    /// Whether the blocks left will hardly decide a row: neither is the mean far enough from none,
    /// nor will the interval be narrow enough for "the same".
    fn is_hopeless(&self, row: usize) -> bool {
        let values: Vec<f64> = self.blocks.iter().map(|block| block.ratios[row]).collect();
        let (Some(mean), count) = (mean(&values), values.len() as f64) else {
            return false;
        };
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error_then = (squares / (count - 1.0) / self.blocks_max as f64).sqrt();
        error_then > HOPELESS * (mean.abs() + SAME_MARGIN)
    }
}

fn verdict(interval: Interval) -> Verdict {
    let margin = SAME_MARGIN.ln_1p();
    if interval.high < 0.0 {
        Verdict::Lower
    } else if interval.low > 0.0 {
        Verdict::Higher
    } else if -margin <= interval.low && interval.high <= margin {
        Verdict::Same
    } else {
        Verdict::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(a: [f64; 2], b: [f64; 2]) -> Measured {
        Measured { a, b }
    }

    #[test]
    fn a_straight_drift_is_no_difference() {
        let drift = |step: i32| (0.1 * f64::from(step)).exp();
        let block = Block::of(&[measured([drift(0), drift(3)], [drift(1), drift(2)])]);
        assert!(block.ratios[0].abs() < 1e-12, "{block:?}");
        let block = Block::of(&[measured([4.0, 4.0], [2.0, 2.0])]);
        assert!((block.ratios[0] - 0.5f64.ln()).abs() < 1e-12);
        assert_eq!(block.noise, [0.0]);
    }

    /// Returns a block of a halved row and an unchanged one, each with a little noise.
    fn clear(number: usize) -> Block {
        let wobble = 0.002 * (number * 7 % 5) as f64 - 0.004;
        Block {
            ratios: vec![0.5f64.ln() + wobble, wobble],
            noise: vec![wobble, -wobble],
        }
    }

    #[test]
    fn a_great_difference_ends_at_the_first_look() {
        let mut comparison = Comparison::new(40, vec![0, 1]);
        let nexts: Vec<Next> = (0..10)
            .map(|number| comparison.add(clear(number)))
            .collect();
        assert_eq!(nexts[..9], [Next::More; 9]);
        assert_eq!(nexts[9], Next::Decided);
        let outcome = comparison.end();
        assert_eq!(outcome.rows[0].verdict, Verdict::Lower);
        assert_eq!(outcome.rows[1].verdict, Verdict::Same);
        assert!((outcome.rows[0].ratio - 0.5).abs() < 0.01, "{outcome:?}");
        assert!(outcome.noise_floor.is_some_and(|floor| floor < 0.02));
        assert!(!outcome.noise_claims);
    }

    /// The CPU time of one measurement is unknown, for which no side differs from itself.
    #[test]
    fn an_unknown_value_is_no_noise_and_is_not_waited_for() {
        let mut comparison = Comparison::new(40, vec![0, 1, 2]);
        let with_cpu = |number: usize| {
            let Block { ratios, noise } = clear(number);
            let unknown = [if number == 3 { f64::NAN } else { 0.01 }];
            Block {
                ratios: [&ratios[..], &unknown[..]].concat(),
                noise: [&noise[..], &unknown[..]].concat(),
            }
        };
        let nexts: Vec<Next> = (0..10)
            .map(|number| comparison.add(with_cpu(number)))
            .collect();
        assert_eq!(nexts[9], Next::Decided);
        let outcome = comparison.end();
        assert!(!outcome.noise_claims, "{outcome:?}");
        assert_eq!(outcome.rows[2].verdict, Verdict::Unclear);
        assert_eq!(outcome.rows[0].verdict, Verdict::Lower);
    }

    #[test]
    fn few_blocks_claim_nothing() {
        let mut comparison = Comparison::new(BLOCKS_MIN - 1, vec![0]);
        for number in 0..BLOCKS_MIN - 1 {
            comparison.add(clear(number));
        }
        let outcome = comparison.end();
        assert_eq!(outcome.rows[0].verdict, Verdict::Unclear);
        assert_eq!(
            (outcome.rows[0].interval, outcome.noise_floor),
            (None, None)
        );
        assert_eq!(Comparison::new(5, vec![0]).end().rows, []);
    }

    #[test]
    fn a_few_blocks_claim_what_is_clear_at_their_end() {
        for blocks_max in BLOCKS_MIN..16 {
            for ended_at in BLOCKS_MIN..=blocks_max {
                let mut comparison = Comparison::new(blocks_max, vec![0, 1]);
                for number in 0..ended_at {
                    comparison.add(clear(number));
                }
                let outcome = comparison.end();
                let verdict = outcome.rows[0].verdict;
                assert_eq!(verdict, Verdict::Lower, "{ended_at} of {blocks_max}");
            }
        }
    }

    #[test]
    fn noise_that_nothing_can_beat_is_hopeless() {
        let mut comparison = Comparison::new(24, vec![0]);
        let wild = |number: usize| Block {
            ratios: vec![if number.is_multiple_of(2) { 1.5 } else { -1.5 }],
            noise: vec![0.0],
        };
        let nexts: Vec<Next> = (0..6).map(|number| comparison.add(wild(number))).collect();
        assert_eq!(nexts[5], Next::Hopeless);
    }
}
