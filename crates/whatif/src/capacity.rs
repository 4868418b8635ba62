//! Number of workers needed for a rate.

use crate::goal::{Figures, Goal};
use crate::{Load, Model, Setup};

/// Most workers tried.
const WORKERS_MAX: u32 = 256;
/// Share of the requested rate below which a setup does not serve the rate.
const SERVED_MIN: f64 = 0.98;
/// Requests replayed for each number of workers.
const REPLAYED: u32 = 10_000;
/// Share of busy cores up to which cores are not the limit.
const CORES_FREE: f64 = 0.7;

/// The fewest workers found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// The setup with the number of workers and the cores assumed.
    pub setup: Setup,
    /// Whether the setup holds the goal; otherwise `setup` has the most workers tried.
    pub held: bool,
}

/// Returns the fewest workers of `setup`'s threads serving the rate within the goal, on `cores`, or
/// on enough cores not to be the limit. More workers never serve less here, so the number is found
/// by halving.
pub fn fewest_workers(model: &Model, setup: &Setup, goal: &Goal, cores: Option<u32>) -> Capacity {
    let with = |workers: u32| Setup {
        workers,
        cores: cores.unwrap_or_else(|| cores_for(model, setup, workers)),
        ..*setup
    };
    let holds = |workers: u32| {
        let setup = with(workers);
        let seen = model.predict_with(&setup, REPLAYED);
        let served = match setup.load {
            Load::Open { rate, .. } => seen.rps >= SERVED_MIN * rate,
            Load::Closed { .. } => true,
        };
        served && goal.held_by(&Figures::from(&seen))
    };
    let (mut fails, mut works) = (0, 1);
    while works < WORKERS_MAX && !holds(works) {
        fails = works;
        works *= 2;
    }
    if !holds(works) {
        return Capacity {
            setup: with(works),
            held: false,
        };
    }
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        if holds(middle) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    Capacity {
        setup: with(works),
        held: true,
    }
}

/// Returns the cores for a number of workers: one each, and the needs of database, generator and
/// all else at the setup's rate, with room.
fn cores_for(model: &Model, setup: &Setup, workers: u32) -> u32 {
    let rate = match setup.load {
        Load::Open { rate, .. } => rate / 1e9,
        Load::Closed { .. } => 0.0,
    };
    let costs = &setup.costs;
    let beside = model.workload().means().beside() + (costs.generator + costs.asked).0 as f64;
    let beside = rate * beside + costs.foreign;
    workers + (beside / CORES_FREE).ceil() as u32
}
