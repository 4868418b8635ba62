//! The design of a comparison: how many blocks, how long, and which rows, from what was asked for
//! and from trial boots.

use std::time::Duration;

use crate::comparison::{BLOCKS_MIN, Comparison};

const BUDGET_DEFAULT: Duration = Duration::from_secs(300);
/// Blocks to spread a budget over. More would be spent on boots, fewer tell less.
const BLOCKS_WANTED: u32 = 20;
/// More add little, and each costs.
const BLOCKS_MOST: usize = 96;
const SEGMENT_MIN: Duration = Duration::from_secs(2);
const SEGMENT_MAX: Duration = Duration::from_secs(20);
/// Requests of a measurement needed for a p95.
const REQUESTS_WANTED: f64 = 100.0;
/// Expected requests beyond a percentile needed for a row, since some measurement will have fewer.
const CARRY: f64 = 1.4;

/// Possible percentiles, beside throughput.
const QUANTILES: [(&str, f64); 9] = [
    ("p50", 0.50),
    ("p66", 0.66),
    ("p75", 0.75),
    ("p80", 0.80),
    ("p90", 0.90),
    ("p95", 0.95),
    ("p98", 0.98),
    ("p99", 0.99),
    ("p100", 1.0),
];
/// CPU time of a measurement needed for a row, ms: less is lost in the server's work beside
/// requests.
const CPU_MIN_MS: f64 = 100.0;
/// Quantile up to which rows are waited for; higher ones are only shown, being decided by too few
/// requests.
const WATCHED_UP_TO: f64 = 0.95;

/// Latency of a request during which the clock did not move: rows are compared as logarithms.
const LATENCY_MIN: f64 = 1e-6;

/// Wishes for a comparison, unchecked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// Longest time for the whole comparison.
    pub budget: Option<Duration>,
    /// Most blocks of four measurements.
    pub blocks: Option<usize>,
    /// Length of a measurement.
    pub segment: Option<Duration>,
    /// Load before a measurement.
    pub warmup: Option<Duration>,
}

/// Limits of a comparison, from a valid [`Request`].
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest time for the whole comparison; `None`: as long as the blocks take.
    pub budget: Option<Duration>,
    /// Length of a measurement, if requested.
    pub segment: Option<Duration>,
    /// Load before a measurement, if requested.
    pub warmup: Option<Duration>,
    is_budget_asked: bool,
    blocks: Option<usize>,
}

/// Reason for a comparison without a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No time or no block was asked for.
    Nothing,
    /// The budget does not hold the blocks of a verdict.
    TooShort {
        /// Requested budget.
        budget: Duration,
        /// Sufficient budget.
        needed: Duration,
    },
}

/// Figures of the trial boots.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// Requests per second of the slower side.
    pub rps: f64,
    /// Load before each measurement.
    pub warmup: Duration,
    /// Time for a measurement beside the load.
    pub overhead: Duration,
    /// Duration of the trial.
    pub took: Duration,
    /// The app's CPU time per request on the side with less, milliseconds; `None` if unknown.
    pub cpu_ms: Option<f64>,
}

/// The design.
#[derive(Clone, Debug)]
pub struct Design {
    /// Load before each measurement.
    pub warmup: Duration,
    /// Length of a measurement.
    pub segment: Duration,
    /// Most blocks.
    pub blocks_max: usize,
    /// Time for a block.
    pub block: Duration,
    /// Percentiles with rows.
    quantiles: Vec<(&'static str, f64)>,
    has_cpu: bool,
}

impl Request {
    /// Checks the request, before anything is measured.
    ///
    /// # Errors
    /// Why nothing could be measured, or no verdict could come of it.
    pub fn limits(self) -> Result<Limits, Refusal> {
        let Request {
            budget,
            blocks,
            segment,
            warmup,
        } = self;
        if blocks == Some(0) || [budget, segment].contains(&Some(Duration::ZERO)) {
            return Err(Refusal::Nothing);
        }
        let needed = segment.unwrap_or(SEGMENT_MIN) * (4 * BLOCKS_MIN as u32);
        if let Some(budget) = budget.filter(|budget| blocks.is_none() && *budget < needed) {
            return Err(Refusal::TooShort { budget, needed });
        }
        Ok(Limits {
            budget: budget.or(blocks.is_none().then_some(BUDGET_DEFAULT)),
            is_budget_asked: budget.is_some(),
            blocks,
            segment,
            warmup,
        })
    }
}

impl Design {
    /// Returns the design. A budget that is too short for any claim is dropped from `limits` when
    /// nobody asked for it.
    ///
    /// # Errors
    /// [`Refusal::TooShort`], where the budget was asked for.
    pub fn of(limits: &mut Limits, trial: &Trial) -> Result<Design, Refusal> {
        let left = limits
            .budget
            .map(|budget| budget.saturating_sub(trial.took));
        let beside = trial.overhead + trial.warmup;
        let segment = limits.segment.unwrap_or_else(|| {
            let wanted =
                REQUESTS_WANTED / trial.rps.max(REQUESTS_WANTED / SEGMENT_MAX.as_secs_f64());
            let share = left.unwrap_or(BUDGET_DEFAULT) / (4 * BLOCKS_WANTED);
            let share = share.saturating_sub(beside);
            share
                .max(Duration::from_secs_f64(wanted))
                .clamp(SEGMENT_MIN, SEGMENT_MAX)
        });
        let block = 4 * (beside + segment);
        let fitting = left.map_or(BLOCKS_MOST, |left| {
            (left.as_secs_f64() / block.as_secs_f64()) as usize
        });
        let mut blocks_max = limits.blocks.unwrap_or(BLOCKS_MOST).min(fitting).max(1);
        if blocks_max < BLOCKS_MIN && limits.blocks.is_none() {
            if let Some(budget) = limits.budget.filter(|_| limits.is_budget_asked) {
                let needed = trial.took + block * (BLOCKS_MIN as u32 + 1);
                return Err(Refusal::TooShort { budget, needed });
            }
            blocks_max = BLOCKS_MIN;
            limits.budget = None;
        }
        let expected = trial.rps * segment.as_secs_f64();
        let carried = |(_, q): &(&str, f64)| *q >= 1.0 || expected * (1.0 - q) >= CARRY;
        Ok(Design {
            warmup: trial.warmup,
            segment,
            blocks_max,
            block,
            quantiles: QUANTILES.into_iter().filter(carried).collect(),
            has_cpu: (trial.cpu_ms).is_some_and(|each| each * expected >= CPU_MIN_MS),
        })
    }

    /// Returns the statistics to be fed by the blocks.
    pub fn comparison(&self) -> Comparison {
        let watched =
            |(row, (_, q)): (usize, &(&str, f64))| (*q <= WATCHED_UP_TO).then_some(row + 1);
        let quantiles = self.quantiles.iter().enumerate().filter_map(watched);
        let cpu = self.has_cpu.then_some(self.rows() - 1);
        let watched = [0].into_iter().chain(quantiles).chain(cpu);
        Comparison::new(self.blocks_max, watched.collect())
    }

    /// Returns the number of rows: throughput, the percentiles, CPU time.
    pub fn rows(&self) -> usize {
        1 + self.quantiles.len() + usize::from(self.has_cpu)
    }

    /// Returns the names of the rows.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let quantiles = self.quantiles.iter().map(|(name, _)| *name);
        let cpu = self.has_cpu.then_some("cpu");
        ["rps"].into_iter().chain(quantiles).chain(cpu)
    }

    /// Returns the rows' values of one measurement: requests per second, the quantiles of `latency`
    /// (ascending), the CPU time of a request. A quantile of no requests and an unknown CPU time
    /// are NaN.
    pub fn figures(&self, rps: f64, latency: &[f64], cpu: Option<f64>) -> Vec<f64> {
        let quantiles = self.quantiles.iter().map(|(_, q)| {
            // A clock that saw no time pass is no reason to fail.
            crate::quantile(latency, *q).map_or(f64::NAN, |value| value.max(LATENCY_MIN))
        });
        let cpu = self.has_cpu.then(|| cpu.unwrap_or(f64::NAN));
        [rps].into_iter().chain(quantiles).chain(cpu).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(budget_s: Option<u64>, blocks: Option<usize>) -> Limits {
        let request = Request {
            budget: budget_s.map(Duration::from_secs),
            blocks,
            ..Request::default()
        };
        request.limits().expect("a plan")
    }

    fn design(mut limits: Limits, overhead_s: u64, rps: f64) -> Result<Design, Refusal> {
        let trial = Trial {
            rps,
            warmup: Duration::from_secs(1),
            overhead: Duration::from_secs(overhead_s),
            took: Duration::from_secs(16),
            cpu_ms: Some(2.0),
        };
        Design::of(&mut limits, &trial)
    }

    #[test]
    fn the_budget_is_spread_over_blocks() {
        let design = design(limits(None, None), 1, 500.0).expect("it is enough");
        assert!((16..=20).contains(&design.blocks_max), "{design:?}");
        assert!(design.segment >= SEGMENT_MIN);
        assert_eq!(design.rows(), 11);
        assert_eq!(design.names().last(), Some("cpu"));
        let figures = design.figures(500.0, &[0.0, 1.0], None);
        assert_eq!(&figures[..2], &[500.0, LATENCY_MIN]);
        assert!(figures[10].is_nan());
    }

    #[test]
    fn a_short_budget_is_refused_when_it_was_asked_for_and_raised_when_not() {
        let asked = design(limits(Some(60), None), 10, 500.0).err();
        // 16 s of trial and 7 blocks of 4 × (10 + 1 + 2) s.
        let needed = Duration::from_secs(16 + 7 * 4 * 13);
        let budget = Duration::from_secs(60);
        assert_eq!(asked, Some(Refusal::TooShort { budget, needed }));
        let raised = design(limits(None, None), 30, 500.0).expect("it is raised");
        assert_eq!(raised.blocks_max, BLOCKS_MIN);
    }

    #[test]
    fn a_budget_that_cannot_be_enough_is_refused_before_anything_is_measured() {
        let refused = |budget_s, segment_s: Option<u64>| {
            let request = Request {
                budget: Some(Duration::from_secs(budget_s)),
                segment: segment_s.map(Duration::from_secs),
                ..Request::default()
            };
            request.limits().err()
        };
        let (budget, needed) = (Duration::from_secs(10), Duration::from_secs(48));
        let too_short = Refusal::TooShort { budget, needed };
        assert_eq!(refused(10, None), Some(too_short), "6 blocks of 4 × 2 s");
        assert!(refused(100, Some(5)).is_some());
        assert!(refused(48, None).is_none());
        assert_eq!(refused(0, None), Some(Refusal::Nothing));
    }

    #[test]
    fn blocks_that_are_asked_for_need_no_budget() {
        let design = design(limits(None, Some(3)), 100, 20.0).expect("blocks are asked for");
        assert_eq!(design.blocks_max, 3);
        assert!(
            design.names().all(|name| name != "p99"),
            "too few requests for a p99"
        );
    }
}
