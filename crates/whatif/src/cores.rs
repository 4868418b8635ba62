//! Cores under a fair scheduler: a job waits for a free core, and gives the core up after a time
//! slice when others wait. A job going on after one on the same core comes before the waiting ones.
//!
//! Running jobs advance at one speed, so work is a single clock that grows by `speed` per
//! nanosecond, and the end of a slice on that clock never changes when others come and go: nothing
//! has to be planned again.

use std::collections::VecDeque;

use crate::Costs;
use crate::agenda::Agenda;

/// Share of stolen time from which cores are too slow for a measurement.
pub(crate) const STOLEN_MAX: f64 = 0.9;

/// Linux's base slice, ns: a job runs for one before a waiting job, times 1 + log2 of the cores, of
/// at most eight (`sysctl_sched_base_slice` and `get_update_sysctl_factor` in kernel/sched/fair.c;
/// 0.7 ms since 6.15).
const SLICE: f64 = 750_000.0;
const SLICE_CORES_MAX: u32 = 8;

/// Returns the nanoseconds for which a job runs before a waiting one, on so many cores.
pub(crate) fn slice(cores: u32) -> f64 {
    SLICE * f64::from(1 + cores.clamp(1, SLICE_CORES_MAX).ilog2())
}

pub(crate) struct Cores<T> {
    count: usize,
    /// Jobs of other programs, always present.
    foreign: f64,
    /// Share of time for which a core runs, 0 to 1.
    pace: f64,
    /// Work of one job per turn, ns.
    slice: f64,
    work: f64,
    now: f64,
    running: Agenda<Job<T>>,
    waiting: VecDeque<Job<T>>,
}

/// A job and the work left after the current slice.
struct Job<T> {
    left: f64,
    /// Time of the first moment on a core.
    began: Option<f64>,
    what: T,
}

impl<T> Cores<T> {
    pub(crate) fn new(count: u32, costs: &Costs) -> Cores<T> {
        let count = count.max(1);
        Cores {
            count: count as usize,
            foreign: costs.foreign.max(0.0),
            pace: 1.0 - costs.stolen.clamp(0.0, STOLEN_MAX),
            slice: slice(count),
            work: 0.0,
            now: 0.0,
            running: Agenda::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Returns the nanoseconds of work done by each running job per nanosecond. Other programs'
    /// jobs take turns with ours.
    fn speed(&self) -> f64 {
        let ours = (self.running.len() + self.waiting.len()) as f64;
        let cores = ours.min(self.count as f64 * ours / (ours + self.foreign));
        self.pace * cores / self.running.len().max(1) as f64
    }

    /// Whether a core idles, beside the core of the caller.
    pub(crate) fn idle(&self) -> bool {
        let ours = self.running.len() + self.waiting.len() + 1;
        ours as f64 + self.foreign < self.count as f64
    }

    /// Begins a job of `cpu` nanoseconds behind the waiting jobs.
    pub(crate) fn start(&mut self, cpu: f64, what: T) {
        self.waiting.push_back(Job::new(cpu, what));
        self.fill();
    }

    /// Begins a job of a thread just on a core, ahead of the waiting jobs.
    pub(crate) fn go_on(&mut self, cpu: f64, what: T) {
        self.waiting.push_front(Job::new(cpu, what));
        self.fill();
    }

    /// Gives free cores to waiting jobs.
    pub(crate) fn fill(&mut self) {
        while self.running.len() < self.count
            && let Some(job) = self.waiting.pop_front()
        {
            let slice = job.left.min(self.slice);
            let left = job.left - slice;
            let began = job.began.or(Some(self.now));
            let end = self.work + slice;
            self.running.plan(end, Job { left, began, ..job });
        }
    }

    /// Nanoseconds until the next slice ends, if no other job begins meanwhile.
    pub(crate) fn next_in(&self) -> Option<f64> {
        let end = self.running.next_at()?;
        Some((end - self.work).max(0.0) / self.speed())
    }

    /// Advances the time; returns the work done by all jobs together, ns.
    pub(crate) fn pass(&mut self, nanos: f64) -> f64 {
        let each = nanos * self.speed();
        self.work += each;
        self.now += nanos;
        each * self.running.len() as f64
    }

    /// Ends the slice due next; returns a finished job and the time of the job's first moment on a
    /// core. The core is free until [`Cores::fill`].
    pub(crate) fn end_next(&mut self) -> Option<(T, f64)> {
        let (at, job) = self.running.pop()?;
        self.work = at;
        if job.left > 0.0 {
            self.waiting.push_back(job);
            return None;
        }
        Some((job.what, job.began.unwrap_or(self.now)))
    }
}

impl<T> Job<T> {
    fn new(cpu: f64, what: T) -> Job<T> {
        Job {
            left: cpu.max(0.0),
            began: None,
            what,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    /// Returns the index and end, in milliseconds, of each of `jobs`, all present from the
    /// beginning.
    fn ends(count: u32, costs: Costs, jobs: &[f64]) -> Vec<(usize, f64)> {
        let mut cores = Cores::new(count, &costs);
        for (number, ms) in jobs.iter().enumerate() {
            cores.start(ms * MS, number);
        }
        let (mut now, mut ends) = (0.0, Vec::new());
        while let Some(nanos) = cores.next_in() {
            cores.pass(nanos);
            now += nanos;
            ends.extend(cores.end_next().map(|(number, _)| (number, now / MS)));
            cores.fill();
        }
        ends
    }

    #[test]
    fn jobs_wait_for_a_core_and_take_turns() {
        let check = |count, jobs: &[f64], expected: &[(usize, f64)]| {
            let ends = ends(count, Costs::default(), jobs);
            assert_eq!(ends.len(), expected.len(), "{ends:?}");
            for ((number, at), (expected, wanted)) in ends.iter().zip(expected) {
                assert_eq!(number, expected, "{ends:?}");
                assert!((at - wanted).abs() < 1e-6, "{ends:?}");
            }
        };
        check(2, &[1.0, 2.0], &[(0, 1.0), (1, 2.0)]);
        // The short one waits for the first core that is free.
        check(2, &[1.0, 1.4, 0.1], &[(0, 1.0), (2, 1.1), (1, 1.4)]);
        // A slice of one core is 0.75 ms.
        check(1, &[2.0, 0.5], &[(1, 1.25), (0, 2.5)]);
        check(1, &[0.75, 0.0], &[(0, 0.75), (1, 0.75)]);
    }

    #[test]
    fn who_goes_on_comes_before_those_that_wait() {
        let mut cores = Cores::new(1, &Costs::default());
        cores.start(0.5 * MS, "first");
        cores.start(0.5 * MS, "waits");
        cores.pass(0.5 * MS);
        assert_eq!(cores.end_next(), Some(("first", 0.0)));
        cores.go_on(0.5 * MS, "goes on");
        cores.pass(0.5 * MS);
        assert_eq!(cores.end_next(), Some(("goes on", 0.5 * MS)));
        assert!(!Cores::<()>::new(1, &Costs::default()).idle());
        assert!(Cores::<()>::new(2, &Costs::default()).idle());
    }

    #[test]
    fn other_programs_and_the_hypervisor_slow_them() {
        let check = |foreign, stolen, jobs: &[f64], last: f64| {
            let costs = Costs {
                foreign,
                stolen,
                ..Costs::default()
            };
            let ends = ends(2, costs, jobs);
            let seen = ends.last().map_or(0.0, |(_, at)| *at);
            assert!((seen - last).abs() < 1e-6, "{ends:?}");
        };
        check(1.0, 0.0, &[1.0], 1.0);
        check(2.0, 0.0, &[1.0, 1.0], 2.0);
        check(0.0, 0.5, &[1.0], 2.0);
        check(3.0, 0.0, &[1.0], 2.0);
    }
}
