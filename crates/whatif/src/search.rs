//! Finds the best setting with as few measurements as possible: predicted first, then raced.
//!
//! 1. Every cell of the grid has a prediction. Where a cell is measured, the measurement counts;
//!    the others' predictions are corrected by how far predictions were off where it is known,
//!    nearer cells counting more.
//! 2. Contenders are the best few. A *round* measures each of them once, forwards and backwards in
//!    turn, so that what drifts on the host meets all of them.
//! 3. After each round, contenders that miss the goal or are surely worse than the leader are
//!    dropped, and a cell whose corrected prediction beats the leader comes in.
//! 4. It ends when no contender can be better than the leader by more than [`MARGIN`].
//!
//! Differences are judged by logarithms of the paired values of a round, with the noise of all
//! contenders taken together: with few rounds a cell's own would say nothing (Student's t with the
//! pooled degrees of freedom).
//!
//! Pure: the caller measures. [`Search::step`] says what, [`Search::add`] takes the result.

mod extras;
mod noise;
mod ranking;
#[cfg(test)]
mod tests;

use crate::goal::{Figures, Goal};
use noise::Noise;

pub use extras::{Extra, Extras};

/// Relative difference not worth another round: the aim is to lose less than 3 %.
pub const MARGIN: f64 = 0.03;

/// Contenders of the first round.
const CONTENDERS: usize = 3;
/// Logarithm of a ratio of threads or workers below which cells are hardly different: 4 and 5
/// threads are.
const ALIKE: f64 = 0.25;
/// Most cells ever measured.
const CELLS_MAX: usize = 8;
/// Rounds before a contender within the goal may be dropped or picked.
const ROUNDS_MIN: usize = 2;
/// Rounds after which the rest is chance.
const ROUNDS_MAX: usize = 12;
/// Distance from the goal in the first round from which a cell will not hold the goal.
const MISSED_CLEARLY: f64 = 0.3;
/// Distance from the goal up to which a prediction is worth a measurement when nothing better is
/// left.
const MISSED_HOPEFULLY: f64 = 0.25;

/// Workers and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// Worker processes.
    pub workers: u32,
    /// Threads per worker.
    pub threads: u32,
}

/// Aim of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The bound to hold; without one only [`Aim::by`] counts.
    pub goal: Option<Goal>,
    /// Order of settings within the goal.
    pub by: Better,
}

/// Criterion for the better of two settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More requests per second; among equals, a shorter p95; then less memory.
    Throughput,
    /// Less memory; of equals, fewer threads.
    Memory,
}

/// A cell with prediction and measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Workers and threads of the candidate.
    pub cell: Cell,
    /// Figures predicted by simulation.
    pub predicted: Figures,
    /// Memory of the app's processes, bytes: measured if possible, else predicted.
    pub memory_bytes: u64,
    /// One entry a block, in the order of the rounds.
    pub measured: Vec<Figures>,
    /// Whether the cell could not be measured: the app did not boot, or requests failed.
    pub broken: bool,
}

/// Next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Measure the cell.
    Measure(Cell),
    /// The search is over: [`Search::outcome`] has the result.
    Done(Ending),
}

/// Reason for the end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No contender can be better than the leader by more than [`MARGIN`].
    Known,
    /// The rest is noise: after the last round the contenders were not distinguishable.
    Noise,
    /// Nothing holds the goal, and no prediction promises to.
    GoalMissed,
}

/// Reason for the end of a race, where a search's measurements are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceEnd {
    /// The search is over.
    Search(Ending),
    /// The time budget is used up.
    Budget,
    /// The user interrupted the race.
    Interrupted,
}

/// The best setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The best candidate.
    pub best: Candidate,
    /// Figures of the best: geometric means over the blocks, or the corrected prediction without a
    /// block.
    pub figures: Figures,
    /// Whether the best holds the goal, as far as is known.
    pub goal_met: bool,
    /// Throughput relative to the present setting with a 95 % interval, if both were measured.
    pub effect: Option<Effect>,
    /// The goal's figure of the best with a 95 % interval, if measured.
    pub goal_figure: Option<Spread>,
}

/// A figure with the ends of an interval; without an upper end if every cell was measured only
/// once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Geometric mean over the blocks; in the figure's unit.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A ratio with the ends of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Best / present.
    pub ratio: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A search at work.
#[derive(Clone, Debug)]
pub struct Search {
    aim: Aim,
    present: Cell,
    candidates: Vec<Candidate>,
    /// Indices of the cells in the race.
    racing: Vec<usize>,
    /// Rest of the round as indices, the next one last.
    round: Vec<usize>,
    rounds: usize,
}

impl Search {
    /// Starts a search among `candidates`; `present` is the current setting, measured too if a
    /// candidate.
    pub fn new(aim: Aim, present: Cell, candidates: Vec<Candidate>) -> Search {
        let mut search = Search {
            aim,
            present,
            candidates,
            racing: Vec::new(),
            round: Vec::new(),
            rounds: 0,
        };
        search.racing = search.first_contenders();
        if let Some(present) = search.index_of(present)
            && !search.racing.contains(&present)
        {
            search.racing.push(present);
        }
        search
    }

    /// All cells with predictions and measurements.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Rounds begun.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Returns the next step.
    pub fn step(&mut self) -> Step {
        if let Some(index) = self.round.last() {
            return Step::Measure(self.candidates[*index].cell);
        }
        if self.rounds > 0 {
            self.drop_hopeless();
            self.let_in();
            if let Some(ending) = self.ending() {
                return Step::Done(ending);
            }
        }
        if self.racing.is_empty() {
            return Step::Done(Ending::GoalMissed);
        }
        self.rounds += 1;
        self.round = self.racing.clone();
        // Those that differ in threads alone come after each other: a running server can be brought
        // from one to the next.
        self.round
            .sort_by_key(|index| self.candidates[*index].cell.workers);
        if self.rounds % 2 == 1 {
            self.round.reverse();
        }
        self.step()
    }

    /// The result of the measurement asked for; `None` when there was none because the cell does
    /// not work.
    pub fn add(&mut self, figures: Option<Figures>, memory_bytes: u64) {
        let Some(index) = self.round.pop() else {
            return;
        };
        let candidate = &mut self.candidates[index];
        if memory_bytes > 0 {
            candidate.memory_bytes = memory_bytes;
        }
        match figures {
            Some(figures) => candidate.measured.push(figures),
            None => {
                candidate.broken = true;
                self.racing.retain(|racing| *racing != index);
            }
        }
    }

    /// The best as far as is known now; `None` when nothing works.
    pub fn outcome(&self) -> Option<Outcome> {
        let measured = |index: &usize| !self.candidates[*index].measured.is_empty();
        let ranked = self.ranked();
        // What was measured goes before what was only predicted.
        let best = ranked
            .iter()
            .find(|index| measured(index) && self.holds(**index));
        let best = best.or_else(|| ranked.iter().find(|index| measured(index)));
        let best = *best.or_else(|| ranked.first())?;
        let figures = self.figures(best);
        Some(Outcome {
            best: self.candidates[best].clone(),
            figures,
            goal_met: self.aim.goal.is_none_or(|goal| goal.held_by(&figures)),
            effect: self.effect(best),
            goal_figure: self.aim.goal.and_then(|goal| {
                let noise = Noise::in_metric(&self.candidates, goal.metric);
                noise.spread(&self.candidates[best])
            }),
        })
    }

    /// Returns the expected figures of a cell: measured, or the corrected prediction.
    pub fn expected(&self, cell: Cell) -> Option<Figures> {
        self.index_of(cell).map(|index| self.figures(index))
    }

    /// Returns the best few cells, leaving out near neighbours: a race between two of a kind says
    /// nothing.
    fn first_contenders(&self) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        for index in self.ranked() {
            let cell = self.candidates[index].cell;
            let alike = |known: &usize| distance(self.candidates[*known].cell, cell) < ALIKE;
            if chosen.len() < CONTENDERS && !chosen.iter().any(alike) {
                chosen.push(index);
            }
        }
        chosen
    }

    fn index_of(&self, cell: Cell) -> Option<usize> {
        self.candidates.iter().position(|known| known.cell == cell)
    }

    /// Returns the best cell in the race.
    fn leader(&self) -> Option<usize> {
        let ranked = self.ranked();
        ranked.into_iter().find(|index| self.racing.contains(index))
    }

    fn drop_hopeless(&mut self) {
        let Some(leader) = self.leader() else {
            return;
        };
        let noise = Noise::of(&self.candidates);
        let hopeless: Vec<usize> = (self.racing.iter().copied())
            .filter(|index| *index != leader && self.is_hopeless(*index, leader, &noise))
            .collect();
        self.racing.retain(|index| !hopeless.contains(index));
        if let (Some(goal), true) = (self.aim.goal, self.racing.len() == 1) {
            // Alone and clearly off: only a cell that comes in can help.
            let candidate = &self.candidates[leader];
            let missed = goal.missed_by(&self.figures(leader));
            let enough = candidate.measured.len() >= ROUNDS_MIN;
            if missed > MISSED_CLEARLY || (enough && missed > 0.0) {
                self.racing.clear();
            }
        }
    }

    fn is_hopeless(&self, index: usize, leader: usize, noise: &Noise) -> bool {
        let candidate = &self.candidates[index];
        let missed = self
            .aim
            .goal
            .map(|goal| goal.missed_by(&self.figures(index)));
        let leader_holds = self.holds(leader);
        let enough = candidate.measured.len() >= ROUNDS_MIN;
        match missed {
            Some(missed) if missed > 0.0 => missed > MISSED_CLEARLY || enough,
            _ if self.aim.by == Better::Memory => enough && leader_holds,
            _ => enough && noise.advantage(candidate, &self.candidates[leader]).high < 0.0,
        }
    }

    /// Adds the cell most promising among the ones never measured, if expected to beat the leader.
    fn let_in(&mut self) {
        let measured = (self.candidates.iter()).filter(|known| !known.measured.is_empty());
        if measured.count() >= CELLS_MAX {
            return;
        }
        let new = |index: &usize| self.candidates[*index].measured.is_empty();
        let Some(promising) = self.ranked().into_iter().find(new) else {
            return;
        };
        let figures = self.figures(promising);
        let missed = self.aim.goal.map_or(0.0, |goal| goal.missed_by(&figures));
        let comes_in = match self.leader() {
            None => missed <= MISSED_HOPEFULLY,
            Some(leader) if !self.holds(leader) => missed <= MISSED_HOPEFULLY,
            Some(leader) if missed <= 0.0 => match self.aim.by {
                Better::Throughput => figures.rps > self.figures(leader).rps * (1.0 + MARGIN),
                Better::Memory => {
                    self.candidates[promising].memory_bytes < self.candidates[leader].memory_bytes
                }
            },
            Some(_) => false,
        };
        if comes_in {
            self.racing.push(promising);
        }
    }

    fn ending(&self) -> Option<Ending> {
        let Some(leader) = self.leader() else {
            return Some(Ending::GoalMissed);
        };
        let settled = |index: &usize| self.candidates[*index].measured.len() >= ROUNDS_MIN;
        if !self.racing.iter().all(settled) {
            return None;
        }
        let noise = Noise::of(&self.candidates);
        let beaten = |index: &&usize| {
            let rival = &self.candidates[**index];
            let by_noise = noise.advantage(rival, &self.candidates[leader]).high < MARGIN;
            **index == leader || self.aim.by == Better::Memory || by_noise
        };
        if self.racing.iter().all(|index| beaten(&index)) {
            return Some(Ending::Known);
        }
        (self.rounds >= ROUNDS_MAX).then_some(Ending::Noise)
    }

    fn effect(&self, best: usize) -> Option<Effect> {
        let present = self.index_of(self.present)?;
        let (best, present) = (&self.candidates[best], &self.candidates[present]);
        if best.measured.is_empty() || present.measured.is_empty() || best.cell == present.cell {
            return None;
        }
        let advantage = Noise::of(&self.candidates).advantage(best, present);
        Some(Effect {
            ratio: advantage.mean.exp(),
            low: advantage.low.exp(),
            high: advantage.high.exp(),
        })
    }
}

fn distance(a: Cell, b: Cell) -> f64 {
    let log = |a: u32, b: u32| (f64::from(a.max(1)) / f64::from(b.max(1))).ln().abs();
    log(a.workers, b.workers) + log(a.threads, b.threads)
}
