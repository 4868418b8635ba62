//! Recorded requests, laid out for replay.

use std::ops::Range;

use recording::{Burst, BurstKind};

/// What the recorded stretches alone do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demands {
    /// CPU that the server takes with the GVL before the handler: parsing, building the environment, ns.
    pub before: f64,
    /// CPU that it takes after the handler until the answer is written, ns.
    pub after: f64,
    /// Share of a stretch in SQL, as it was recorded, that is CPU of a database on the same cores, 0 to 1.
    pub sql_cpu: f64,
    /// What stretches in SQL are multiplied with, see [`crate::Model`], down to that CPU. Zero counts as one.
    pub sql_scale: f64,
}

/// A stretch of a request; neighbours of one kind are one stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stretch {
    /// Runs with the GVL for so many nanoseconds of CPU.
    Run(f64),
    /// Waits, however many others do.
    Wait(f64),
    /// Is in the database: waits there, and uses its CPU.
    Sql {
        /// Nanoseconds without a core.
        wait: f64,
        /// Nanoseconds on one.
        cpu: f64,
    },
}

/// Requests ready to be replayed.
#[derive(Clone, Debug)]
pub struct Workload {
    stretches: Vec<Stretch>,
    ends: Vec<usize>,
}

impl Workload {
    /// Lays them out. Each counts as much as any other, so a uniform sample of requests brings its
    /// routes' weights along. `None` when no request has a stretch of any length.
    pub fn new(requests: &[Vec<Burst>], demands: &Demands) -> Option<Workload> {
        let mut made = Workload {
            stretches: Vec::new(),
            ends: Vec::with_capacity(requests.len()),
        };
        for bursts in requests {
            made.add(bursts, demands);
        }
        (!made.ends.is_empty()).then_some(made)
    }

    fn add(&mut self, bursts: &[Burst], demands: &Demands) {
        let start = self.stretches.len();
        if bursts.iter().all(|burst| burst.length.0 == 0) {
            return;
        }
        self.push(start, Stretch::Run(demands.before));
        for burst in bursts {
            self.push(start, stretch(burst, demands));
        }
        self.push(start, Stretch::Run(demands.after));
        self.ends.push(self.stretches.len());
    }

    fn push(&mut self, start: usize, next: Stretch) {
        if next.length() <= 0.0 {
            return;
        }
        match (self.stretches[start..].last_mut(), next) {
            (Some(Stretch::Run(last)), Stretch::Run(more))
            | (Some(Stretch::Wait(last)), Stretch::Wait(more)) => *last += more,
            _ => self.stretches.push(next),
        }
    }

    /// How many requests.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where request `index` has its stretches.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[index]
    }

    pub(crate) fn stretch(&self, at: usize) -> Stretch {
        self.stretches[at]
    }

    /// Means a request in nanoseconds.
    pub fn means(&self) -> Means {
        let mut means = Means::default();
        for stretch in &self.stretches {
            match *stretch {
                Stretch::Run(cpu) => means.run += cpu,
                Stretch::Wait(wait) => means.wait += wait,
                Stretch::Sql { wait, cpu } => {
                    means.wait += wait;
                    means.sql_cpu += cpu;
                }
            }
        }
        let requests = self.len().max(1) as f64;
        Means {
            run: means.run / requests,
            wait: means.wait / requests,
            sql_cpu: means.sql_cpu / requests,
        }
    }
}

/// Means a request in nanoseconds, alone on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Means {
    /// With the GVL, on a core.
    pub run: f64,
    /// Off the GVL and off the cores.
    pub wait: f64,
    /// Off the GVL, while the database is on a core.
    pub sql_cpu: f64,
}

impl Stretch {
    fn length(self) -> f64 {
        match self {
            Stretch::Run(length) | Stretch::Wait(length) => length,
            Stretch::Sql { wait, cpu } => wait + cpu,
        }
    }
}

fn stretch(burst: &Burst, demands: &Demands) -> Stretch {
    let length = burst.length.0 as f64;
    match burst.kind {
        BurstKind::Running => Stretch::Run(length),
        BurstKind::Sql => {
            let scale = Some(demands.sql_scale).filter(|scale| *scale > 0.0);
            let cpu = length * demands.sql_cpu.clamp(0.0, 1.0);
            Stretch::Sql {
                wait: (length * scale.unwrap_or(1.0) - cpu).max(0.0),
                cpu,
            }
        }
        _ => Stretch::Wait(length),
    }
}
