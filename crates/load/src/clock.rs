//! The clocks of a load.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use recording::{Nanos, Timestamp};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Length of a tick in `/proc/<pid>/stat`, fixed in what the kernel shows to programs.
const TICK: Nanos = Nanos(10_000_000);

thread_local! {
    /// CPU of the kernel workers of a thread, by number; ended workers still count.
    static WORKERS: RefCell<BTreeMap<String, Nanos>> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns the current time, on the clock used by the agent inside the app too.
pub fn now() -> Timestamp {
    Timestamp::from_monotonic_nanos(nanos(clock_gettime(ClockId::Monotonic)))
}

/// Interval of checks for cancellation during a wait.
const LOOK: Nanos = Nanos(50_000_000);

/// Waits until then, or until `stop` is set.
pub(crate) fn wait_until(then: Timestamp, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match then.since(now()) {
            Nanos::ZERO => return,
            left => thread::sleep(Duration::from_nanos(left.min(LOOK).0)),
        }
    }
}

/// Returns the CPU time of the calling thread since the start, including the kernel's io_uring
/// workers of the thread.
pub(crate) fn thread_cpu() -> Nanos {
    let own = Nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)));
    own + WORKERS.with_borrow_mut(|workers| {
        if let Some(name) = workers_name() {
            look_at_workers(&name, workers);
        }
        workers.values().copied().sum()
    })
}

/// Returns the kernel's name of the workers of the calling thread; `None` outside of Linux.
fn workers_name() -> Option<String> {
    #[cfg(target_os = "linux")]
    return Some(format!("iou-wrk-{}", rustix::thread::gettid().as_raw_pid()));
    #[cfg(not(target_os = "linux"))]
    return None;
}

/// Updates the CPU time of the workers: threads of the process, each named after the thread served.
fn look_at_workers(name: &str, known: &mut BTreeMap<String, Nanos>) {
    let tasks = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    for task in tasks {
        let Ok(stat) = fs::read_to_string(task.path().join("stat")) else {
            continue;
        };
        if let Some(cpu) = worker_cpu(&stat, name) {
            known.insert(task.file_name().to_string_lossy().into_owned(), cpu);
        }
    }
}

/// Returns the CPU time in the `stat` line of a task with the given name.
fn worker_cpu(stat: &str, name: &str) -> Option<Nanos> {
    let (head, fields) = stat.rsplit_once(')')?;
    let (_, own) = head.split_once('(')?;
    if own != name {
        return None;
    }
    // Behind the name stand the fields from the third on; user and system time are the 14th and
    // 15th.
    let mut times = fields.split_whitespace().skip(11);
    let mut ticks = || times.next()?.parse::<u64>().ok();
    Some(Nanos((ticks()? + ticks()?) * TICK.0))
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_of_this_thread_are_known_by_their_name() {
        let line = "12 (iou-wrk-7) S 1 2 3 4 5 6 7 8 9 10 3 4 0 0 20 0 1 0 5";
        assert_eq!(worker_cpu(line, "iou-wrk-7"), Some(Nanos(70_000_000)));
        assert_eq!(worker_cpu(line, "iou-wrk-77"), None);
        assert_eq!(worker_cpu("12 (iou-wrk-7) S 1", "iou-wrk-7"), None);
    }

    #[test]
    fn cpu_time_never_falls() {
        let before = thread_cpu();
        assert!(thread_cpu() >= before);
    }
}
