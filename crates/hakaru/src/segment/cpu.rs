//! CPU time for each request, from the moments in which the cores were as fast as they can be.

use capture::{CoreTry, CoreWatch, core_pace, cpu_time_of};
use recording::{Nanos, Timestamp, Window};

/// Requests that a slice of time needs, and slices that a measurement needs, for some to be chosen.
const SLICE_REQUESTS: usize = 10;
const SLICES_MIN: usize = 4;
/// Share of the slices that are taken for calm, whatever the others were.
const CALM_SHARE: f64 = 0.25;
/// How much slower than those a slice may be to count as one: a slice's pace is known to about 2 % where nothing disturbs it.
const CALM: f64 = 1.03;

/// Follows the CPU time of an app's processes and the speed of the cores.
pub(super) struct CpuWatch {
    pids: Vec<u32>,
    marks: Vec<Mark>,
    cores: CoreWatch,
    tries: Vec<CoreTry>,
}

/// What a measurement told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CpuTold {
    /// CPU time for each request in the calm slices, milliseconds. `None` when no CPU time or no answer is known.
    pub(super) each_ms: Option<f64>,
    /// What a try of a core took in the calm slices.
    pub(super) pace: Option<Nanos>,
}

/// An instant and the processes' CPU time at it.
#[derive(Clone, Copy)]
struct Mark {
    at: Timestamp,
    cpu: Nanos,
}

/// The time between two marks.
struct Slice {
    requests: usize,
    cpu_ms: f64,
    pace: Option<Nanos>,
}

impl CpuWatch {
    pub(super) fn new(pids: Vec<u32>) -> CpuWatch {
        CpuWatch {
            pids,
            marks: Vec::new(),
            cores: CoreWatch::start(),
            tries: Vec::new(),
        }
    }

    /// Reads the CPU time, now. Processes that are gone count no more.
    pub(super) fn mark(&mut self) {
        let cpu = self.pids.iter().filter_map(|pid| cpu_time_of(*pid));
        let cpu = cpu.fold(Nanos::ZERO, |all, one| Nanos(all.0 + one.0));
        let at = load::now();
        self.marks.push(Mark { at, cpu });
        self.tries.extend(self.cores.take());
    }

    /// Ends it; all requests were answered at these instants.
    pub(super) fn end(mut self, window: Window, mut answered: Vec<Timestamp>) -> CpuTold {
        self.tries.sort_by_key(|one| one.at);
        answered.sort_unstable();
        told(&self.marks, &self.tries, window, &answered)
    }
}

/// A core slows down by a third, for tenths of a second to half a minute, when a neighbour uses the other thread of the same
/// physical core. Moments without it are the same on both sides of a comparison; they are chosen by what our own work took, not by
/// the app's, so that the choice favours nobody. Where slices are few, all of it counts. Marks, tries and instants ascend.
fn told(marks: &[Mark], tries: &[CoreTry], window: Window, answered: &[Timestamp]) -> CpuTold {
    let slice = |from: &Mark, to: &Mark| {
        let requests = |end: Timestamp| answered.partition_point(|at| *at < end);
        let first = tries.partition_point(|one| one.at < from.at);
        let last = tries.partition_point(|one| one.at < to.at);
        Slice {
            requests: requests(to.at) - requests(from.at),
            cpu_ms: Nanos(to.cpu.0.saturating_sub(from.cpu.0)).as_millis_f64(),
            pace: core_pace(&tries[first..last.max(first)]),
        }
    };
    let within: Vec<&Mark> = (marks.iter())
        .filter(|mark| window.contains(mark.at))
        .collect();
    let mut slices: Vec<Slice> = (within.array_windows())
        .map(|[from, to]| slice(from, to))
        .filter(|slice| slice.requests >= SLICE_REQUESTS && slice.cpu_ms > 0.0)
        .collect();
    if slices.len() < SLICES_MIN {
        let ends = marks.first().zip(marks.last());
        slices = ends.map(|(from, to)| slice(from, to)).into_iter().collect();
    }
    let mut paces: Vec<Nanos> = slices.iter().filter_map(|slice| slice.pace).collect();
    paces.sort_unstable();
    let calm = stats::quantile(&paces, CALM_SHARE);
    let is_calm = |slice: &&Slice| match (slice.pace, calm) {
        (Some(pace), Some(calm)) => pace.0 as f64 <= CALM * calm.0 as f64,
        _ => calm.is_none(),
    };
    let (cpu_ms, requests) = (slices.iter().filter(is_calm))
        .map(|slice| (slice.cpu_ms, slice.requests))
        .fold((0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    CpuTold {
        each_ms: (requests > 0 && cpu_ms > 0.0).then(|| cpu_ms / requests as f64),
        pace: calm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE_NS: u64 = 200_000_000;

    fn at(slice: usize, part: f64) -> Timestamp {
        Timestamp::from_monotonic_nanos(1 + ((slice as f64 + part) * SLICE_NS as f64) as u64)
    }

    /// Slices of 200 ms, each with the CPU time of a request in milliseconds and what a try of the cores took in microseconds.
    fn seen(slices: &[(f64, f64)], requests: u32) -> CpuTold {
        let window = Window {
            start: Timestamp::from_monotonic_nanos(0),
            end: Timestamp::from_monotonic_nanos(u64::MAX),
        };
        let mut cpu = Nanos(0);
        let mut marks = vec![Mark {
            at: at(0, 0.0),
            cpu,
        }];
        let (mut tries, mut answered) = (Vec::new(), Vec::new());
        for (slice, (each_ms, pace_us)) in slices.iter().enumerate() {
            cpu.0 += (each_ms * f64::from(requests) * 1e6) as u64;
            let end = at(slice + 1, 0.0);
            marks.push(Mark { at: end, cpu });
            answered.extend((0..requests).map(|part| at(slice, f64::from(part) / 100.0)));
            tries.extend([0, 1].map(|core| CoreTry {
                at: at(slice, 0.5),
                core,
                cpu: Nanos((pace_us * 1e3) as u64 * (1 + core as u64)),
            }));
        }
        if slices.iter().all(|(_, pace_us)| *pace_us == 0.0) {
            tries.clear();
        }
        told(&marks, &tries, window, &answered)
    }

    #[test]
    fn slices_on_slow_cores_do_not_count() {
        let check = |slices: &[(f64, f64)], requests: u32, each_ms: Option<f64>, pace| {
            let told = seen(slices, requests);
            let is_near = match (told.each_ms, each_ms) {
                (Some(seen), Some(expected)) => (seen - expected).abs() < 1e-3,
                (seen, expected) => seen.is_none() && expected.is_none(),
            };
            assert!(is_near, "{slices:?}: {told:?}");
            assert_eq!(told.pace.map(|pace| pace.0), pace, "{slices:?}");
        };
        let (calm, slow) = ((2.0, 40.0), (3.0, 60.0));
        let most_slow = [calm, slow, calm, slow, slow, slow, slow, calm];
        check(&most_slow, 40, Some(2.0), Some(60_000));
        check(&[slow; 8], 40, Some(3.0), Some(90_000));
        // What the app itself takes more or less of does not choose.
        let dear = (2.5, 40.0);
        check(
            &[calm, dear, calm, dear, slow],
            40,
            Some(2.25),
            Some(60_000),
        );
        // Too few slices, or requests in them: all of it.
        check(&[calm, slow, calm], 40, Some(7.0 / 3.0), Some(60_000));
        check(&most_slow, 4, Some(21.0 / 8.0), Some(90_000));
        // Cores that cannot be watched.
        check(&[(2.0, 0.0), (4.0, 0.0)].repeat(4), 40, Some(3.0), None);
        check(&[(0.0, 40.0); 8], 40, None, Some(60_000));
        check(&[], 40, None, None);
    }
}
