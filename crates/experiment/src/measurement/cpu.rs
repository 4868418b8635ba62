//! CPU time per request, from the moments with cores at full speed (`stats::calm`).

use capture::{CoreWatch, cpu_time_of};
use recording::{Nanos, Timestamp, Window};
use stats::calm::{Chosen, Slice, choose};

/// Follows the CPU time of an app's processes and the speed of the cores.
pub(super) struct CpuWatch {
    pids: Vec<u32>,
    marks: Vec<Mark>,
    cores: CoreWatch,
}

/// CPU time for each request, and the speed of the cores meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CpuPerRequest {
    /// CPU time for each request in the calm slices, milliseconds. `None` when no CPU time or no
    /// response is known.
    pub(super) each_ms: Option<f64>,
    /// Duration of the calibration probe in the calmest slices, nanoseconds; `None` for cores too
    /// idle for a probe.
    pub(super) pace: Option<u64>,
    /// Mean duration of the probe over all slices; `None` as for `pace`.
    pub(super) pace_mean: Option<Nanos>,
    /// The calm slices, ascending.
    pub(super) calm: Vec<Window>,
}

/// CPU time of the processes at an instant, and the cores' pace since the mark before.
#[derive(Clone, Copy)]
struct Mark {
    at: Timestamp,
    cpu: Nanos,
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

    /// Ends the watch; `answered` has the instants of all responses.
    pub(super) fn end(self, window: Window, mut answered: Vec<Timestamp>) -> CpuPerRequest {
        answered.sort_unstable();
        per_request(&self.marks, window, &answered)
    }
}

/// Marks and instants ascend.
fn per_request(marks: &[Mark], window: Window, answered: &[Timestamp]) -> CpuPerRequest {
    let slice = |from: &Mark, to: &Mark| {
        let requests = |end: Timestamp| answered.partition_point(|at| *at < end);
        Slice {
            requests: requests(to.at) - requests(from.at),
            cost: Nanos(to.cpu.0.saturating_sub(from.cpu.0)).as_millis_f64(),
            pace: to.pace.map(|pace| pace.0),
        }
    };
    let between = |from: &Mark, to: &Mark| Window {
        start: from.at,
        end: to.at,
    };
    let within: Vec<Mark> = (marks.iter().copied())
        .filter(|mark| window.contains(mark.at))
        .collect();
    let slices: Vec<Slice> = (within.array_windows())
        .map(|[from, to]| slice(from, to))
        .collect();
    let ends = marks.first().zip(marks.last());
    let calm = choose(&slices, ends.map(|(from, to)| slice(from, to)));
    CpuPerRequest {
        each_ms: calm.cost_each,
        pace: calm.pace,
        pace_mean: calm.pace_mean.map(Nanos),
        calm: match calm.chosen {
            Chosen::Whole => ends.iter().map(|(from, to)| between(from, to)).collect(),
            Chosen::Slices(indices) => (indices.into_iter())
                .map(|index| between(&within[index], &within[index + 1]))
                .collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE_NS: u64 = 200_000_000;

    fn at(slice: usize, part: f64) -> Timestamp {
        Timestamp::from_monotonic_nanos(1 + ((slice as f64 + part) * SLICE_NS as f64) as u64)
    }

    /// Slices of 200 ms with 40 requests, each with the CPU time of a request in milliseconds and
    /// the pace of the cores.
    fn measured(slices: &[(f64, u64)]) -> CpuPerRequest {
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
            cpu.0 += (each_ms * 40.0 * 1e6) as u64;
            marks.push(Mark {
                at: at(slice + 1, 0.0),
                cpu,
                pace: Some(Nanos(*pace)),
            });
            answered.extend((0..40).map(|part| at(slice, f64::from(part) / 100.0)));
        }
        per_request(&marks, window, &answered)
    }

    #[test]
    fn calm_slices_are_windows_between_marks() {
        let (calm, slow) = ((2.0, 40), (3.0, 60));
        let cpu = measured(&[calm, slow, calm, slow, slow, slow, slow, calm]);
        assert!((cpu.each_ms.expect("known") - 2.0).abs() < 1e-3, "{cpu:?}");
        assert_eq!((cpu.pace, cpu.pace_mean), (Some(40), Some(Nanos(52))));
        let starts: Vec<Timestamp> = cpu.calm.iter().map(|window| window.start).collect();
        assert_eq!(starts, [at(0, 0.0), at(2, 0.0), at(7, 0.0)]);
        let few = measured(&[calm, slow]);
        let whole = Window {
            start: at(0, 0.0),
            end: at(2, 0.0),
        };
        assert_eq!(few.calm, [whole]);
    }
}
