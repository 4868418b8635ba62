//! Speed of the busy cores, whatever runs there.
//!
//! A neighbour that uses the other thread of the same physical core slows whatever runs there by a
//! third, for tenths of a second to half a minute at a time. Neither stolen time nor pressure shows
//! that; work that is always the same does.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use recording::Nanos;
use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};

use crate::host::parse::{self, CpuTicks};

/// Time between two probes of a core: 0.2 s have room for ten.
const EVERY: Duration = Duration::from_millis(20);
/// Steps of a try. They take 25 µs on a core of 3 GHz: long beside reading a clock (0.5 µs), short
/// beside [`EVERY`].
const STEPS: u32 = 20_000;
/// Steps before the timed ones: the first ones after a core was idle, or did something else, take
/// up to twice as long.
const STEPS_BEFORE: u32 = 40_000;
/// Greatest number of watched cores.
const CORES_MAX: usize = 64;
/// Words read by the work: 16 KiB, which fit into any core's first cache.
const WORDS: usize = 2_048;
/// Probes of a core stored until read: a minute's.
const TRIES_MAX: usize = 3_000;

/// Probes each core available to the process, fifty times a second, until dropped.
#[derive(Debug)]
pub struct CoreWatch {
    over: Arc<AtomicBool>,
    cores: Vec<Core>,
    stat: PathBuf,
    /// Ticks of each core at the last call of `pace`.
    ticks: BTreeMap<usize, CpuTicks>,
}

#[derive(Debug)]
struct Core {
    number: usize,
    thread: JoinHandle<()>,
    /// CPU time of each.
    tries: Arc<Mutex<Vec<Nanos>>>,
}

impl CoreWatch {
    /// Starts a thread on each core. Where a host refuses that, the core is not watched.
    pub fn start() -> CoreWatch {
        let over = Arc::new(AtomicBool::new(false));
        let allowed = rustix::thread::sched_getaffinity(None).unwrap_or_default();
        let numbers = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let start = |number| {
            let tries: Arc<Mutex<Vec<Nanos>>> = Arc::default();
            let (over, kept) = (over.clone(), tries.clone());
            let thread = thread::Builder::new()
                .name(format!("hakaru core {number}"))
                .spawn(move || watch(number, &kept, &over));
            Some(Core {
                number,
                thread: thread.ok()?,
                tries,
            })
        };
        let cores = numbers.take(CORES_MAX).filter_map(start).collect();
        let stat = PathBuf::from("/proc/stat");
        CoreWatch {
            over,
            cores,
            ticks: ticks(&stat),
            stat,
        }
    }

    /// Returns the mean time of a probe since the last call, the cores weighted by use; `None`
    /// without a probe. Comparable only with the pace of another time on the same host.
    pub fn pace(&mut self) -> Option<Nanos> {
        let now = ticks(&self.stat);
        let before = std::mem::replace(&mut self.ticks, now);
        let busy = |core: &Core| busy(before.get(&core.number)?, self.ticks.get(&core.number)?);
        let taken = self.cores.iter().filter_map(|core| {
            let tries = std::mem::take(&mut *locked(&core.tries));
            Some((busy(core)?, mean(&tries)?))
        });
        weighted(taken)
    }
}

/// Share of the time between two readings of a core's counters in which the core was busy; `None`
/// when the counters did not move.
fn busy(before: &CpuTicks, now: &CpuTicks) -> Option<f64> {
    let passed = |of: fn(&CpuTicks) -> u64| of(now).saturating_sub(of(before)) as f64;
    let busy = passed(|ticks| ticks.busy_ticks);
    let all = busy + passed(|ticks| ticks.idle_ticks) + passed(|ticks| ticks.steal_ticks);
    (all > 0.0).then(|| busy / all)
}

/// Mean of the cores' values, each weighted by the busy share of the core.
fn weighted(cores: impl Iterator<Item = (f64, Nanos)>) -> Option<Nanos> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (busy, tried) in cores {
        sum += busy * tried.0 as f64;
        weights += busy;
    }
    (weights > 0.0).then(|| Nanos((sum / weights) as u64))
}

fn mean(tries: &[Nanos]) -> Option<Nanos> {
    let sum: Nanos = tries.iter().copied().sum();
    sum.0.checked_div(tries.len() as u64).map(Nanos)
}

fn ticks(stat: &Path) -> BTreeMap<usize, CpuTicks> {
    // Where it cannot be read, no core is known to be busy.
    let text = std::fs::read_to_string(stat).unwrap_or_default();
    parse::cores(&text).into_iter().collect()
}

impl Drop for CoreWatch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for core in &self.cores {
            core.thread.thread().unpark();
        }
    }
}

fn watch(core: usize, kept: &Mutex<Vec<Nanos>>, over: &AtomicBool) {
    let mut only = CpuSet::new();
    only.set(core);
    if rustix::thread::sched_setaffinity(None, &only).is_err() {
        return;
    }
    let words = words();
    while !over.load(Ordering::Relaxed) {
        let cpu = tried(&words);
        let mut kept = locked(kept);
        if kept.len() < TRIES_MAX {
            kept.push(cpu);
        }
        drop(kept);
        thread::park_timeout(EVERY);
    }
}

fn locked(tries: &Mutex<Vec<Nanos>>) -> MutexGuard<'_, Vec<Nanos>> {
    tries.lock().unwrap_or_else(PoisonError::into_inner)
}

/// CPU time of the work.
fn tried(words: &[u64]) -> Nanos {
    black_box(work(words, STEPS_BEFORE));
    let before = cpu_clock();
    black_box(work(words, STEPS));
    Nanos(cpu_clock().0.saturating_sub(before.0))
}

/// Runs independent steps, to keep the core's units busy as programs do. A neighbour hardly slows a
/// chain of steps of which each needs the last one's result (its time went along with that of a
/// Ruby program with r = 0.4, this one's with 0.7 to 0.8).
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

fn cpu_clock() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_cores_have_a_pace() {
        let mut watch = CoreWatch::start();
        let over = Arc::new(AtomicBool::new(false));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..cores {
            let over = over.clone();
            thread::spawn(move || while !over.load(Ordering::Relaxed) {});
        }
        let pace = loop {
            thread::park_timeout(10 * EVERY);
            if let Some(pace) = watch.pace() {
                break pace;
            }
        };
        over.store(true, Ordering::Relaxed);
        assert!(pace.0 > 0);
    }

    #[test]
    fn idle_cores_tell_nothing() {
        let check = |cores: &[(f64, u64)], expected: Option<u64>| {
            let cores = cores.iter().map(|(busy, tried)| (*busy, Nanos(*tried)));
            assert_eq!(weighted(cores), expected.map(Nanos));
        };
        check(&[(1.0, 50), (0.5, 80)], Some(60));
        check(&[(0.25, 50), (0.0, 90)], Some(50));
        check(&[(0.0, 90)], None);
        check(&[], None);
    }

    #[test]
    fn a_core_is_busy_for_a_share_of_the_time() {
        let ticks = |busy_ticks, idle_ticks, steal_ticks| CpuTicks {
            busy_ticks,
            steal_ticks,
            idle_ticks,
        };
        assert_eq!(busy(&ticks(1, 1, 1), &ticks(3, 2, 2)), Some(0.5));
        assert_eq!(busy(&ticks(1, 1, 1), &ticks(1, 1, 1)), None);
        assert_eq!(mean(&[Nanos(3), Nanos(1), Nanos(8)]), Some(Nanos(4)));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn the_words_follow_no_pattern() {
        let odd = words().iter().filter(|word| *word & 1 == 1).count();
        assert!((900..1_150).contains(&odd), "{odd}");
    }
}
