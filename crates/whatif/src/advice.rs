//! Recommended number of threads for a worker, from a model alone: the fewest near the best
//! throughput.

use crate::{Costs, Load, Model, Prediction, Setup};

/// The last tenth of throughput costs most threads: the rule of the recommendation.
const ENOUGH: f64 = 0.9;
/// Most threads tried: beyond, memory and the scheduler matter, and neither is modelled.
const THREADS_MAX: u32 = 64;
/// Threads tried where the load says nothing of how many requests there are at once.
const THREADS_OPEN: u32 = 32;
/// Requests replayed for each number of threads.
const REPLAYED: u32 = 6_000;

/// A recommendation with the simulations behind the number.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Threads per worker.
    pub threads: u32,
    /// The resource limiting the number, if there is one.
    pub limited_by: Option<Limit>,
    /// Simulated with as many clients as keep all threads busy, by number of threads from 1.
    pub tried: Vec<Prediction>,
}

/// Limit on the number of threads tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The connections of the recorded load.
    Clients(u32),
    /// The pool of connections to the database.
    DatabasePool(u32),
}

/// Returns the fewest threads with [`ENOUGH`] of the best throughput under a load without idle
/// threads.
pub fn advise(model: &Model) -> Advice {
    let limit = limit(model);
    let tried: Vec<Prediction> = (1..=limit)
        .map(|threads| saturated(model, threads))
        .collect();
    let best = tried.iter().map(|seen| seen.rps).fold(0.0, f64::max);
    let enough = tried.iter().position(|seen| seen.rps >= ENOUGH * best);
    let threads = enough.map_or(1, |index| index as u32 + 1);
    Advice {
        threads,
        limited_by: (threads == limit).then(|| reason(model, limit)).flatten(),
        tried,
    }
}

impl Advice {
    /// Returns the throughput of `threads` threads, requests per second: from [`Advice::tried`], or
    /// simulated now for a number beyond.
    pub fn rps(&self, model: &Model, threads: u32) -> f64 {
        let known = self.tried.get(threads.saturating_sub(1) as usize);
        known.map_or_else(|| saturated(model, threads).rps, |seen| seen.rps)
    }
}

/// Predicts the throughput of `threads` threads with enough clients to keep all busy. Other
/// programs on the machine, and other machines on the host, are left out: they are gone tomorrow,
/// and the threads stay.
fn saturated(model: &Model, threads: u32) -> Prediction {
    let recorded = &model.recorded;
    let setup = Setup {
        threads,
        load: Load::Closed {
            clients: clients(model),
            think: recording::Nanos::ZERO,
        },
        costs: Costs {
            foreign: 0.0,
            stolen: 0.0,
            ..recorded.costs
        },
        ..*recorded
    };
    model.predict_with(&setup, REPLAYED)
}

/// Clients to simulate.
fn clients(model: &Model) -> u32 {
    match model.recorded.load {
        Load::Closed { clients, .. } => clients,
        Load::Open { .. } => 2 * THREADS_OPEN * model.recorded.workers.max(1),
    }
}

/// Most threads a worker.
fn limit(model: &Model) -> u32 {
    let pool = model.database_pool.unwrap_or(u32::MAX).max(1);
    match model.recorded.load {
        Load::Closed { clients, .. } => {
            let each = clients.div_ceil(model.recorded.workers.max(1));
            each.min(pool).min(THREADS_MAX)
        }
        Load::Open { .. } => THREADS_OPEN.min(pool),
    }
}

fn reason(model: &Model, limit: u32) -> Option<Limit> {
    match model.recorded.load {
        _ if model.database_pool == Some(limit) => Some(Limit::DatabasePool(limit)),
        Load::Closed { clients, .. } if limit < THREADS_MAX => Some(Limit::Clients(clients)),
        _ => None,
    }
}
