//! Cores under processor sharing, as a fair scheduler gives them.
//!
//! All jobs advance at one speed, so work is a single clock that grows by `speed` per nanosecond, and a
//! job's end on that clock never changes when others come and go: nothing has to be planned anew.

use crate::Costs;
use crate::agenda::Agenda;

/// Cores that run less than that cannot be measured on.
pub(crate) const STOLEN_MAX: f64 = 0.9;

pub(crate) struct Cores<T> {
    count: f64,
    /// Jobs that are always there and are not ours.
    foreign: f64,
    /// Share of its time for which a core runs.
    pace: f64,
    work: f64,
    jobs: Agenda<T>,
}

impl<T> Cores<T> {
    pub(crate) fn new(count: u32, costs: &Costs) -> Cores<T> {
        Cores {
            count: f64::from(count.max(1)),
            foreign: costs.foreign.max(0.0),
            pace: 1.0 - costs.stolen.clamp(0.0, STOLEN_MAX),
            work: 0.0,
            jobs: Agenda::new(),
        }
    }

    /// Nanoseconds of work that each job gets a nanosecond.
    fn speed(&self) -> f64 {
        self.pace * (self.count / (self.jobs.len().max(1) as f64 + self.foreign)).min(1.0)
    }

    /// Begins a job of `cpu` nanoseconds.
    pub(crate) fn start(&mut self, cpu: f64, what: T) {
        self.jobs.plan(self.work + cpu.max(0.0), what);
    }

    /// Nanoseconds until the next job ends, if no other begins meanwhile.
    pub(crate) fn next_in(&self) -> Option<f64> {
        let end = self.jobs.next_at()?;
        Some((end - self.work).max(0.0) / self.speed())
    }

    /// Lets time pass; answers the work done by all jobs together.
    pub(crate) fn pass(&mut self, nanos: f64) -> f64 {
        let each = nanos * self.speed();
        self.work += each;
        each * self.jobs.len() as f64
    }

    /// Ends the job whose end has come.
    pub(crate) fn end_next(&mut self) -> Option<T> {
        let (at, what) = self.jobs.pop()?;
        self.work = at;
        Some(what)
    }
}
