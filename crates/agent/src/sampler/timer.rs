//! The thread that ticks.
//!
//! Tick n falls at a random moment of the n-th interval since the start: the schedule never drifts, and it
//! cannot beat in time with the program. A tick that comes too late stands for all that were missed. Its
//! wait is a futex with an absolute deadline, so that stopping needs no lock and a fork leaves none behind.

use std::ptr::null;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use super::{COST, INTERVAL, Mode, Wanted, hooks, is_on, job, mode, slot};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::guarded;

/// The sampler's share of a core, at most.
const BUDGET: f64 = 0.01;
/// The cost is looked at that often.
const REVIEW_EVERY: u64 = 1_000_000_000;
/// Never slower than that, whatever it costs.
const INTERVAL_MAX: u64 = 100_000_000;
/// The job runs that often.
const JOB_EVERY: u64 = 10_000_000;
/// What a signal costs the app beside our handler: entering and leaving it. Found by experiment.
const SIGNAL_NS: u64 = 1_200;

/// Counts starts and stops; a timer lives while it is unchanged. Also the word that it waits on.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// A tick is going on, during which the VM must be there.
static TICKING: AtomicBool = AtomicBool::new(false);
/// When a sampling that was asked for from outside ends; 0 for one that does not end by itself.
static UNTIL: AtomicU64 = AtomicU64::new(0);
/// CPU time of the timer thread.
static OWN_COST: AtomicU64 = AtomicU64::new(0);

/// The sampling that has just started ends by itself after so many nanoseconds.
pub(super) fn end_after(length: u64) {
    UNTIL.store(monotonic_ns().saturating_add(length), SeqCst);
}

/// Starts ticking; `false` when no thread can be had.
pub(super) fn start(interval: u64) -> bool {
    OWN_COST.store(0, Relaxed);
    let epoch = EPOCH.fetch_add(1, SeqCst) + 1;
    spawn(move || guarded((), || run(epoch, interval)))
}

/// Waits for a command from outside before anything is done: a file named `PID.profile` in the ring folder
/// with mode, rate, `told` and milliseconds, looked for twice a second.
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

/// In a forked child, which has no timer.
pub(super) fn forget() {
    EPOCH.fetch_add(1, SeqCst);
    TICKING.store(false, SeqCst);
}

/// CPU nanoseconds of the timer since its start.
pub(super) fn own_cost() -> u64 {
    OWN_COST.load(Relaxed)
}

/// Runs `work` on a thread that gets none of the app's signals.
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
    let mut schedule = Schedule::new(monotonic_ns(), interval);
    let mut review = Review::new(interval);
    let mut job_due = 0;
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
        if let Some(interval) = review.look(now, schedule.interval) {
            schedule = Schedule::new(now, interval);
            INTERVAL.store(interval, Relaxed);
        }
    }
}

/// Gives `passed` nanoseconds to each running thread. Answers whether the job is wanted at once.
fn tick(passed: u64) -> bool {
    let mut wants_job = false;
    let sampled = mode() != Mode::Alloc;
    let signals = sampled && hooks::signals_are_ours();
    for slot in slot::all() {
        wants_job |= slot.is_filling();
        if !sampled || slot.state.load(Relaxed) != slot::RUNNING {
            continue;
        }
        slot.owed.fetch_add(passed, Relaxed);
        slot.ticks.fetch_add(1, Relaxed);
        if !signals || !slot.settled.load(Relaxed) {
            wants_job = true;
        } else if !slot.signalled.swap(true, Relaxed) {
            COST.fetch_add(SIGNAL_NS, Relaxed);
            hooks::signal(slot);
        }
    }
    wants_job
}

/// When ticks fall.
struct Schedule {
    begin: u64,
    interval: u64,
    /// Ticks so far, missed ones included.
    count: u64,
    random: u64,
}

impl Schedule {
    fn new(begin: u64, interval: u64) -> Schedule {
        Schedule {
            begin,
            interval,
            count: 0,
            random: begin | 1,
        }
    }

    fn due(&mut self) -> u64 {
        // Xorshift (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.begin + self.count * self.interval + self.random % self.interval
    }

    /// A tick falls now: how many nanoseconds it stands for.
    fn pass(&mut self, now: u64) -> u64 {
        let reached = (now.saturating_sub(self.begin) / self.interval).max(self.count) + 1;
        let ticks = reached - self.count;
        self.count = reached;
        ticks * self.interval
    }
}

/// Keeps the cost below the budget.
struct Review {
    wanted: u64,
    at: u64,
    cost: u64,
    /// Half of it is the last second's, a quarter that of the one before, and so on.
    share: f64,
}

impl Review {
    fn new(wanted: u64) -> Review {
        Review {
            wanted,
            at: monotonic_ns(),
            cost: 0,
            share: BUDGET / 2.0,
        }
    }

    /// Once a second; answers the interval to go on with when the present one costs too much, or less than
    /// it may.
    fn look(&mut self, now: u64, interval: u64) -> Option<u64> {
        let passed = now - self.at;
        if passed < REVIEW_EVERY {
            return None;
        }
        OWN_COST.store(thread_cpu_ns(), Relaxed);
        let cost = COST.load(Relaxed) + own_cost();
        let share = cost.saturating_sub(self.cost) as f64 / passed as f64;
        (self.at, self.cost) = (now, cost);
        let change = self.judge(share, interval)?;
        // The next look judges the new interval alone.
        self.share = BUDGET / 2.0;
        (mode() != Mode::Alloc).then_some(change)
    }

    fn judge(&mut self, share: f64, interval: u64) -> Option<u64> {
        const ROOM: f64 = 0.7;
        self.share = (self.share + share) / 2.0;
        let fitting = (interval as f64 * self.share / BUDGET) as u64;
        let fitting = fitting.clamp(self.wanted, INTERVAL_MAX.max(self.wanted));
        let too_dear = self.share > BUDGET && fitting > interval;
        let has_room = self.share < BUDGET * ROOM && fitting < interval;
        (too_dear || has_room).then_some(fitting)
    }
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

#[cfg(test)]
mod tests {
    use super::{INTERVAL_MAX, Review, Schedule};

    #[test]
    fn a_dear_sampler_slows_down_and_a_cheap_one_returns() {
        let mut review = Review::new(1_000_000);
        assert_eq!(review.judge(0.006, 1_000_000), None);
        assert_eq!(
            review.judge(0.012, 1_000_000),
            None,
            "one dear second is borne"
        );
        let slower = review.judge(0.03, 1_000_000).expect("too dear");
        assert!((1_500_000..3_000_000).contains(&slower), "{slower}");
        review.share = 0.002;
        assert_eq!(review.judge(0.002, slower), Some(1_000_000));
        review.share = 5.0;
        assert_eq!(review.judge(9.0, slower), Some(INTERVAL_MAX));
    }

    #[test]
    fn ticks_stand_for_all_the_time_that_passed_and_never_drift() {
        let mut schedule = Schedule::new(1_000, 100);
        let mut passed = 0;
        for round in 0..1000u64 {
            let due = schedule.due();
            let number = (due - 1_000) / 100;
            assert_eq!(
                number * 100,
                passed,
                "the tick falls in the interval after the last"
            );
            // Now and then a tick comes seven intervals late.
            let late = if round % 50 == 0 { 700 } else { 0 };
            passed += schedule.pass(due + late);
        }
        assert!(schedule.due() >= 1_000 + passed);
    }
}
