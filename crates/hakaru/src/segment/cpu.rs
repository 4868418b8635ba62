//! CPU time for each request, from the moments in which the cores were as fast as they can be.

use capture::{CoreWatch, cpu_time_of};
use recording::{Nanos, Timestamp, Window};

/// Slices that a measurement needs, and requests in one of them on average, for some to be chosen.
const SLICES_MIN: usize = 4;
const SLICE_REQUESTS: usize = 10;
/// Share of the slices whose pace must be known, which it is where a core was busy; else how busy it was would choose.
const KNOWN_SHARE: f64 = 0.75;
/// Share of the slices that are taken for calm, whatever the others were.
const CALM_SHARE: f64 = 0.25;
/// How much slower than those a slice may be to count as one: a slice's pace is known to about 2 % where nothing disturbs it.
const CALM: f64 = 1.03;

/// Follows the CPU time of an app's processes and the speed of the cores.
pub(super) struct CpuWatch {
    pids: Vec<u32>,
    marks: Vec<Mark>,
    cores: CoreWatch,
}

/// What a measurement told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CpuTold {
    /// CPU time for each request in the calm slices, milliseconds. `None` when no CPU time or no answer is known.
    pub(super) each_ms: Option<f64>,
    /// What a try of a core took in the calmest slices; `None` where the cores were too idle to tell.
    pub(super) pace: Option<Nanos>,
    /// What a try took on average over all slices; `None` as above.
    pub(super) mean_pace: Option<Nanos>,
    /// The calm slices, ascending.
    pub(super) calm: Vec<Window>,
}

/// An instant, the processes' CPU time at it, and the cores' pace since the mark before.
#[derive(Clone, Copy)]
struct Mark {
    at: Timestamp,
    cpu: Nanos,
    pace: Option<Nanos>,
}

/// The time between two marks.
struct Slice {
    time: Window,
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
        }
    }

    /// Reads the CPU time, now. Processes that are gone count no more.
    pub(super) fn mark(&mut self) {
        let cpu = self.pids.iter().filter_map(|pid| cpu_time_of(*pid));
        let cpu = cpu.fold(Nanos::ZERO, |all, one| Nanos(all.0 + one.0));
        let at = load::now();
        let pace = self.cores.pace();
        self.marks.push(Mark { at, cpu, pace });
    }

    /// Ends it; all requests were answered at these instants.
    pub(super) fn end(self, window: Window, mut answered: Vec<Timestamp>) -> CpuTold {
        answered.sort_unstable();
        told(&self.marks, window, &answered)
    }
}

/// A core slows down by a third, for tenths of a second to half a minute, when a neighbour uses the other thread of the same
/// physical core. Moments without it are the same on both sides of a comparison; they are chosen by what our own work took, not by
/// the app's, so that the choice favours nobody. Where slices are few, all of it counts. Marks and instants ascend.
fn told(marks: &[Mark], window: Window, answered: &[Timestamp]) -> CpuTold {
    let slice = |from: &Mark, to: &Mark| {
        let requests = |end: Timestamp| answered.partition_point(|at| *at < end);
        Slice {
            time: Window {
                start: from.at,
                end: to.at,
            },
            requests: requests(to.at) - requests(from.at),
            cpu_ms: Nanos(to.cpu.0.saturating_sub(from.cpu.0)).as_millis_f64(),
            pace: to.pace,
        }
    };
    let within: Vec<&Mark> = (marks.iter())
        .filter(|mark| window.contains(mark.at))
        .collect();
    let mut slices: Vec<Slice> = (within.array_windows())
        .map(|[from, to]| slice(from, to))
        .collect();
    let paces = known_paces(&slices);
    let pace = stats::quantile(&paces, CALM_SHARE);
    let sum: Nanos = paces.iter().copied().sum();
    let mean_pace = sum.0.checked_div(paces.len() as u64).map(Nanos);
    let requests: usize = slices.iter().map(|slice| slice.requests).sum();
    if slices.len() < SLICES_MIN || requests < SLICE_REQUESTS * slices.len() {
        let ends = marks.first().zip(marks.last());
        slices = ends.map(|(from, to)| slice(from, to)).into_iter().collect();
    } else if let Some(calm) = pace {
        let most = CALM * calm.0 as f64;
        slices.retain(|slice| slice.pace.is_some_and(|pace| pace.0 as f64 <= most));
    }
    let cpu_ms: f64 = slices.iter().map(|slice| slice.cpu_ms).sum();
    let requests: usize = slices.iter().map(|slice| slice.requests).sum();
    CpuTold {
        each_ms: (requests > 0 && cpu_ms > 0.0).then(|| cpu_ms / requests as f64),
        pace,
        mean_pace,
        calm: slices.iter().map(|slice| slice.time).collect(),
    }
}

/// What a try took in each, ascending; nothing where that is known of too few.
fn known_paces(slices: &[Slice]) -> Vec<Nanos> {
    let mut paces: Vec<Nanos> = slices.iter().filter_map(|slice| slice.pace).collect();
    if (paces.len() as f64) < KNOWN_SHARE * slices.len() as f64 {
        paces.clear();
    }
    paces.sort_unstable();
    paces
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE_NS: u64 = 200_000_000;

    fn at(slice: usize, part: f64) -> Timestamp {
        Timestamp::from_monotonic_nanos(1 + ((slice as f64 + part) * SLICE_NS as f64) as u64)
    }

    /// Slices of 200 ms, each with the CPU time of a request in milliseconds and what a try of the cores took, 0 for unknown.
    fn seen(slices: &[(f64, u64)], requests: u32) -> CpuTold {
        let window = Window {
            start: Timestamp::from_monotonic_nanos(0),
            end: Timestamp::from_monotonic_nanos(u64::MAX),
        };
        let mut cpu = Nanos(0);
        let mut marks = vec![Mark {
            at: at(0, 0.0),
            cpu,
            pace: None,
        }];
        let mut answered = Vec::new();
        for (slice, (each_ms, pace)) in slices.iter().enumerate() {
            cpu.0 += (each_ms * f64::from(requests) * 1e6) as u64;
            marks.push(Mark {
                at: at(slice + 1, 0.0),
                cpu,
                pace: (*pace > 0).then_some(Nanos(*pace)),
            });
            answered.extend((0..requests).map(|part| at(slice, f64::from(part) / 100.0)));
        }
        told(&marks, window, &answered)
    }

    #[test]
    fn slices_on_slow_cores_do_not_count() {
        let check = |slices: &[(f64, u64)], requests: u32, each_ms: Option<f64>, pace| {
            let told = seen(slices, requests);
            let is_near = match (told.each_ms, each_ms) {
                (Some(seen), Some(expected)) => (seen - expected).abs() < 1e-3,
                (seen, expected) => seen.is_none() && expected.is_none(),
            };
            assert!(is_near, "{slices:?}: {told:?}");
            assert_eq!(told.pace.map(|pace| pace.0), pace, "{slices:?}");
        };
        let (calm, slow) = ((2.0, 40), (3.0, 60));
        let most_slow = [calm, slow, calm, slow, slow, slow, slow, calm];
        check(&most_slow, 40, Some(2.0), Some(40));
        check(&[slow; 8], 40, Some(3.0), Some(60));
        // What the app itself takes more or less of does not choose.
        let dear = (2.5, 40);
        check(&[calm, dear, calm, dear, slow], 40, Some(2.25), Some(40));
        // Too few slices, or too few requests for so many: all of it.
        check(&[calm, slow, calm], 40, Some(7.0 / 3.0), Some(40));
        check(&most_slow, 4, Some(21.0 / 8.0), Some(40));
        // Cores whose pace is not known, now and then or most of the time.
        let idle = (9.0, 0);
        check(&[calm, calm, idle, calm], 40, Some(2.0), Some(40));
        check(&[calm, idle, idle, calm], 40, Some(5.5), None);
        check(&[(0.0, 40); 8], 40, None, Some(40));
        check(&[], 40, None, None);
    }
}
