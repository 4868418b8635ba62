//! The clocks of a load.

use recording::{Nanos, Timestamp};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Now, on the clock that the agent inside the app uses too.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_monotonic_nanos(nanos(clock_gettime(ClockId::Monotonic)))
}

/// CPU time of the calling thread since it started.
pub(crate) fn thread_cpu() -> Nanos {
    Nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
