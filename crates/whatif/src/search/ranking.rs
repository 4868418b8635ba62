//! Expected figures of cells, and the order of cells.

use super::noise::{self, Noise};
use super::{Better, Cell, MARGIN, Search, distance};
use crate::goal::Figures;

/// Factor from which a p95 is really longer. Chosen by judgement: the p95 of short blocks differs
/// by half from one to the next.
const TAIL_ALIKE: f64 = 1.5;
/// Share of requests per second given up to save memory and threads.
const THRIFT: f64 = 0.005;

impl Search {
    /// Returns the measured figures, or the corrected prediction.
    pub(super) fn figures(&self, index: usize) -> Figures {
        let candidate = &self.candidates[index];
        noise::geometric_mean(&candidate.measured).unwrap_or_else(|| {
            let correction = self.correction(candidate.cell);
            candidate.predicted.zip(&correction, |value, by| value * by)
        })
    }

    /// Returns factors for predictions near a cell: weighted by nearness in the logarithm of
    /// threads and workers, with one cell's weight for no correction at all.
    fn correction(&self, cell: Cell) -> Figures {
        let (mut sum, mut weights) = (Figures::default(), 0.2);
        for known in &self.candidates {
            let Some(measured) = noise::geometric_mean(&known.measured) else {
                continue;
            };
            let weight = 1.0 / (0.1 + distance(known.cell, cell));
            let off = measured.zip(&known.predicted, |measured, predicted| {
                (measured / predicted).ln() * weight
            });
            sum = sum.zip(&off, |sum, off| sum + off);
            weights += weight;
        }
        sum.zip(&Figures::default(), |sum, _| (sum / weights).exp())
    }

    pub(super) fn holds(&self, index: usize) -> bool {
        let goal = self.aim.goal;
        goal.is_none_or(|goal| goal.held_by(&self.figures(index)))
    }

    /// Working cells, the best first. Those that hold the goal go first, the others by how nearly
    /// they do.
    pub(super) fn ranked(&self) -> Vec<usize> {
        let key = |index: usize| {
            let candidate = &self.candidates[index];
            let figures = self.figures(index);
            let missed = self
                .aim
                .goal
                .map_or(0.0, |goal| goal.missed_by(&figures).max(0.0));
            let cell = candidate.cell;
            let size = (cell.workers, cell.threads);
            match self.aim.by {
                Better::Throughput => (missed, -figures.rps, candidate.memory_bytes, size),
                Better::Memory => (missed, 0.0, candidate.memory_bytes, size),
            }
        };
        let mut working: Vec<(_, usize)> = (0..self.candidates.len())
            .filter(|index| !self.candidates[*index].broken)
            .map(|index| (key(index), index))
            .collect();
        working.sort_by(|(a, _), (b, _)| {
            let by_goal = a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
            by_goal.then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3))
        });
        let ranked = working.into_iter().map(|(_, index)| index).collect();
        self.best_of_equals_first(ranked)
    }

    /// Moves cells up whose throughput is about the best: shortest p95 first, because users feel
    /// the tail, then by needs.
    fn best_of_equals_first(&self, ranked: Vec<usize>) -> Vec<usize> {
        let best = ranked.first().copied().filter(|best| self.holds(*best));
        let (Better::Throughput, Some(best)) = (self.aim.by, best) else {
            return ranked;
        };
        let noise = Noise::of(&self.candidates);
        let (equals, others): (Vec<usize>, Vec<usize>) = ranked
            .into_iter()
            .partition(|index| self.is_equal(*index, best, MARGIN / 2.0, &noise));
        let p95 = |index: &usize| self.figures(*index).p95;
        let most = TAIL_ALIKE * equals.iter().map(p95).fold(f64::INFINITY, f64::min);
        let (short, long): (Vec<usize>, Vec<usize>) =
            equals.into_iter().partition(|index| p95(index) <= most);
        [self.thriftiest_first(short, &noise), long, others].concat()
    }

    fn thriftiest_first(&self, mut ranked: Vec<usize>, noise: &Noise) -> Vec<usize> {
        if let Some(best) = ranked.first().copied() {
            ranked.sort_by_key(|index| {
                let candidate = &self.candidates[*index];
                let size = (candidate.cell.workers, candidate.cell.threads);
                let is_slower = !self.is_equal(*index, best, THRIFT, noise);
                (is_slower, candidate.memory_bytes, size)
            });
        }
        ranked
    }

    /// Whether a cell's throughput is the best but for a share: as far as is known, or predicted
    /// and not distinguishable by measurement.
    fn is_equal(&self, index: usize, best: usize, share: f64, noise: &Noise) -> bool {
        let (one, other) = (&self.candidates[index], &self.candidates[best]);
        let alike = |one: &Figures, other: &Figures| one.rps >= other.rps * (1.0 - share);
        let measured = !one.measured.is_empty() && !other.measured.is_empty();
        let is_hidden = measured
            && alike(&one.predicted, &other.predicted)
            && noise.advantage(one, other).high >= 0.0;
        self.holds(index) && (is_hidden || alike(&self.figures(index), &self.figures(best)))
    }
}
