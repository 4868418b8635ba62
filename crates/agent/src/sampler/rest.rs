//! Threads asleep with the GVL held, as C code may be: a signal would end the sleep early, such as
//! the waits of SQLite for a lock, whose lengths are counted and not measured.

use std::fs::File;
use std::io::Read;
use std::sync::atomic::Ordering::Relaxed;

use super::slot::Slot;

/// A thread off the core for more than one `PART`th of a tick may be asleep. Of one that ran all
/// the time no state is read, which costs more than a clock.
const PART: u64 = 16;

/// Whether the slot's thread sleeps, after a tick of `passed` nanoseconds.
///
/// One that only waits for a core does not: its signal waits with it.
pub(super) fn rests(slot: &Slot, passed: u64) -> bool {
    let tid = slot.tid.load(Relaxed);
    let Some(cpu) = cpu_ns(tid) else { return false };
    let ran = cpu.saturating_sub(slot.cpu_seen.swap(cpu, Relaxed));
    ran < passed - passed / PART && is_asleep(tid)
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
    use super::*;

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
