//! Methods of the app in which requests run.

use std::collections::HashMap;

use super::seen::spawns;

/// A method of the app, and what ran in the method or in libraries below.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hot {
    /// Index of the route.
    pub(crate) route: usize,
    /// Such as `Roster#find_all`.
    pub(crate) method: String,
    /// The busiest line of the method, such as `lib/roster.rb:12`.
    pub(crate) line: String,
    /// Share of the route's time with the GVL, 0 to 1.
    pub(crate) share: f64,
    /// The most frequent innermost method, with a share of the samples of the outer one.
    pub(crate) innermost: (String, f64),
    /// The library's method called most by the busiest line, with a share of the samples of the
    /// line.
    pub(crate) called: (String, f64),
    /// Share of the route's time with the GVL in the busiest line, without templates rendered from
    /// there.
    pub(crate) line_share: f64,
    /// Share of the route's time with the GVL spent starting other programs.
    pub(crate) spawning: f64,
    /// Share of the method's samples collecting garbage.
    pub(crate) collecting: f64,
    /// Share of the route's waits for files and sockets.
    pub(crate) reading: f64,
    pub(super) weight: u64,
    pub(super) collected: u64,
    pub(super) read: u64,
    /// Weights by request.
    pub(super) requests: HashMap<u64, u64>,
    pub(super) lines: HashMap<String, u64>,
    pub(super) leaves: HashMap<String, u64>,
    /// Weights of the library's methods called, by line.
    pub(super) calls: HashMap<String, HashMap<String, u64>>,
}

impl Hot {
    /// Computes shares from the weights: `held` is the route's with the GVL, `read` the route's
    /// waits for files and sockets.
    pub(super) fn finish(&mut self, held: u64, read: u64) {
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        self.reading = share(self.read, read);
        self.share = share(self.weight, held);
        self.collecting = share(self.collected, self.weight);
        if let Some((line, weight)) = most(&self.lines) {
            if let Some((called, of_call)) = self.calls.get(line).and_then(most) {
                self.called = (called.clone(), share(*of_call, *weight));
            }
            self.line_share = share(*weight, held);
            self.line = line.clone();
        }
        let spawning = self.leaves.iter().filter(|(leaf, _)| spawns(leaf));
        self.spawning = share(spawning.map(|(_, weight)| weight).sum(), held);
        if let Some((leaf, weight)) = most(&self.leaves) {
            self.innermost = (leaf.clone(), share(*weight, self.weight));
        }
    }
}

/// The heaviest, by name where two weigh the same.
pub(super) fn most(weights: &HashMap<String, u64>) -> Option<(&String, &u64)> {
    weights
        .iter()
        .max_by_key(|(name, weight)| (**weight, *name))
}
