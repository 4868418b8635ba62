//! Confidence in differences between cells, from few rounds.

use super::{Candidate, Spread};
use crate::goal::{Figures, Metric};

/// Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1; beyond the last nearly
/// constant.
const T95: [f64; 12] = [
    12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18,
];
/// Smallest noise of blocks of one host, as a logarithm: two blocks alike by chance must not end a
/// race.
const NOISE_MIN: f64 = 0.005;

/// The noise of one figure of a block, as a logarithm, over all cells.
pub(super) struct Noise {
    metric: Metric,
    deviation: f64,
    freedom: usize,
}

/// Advantage in throughput of one cell over another, as a logarithm, with a 95 % interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advantage {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Noise {
    /// Returns the noise of throughput.
    pub(super) fn of(candidates: &[Candidate]) -> Noise {
        Noise::in_metric(candidates, Metric::Rps)
    }

    /// Returns the noise over all cells measured more than once.
    pub(super) fn in_metric(candidates: &[Candidate], metric: Metric) -> Noise {
        let (mut squares, mut freedom) = (0.0, 0);
        for candidate in candidates {
            let logs: Vec<f64> = candidate
                .measured
                .iter()
                .map(|seen| log_of(seen, metric))
                .collect();
            if let Some(mean) = stats::mean(&logs) {
                squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
                freedom += logs.len() - 1;
            }
        }
        let deviation = (squares / freedom.max(1) as f64).sqrt();
        Noise {
            metric,
            deviation: deviation.max(NOISE_MIN),
            freedom,
        }
    }

    /// Of `a` over `b`, both measured.
    pub(super) fn advantage(&self, a: &Candidate, b: &Candidate) -> Advantage {
        let log = |candidate: &Candidate| {
            geometric_mean(&candidate.measured).map_or(0.0, |mean| log_of(&mean, self.metric))
        };
        let mean = log(a) - log(b);
        let each = |candidate: &Candidate| 1.0 / candidate.measured.len().max(1) as f64;
        let reach = self.t() * self.deviation * (each(a) + each(b)).sqrt();
        Advantage {
            mean,
            low: mean - reach,
            high: mean + reach,
        }
    }

    /// Returns the interval of a cell's figure; `None` if never measured.
    pub(super) fn spread(&self, candidate: &Candidate) -> Option<Spread> {
        let mean = geometric_mean(&candidate.measured)?.get(self.metric);
        let reach = self.t() * self.deviation / (candidate.measured.len() as f64).sqrt();
        Some(Spread {
            mean,
            low: mean * (-reach).exp(),
            high: mean * reach.exp(),
        })
    }

    fn t(&self) -> f64 {
        match self.freedom {
            0 => f64::INFINITY,
            freedom => T95[freedom.min(T95.len()) - 1],
        }
    }
}

fn log_of(figures: &Figures, metric: Metric) -> f64 {
    figures.get(metric).max(f64::MIN_POSITIVE).ln()
}

/// Returns the geometric mean of each figure; `None` without a block. Zeros count as very little.
pub(super) fn geometric_mean(blocks: &[Figures]) -> Option<Figures> {
    let count = blocks.len() as f64;
    let log = |value: f64| value.max(1e-9).ln();
    let first = blocks.first()?;
    let logs = blocks.iter().fold(Figures::default(), |sum, block| {
        sum.zip(block, |sum, value| sum + log(value))
    });
    Some(logs.zip(first, |sum, _| (sum / count).exp()))
}
