//! Recorded requests, laid out for replay.

use std::ops::Range;

use recording::{Burst, BurstKind, Nanos};

use crate::pause::Pause;

/// Demands of requests beside the recorded stretches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demands {
    /// The server's CPU with the GVL before the handler: parsing, building the environment, ns.
    pub before: f64,
    /// The server's CPU after the handler until the response is written, ns.
    pub after: f64,
    /// Share of a recorded stretch in SQL spent on CPU of a database on the same cores, 0 to 1.
    pub sql_cpu: f64,
    /// Factor for stretches in SQL, see [`crate::Model`], down to `sql_cpu`. Zero counts as one.
    pub sql_scale: f64,
}

/// Length of an unnamed stretch off the GVL below which nothing worth a core is computed: the CPU
/// is spent on releasing the GVL and on calls into the kernel. The agent's own bound for naming a
/// wait.
const COMPUTING_MIN: Nanos = Nanos(1_000_000);

/// Largest credible part of a stretch with the GVL due to a pause before. Very short work takes two
/// to three times as long (benchmarks/whatif).
const PAUSE_SHARE_MAX: f64 = 0.6;

/// Composition of the longer unnamed stretches off the GVL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Computing {
    /// Share of the stretches' length spent on CPU of the thread, 0 to 1.
    pub(crate) share: f64,
    /// Share of the time with a core, of a thread wanting one, above 0 to 1.
    pub(crate) on_core: f64,
}

impl Default for Computing {
    fn default() -> Self {
        Computing {
            share: 0.0,
            on_core: 1.0,
        }
    }
}

impl Computing {
    /// The wait and the CPU in such a stretch, nanoseconds. Waiting for a core is neither.
    fn split(self, length: f64) -> (f64, f64) {
        let cpu = length * self.share;
        ((length - cpu / self.on_core).max(0.0), cpu)
    }
}

/// Shortest wait attributed to one lock. The agent's own bound.
const LOCK_MIN: Nanos = Nanos(1_000_000);

/// Whether a stretch is a wait long enough to be attributed to a lock.
pub(crate) fn is_lock_wait(burst: &Burst) -> bool {
    burst.kind == BurstKind::Lock && burst.length >= LOCK_MIN
}

/// A request to be laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// Stretches of the request.
    pub(crate) bursts: &'a [Burst],
    /// The stretches as recorded, one for each of `bursts` even if something has been removed.
    pub(crate) recorded: &'a [Burst],
    /// Composition of the unnamed stretches off the GVL.
    pub(crate) computing: Computing,
    /// Share of the recorded time after each wait for the lock, to the next wait or the end, spent
    /// holding the lock, 0 to 1. `None` where the request's waits are waits like any other.
    pub(crate) holding: Option<f64>,
    /// CPU, ns, by which the first millisecond of recorded work is longer after a long wait: see
    /// [`crate::Costs::pause`]. It is taken out, as the replay adds its own.
    pub(crate) pause: f64,
}

impl<'a> Request<'a> {
    pub(crate) fn new(bursts: &'a [Burst]) -> Request<'a> {
        Request {
            bursts,
            recorded: bursts,
            computing: Computing::default(),
            holding: None,
            pause: 0.0,
        }
    }

    /// Returns the share of each recorded stretch without what pauses cost, 0 to 1.
    fn without_pauses(&self) -> Vec<f64> {
        let (mut pause, mut rested) = (Pause::default(), 0.0);
        let shares = self.recorded.iter().map(|burst| {
            let length = burst.length.0 as f64;
            if burst.kind != BurstKind::Running {
                rested += length;
                return 1.0;
            }
            pause.rest(std::mem::take(&mut rested));
            let paid = pause.run(length, self.pause);
            1.0 - (paid / length.max(1.0)).min(PAUSE_SHARE_MAX)
        });
        shares.collect()
    }

    /// Whether the request takes the lock at stretch `at`.
    fn takes(&self, at: usize) -> bool {
        self.holding.is_some() && is_lock_wait(&self.recorded[at])
    }

    /// Returns how long the lock taken at stretch `at` is held, in recorded nanoseconds.
    fn held_from(&self, at: usize) -> f64 {
        let after = at + 1..self.recorded.len();
        let until_next = after.take_while(|next| !self.takes(*next));
        let time: u64 = until_next.map(|at| self.recorded[at].length.0).sum();
        time as f64 * self.holding.unwrap_or(0.0)
    }
}

/// A stretch of a request; neighbours of one kind are one stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stretch {
    /// Runs with the GVL for so many nanoseconds of CPU.
    Run(f64),
    /// Waits, however many others do.
    Wait(f64),
    /// Computes without the GVL for so many nanoseconds of CPU: native code, such as hashing
    /// passwords.
    Compute(f64),
    /// Takes the lock, or waits for a place.
    Acquire,
    /// Lets go of the lock.
    Release,
    /// Spends time in the database: waits, and uses CPU of the database.
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
    /// Lays requests out for replay, `None` when no request has a stretch of any length. Each
    /// counts as much as any other, so a uniform sample of requests brings its routes' weights
    /// along.
    pub fn new(requests: &[Vec<Burst>], demands: &Demands) -> Option<Workload> {
        let alone = requests.iter().map(|bursts| Request::new(bursts));
        Workload::of(alone, demands)
    }

    /// Returns the workload of requests, some with native code or a lock; `None` without a stretch.
    pub(crate) fn of<'a>(
        requests: impl Iterator<Item = Request<'a>>,
        demands: &Demands,
    ) -> Option<Workload> {
        let mut made = Workload {
            stretches: Vec::new(),
            ends: Vec::new(),
        };
        for request in requests {
            made.add(&request, demands);
        }
        (!made.ends.is_empty()).then_some(made)
    }

    fn add(&mut self, request: &Request<'_>, demands: &Demands) {
        let start = self.stretches.len();
        if request.bursts.iter().all(|burst| burst.length.0 == 0) {
            return;
        }
        self.push(start, Stretch::Run(demands.before));
        let shares = request.without_pauses();
        // Recorded nanoseconds until it lets go of the lock.
        let mut held: Option<f64> = None;
        for (at, burst) in request.bursts.iter().enumerate() {
            let burst = &Burst {
                length: Nanos((burst.length.0 as f64 * shares[at]) as u64),
                ..*burst
            };
            if request.takes(at) {
                if held.is_some() {
                    self.stretches.push(Stretch::Release);
                }
                self.stretches.push(Stretch::Acquire);
                held = Some(request.held_from(at));
                continue;
            }
            let recorded = request.recorded[at].length.0 as f64;
            let Some(left) = held else {
                self.lay(start, *burst, request.computing, demands);
                continue;
            };
            let inside = (left / recorded.max(1.0)).min(1.0);
            let length = (burst.length.0 as f64 * inside) as u64;
            let (within, after) = split(*burst, length);
            self.lay(start, within, request.computing, demands);
            held = Some(left - recorded).filter(|left| *left > 0.0);
            if held.is_none() {
                self.stretches.push(Stretch::Release);
                self.lay(start, after, request.computing, demands);
            }
        }
        if held.is_some() {
            self.stretches.push(Stretch::Release);
        }
        self.push(start, Stretch::Run(demands.after));
        self.ends.push(self.stretches.len());
    }

    fn lay(&mut self, start: usize, burst: Burst, computing: Computing, demands: &Demands) {
        if burst.kind == BurstKind::OtherIo && burst.length >= COMPUTING_MIN {
            let (wait, cpu) = computing.split(burst.length.0 as f64);
            self.push(start, Stretch::Wait(wait));
            self.push(start, Stretch::Compute(cpu));
        } else {
            self.push(start, stretch(&burst, demands));
        }
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

    /// Returns the number of requests.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the range of the stretches of request `index`.
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
                Stretch::Compute(cpu) => means.computing += cpu,
                Stretch::Acquire | Stretch::Release => {}
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
            computing: means.computing / requests,
        }
    }
}

/// Means a request in nanoseconds, alone on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Means {
    /// CPU with the GVL, on a core.
    pub run: f64,
    /// Off the GVL and off the cores.
    pub wait: f64,
    /// Off the GVL, while the database is on a core.
    pub sql_cpu: f64,
    /// CPU of native code off the GVL, on a core.
    pub computing: f64,
}

impl Means {
    /// On a core without the GVL.
    pub fn beside(&self) -> f64 {
        self.sql_cpu + self.computing
    }
}

impl Stretch {
    fn length(self) -> f64 {
        match self {
            Stretch::Run(length) | Stretch::Wait(length) | Stretch::Compute(length) => length,
            Stretch::Sql { wait, cpu } => wait + cpu,
            Stretch::Acquire | Stretch::Release => 0.0,
        }
    }
}

/// Splits a stretch at a length, ns.
fn split(burst: Burst, length: u64) -> (Burst, Burst) {
    let of = |nanos| Burst {
        length: Nanos(nanos),
        ..burst
    };
    (of(length), of(burst.length.0 - length))
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
