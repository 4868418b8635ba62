//! Figures of one process, and what a first look at a job by a contender showed.

use stats::warmup;

use crate::child::{Batch, Child, Jit};
use crate::process::Used;

/// Which clock a time is read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// CPU time for computing code, wall time for code waiting or using several cores.
    #[default]
    Auto,
    /// CPU time of all threads.
    Cpu,
    /// Wall time.
    Wall,
}

/// Share of the loop's own cost below which a script's cost is indistinguishable from none.
const TOO_SMALL: f64 = 0.1;
/// Wall time up to which a script without CPU time counts as not waiting, in seconds.
const WAIT_MIN: f64 = 1e-6;
/// Share of waiting time below which code counts as computing.
const WAITS: f64 = 0.02;
/// Voluntary context switches of a whole process up to which nothing waited: missing time was the
/// hypervisor's.
const GAVE_UP: u64 = 2;
/// Cores in use above which code has threads computing at once.
const PARALLEL: f64 = 1.05;

/// Objects retained per turn, and by all turns of a process, below which Ruby's own caches are as
/// likely: found with scripts retaining nothing.
const RETAINED_MIN: f64 = 0.01;
const RETAINED_ALL_MIN: f64 = 200.0;

/// What one process measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Seconds of wall time per turn, the loop's own taken off.
    pub wall: f64,
    /// Seconds of CPU time per turn, the loop's own taken off.
    pub cpu: f64,
    /// Seconds of the loop itself per turn, on the CPU clock; `None` where nothing was taken off.
    pub overhead: Option<f64>,
    /// Greatest resident memory of the process, bytes.
    pub memory: f64,
    /// The figure printed by the program.
    pub printed: Option<f64>,
    /// Counted turns.
    pub turns: u64,
    /// Share of the time in the garbage collector.
    pub gc_share: f64,
    /// Collections.
    pub gc_count: u64,
    /// Seconds per turn of each counted batch in order of time, on the CPU clock.
    pub curve: Vec<f64>,
    /// How long a fixed piece of work took on the cores meanwhile.
    pub pace: Option<f64>,
    /// Seconds from the start of the process until the preludes were through.
    pub startup: f64,
    /// Exit code of a command.
    pub exit_code: i32,
    /// User and system time of the whole process, seconds.
    pub user_system: [f64; 2],
}

impl Sample {
    /// Sums up the counted batches of a process. `None` when the script's own cost is
    /// indistinguishable from the loop's.
    pub fn of(child: &Child) -> Option<Sample> {
        let per_turn = |batches: &[Batch], of: fn(&Batch) -> u64| {
            let turns: u64 = batches.iter().map(|batch| batch.turns).sum();
            let sum: u64 = batches.iter().map(of).sum();
            sum as f64 / 1e9 / turns.max(1) as f64
        };
        let [wall, cpu] = [wall_ns, cpu_ns].map(|of| {
            let empty = per_turn(&child.empty, of);
            (per_turn(&child.batches, of) - empty, empty)
        });
        if cpu.0 <= TOO_SMALL * cpu.1 && wall.0 < WAIT_MIN {
            return None;
        }
        let all_ns: u64 = child.batches.iter().map(|batch| batch.wall_ns).sum();
        let gc_ns: u64 = child.batches.iter().map(|batch| batch.gc_ns).sum();
        Some(Sample {
            // The wall clock also counts what others did; where that fell into the loop alone, it
            // is not the script's.
            wall: wall.0.max(cpu.0),
            // A script that only waits uses next to no CPU time.
            cpu: cpu.0.max(1e-12),
            overhead: (!child.empty.is_empty()).then_some(cpu.1),
            memory: child.memory as f64,
            turns: child.batches.iter().map(|batch| batch.turns).sum(),
            gc_share: gc_ns as f64 / all_ns.max(1) as f64,
            gc_count: child.batches.iter().map(|batch| batch.gc_count).sum(),
            curve: child.batches.iter().map(seconds_per_turn).collect(),
            ..Sample::default()
        })
    }

    /// Adds the kernel's figures of the whole process, used in place of missing times.
    pub fn with_used(self, used: &Used) -> Sample {
        let [user, system] = [used.user, used.system].map(|time| time.as_secs_f64());
        let is_own = self.wall > 0.0;
        Sample {
            wall: if is_own {
                self.wall
            } else {
                used.wall.as_secs_f64()
            },
            cpu: if is_own { self.cpu } else { user + system },
            memory: used.memory as f64,
            user_system: [user, system],
            exit_code: used.status.code().unwrap_or(-1),
            ..self
        }
    }

    /// Returns the time by a chosen clock.
    pub fn seconds(&self, clock: Clock) -> f64 {
        match clock {
            Clock::Cpu => self.cpu,
            Clock::Auto | Clock::Wall => self.wall,
        }
    }
}

fn wall_ns(batch: &Batch) -> u64 {
    batch.wall_ns
}

fn cpu_ns(batch: &Batch) -> u64 {
    batch.cpu_ns
}

/// CPU time per turn, or wall time where there was no CPU time to speak of.
fn seconds_per_turn(batch: &Batch) -> f64 {
    batch.cpu_ns.max(batch.wall_ns / 1000) as f64 / 1e9 / batch.turns as f64
}

/// What a first process showed: how the measuring ones must be shaped, and grounds for doubt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Description of the Ruby.
    pub ruby: String,
    /// Seconds until the preludes were through.
    pub startup: f64,
    /// Seconds of the first turn ever.
    pub first: f64,
    /// Seconds per turn of batches of equal size from the first on.
    pub curve: Vec<f64>,
    /// Turns of each batch of the curve.
    pub turns: u64,
    /// Index in the curve of the first steady batch; the length for a curve never steady.
    pub steady_from: usize,
    /// Seconds of running until then.
    pub warmup: f64,
    /// Seconds per turn when warm, with the loop.
    pub turn: f64,
    /// Whether the time goes by computing on one core.
    pub computes: bool,
    /// Instructions with the script and without; `None` where unavailable.
    pub instructions: Option<[i64; 2]>,
    /// Instructions of the script fetching a value unknown to a compiler.
    pub inputs: Option<i64>,
    /// Value of the script, or a digest; `None` for a value without a printed form.
    pub value: Option<String>,
    /// The compiler before the first turn and at the end.
    pub jit: [Jit; 2],
    /// Whether the Ruby was built with optimisation and without debugging code.
    pub is_optimised: bool,
    /// Objects allocated per turn.
    pub allocated: f64,
    /// Objects alive at the end.
    pub live: u64,
    /// Objects left alive by the counted turns, and the number of turns; `None` where unknown.
    pub retained: Option<(i64, u64)>,
    /// The environment printed by a program with a figure, by the file's names.
    pub environment: Vec<(String, String)>,
}

impl Trial {
    /// Reads the output of the first process; `began_ns` is the instant before the start.
    pub fn of(child: &Child, began_ns: u64) -> Trial {
        let curve: Vec<Batch> = if child.warm.is_empty() {
            child.batches.clone()
        } else {
            child.warm.clone()
        };
        let seconds: Vec<f64> = curve.iter().map(seconds_per_turn).collect();
        let settling = warmup::settling(&seconds);
        let before = child
            .first
            .iter()
            .chain(&curve[..settling.steady_from.min(curve.len())]);
        let warmup: u64 = before.map(|batch| batch.wall_ns).sum();
        let first = child
            .first
            .first()
            .or(child.warm.first())
            .or(child.batches.first());
        let last = curve.last();
        let is_flat = settling.steady_from == 0;
        Trial {
            ruby: child.ruby.clone(),
            startup: child.ready_ns.saturating_sub(began_ns) as f64 / 1e9,
            first: first.map_or(0.0, seconds_per_turn),
            turns: last.map_or(1, |batch| batch.turns),
            turn: settling
                .after
                .or_else(|| last.map(seconds_per_turn))
                .unwrap_or(0.0),
            steady_from: settling.steady_from,
            warmup: if is_flat { 0.0 } else { warmup as f64 / 1e9 },
            curve: seconds,
            computes: child.waited.is_none_or(computes),
            instructions: child.instructions,
            inputs: child.inputs,
            value: child.value.clone(),
            jit: child.jit.clone(),
            is_optimised: !child.is_debug,
            allocated: child.allocated as f64 / child.allocated_turns.max(1) as f64,
            live: child.live,
            retained: child.retained,
            environment: Vec::new(),
        }
    }

    /// Returns the objects left alive per turn; `None` where unknown.
    pub fn retained_per_turn(&self) -> Option<f64> {
        let (objects, turns) = self.retained?;
        (turns > 0).then(|| objects as f64 / turns as f64)
    }

    /// Returns the objects left alive per turn in excess of another contender's; `None` where Ruby
    /// itself may retain as many.
    pub fn retains_more(&self, other: &Trial) -> Option<f64> {
        let turns = self.retained?.1.min(other.retained?.1);
        let more = self.retained_per_turn()? - other.retained_per_turn()?;
        (more >= RETAINED_MIN && more * turns as f64 >= RETAINED_ALL_MIN).then_some(more)
    }

    /// Returns whether the Ruby compiles while running. One that does not needs no warm-up but for
    /// its caches: what its curve shows is the host.
    pub fn compiles(&self) -> bool {
        !self.ruby.starts_with("ruby ") || !matches!(self.jit[1].name.as_str(), "" | "none")
    }

    /// Whether the curve became steady.
    pub fn has_settled(&self) -> bool {
        !self.compiles() || self.curve.is_empty() || self.steady_from < self.curve.len()
    }
}

fn computes([wall, cpu, queued, gave_up]: [u64; 4]) -> bool {
    let [wall, cpu, queued] = [wall, cpu, queued].map(|time| time as f64);
    let waits = gave_up > GAVE_UP && cpu + queued < (1.0 - WAITS) * wall;
    !waits && cpu <= PARALLEL * wall
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(turns: u64, cpu_ns: u64) -> Batch {
        Batch {
            turns,
            wall_ns: cpu_ns + 10,
            cpu_ns,
            gc_count: 1,
            gc_ns: cpu_ns / 10,
        }
    }

    #[test]
    fn the_loop_is_taken_off() {
        let child = Child {
            batches: vec![batch(100, 5_000), batch(100, 7_000)],
            empty: vec![batch(100, 1_000), batch(100, 1_000)],
            ..Child::default()
        };
        let sample = Sample::of(&child).expect("far above the loop");
        assert!((sample.cpu - 50e-9).abs() < 1e-15, "{sample:?}");
        assert_eq!(sample.overhead, Some(10e-9));
        assert_eq!((sample.turns, sample.gc_count), (200, 2));
    }

    #[test]
    fn what_costs_no_more_than_the_loop_is_too_small() {
        let child = Child {
            batches: vec![batch(1_000, 10_200)],
            empty: vec![batch(1_000, 10_000)],
            ..Child::default()
        };
        assert_eq!(Sample::of(&child), None);
    }

    #[test]
    fn waiting_for_a_core_is_no_waiting() {
        assert!(computes([100, 99, 0, 9]));
        assert!(computes([100, 60, 39, 9]));
        assert!(computes([100, 60, 0, 1]), "stolen");
        assert!(!computes([100, 60, 0, 9]));
        assert!(!computes([100, 190, 0, 0]), "two cores at once");
    }

    #[test]
    fn the_warm_up_is_what_comes_before_the_change() {
        let mut warm = vec![batch(10, 9_000); 15];
        warm.extend(vec![batch(10, 1_000); 45]);
        let child = Child {
            first: vec![batch(1, 2_000)],
            warm,
            ready_ns: 5_000_000_000,
            ruby: "jruby 10".to_owned(),
            ..Child::default()
        };
        let trial = Trial::of(&child, 4_000_000_000);
        assert_eq!((trial.steady_from, trial.startup), (15, 1.0));
        assert!((trial.warmup - (2_010.0 + 15.0 * 9_010.0) / 1e9).abs() < 1e-12);
        assert!((trial.turn - 1e-7).abs() < 1e-12);
        assert!(trial.has_settled());
    }
}
