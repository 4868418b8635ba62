//! How fast the cores are, whatever runs on them.
//!
//! A neighbour that uses the other thread of the same physical core slows whatever runs there by a third, for tenths of a second
//! to half a minute at a time. Neither stolen time nor pressure tells that; work that is always the same does.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use recording::{Nanos, Timestamp};
use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};

/// Between two tries of a core: ten of them fall into 0.2 s.
const EVERY: Duration = Duration::from_millis(20);
/// Steps of a try. They take 50 µs on a core of 3 GHz: long beside reading a clock (0.5 µs), short beside [`EVERY`].
const STEPS: u32 = 40_000;
/// Cores beyond these are not watched.
const CORES_MAX: usize = 64;
/// Words that the work reads: 16 KiB, which fit into any core's first cache.
const WORDS: usize = 2_048;
/// Tries of a core that are kept until they are taken: a minute's.
const TRIES_MAX: usize = 3_000;

/// One try of a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreTry {
    /// When it had ended.
    pub at: Timestamp,
    /// The core's number.
    pub core: usize,
    /// CPU time that the work took.
    pub cpu: Nanos,
}

/// Tries each core that this process may use, fifty times a second, until it is dropped.
#[derive(Debug)]
pub struct CoreWatch {
    over: Arc<AtomicBool>,
    cores: Vec<Core>,
}

#[derive(Debug)]
struct Core {
    thread: JoinHandle<()>,
    tries: Arc<Mutex<Vec<CoreTry>>>,
}

/// What a try usually took: the mean over the cores of each one's median. It says something beside that of another time on the
/// same host. `None` without a try.
pub fn core_pace(tries: &[CoreTry]) -> Option<Nanos> {
    let mut by_core: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for one in tries {
        by_core.entry(one.core).or_default().push(one.cpu.0);
    }
    let median = |tries: &mut Vec<u64>| {
        let middle = tries.len() / 2;
        *tries.select_nth_unstable(middle).1
    };
    let sum: u64 = by_core.values_mut().map(median).sum();
    sum.checked_div(by_core.len() as u64).map(Nanos)
}

impl CoreWatch {
    /// Starts a thread on each core. Where a host refuses that, the core is not watched.
    pub fn start() -> CoreWatch {
        let over = Arc::new(AtomicBool::new(false));
        let allowed = rustix::thread::sched_getaffinity(None).unwrap_or_default();
        let cores = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let start = |core| {
            let tries: Arc<Mutex<Vec<CoreTry>>> = Arc::default();
            let (over, kept) = (over.clone(), tries.clone());
            let thread = thread::Builder::new()
                .name(format!("hakaru core {core}"))
                .spawn(move || watch(core, &kept, &over));
            Some(Core {
                thread: thread.ok()?,
                tries,
            })
        };
        let cores = cores.take(CORES_MAX).filter_map(start).collect();
        CoreWatch { over, cores }
    }

    /// All tries since they were last taken, core by core.
    pub fn take(&self) -> Vec<CoreTry> {
        let taken = |core: &Core| std::mem::take(&mut *locked(&core.tries));
        self.cores.iter().flat_map(taken).collect()
    }
}

impl Drop for CoreWatch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for core in &self.cores {
            core.thread.thread().unpark();
        }
    }
}

fn watch(core: usize, kept: &Mutex<Vec<CoreTry>>, over: &AtomicBool) {
    let mut only = CpuSet::new();
    only.set(core);
    if rustix::thread::sched_setaffinity(None, &only).is_err() {
        return;
    }
    let words = words();
    while !over.load(Ordering::Relaxed) {
        let cpu = tried(&words);
        let at = Timestamp::from_monotonic_nanos(nanos(ClockId::Monotonic).0);
        let mut kept = locked(kept);
        if kept.len() < TRIES_MAX {
            kept.push(CoreTry { at, core, cpu });
        }
        drop(kept);
        thread::park_timeout(EVERY);
    }
}

fn locked(tries: &Mutex<Vec<CoreTry>>) -> MutexGuard<'_, Vec<CoreTry>> {
    tries.lock().unwrap_or_else(PoisonError::into_inner)
}

/// CPU time of the work, after a little of it that brings its words back into the cache.
fn tried(words: &[u64]) -> Nanos {
    black_box(work(words, WORDS as u32));
    let before = nanos(ClockId::ThreadCPUTime);
    black_box(work(words, STEPS));
    let after = nanos(ClockId::ThreadCPUTime);
    Nanos(after.0.saturating_sub(before.0))
}

/// Steps that do not wait for each other, so that they keep the core's units busy as programs do: a neighbour hardly slows a chain
/// of steps of which each needs the last one's result (its time went along with that of a Ruby program with r = 0.4, this one's
/// with 0.7 to 0.8).
fn work(words: &[u64], steps: u32) -> u64 {
    let [mut a, mut b, mut c, mut d, mut e] = [1u64, 2, 3, 4, 5];
    let word = |at: usize| words[at % WORDS];
    for step in 0..steps as usize {
        a = a
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        b ^= word(step * 7);
        c = c.wrapping_add(word(step * 13 + 5) ^ b);
        d = (d << 1) ^ (c >> 3) ^ step as u64;
        // Programs branch on what they read.
        match word(step) & 1 {
            0 => e ^= b,
            _ => e = e.wrapping_add(a & d),
        }
    }
    a ^ b ^ c ^ d ^ e
}

/// Words whose lowest bits follow no pattern.
fn words() -> Vec<u64> {
    let next = |word: &u64| {
        let word = word ^ (word << 13);
        let word = word ^ (word >> 7);
        Some(word ^ (word << 17))
    };
    std::iter::successors(Some(0x9E37_79B9_7F4A_7C15), next)
        .take(WORDS)
        .collect()
}

fn nanos(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_is_tried_until_the_watch_ends() {
        let watch = CoreWatch::start();
        let mut tries = Vec::new();
        let expected = thread::available_parallelism().map_or(1, usize::from);
        let is_tried_twice = |tries: &[CoreTry]| {
            let of = |core| tries.iter().filter(|one| one.core == core).count();
            let cores = (0..CpuSet::MAX_CPU).filter(|core| of(*core) >= 2).count();
            cores >= expected.min(CORES_MAX)
        };
        while !is_tried_twice(&tries) {
            thread::park_timeout(EVERY);
            tries.extend(watch.take());
        }
        assert!(tries.iter().all(|one| one.cpu.0 > 0));
    }

    #[test]
    fn the_pace_is_the_mean_of_medians() {
        let tries: Vec<CoreTry> = [(0, 40), (0, 50), (0, 900), (1, 70)]
            .map(|(core, cpu)| CoreTry {
                at: Timestamp::from_monotonic_nanos(0),
                core,
                cpu: Nanos(cpu),
            })
            .into();
        assert_eq!(core_pace(&tries), Some(Nanos(60)));
        assert_eq!(core_pace(&[]), None);
    }

    #[test]
    fn the_words_follow_no_pattern() {
        let odd = words().iter().filter(|word| *word & 1 == 1).count();
        assert!((900..1_150).contains(&odd), "{odd}");
    }
}
