//! A load of which sums are kept instead of exchanges: for measuring a server from outside alone.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use recording::{Failure, Generator, Nanos, Outcome, Score, Window};
use scenario::{Scenario, Tally};

use crate::engine::Engine;
use crate::figures::{Figures, Interval};
use crate::ledger::{Book, Share};
use crate::outcome::{LoadError, ThreadFault};
use crate::plan::Plan;
use crate::run::{Job, run_threads, score};
use crate::tables::Tables;

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The measured part, by due time. It ends early when the load was stopped.
    pub window: Window,
    /// Interface of the sockets: epoll or io_uring.
    pub engine: Engine,
    /// Sums of all requests due in the window.
    pub figures: Figures,
    /// CPU of the load's threads within the window, and requests due in the window and never sent.
    pub generator: Generator,
    /// One example for each entry and kind of failure, at most [`crate::FAILURES_MAX`].
    pub failures: Vec<Failure>,
    /// Points, when the scenario has a rule.
    pub score: Option<Score>,
    /// Counts for the points, and the number of failed checks: the parts from which points of
    /// several generators are computed.
    pub tally: (Tally, u64),
    /// Users at the end: connections opened, or about to be.
    pub users: u32,
    /// Whether `stop` or `fault` ended the load early.
    pub stopped: bool,
    /// Error of a thread, with which the load ended.
    pub fault: Option<ThreadFault>,
}

/// Runs a load and adds up. `sink` gets the sums of each stretch of the length `every`, on the
/// calling thread, when all of the load's threads have passed it; setting `stop` ends the load
/// within about 100 ms, with everything measured so far.
///
/// The memory needed does not depend on the number of requests. Errors are those of [`crate::run`].
pub fn measure(
    plan: &Plan,
    scenario: &Scenario,
    stop: &AtomicBool,
    every: Nanos,
    sink: &mut dyn FnMut(&Interval),
) -> Result<Measured, LoadError> {
    let steps: Vec<u32> = scenario.steps().map(|step| step.number).collect();
    let every = Nanos(every.0.max(1_000_000));
    let mut joined = Joined::new(plan.threads);
    let (times, total) = run_threads(
        Job {
            plan,
            scenario,
            stop,
        },
        |times, sender| {
            let (window, start) = (times.window, times.start);
            let tables = Tables::new(&steps, window, every, start, sender);
            Book::Tables(Box::new(tables))
        },
        &mut |interval| joined.add(interval, sink),
    )?;
    joined.finish(sink);
    Ok(measured(plan, scenario, times.window, total))
}

fn measured(plan: &Plan, scenario: &Scenario, planned: Window, total: Share) -> Measured {
    let end = total.stopped_at.unwrap_or(planned.end);
    Measured {
        window: Window {
            start: planned.start,
            end: end.max(planned.start),
        },
        engine: total.engine,
        score: score(scenario, &total),
        tally: (total.tally, total.checks_failed),
        figures: total
            .figures
            .map_or_else(|| Figures::new(&[]), |figures| *figures),
        generator: Generator {
            cpu: total.cpu,
            threads: plan.threads,
            unsent: total.unsent,
        },
        failures: total.failures.into_vec(),
        users: total.users,
        stopped: total.stopped_at.is_some(),
        fault: total.fault,
    }
}

impl Measured {
    /// Returns complete responses per second, of requests due in the window and answered within.
    pub fn rps(&self) -> f64 {
        match self.window.length() {
            Nanos::ZERO => 0.0,
            length => self.figures.in_time as f64 / length.as_secs_f64(),
        }
    }

    /// Returns whether any request ended, well or not: otherwise all were still under way when the
    /// load was over, and nothing is known of the server.
    pub fn has_ended_requests(&self) -> bool {
        let outcomes = &self.figures.outcomes;
        outcomes.of(Outcome::Unanswered) < outcomes.all()
    }

    /// Returns the share of the time spent on a core by the generator's threads, from 0 to 1.
    pub fn generator_share(&self) -> f64 {
        match self.window.length() {
            Nanos::ZERO => 0.0,
            length => {
                let threads = f64::from(self.generator.threads.max(1));
                self.generator.cpu.as_secs_f64() / length.as_secs_f64() / threads
            }
        }
    }
}

/// Puts the threads' intervals together.
struct Joined {
    threads: u32,
    open: BTreeMap<i64, (Interval, u32)>,
}

impl Joined {
    fn new(threads: u32) -> Joined {
        Joined {
            threads,
            open: BTreeMap::new(),
        }
    }

    fn add(&mut self, interval: Interval, sink: &mut dyn FnMut(&Interval)) {
        let number = interval.number;
        match self.open.get_mut(&number) {
            Some((sum, parts)) => {
                sum.merge(&interval);
                *parts += 1;
            }
            None => {
                self.open.insert(number, (interval, 1));
            }
        }
        while let Some(first) = self.open.first_entry()
            && first.get().1 >= self.threads
        {
            sink(&first.remove().0);
        }
    }

    /// The last ones, which not every thread may have reached.
    fn finish(self, sink: &mut dyn FnMut(&Interval)) {
        for (interval, _) in self.open.into_values() {
            sink(&interval);
        }
    }
}
