//! How many blocks, how long, and which rows: settled from what was asked for and the trial boots.

use std::time::Duration;

use figures::counted;
use stats::comparison::{BLOCKS_MIN, Comparison};
use words::{Text, text};

use super::super::sides::usage;
use crate::cli::HowArgs;
use crate::config;
use crate::exit::Failure;
use crate::segment::Segment;

const BUDGET_DEFAULT: Duration = Duration::from_secs(300);
/// Blocks that a budget is spread over. More would be spent on boots, fewer tell less.
const BLOCKS_WANTED: u32 = 20;
/// More tell little more, and each costs.
const BLOCKS_MOST: usize = 96;
const SEGMENT_MIN: Duration = Duration::from_secs(2);
const SEGMENT_MAX: Duration = Duration::from_secs(20);
/// Requests of a measurement from which its p95 has some ground.
const REQUESTS_WANTED: f64 = 100.0;
/// Requests that must be expected beyond a percentile, since some measurement will have fewer.
const CARRY: f64 = 1.4;

/// Percentiles that can be shown, beside throughput.
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
/// CPU time of a measurement from which it has a row: less is lost in what a server does beside requests.
const CPU_MIN_MS: f64 = 100.0;
/// Rows beyond it are shown, but not waited for: too few requests decide them.
const WATCHED_UP_TO: f64 = 0.95;

/// How a comparison is to be measured: what was typed over the config file over defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// `None`: as long as the blocks take.
    pub(crate) budget: Option<Duration>,
    is_budget_asked: bool,
    blocks: Option<usize>,
    /// Length of a measurement.
    pub(crate) segment: Option<Duration>,
    /// Load before it.
    pub(crate) warmup: Option<Duration>,
}

/// What the trial boots told.
pub(super) struct Trial {
    /// Of the slower side.
    pub(super) rps: f64,
    pub(super) warmup: Duration,
    /// What a measurement takes beside the load.
    pub(super) overhead: Duration,
    /// What the trial took.
    pub(super) took: Duration,
    /// The app's CPU time for a request on the side that takes less, milliseconds; `None` where it is not known.
    pub(super) cpu_ms: Option<f64>,
}

/// What is settled.
pub(super) struct Shape {
    pub(super) warmup: Duration,
    pub(super) segment: Duration,
    pub(super) blocks_max: usize,
    /// What a block takes.
    pub(super) block: Duration,
    /// Percentiles that have rows.
    quantiles: Vec<(&'static str, f64)>,
    has_cpu: bool,
}

impl How {
    /// Resolves it; nothing outside the process is touched.
    pub(crate) fn resolve(args: &HowArgs, config: &config::Compare) -> Result<How, Failure> {
        let blocks = args.blocks.or(config.blocks);
        let budget = args.budget.or(config.budget);
        let segment = args.segment.or(config.segment);
        if blocks == Some(0) || [budget, segment].contains(&Some(Duration::ZERO)) {
            return Err(usage(
                "nothing can be measured in no time or no block; give --budget, --segment and --blocks above zero",
            ));
        }
        check_budget(budget, blocks, segment)?;
        Ok(How {
            budget: budget.or(blocks.is_none().then_some(BUDGET_DEFAULT)),
            is_budget_asked: budget.is_some(),
            blocks,
            segment,
            warmup: args.warmup.or(config.warmup),
        })
    }
}

/// Refuses a budget in which not even the shortest measurements make a verdict.
fn check_budget(
    budget: Option<Duration>,
    blocks: Option<usize>,
    segment: Option<Duration>,
) -> Result<(), Failure> {
    let Some(budget) = budget.filter(|_| blocks.is_none()) else {
        return Ok(());
    };
    let needed = segment.unwrap_or(SEGMENT_MIN) * (4 * BLOCKS_MIN as u32);
    match budget < needed {
        true => Err(usage(too_short(budget, needed))),
        false => Ok(()),
    }
}

/// Says so, with a budget that is enough.
fn too_short(budget: Duration, needed: Duration) -> String {
    format!(
        "a verdict needs {BLOCKS_MIN} blocks, and a budget of {:.0} s does not hold them; give --budget {:.0}m, a shorter \
         --segment, or --blocks for a measurement without a verdict",
        budget.as_secs_f64(),
        (needed.as_secs_f64() / 60.0).ceil()
    )
}

impl Shape {
    /// Settles it. A budget that is too short for any claim gives way when nobody asked for it; else the reason why nothing is
    /// measured.
    pub(super) fn of(how: &mut How, trial: &Trial) -> Result<Shape, String> {
        let left = how.budget.map(|budget| budget.saturating_sub(trial.took));
        let beside = trial.overhead + trial.warmup;
        let segment = how.segment.unwrap_or_else(|| {
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
        let mut blocks_max = how.blocks.unwrap_or(BLOCKS_MOST).min(fitting).max(1);
        if blocks_max < BLOCKS_MIN && how.blocks.is_none() {
            if let Some(budget) = how.budget.filter(|_| how.is_budget_asked) {
                let needed = trial.took + block * (BLOCKS_MIN as u32 + 1);
                return Err(too_short(budget, needed));
            }
            blocks_max = BLOCKS_MIN;
            how.budget = None;
        }
        let expected = trial.rps * segment.as_secs_f64();
        let carried = |(_, q): &(&str, f64)| *q >= 1.0 || expected * (1.0 - q) >= CARRY;
        Ok(Shape {
            warmup: trial.warmup,
            segment,
            blocks_max,
            block,
            quantiles: QUANTILES.into_iter().filter(carried).collect(),
            has_cpu: (trial.cpu_ms).is_some_and(|each| each * expected >= CPU_MIN_MS),
        })
    }

    /// What will be done, for people.
    pub(super) fn announcement(&self) -> Text {
        let shown = |length: Duration| format!("{:.1}", length.as_secs_f64());
        text!(
            "at most {blocks} of 4 × {segment} s after {warmup} s of warm-up, about {block} s per block; \
             Ctrl-C ends it with what was measured",
            blocks = counted!(self.blocks_max as u64, "block"),
            segment = shown(self.segment),
            warmup = shown(self.warmup),
            block = format!("{:.0}", self.block.as_secs_f64())
        )
    }

    /// The statistics of these blocks.
    pub(super) fn comparison(&self) -> Comparison {
        let watched =
            |(row, (_, q)): (usize, &(&str, f64))| (*q <= WATCHED_UP_TO).then_some(row + 1);
        let quantiles = self.quantiles.iter().enumerate().filter_map(watched);
        let cpu = self.has_cpu.then_some(self.rows() - 1);
        let watched = [0].into_iter().chain(quantiles).chain(cpu);
        Comparison::new(self.blocks_max, watched.collect())
    }

    /// Throughput, the percentiles, CPU time.
    pub(super) fn rows(&self) -> usize {
        1 + self.quantiles.len() + usize::from(self.has_cpu)
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let quantiles = self.quantiles.iter().map(|(name, _)| *name);
        let cpu = self.has_cpu.then_some("cpu");
        ["rps"].into_iter().chain(quantiles).chain(cpu)
    }

    /// The rows' values in one measurement: requests a second, then milliseconds.
    pub(super) fn figures(&self, segment: &Segment) -> Vec<f64> {
        let quantiles = self.quantiles.iter().map(|(_, q)| {
            let value = stats::quantile(&segment.latency, *q);
            // A measurement without any answer was refused; a clock that saw no time pass is no reason to fail.
            value.map_or(f64::NAN, |value| value.as_millis_f64().max(1e-6))
        });
        let cpu = (self.has_cpu).then(|| segment.cpu_ms.unwrap_or(f64::NAN));
        [segment.rps]
            .into_iter()
            .chain(quantiles)
            .chain(cpu)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(budget_s: Option<u64>, blocks: Option<usize>) -> How {
        let args = HowArgs {
            budget: budget_s.map(Duration::from_secs),
            blocks,
            ..HowArgs::default()
        };
        How::resolve(&args, &config::Compare::default()).expect("a plan")
    }

    fn shape(mut how: How, overhead_s: u64, rps: f64) -> Result<Shape, String> {
        let trial = Trial {
            rps,
            warmup: Duration::from_secs(1),
            overhead: Duration::from_secs(overhead_s),
            took: Duration::from_secs(16),
            cpu_ms: Some(2.0),
        };
        Shape::of(&mut how, &trial)
    }

    #[test]
    fn the_budget_is_spread_over_blocks() {
        let shape = shape(how(None, None), 1, 500.0).expect("it is enough");
        assert!(
            (16..=20).contains(&shape.blocks_max),
            "{}",
            shape.blocks_max
        );
        assert!(shape.segment >= SEGMENT_MIN);
        assert_eq!(shape.rows(), 11);
        assert_eq!(shape.names().last(), Some("cpu"));
    }

    #[test]
    fn a_short_budget_is_refused_when_it_was_asked_for_and_raised_when_not() {
        let asked = shape(how(Some(60), None), 10, 500.0).err();
        let why = asked.expect("it holds no verdict");
        // 16 s of trial and 7 blocks of 4 × (10 + 1 + 2) s.
        assert!(why.contains("--budget 7m"), "{why}");
        let raised = shape(how(None, None), 30, 500.0).expect("it is raised");
        assert_eq!(raised.blocks_max, BLOCKS_MIN);
    }

    #[test]
    fn a_budget_that_cannot_be_enough_is_refused_before_anything_is_measured() {
        let args = |budget_s, segment_s: Option<u64>| HowArgs {
            budget: Some(Duration::from_secs(budget_s)),
            segment: segment_s.map(Duration::from_secs),
            ..HowArgs::default()
        };
        let refused = |args: &HowArgs| {
            let how = How::resolve(args, &config::Compare::default());
            how.err().map(|failure| failure.message)
        };
        let why = refused(&args(10, None)).expect("6 blocks of 4 × 2 s take 48 s");
        assert!(why.contains("--budget 1m"), "{why}");
        assert!(refused(&args(100, Some(5))).is_some());
        assert!(refused(&args(48, None)).is_none());
    }

    #[test]
    fn blocks_that_are_asked_for_need_no_budget() {
        let shape = shape(how(None, Some(3)), 100, 20.0).expect("blocks are asked for");
        assert_eq!(shape.blocks_max, 3);
        assert!(
            shape.names().all(|name| name != "p99"),
            "too few requests for a p99"
        );
    }
}
