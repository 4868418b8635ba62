//! A rising closed load: more users every second, as long as nothing goes wrong.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use recording::{Nanos, Timestamp};

/// How a closed load rises. It begins with the plan's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelUp {
    /// New users per second.
    pub users: u32,
    /// Users there are at most.
    pub users_max: u32,
    /// Service time of a response above which the load does not rise.
    pub slow: Nanos,
    /// How long after the last slow answer or failed request the load rises again.
    pub calm: Nanos,
}

/// For people.
impl fmt::Display for LevelUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (slow, calm) = (self.slow.as_secs_f64(), self.calm.as_secs_f64());
        write!(
            f,
            "{} users per second up to {}, slow {slow} s, calm {calm} s",
            self.users, self.users_max
        )
    }
}

/// What the threads of a rising load share.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) plan: LevelUp,
    /// When the last error was, on the monotonic clock; 0 for never. Only its own value matters,
    /// so that relaxed ordering is enough.
    trouble_ns: AtomicU64,
}

impl Level {
    pub(crate) fn new(plan: LevelUp) -> Level {
        Level {
            plan,
            trouble_ns: AtomicU64::new(0),
        }
    }

    /// Records the end of a request.
    pub(crate) fn note(&self, ok: bool, service: Nanos, at: Timestamp) {
        if !ok || service > self.plan.slow {
            self.trouble_ns
                .fetch_max(at.monotonic_nanos(), Ordering::Relaxed);
        }
    }

    /// Whether there was no error for long enough.
    pub(crate) fn is_calm(&self, now: Timestamp) -> bool {
        let trouble_ns = self.trouble_ns.load(Ordering::Relaxed);
        trouble_ns == 0 || now.monotonic_nanos() >= trouble_ns.saturating_add(self.plan.calm.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_holds_back_until_it_is_calm_again() {
        let level = Level::new(LevelUp {
            users: 1,
            users_max: 9,
            slow: Nanos(1_000),
            calm: Nanos(5_000),
        });
        let start = crate::clock::now();
        let at = |ns| start + Nanos(ns);
        assert!(level.is_calm(at(0)));
        level.note(true, Nanos(1_000), at(10));
        assert!(level.is_calm(at(10)));
        level.note(true, Nanos(1_001), at(20));
        assert!(!level.is_calm(at(5_019)));
        assert!(level.is_calm(at(5_020)));
        level.note(false, Nanos(1), at(6_000));
        assert!(!level.is_calm(at(10_999)));
        assert!(level.is_calm(at(11_000)));
    }
}
