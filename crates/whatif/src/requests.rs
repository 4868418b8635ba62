//! Recorded requests, laid out for replay.

use std::ops::Range;

use recording::{Burst, BurstKind};

/// A stretch with or without the GVL; neighbours of one kind are one stretch.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) running: bool,
    pub(crate) ns: f64,
}

/// All requests' stretches in one list.
pub(crate) struct Flat {
    stretches: Vec<Stretch>,
    ends: Vec<usize>,
}

impl Flat {
    /// `None` when no request has a stretch of any length.
    pub(crate) fn new(requests: &[Vec<Burst>]) -> Option<Flat> {
        let mut flat = Flat {
            stretches: Vec::new(),
            ends: Vec::with_capacity(requests.len()),
        };
        for bursts in requests {
            let start = flat.stretches.len();
            for burst in bursts.iter().filter(|burst| burst.length.0 > 0) {
                let running = burst.kind == BurstKind::Running;
                let ns = burst.length.0 as f64;
                match flat.stretches[start..].last_mut() {
                    Some(last) if last.running == running => last.ns += ns,
                    _ => flat.stretches.push(Stretch { running, ns }),
                }
            }
            if flat.stretches.len() > start {
                flat.ends.push(flat.stretches.len());
            }
        }
        (!flat.ends.is_empty()).then_some(flat)
    }

    /// How many requests.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where request `index` has its stretches.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[index]
    }

    pub(crate) fn stretch(&self, at: usize) -> Stretch {
        self.stretches[at]
    }
}
