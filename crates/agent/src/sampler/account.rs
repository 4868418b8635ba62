//! The sampler's cost in CPU of the app, measured in place.
//!
//! Reading a thread's CPU clock costs about as much as a short walk, so one look in [`EVERY`],
//! chosen by chance, is measured and stands for as many. A wall clock would be read for less, but a
//! look that loses its core would count for as long as it waits, and a limit to that would hide
//! what deep stacks cost.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::random;
use crate::clock::thread_cpu_ns;

/// Looks represented by one measured look.
const EVERY: u64 = 8;

/// CPU nanoseconds of hooks, handlers and jobs, without the timer's own.
static COST: AtomicU64 = AtomicU64::new(0);
/// Looks so far.
static LOOKS: AtomicU64 = AtomicU64::new(0);
/// Cost of one reading of the clock, ns.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// One look, perhaps a measured one.
pub(super) struct Look(Option<u64>);

/// A sampling begins.
pub(super) fn begin() {
    const TRIALS: usize = 8;
    COST.store(0, Relaxed);
    let one = || {
        let begun = thread_cpu_ns();
        thread_cpu_ns().saturating_sub(begun)
    };
    let least = (0..TRIALS).map(|_| one()).min().unwrap_or(0);
    CLOCK.store(least, Relaxed);
}

/// CPU nanoseconds so far.
pub(super) fn cost() -> u64 {
    COST.load(Relaxed)
}

/// Adds what is known without being measured.
pub(super) fn add(nanos: u64) {
    COST.fetch_add(nanos, Relaxed);
}

/// Adds one reading of the CPU clock.
pub(super) fn add_clock() {
    add(CLOCK.load(Relaxed));
}

/// A look begins; [`Look::ends`] is to be called on the same thread.
pub(super) fn look() -> Look {
    let turn = LOOKS.fetch_add(1, Relaxed);
    Look(random(turn).is_multiple_of(EVERY).then(thread_cpu_ns))
}

impl Look {
    /// The look is over.
    pub(super) fn ends(self) {
        let Some(begun) = self.0 else { return };
        let took = thread_cpu_ns().saturating_sub(begun);
        add(standing_for(took, CLOCK.load(Relaxed)));
    }
}

/// Returns the cost of [`EVERY`] looks in ns, from one of `took` ns between two readings of a clock
/// costing `clock` ns.
fn standing_for(took: u64, clock: u64) -> u64 {
    took.saturating_sub(clock) * EVERY + 2 * clock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_look_stands_for_as_many_as_go_unmeasured() {
        const LOOKS: u64 = 80_000;
        assert_eq!(standing_for(3_400, 400), 3_000 * EVERY + 800);
        assert_eq!(standing_for(100, 400), 800);
        let measured = (0..LOOKS).filter(|turn| random(*turn).is_multiple_of(EVERY));
        let share = measured.count() as f64 / LOOKS as f64 * EVERY as f64;
        assert!((share - 1.0).abs() < 0.05, "{share}");
    }
}
