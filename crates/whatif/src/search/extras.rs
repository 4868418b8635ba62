//! Settings beside workers and threads, each on the same cell: malloc, garbage collection,
//! compiler.
//!
//! Nothing predicts them, so each is measured beside the cell without any, in rounds that go
//! forwards and backwards in turn. They are judged one by one: each with its own 95 % interval, and
//! never two of them together.

use super::noise::{Advantage, Noise};
use super::{Candidate, Cell, Effect, MARGIN};
use crate::goal::Figures;

/// Rounds: fewer are too few for Student's t, more cost more than such settings usually gain.
const ROUNDS: usize = 4;

/// The settings of one race.
#[derive(Clone, Debug)]
pub struct Extras {
    /// The cell without a setting, then one for each setting.
    candidates: Vec<Candidate>,
    names: Vec<String>,
    rounds: usize,
    /// Rest of the round as indices, the next one last.
    round: Vec<usize>,
}

/// A setting at the end of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// The setting as given.
    pub name: String,
    /// Throughput relative to the cell without the setting; `None` if not measured.
    pub effect: Option<Effect>,
    /// Memory of the app's processes relative to the cell without the setting.
    pub memory_ratio: Option<f64>,
    /// Blocks measured.
    pub blocks: usize,
}

impl Extra {
    /// Whether the setting is worth keeping: surely more throughput, by more than [`MARGIN`].
    pub fn is_better(&self) -> bool {
        (self.effect).is_some_and(|effect| effect.low > 1.0 && effect.ratio >= 1.0 + MARGIN)
    }
}

impl Extras {
    /// Starts a race of settings on one cell.
    pub fn new(cell: Cell, names: Vec<String>) -> Extras {
        let candidate = Candidate {
            cell,
            predicted: Figures::default(),
            memory_bytes: 0,
            measured: Vec::new(),
            broken: false,
        };
        Extras {
            candidates: vec![candidate; names.len() + 1],
            names,
            rounds: 0,
            round: Vec::new(),
        }
    }

    /// Returns what to measure next: `None` at the end, `Some(None)` for the plain cell, else the
    /// index of a setting.
    pub fn step(&mut self) -> Option<Option<usize>> {
        if self.round.is_empty() && self.rounds < ROUNDS && !self.names.is_empty() {
            self.rounds += 1;
            let working = |index: &usize| !self.candidates[*index].broken;
            self.round = (0..self.candidates.len()).filter(working).collect();
            if self.rounds % 2 == 1 {
                self.round.reverse();
            }
        }
        self.round.last().map(|index| index.checked_sub(1))
    }

    /// The result of the measurement asked for; `None` when the setting does not work.
    pub fn add(&mut self, figures: Option<Figures>, memory_bytes: u64) {
        let Some(index) = self.round.pop() else {
            return;
        };
        let candidate = &mut self.candidates[index];
        match figures {
            Some(figures) => {
                candidate.measured.push(figures);
                candidate.memory_bytes = memory_bytes;
            }
            None => candidate.broken = true,
        }
    }

    /// Returns the present results of all settings.
    pub fn outcomes(&self) -> Vec<Extra> {
        let noise = Noise::of(&self.candidates);
        let base = &self.candidates[0];
        let settings = self.candidates[1..].iter().zip(&self.names);
        settings
            .map(|(with, name)| {
                let is_known = !with.measured.is_empty() && !base.measured.is_empty();
                let effect = is_known.then(|| ratio(noise.advantage(with, base)));
                let memory = with.memory_bytes as f64 / base.memory_bytes as f64;
                Extra {
                    name: name.clone(),
                    effect: effect.filter(|_| !with.broken),
                    memory_ratio: Some(memory).filter(|memory| memory.is_finite() && *memory > 0.0),
                    blocks: with.measured.len(),
                }
            })
            .collect()
    }
}

fn ratio(advantage: Advantage) -> Effect {
    Effect {
        ratio: advantage.mean.exp(),
        low: advantage.low.exp(),
        high: advantage.high.exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Cell = Cell {
        workers: 1,
        threads: 3,
    };

    /// Runs a race of settings, each multiplying throughput by a factor; with factor zero the app
    /// does not work.
    fn run(factors: &[f64], seed: u64) -> Vec<Extra> {
        let names = factors.iter().map(f64::to_string).collect();
        let mut random = fastrand::Rng::with_seed(seed);
        let mut extras = Extras::new(CELL, names);
        let mut blocks = 0;
        while let Some(setting) = extras.step() {
            blocks += 1;
            assert!(blocks < 100, "it does not end");
            let factor = setting.map_or(1.0, |index| factors[index]);
            let figures = Figures {
                rps: 100.0 * factor * (1.0 + 0.02 * (random.f64() - 0.5)),
                ..Figures::default()
            };
            extras.add((factor > 0.0).then_some(figures), 1_000);
        }
        extras.outcomes()
    }

    #[test]
    fn what_helps_is_told_from_what_does_not() {
        for seed in 0..50 {
            let seen = run(&[1.1, 1.0, 0.9, 0.0], seed);
            let better: Vec<bool> = seen.iter().map(Extra::is_better).collect();
            assert_eq!(better, [true, false, false, false], "{seen:?}");
            assert_eq!((seen[3].effect, seen[3].blocks), (None, 0));
            assert_eq!(seen[0].blocks, ROUNDS);
            assert_eq!(seen[0].memory_ratio, Some(1.0));
        }
    }

    #[test]
    fn without_settings_nothing_is_measured() {
        assert_eq!(run(&[], 1), []);
    }

    #[test]
    fn an_early_end_claims_nothing() {
        let mut extras = Extras::new(CELL, vec!["a".to_owned()]);
        for rps in [100.0, 150.0] {
            assert!(extras.step().is_some());
            let figures = Figures {
                rps,
                ..Figures::default()
            };
            extras.add(Some(figures), 0);
        }
        assert!(!extras.outcomes()[0].is_better());
    }
}
