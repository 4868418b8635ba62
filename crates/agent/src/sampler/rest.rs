//! Threads asleep with the GVL held, as C code may be: a signal would end the sleep early, such as
//! the waits of SQLite for a lock, whose lengths are counted and not measured.

use std::fs::File;
use std::io::Read;

/// Whether a thread of the process sleeps.
///
/// Two readings of the thread's clock say whether it runs at this moment, whatever came before: the
/// time since an earlier tick may hold work and the beginning of a sleep. The state costs more than
/// a clock, and is read only of a thread off the core. One that only waits for a core does not
/// sleep: its signal waits with it.
pub(super) fn rests(tid: i32) -> bool {
    let (Some(before), Some(after)) = (cpu_ns(tid), cpu_ns(tid)) else {
        return false;
    };
    before == after && is_asleep(tid)
}

/// CPU time of any thread of the process, ns.
fn cpu_ns(tid: i32) -> Option<u64> {
    // linux/posix-timers.h: the complement of the number, then a bit for a thread, then the
    // scheduler's clock.
    const OF_THREAD: i32 = 4;
    const SCHEDULED: i32 = 2;
    let clock = (!tid << 3) | OF_THREAD | SCHEDULED;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time lives here; a thread that has ended is an error.
    let answer = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (answer == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Whether the kernel calls the thread asleep: `123 (name) S …`.
fn is_asleep(tid: i32) -> bool {
    let mut bytes = [0; 128];
    let path = format!("/proc/self/task/{tid}/stat");
    let read = File::open(path).and_then(|mut file| file.read(&mut bytes));
    state(&bytes[..read.unwrap_or(0)]).is_some_and(|state| matches!(state, b'S' | b'D'))
}

/// The state in a line of `/proc/PID/stat`. A name may hold any byte, also `)`.
fn state(line: &[u8]) -> Option<u8> {
    let end = line.iter().rposition(|byte| *byte == b')')?;
    line.get(end + 2).copied()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// Runs a thread for a while; returns its number with what ends the thread.
    ///
    /// The thread runs for many intervals of ticks and sleeps then, or runs to its end.
    fn worked(is_asleep_then: bool) -> (i32, impl FnOnce()) {
        const WORK: Duration = Duration::from_millis(20);
        let (ends, (tell, told), (end, ended)) = (Arc::default(), channel(), channel::<()>());
        let ended_by: Arc<AtomicBool> = Arc::clone(&ends);
        let worker = thread::spawn(move || {
            // SAFETY: takes nothing and cannot fail.
            let own = unsafe { libc::gettid() };
            while cpu_ns(own).is_some_and(|ns| u128::from(ns) < WORK.as_nanos()) {}
            tell.send(own).expect("the test listens");
            while !is_asleep_then && !ended_by.load(Relaxed) {}
            let _ = ended.recv();
        });
        let tid = told.recv().expect("the thread works");
        let finish = move || {
            ends.store(true, Relaxed);
            drop(end);
            worker.join().expect("the thread ends");
        };
        (tid, finish)
    }

    #[test]
    fn a_thread_that_worked_until_just_now_and_sleeps_does_rest() {
        let (tid, finish) = worked(true);
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_asleep(tid) {
            assert!(Instant::now() < deadline, "the thread never sleeps");
            thread::yield_now();
        }
        assert!(rests(tid));
        finish();
    }

    #[test]
    fn a_thread_at_work_does_not_rest() {
        let (tid, finish) = worked(false);
        assert!((0..10_000).all(|_| !rests(tid)));
        finish();
    }

    #[test]
    fn the_state_stands_after_the_name() {
        assert_eq!(state(b"12 (ruby (x) y) S 1 2"), Some(b'S'));
        assert_eq!(state(b"12 (ruby"), None);
        assert_eq!(state(b""), None);
    }

    #[test]
    fn a_running_thread_has_a_clock_and_is_not_asleep() {
        // SAFETY: takes nothing and cannot fail.
        let own = unsafe { libc::gettid() };
        let before = cpu_ns(own).expect("a clock");
        while cpu_ns(own) == Some(before) {}
        assert!(!is_asleep(own));
        assert_eq!(cpu_ns(0x3fff_fff0), None);
    }
}
