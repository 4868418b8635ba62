//! How a job is measured: how many turns make a batch, how many batches a process, how many blocks
//! the time allows.

use std::time::Duration;

use stats::comparison::BLOCKS_MIN;

use crate::model::{Runner, Script};
use crate::sample::Trial;

/// Least length of a batch of the fastest contender, seconds: reading two clocks (1 µs) and one
/// interrupt (some 5 µs) are small in comparison.
const BATCH: f64 = 0.004;
/// Blocks per budget, if processes start fast enough.
const BLOCKS: f64 = 40.0;
/// More blocks would add little but starts of processes.
const BLOCKS_MAX: usize = 128;
/// Counted seconds of a process, at least and at most.
const COUNTED: [f64; 2] = [0.03, 1.0];
/// Batches into which a given number of turns is cut, fine enough to show warm-up and trend.
const PARTS: u64 = 16;
/// Seconds until a Ruby without a compiler has filled the inline caches.
const CACHES: f64 = 0.02;
/// Shortest part well above the cost of reading the clock, in seconds; below, all turns are one
/// batch.
const PART: f64 = 1e-3;
/// Greatest warm-up of a process, seconds: a compiler still busy afterwards counts as unsettled.
const WARMUP_MAX: f64 = 5.0;

/// How each process of a job runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Turns of a batch; the same for all contenders of a job, since a script may slow down over
    /// time.
    pub turns: u64,
    /// Uncounted batches.
    pub warm: u64,
    /// Counted batches.
    pub batches: u64,
    /// Whether the loop alone is measured too, and taken off.
    pub has_empty: bool,
}

/// Returns the shape of the first process of a job; `turns` 0 lets the process choose.
pub fn first_shape(script: &Script, runner: Runner) -> Shape {
    match (runner, script.loop_count) {
        (Runner::Once, _) => whole(1),
        (Runner::Memory, count) => whole(count.unwrap_or(1)),
        (_, Some(count)) => parts(count),
        (_, None) => Shape {
            turns: 0,
            warm: 60,
            batches: 6,
            has_empty: true,
        },
    }
}

fn whole(turns: u64) -> Shape {
    Shape {
        turns,
        warm: 0,
        batches: 1,
        has_empty: false,
    }
}

fn parts(count: u64) -> Shape {
    let batches = count.min(PARTS);
    Shape {
        turns: count / batches,
        warm: 0,
        batches,
        has_empty: count > 1,
    }
}

/// The shapes of a job's processes, by contender; `seconds` is what one process may take.
pub fn shapes(
    script: &Script,
    runner: Runner,
    trials: &[Option<&Trial>],
    seconds: f64,
) -> Vec<Shape> {
    let first = first_shape(script, runner);
    let known = || trials.iter().copied().flatten();
    if first.turns > 0 {
        let is_short = known().any(|trial| trial.turn * (first.turns as f64) < PART);
        let shape = match script.loop_count {
            Some(count) if first.batches > 1 && is_short => Shape {
                has_empty: first.has_empty,
                ..whole(count)
            },
            _ => first,
        };
        return vec![shape; trials.len()];
    }
    let fastest = known()
        .map(|trial| trial.turn)
        .fold(f64::MAX, f64::min)
        .max(1e-10);
    let slowest = known()
        .map(|trial| trial.turn)
        .fold(0.0, f64::max)
        .max(1e-10);
    let turns = (BATCH / fastest).ceil().max(1.0);
    let batch = turns * slowest;
    let overhead = known()
        .map(|trial| trial.startup + warmup(trial))
        .fold(0.0, f64::max);
    // At least as long as the process takes before it, or most of the time would go into starts.
    let counted = (seconds - overhead)
        .max(overhead)
        .clamp(COUNTED[0], COUNTED[1]);
    // Half of the time goes to the loop alone where the script is small.
    let batches = (counted / batch / 1.5).round().clamp(2.0, 50.0);
    let shape = |trial: &Option<&Trial>| Shape {
        turns: turns as u64,
        warm: trial
            .map_or(0, |trial| {
                (warmup(trial) / (turns * trial.turn.max(1e-10))).ceil() as u64
            })
            .max(1),
        batches: batches as u64,
        has_empty: true,
    };
    trials.iter().map(shape).collect()
}

fn warmup(trial: &Trial) -> f64 {
    if !trial.compiles() {
        return trial.warmup.min(CACHES);
    }
    if trial.has_settled() {
        trial.warmup.min(WARMUP_MAX)
    } else {
        trial.curve.iter().sum::<f64>() * trial.turns as f64
    }
}

/// Returns the seconds per process at which a budget holds enough blocks.
pub fn seconds_per_process(budget: Duration, cells: usize) -> f64 {
    budget.as_secs_f64() / (BLOCKS * 2.0 * cells.max(1) as f64)
}

/// Returns the number of blocks within the remaining budget, given the duration of one.
pub fn blocks(left: Duration, block: Duration) -> usize {
    let fit = left.as_secs_f64() / block.as_secs_f64().max(1e-3);
    (fit as usize).clamp(BLOCKS_MIN, BLOCKS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(turn: f64, warmup: f64) -> Trial {
        Trial {
            turn,
            warmup,
            startup: 0.05,
            turns: 1_000,
            ..Trial::default()
        }
    }

    #[test]
    fn all_contenders_run_the_same_turns() {
        let (slow, fast) = (trial(1e-6, 0.0), trial(1e-7, 0.5));
        let shapes = shapes(
            &Script::default(),
            Runner::Ips,
            &[Some(&slow), Some(&fast)],
            0.2,
        );
        assert_eq!(shapes[0].turns, shapes[1].turns);
        assert_eq!(shapes[0].batches, shapes[1].batches);
        assert!(shapes[0].turns as f64 * 1e-7 >= BATCH);
        assert!(shapes[1].warm as f64 * shapes[1].turns as f64 * 1e-7 >= 0.5);
    }

    #[test]
    fn a_given_count_is_kept() {
        let with = |count| Script {
            loop_count: Some(count),
            ..Script::default()
        };
        let of = |count, runner| shapes(&with(count), runner, &[None], 1.0)[0];
        assert_eq!(
            of(1, Runner::Ips),
            Shape {
                turns: 1,
                warm: 0,
                batches: 1,
                has_empty: false
            }
        );
        assert_eq!(
            of(2_000, Runner::Ips),
            Shape {
                turns: 125,
                warm: 0,
                batches: 16,
                has_empty: true
            }
        );
        let quick = trial(1e-7, 0.0);
        let shape = shapes(&with(2_000), Runner::Ips, &[Some(&quick)], 1.0)[0];
        assert_eq!(
            (shape.turns, shape.batches, shape.has_empty),
            (2_000, 1, true)
        );
        assert_eq!(of(2_000, Runner::Memory).turns, 2_000);
        assert_eq!(of(2_000, Runner::Once).turns, 1);
    }

    #[test]
    fn a_budget_holds_a_claim() {
        assert_eq!(
            blocks(Duration::from_secs(1), Duration::from_secs(10)),
            BLOCKS_MIN
        );
        assert_eq!(blocks(Duration::from_secs(20), Duration::from_secs(1)), 20);
        assert_eq!(
            blocks(Duration::from_secs(900), Duration::from_secs(1)),
            BLOCKS_MAX
        );
    }
}
