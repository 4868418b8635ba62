//! Races of settings: what `whatif::search` asks for is measured in blocks, each on an app with
//! other workers and threads.

mod block;
mod knobs;
mod live;
mod race;
mod runtime;
mod workers;

use load::Pace;
use recording::Nanos;
use whatif::goal::Figures;
use whatif::search::{Aim, Better, Candidate, Cell};
use whatif::{Load, Model, Setup};

use crate::settings::Settings;

pub use knobs::Server;
pub use race::Race;

/// Requests simulated for each cell of the grid.
const GRID_REPLAYED: u32 = 8_000;

/// Returns the recorded cell.
pub fn present(model: &Model) -> Cell {
    Cell {
        workers: model.recorded.workers,
        threads: model.recorded.threads,
    }
}

/// Returns what is better under the recorded load: throughput of a closed one, memory of an open
/// one.
pub fn aim(model: &Model, goal: Option<whatif::goal::Goal>) -> Aim {
    Aim {
        goal,
        by: match model.recorded.load {
            Load::Closed { .. } => Better::Throughput,
            Load::Open { .. } => Better::Memory,
        },
    }
}

/// Returns the model under the load of `settings`: a stored run may have had a load other than the
/// race's.
pub fn under(mut model: Model, settings: &Settings) -> Model {
    let connections = settings.plan.connections;
    model.recorded.load = match settings.plan.pace {
        Pace::Constant { per_second } => Load::Open {
            rate: per_second,
            arrivals: whatif::Arrivals::Even,
            connections,
        },
        // Settings of a race schedule nothing.
        Pace::Closed | Pace::Scheduled(_) => Load::Closed {
            clients: connections,
            think: Nanos::ZERO,
        },
    };
    model
}

/// Returns the cells of the grid up to the given numbers of workers and threads, always including
/// the present one.
pub fn cells(model: &Model, workers_max: Option<u32>, threads_max: u32) -> Vec<Cell> {
    let recorded = &model.recorded;
    let workers_max = workers_max.unwrap_or(recorded.cores).max(1);
    let threads_max = match Server::of(recorded.hand_out) {
        Server::Puma => threads_max,
        Server::Unicorn => 1,
    };
    let mut cells: Vec<Cell> = (1..=workers_max)
        .flat_map(|workers| (1..=threads_max).map(move |threads| Cell { workers, threads }))
        .collect();
    let present = present(model);
    if !cells.contains(&present) {
        cells.push(present);
    }
    cells
}

/// Returns each cell with a prediction.
pub fn grid(model: &Model, cells: Vec<Cell>) -> Vec<Candidate> {
    let candidate = |cell: Cell| {
        let setup = Setup {
            workers: cell.workers,
            threads: cell.threads,
            ..model.recorded
        };
        Candidate {
            cell,
            predicted: Figures::from(&model.predict_with(&setup, GRID_REPLAYED)),
            memory_bytes: model.memory_of(cell.workers),
            measured: Vec::new(),
            broken: false,
        }
    };
    cells.into_iter().map(candidate).collect()
}
