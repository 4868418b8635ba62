//! The sampler of stacks: running, waiting and allocating lines of every thread.
//!
//! 1. A **timer** of its own (`timer`) ticks at random moments, one in each interval. A tick adds
//!    the time since the one before to each thread that runs at that moment (one, without
//!    Ractors), and sends it a signal.
//! 2. The **signal handler** (`hooks`) reads that thread's stack with `rb_profile_frames` into
//!    memory that is there already. The time since its last sample is the sample's weight, so a
//!    long stretch without safe points counts for as long as it lasts, and methods in C are
//!    sampled while running. Where no signal can be used, the job reads the stack at the next safe
//!    point instead.
//! 3. **GVL events** (`hooks`) measure each wait to its end. One at least as long as the interval
//!    is walked once, as the thread resumes inside the call it waited in; shorter ones are added
//!    up until they are that long, which chooses each in proportion to its length.
//! 4. A **job** at a safe point (`job`), a hundred times a second, names the frames and writes
//!    them and the samples into a ring of the process; once a second also what the runtime is at
//!    (`facts`).
//! 5. What all this takes is measured (`account`), and the ticks are kept so far apart (`pace`)
//!    that it stays within the budget.
//!
//! Everything that runs in a hook or in the handler allocates nothing, takes no lock and calls no
//! Ruby. Frames that wait to be named are marked for the collector. After a fork the child's timer
//! is started by the Ruby half, from `Process._fork`.

mod account;
mod count;
mod desk;
mod facts;
mod hooks;
mod job;
mod pace;
mod rest;
mod slot;
mod timer;

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};

use ring::{ProfileRecord, ToldRequest};

use crate::abi::PASS;
use crate::api::{Api, Value, api};
use crate::{guarded, process};

pub(crate) use hooks::{request_begins, request_ends};

/// Subject of a sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// CPU time of running threads.
    Cpu,
    /// All time of all threads.
    Wall,
    /// Objects.
    Alloc,
}

/// The start of a sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// At the start of Ruby.
    Now,
    /// At the first request of a process.
    Request,
    /// On request from outside.
    Told,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    mode: Mode,
    interval: u64,
    begin: Begin,
}

/// One object in so many is sampled in mode alloc. Found by experiment: a sample costs some ten
/// times as much as what the VM itself spends on telling of one object.
const OBJECTS_EVERY: u64 = 256;
/// Jobs a second in mode alloc, whose samples come by themselves.
const ALLOC_INTERVAL: u64 = 10_000_000;

static WANTED: OnceLock<Wanted> = OnceLock::new();
static ON: AtomicBool = AtomicBool::new(false);
static HOOKED: AtomicBool = AtomicBool::new(false);
/// The mode of the current sampling, and nanoseconds between two ticks.
static MODE: AtomicI32 = AtomicI32::new(0);
static INTERVAL: AtomicU64 = AtomicU64::new(0);
/// Observations dropped, and threads never sampled.
static DROPPED: AtomicU64 = AtomicU64::new(0);
static UNSEEN: AtomicU64 = AtomicU64::new(0);

const RUBY_HALF: &str = concat!(
    include_str!("../../../ruby/profile.rb"),
    include_str!("../../../ruby/compiler_facts.rb")
);

/// Reads the wanted sampling from the environment, and starts one due at once. Called at the start
/// of the agent.
pub(crate) fn prepare(api: &Api, module: Value, evaluate: impl Fn(&str)) {
    let Some(wanted) = std::env::var("HAKARU_PROFILE")
        .ok()
        .as_deref()
        .and_then(parse)
    else {
        return;
    };
    if WANTED.set(wanted).is_err() {
        return;
    }
    // SAFETY: the handler only touches atomics and slots, on the only thread there is.
    unsafe { libc::pthread_atfork(None, None, Some(after_fork_in_child)) };
    let functions: [(&CStr, *const c_void, c_int); 5] = [
        (c"profile_start", native_start as *const c_void, 0),
        (c"profile_stop", native_stop as *const c_void, 0),
        (c"profile_forked", native_forked as *const c_void, 0),
        (c"profile_counted", count::counted as *const c_void, 2),
        (c"profile_fact", count::fact as *const c_void, 2),
    ];
    for (name, function, arguments) in functions {
        (api.rb_define_singleton_method)(module, name.as_ptr(), function, arguments);
    }
    if !process::settings().is_some_and(|settings| settings.gvl) {
        process::complain("trouble: profiling needs Ruby 3.2 or later; nothing is profiled");
        return;
    }
    hooks::prepare(api);
    job::prepare(api);
    facts::prepare(api);
    evaluate(RUBY_HALF);
    if wanted.begin != Begin::Request {
        // Stacks are all that is wanted: requests, statements and calls are left alone.
        process::turn_off();
    }
    match wanted.begin {
        Begin::Now => start(api, wanted),
        Begin::Told => timer::stand_by(),
        Begin::Request => {}
    }
}

/// `MODE RATE BEGIN`, such as `wall 1000 now`.
fn parse(text: &str) -> Option<Wanted> {
    const RATE: std::ops::RangeInclusive<u64> = 1..=10_000;
    let mut words = text.split_ascii_whitespace();
    let mode = match words.next()? {
        "cpu" => Mode::Cpu,
        "wall" => Mode::Wall,
        "alloc" => Mode::Alloc,
        _ => return None,
    };
    let rate: u64 = words
        .next()?
        .parse()
        .ok()
        .filter(|rate| RATE.contains(rate))?;
    let begin = match words.next()? {
        "now" => Begin::Now,
        "request" => Begin::Request,
        "told" => Begin::Told,
        _ => return None,
    };
    let interval = match mode {
        Mode::Alloc => ALLOC_INTERVAL,
        _ => 1_000_000_000 / rate,
    };
    Some(Wanted {
        mode,
        interval,
        begin,
    })
}

/// Starts a sampling due with the process's first request; the other hooks have just been added.
pub(crate) fn first_request(api: &Api) {
    if let Some(wanted) = WANTED.get().filter(|wanted| wanted.begin == Begin::Request) {
        start(api, *wanted);
    }
}

/// Begins to sample the process. Under the GVL, at a safe point.
fn start(api: &Api, wanted: Wanted) {
    if ON.swap(true, SeqCst) {
        return;
    }
    // In a child of a process that has hooks none may be added; they live on there.
    if !HOOKED.swap(true, SeqCst) {
        hooks::install(api);
    }
    MODE.store(wanted.mode as i32, Relaxed);
    INTERVAL.store(wanted.interval, Relaxed);
    account::begin();
    facts::begin(api);
    DROPPED.store(0, Relaxed);
    UNSEEN.store(0, Relaxed);
    slot::make_spare();
    slot::all().for_each(slot::Slot::forget);
    if !job::open_ring() {
        ON.store(false, SeqCst);
        return;
    }
    hooks::begin(api, mode());
    if !timer::start(wanted.interval) {
        process::complain(
            "trouble: the sampler's thread could not be started; nothing is profiled",
        );
        stop(api);
    }
}

/// Ends the sampling: sends all pending samples, and counts waits in progress up to now.
fn stop(api: &Api) {
    if !ON.load(SeqCst) {
        return;
    }
    timer::stop();
    facts::look_again();
    hooks::end(api, mode());
    let ordered = WANTED
        .get()
        .is_some_and(|wanted| wanted.begin == Begin::Told);
    job::last(api, ordered);
    ON.store(false, SeqCst);
}

/// Begins as a command from outside asked: mode, interval and length. From the job.
fn start_told(api: &Api, [mode, interval, length]: [u64; 3]) {
    let mode = match mode {
        0 => Mode::Cpu,
        1 => Mode::Wall,
        _ => Mode::Alloc,
    };
    start(
        api,
        Wanted {
            mode,
            interval,
            begin: Begin::Told,
        },
    );
    // From the start, or the reported length would miss the time of the start.
    timer::end_after(length);
}

/// Ends as the command said, and waits for the next. From the job.
fn stop_told(api: &Api) {
    count::ask_the_compiler(api);
    stop(api);
    timer::stand_by();
}

/// Splitmix64 (Steele, Lea, Flood 2014); no two seeds give the same number.
pub(crate) fn random(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Sets the request whose number samples carry.
pub(crate) fn tell_request(request: ToldRequest) {
    if is_on() {
        job::tell_record(&ProfileRecord::Request(request));
    }
}

/// Whether stacks are sampled at present.
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

fn mode() -> Mode {
    match MODE.load(Relaxed) {
        0 => Mode::Cpu,
        1 => Mode::Wall,
        _ => Mode::Alloc,
    }
}

extern "C" fn native_start(_self: Value) -> Value {
    guarded(PASS, || {
        if let (Some(api), Some(wanted)) = (api(), WANTED.get()) {
            start(api, *wanted);
        }
        PASS
    })
}

extern "C" fn native_stop(_self: Value) -> Value {
    guarded(PASS, || {
        if let Some(api) = api() {
            stop(api);
        }
        PASS
    })
}

/// Restarts the sampling in a forked child, as soon as Ruby code runs.
extern "C" fn native_forked(_self: Value) -> Value {
    guarded(PASS, || {
        let (Some(api), Some(wanted)) = (api(), WANTED.get()) else {
            return PASS;
        };
        if FORKED_WHILE_ON.swap(false, SeqCst) {
            start(api, *wanted);
        } else if wanted.begin == Begin::Told {
            timer::stand_by();
        }
        PASS
    })
}

static FORKED_WHILE_ON: AtomicBool = AtomicBool::new(false);

/// The child has one thread and no timer. Atomics only.
extern "C" fn after_fork_in_child() {
    if ON.swap(false, SeqCst) {
        FORKED_WHILE_ON.store(true, SeqCst);
    }
    timer::forget();
    hooks::after_fork();
    job::forget();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_comes_in_three_words() {
        let check = |text: &str, wanted: Option<(Mode, u64, Begin)>| {
            let wanted = wanted.map(|(mode, interval, begin)| Wanted {
                mode,
                interval,
                begin,
            });
            assert_eq!(parse(text), wanted, "{text}");
        };
        check("wall 1000 now", Some((Mode::Wall, 1_000_000, Begin::Now)));
        check(
            "cpu 100 request",
            Some((Mode::Cpu, 10_000_000, Begin::Request)),
        );
        check(
            "alloc 1000 told",
            Some((Mode::Alloc, ALLOC_INTERVAL, Begin::Told)),
        );
        check("wall 0 now", None);
        check("wall 99999 now", None);
        check("", None);
    }
}
