//! The thread of ticks.
//!
//! `pace` says when; a tick that comes too late stands for all that were missed. Its wait is a
//! futex with an absolute deadline, so that stopping needs no lock and a fork leaves none behind.

use std::ptr::null;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use super::pace::{Review, Schedule};
use super::{INTERVAL, Mode, Wanted, account, facts, hooks, is_on, job, mode, rest, slot};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::guarded;

/// Nanoseconds between two runs of the job.
const JOB_EVERY: u64 = 10_000_000;
/// Nanoseconds from the start to the first look at the process's memory and code, and between
/// further looks.
const FACTS_FIRST: u64 = 1_000_000_000;
const FACTS_EVERY: u64 = 10_000_000_000;
/// Cost of a signal to the app beside the handler, ns: entering and leaving. Found by experiment.
const SIGNAL_NS: u64 = 1_200;

/// Number of starts and stops; a timer lives while the number is unchanged. Also the word that it
/// waits on.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// A tick is going on, during which the VM must be there.
static TICKING: AtomicBool = AtomicBool::new(false);
/// End of a sampling of limited length, ns; 0 for an unlimited one.
static UNTIL: AtomicU64 = AtomicU64::new(0);
/// CPU time of the timer thread.
static OWN_COST: AtomicU64 = AtomicU64::new(0);

/// Limits the sampling just started to `length` ns.
pub(super) fn end_after(length: u64) {
    UNTIL.store(monotonic_ns().saturating_add(length), SeqCst);
}

/// Starts ticking; `false` when no thread can be had.
pub(super) fn start(interval: u64) -> bool {
    OWN_COST.store(0, Relaxed);
    let epoch = EPOCH.fetch_add(1, SeqCst) + 1;
    spawn(move || guarded((), || run(epoch, interval)))
}

/// Waits for a command from outside before anything is done: a file named `PID.profile` in the ring
/// folder with mode, rate, `told` and milliseconds, looked for twice a second.
pub(super) fn stand_by() {
    UNTIL.store(0, SeqCst);
    let epoch = EPOCH.fetch_add(1, SeqCst) + 1;
    spawn(move || guarded((), || wait_for_command(epoch)));
}

/// Ends the ticking, and returns when no tick is going on.
pub(super) fn stop() {
    const PATIENCE: u64 = 200_000_000;
    EPOCH.fetch_add(1, SeqCst);
    wake();
    let deadline = monotonic_ns() + PATIENCE;
    while TICKING.load(SeqCst) && monotonic_ns() < deadline {
        std::thread::yield_now();
    }
}

/// Resets the state in a forked child without a timer.
pub(super) fn forget() {
    EPOCH.fetch_add(1, SeqCst);
    TICKING.store(false, SeqCst);
}

/// Returns the timer's CPU nanoseconds since the start.
pub(super) fn own_cost() -> u64 {
    OWN_COST.load(Relaxed)
}

/// Runs `work` on a thread without the app's signals.
fn spawn(work: impl FnOnce() + Send + 'static) -> bool {
    // SAFETY: both sets live here; masks are this thread's and set back.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let spawned = std::thread::Builder::new()
            .name("hakaru-sampler".to_owned())
            .stack_size(128 << 10)
            .spawn(work)
            .is_ok();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        spawned
    }
}

fn run(epoch: u32, interval: u64) {
    let begun = monotonic_ns();
    let mut schedule = Schedule::new(begun, interval);
    let mut review = Review::new(interval, begun);
    let mut job_due = 0;
    let mut facts_due = begun + FACTS_FIRST;
    loop {
        let due = schedule.due();
        wait_until(epoch, due);
        let now = monotonic_ns();
        TICKING.store(true, SeqCst);
        if EPOCH.load(SeqCst) != epoch || !is_on() {
            TICKING.store(false, SeqCst);
            return;
        }
        let until = UNTIL.load(SeqCst);
        if until > 0 && now >= until {
            job::request_stop();
            TICKING.store(false, SeqCst);
            return;
        }
        let passed = schedule.pass(now);
        let wants_job = tick(passed);
        if now >= job_due || wants_job {
            job_due = now + JOB_EVERY;
            job::request();
        }
        TICKING.store(false, SeqCst);
        if now >= facts_due {
            facts_due = now + FACTS_EVERY;
            let before = thread_cpu_ns();
            facts::look();
            review.excuse(thread_cpu_ns() - before);
        }
        if let Some(interval) = slower_or_faster(&mut review, now, schedule.interval) {
            schedule = Schedule::new(now, interval);
            INTERVAL.store(interval, Relaxed);
        }
    }
}

/// Returns a new interval, ns, if due for a change.
fn slower_or_faster(review: &mut Review, now: u64, interval: u64) -> Option<u64> {
    if !review.is_due(now, interval) {
        return None;
    }
    OWN_COST.store(thread_cpu_ns(), Relaxed);
    let change = review.look(now, account::cost() + own_cost(), interval)?;
    (mode() != Mode::Alloc).then_some(change)
}

/// Gives `passed` nanoseconds to each running thread; returns whether the job is wanted at once.
fn tick(passed: u64) -> bool {
    let mut wants_job = false;
    let sampled = mode() != Mode::Alloc;
    for slot in slot::all() {
        wants_job |= slot.is_filling();
        if !sampled || slot.state.load(Relaxed) != slot::RUNNING {
            continue;
        }
        slot.owed.fetch_add(passed, Relaxed);
        slot.ticks.fetch_add(1, Relaxed);
        let is_settled = slot.settled.load(Relaxed);
        // The handler is looked at last: the app may trap the signal at any moment.
        if !is_settled || rest::rests(slot.tid.load(Relaxed)) || !hooks::signals_are_ours() {
            wants_job = true;
        } else if !slot.signalled.swap(true, Relaxed) {
            account::add(SIGNAL_NS);
            hooks::signal(slot);
        }
    }
    wants_job
}

fn wait_for_command(epoch: u32) {
    const LOOK_EVERY: u64 = 500_000_000;
    let Some(settings) = crate::process::settings() else {
        return;
    };
    let file = settings
        .folder
        .join(format!("{}.profile", std::process::id()));
    while EPOCH.load(SeqCst) == epoch {
        if let Ok(text) = std::fs::read_to_string(&file) {
            let _ = std::fs::remove_file(&file);
            if let Some((wanted, length)) = command(&text) {
                TICKING.store(true, SeqCst);
                if EPOCH.load(SeqCst) == epoch {
                    job::request_start(wanted, length);
                }
                TICKING.store(false, SeqCst);
                return;
            }
        }
        wait_until(epoch, monotonic_ns() + LOOK_EVERY);
    }
}

/// Mode, rate, `told`, and the length in milliseconds.
fn command(text: &str) -> Option<(Wanted, u64)> {
    let wanted = super::parse(text)?;
    let millis: u64 = text.split_ascii_whitespace().nth(3)?.parse().ok()?;
    Some((wanted, millis.checked_mul(1_000_000)?))
}

fn wait_until(epoch: u32, deadline: u64) {
    let time = libc::timespec {
        tv_sec: (deadline / 1_000_000_000) as i64,
        tv_nsec: (deadline % 1_000_000_000) as i64,
    };
    let every_bit = u32::MAX;
    // SAFETY: the word is static, the time lives here; an absolute deadline on the monotonic clock.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            EPOCH.as_ptr(),
            libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG,
            epoch,
            &raw const time,
            null::<u32>(),
            every_bit,
        );
    }
}

fn wake() {
    // SAFETY: the word is static.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            EPOCH.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            i32::MAX,
        );
    }
}
