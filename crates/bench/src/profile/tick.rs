//! Cost of a tick to an otherwise idle thread: the least cost for the sampler's budget.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const INTERVAL: Duration = Duration::from_millis(1);
const TICKS: u32 = 2_000;
/// The sampler's share of a core, as in docs/profile.md.
const BUDGET: f64 = 0.01;

/// Prints the cost of a tick, and the rate at which bare ticks alone use up the budget.
pub(super) fn tell() {
    let tick = bare();
    println!(
        "a bare timer's tick costs {:.1} µs of CPU here: 1 % of a core pays for {:.0} a second at most",
        tick.as_secs_f64() * 1e6,
        BUDGET / tick.as_secs_f64()
    );
}

/// Returns the CPU time of one tick of a separate thread.
fn bare() -> Duration {
    let ticking = std::thread::spawn(|| {
        let before = cpu();
        for _ in 0..TICKS {
            std::thread::sleep(INTERVAL);
        }
        (cpu() - before) / TICKS
    });
    ticking.join().unwrap_or_default()
}

/// CPU time of the calling thread.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
