//! Figures of a series of times or sizes.

use serde::{Deserialize, Serialize};

/// Times of a route or a statement, each kept in microseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times {
    micros: Vec<u32>,
}

/// Sizes of bodies, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// Bodies whose size the log names.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// All together.
    pub sum: u64,
}

impl Times {
    pub(crate) fn add(&mut self, micros: u32) {
        self.micros.push(micros);
    }

    pub(crate) fn merge(&mut self, other: &Times) {
        self.micros.extend_from_slice(&other.micros);
    }

    pub(crate) fn sort(&mut self) {
        self.micros.sort_unstable();
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.micros.len() as u64
    }

    /// Returns the sum of the times, seconds.
    pub fn sum(&self) -> f64 {
        let micros: u64 = self.micros.iter().map(|micros| u64::from(*micros)).sum();
        micros as f64 / 1e6
    }

    /// Returns the mean of the times, seconds; `None` of no times.
    pub fn mean(&self) -> Option<f64> {
        (!self.micros.is_empty()).then(|| self.sum() / self.micros.len() as f64)
    }

    /// The standard deviation, seconds, of the series as a whole.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let square = |micros: &u32| (f64::from(*micros) / 1e6 - mean).powi(2);
        let squares: f64 = self.micros.iter().map(square).sum();
        Some((squares / self.micros.len() as f64).sqrt())
    }

    /// Returns the value of rank ⌊(n + 1) p / 100⌋ in seconds, the same rank as in alp. `None` of
    /// nothing. The series must be sorted, as in what [`crate::access::Access::rows`] returns.
    pub fn percentile(&self, percent: u32) -> Option<f64> {
        debug_assert!(self.micros.is_sorted());
        let last = self.micros.len().checked_sub(1)?;
        let rank = match percent {
            100 => last,
            _ => ((self.micros.len() + 1) * percent as usize / 100).saturating_sub(1),
        };
        Some(f64::from(self.micros[rank.min(last)]) / 1e6)
    }
}

impl Sizes {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.merge(Sizes {
            count: 1,
            min: bytes,
            max: bytes,
            sum: bytes,
        });
    }

    pub(crate) fn merge(&mut self, other: Sizes) {
        self.min = match self.count {
            0 => other.min,
            _ if other.count == 0 => self.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.count += other.count;
    }

    /// Returns the mean of the sizes, bytes; `None` of no sizes.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_alp() {
        let mut times = Times::default();
        (1..=100).for_each(|ms| times.add(ms * 1000));
        times.sort();
        let at = |percent| times.percentile(percent);
        assert_eq!(
            (at(0), at(50), at(99)),
            (Some(0.001), Some(0.05), Some(0.099))
        );
        assert_eq!(at(100), Some(0.1));
        assert_eq!(times.mean().map(|mean| (mean * 1e4).round()), Some(505.0));
        assert_eq!(Times::default().percentile(50), None);
    }

    #[test]
    fn sizes_of_nothing_change_nothing() {
        let mut sizes = Sizes::default();
        sizes.merge(Sizes::default());
        sizes.add(7);
        sizes.merge(Sizes::default());
        assert_eq!((sizes.min, sizes.max, sizes.mean()), (7, 7, Some(7.0)));
    }
}
