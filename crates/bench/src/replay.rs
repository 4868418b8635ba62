//! How fast the simulation is: a run's recording, replayed at other settings.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use store::{RunRef, Store};
use whatif::{Load, Model, Setup};

use crate::program::CONNECTIONS;

const REQUESTS: u32 = 100_000;
/// Asked of so many requests, at every setting.
const SECONDS_MAX: f64 = 1.0;

/// Times the replay of run `number` in a folder under a closed load; returns whether each setting
/// was fast enough.
pub(crate) fn is_fast(
    app: &str,
    folder: &Path,
    number: i64,
    cells: &[(u32, u32)],
) -> Result<bool, Box<dyn Error>> {
    let stored = Store::open(folder)?.load(RunRef::Number(number))?;
    let recording = &stored.recording;
    let model = Model::of(
        recording,
        &breakdown::join(recording),
        &breakdown::of(recording),
    )?;
    let all: Vec<f64> = cells.iter().map(|cell| seconds(&model, *cell)).collect();
    let slowest = all.iter().copied().fold(0.0, f64::max);
    println!(
        "{app}: {REQUESTS} requests are simulated in {:.2} s, in {slowest:.2} s at the slowest of {} settings (asked: {SECONDS_MAX} s)",
        stats::median(&all).unwrap_or_default(),
        cells.len()
    );
    Ok(slowest <= SECONDS_MAX)
}

fn seconds(model: &Model, (workers, threads): (u32, u32)) -> f64 {
    let setup = Setup {
        workers,
        threads,
        load: Load::Closed {
            clients: CONNECTIONS,
            think: recording::Nanos::ZERO,
        },
        ..model.recorded
    };
    let begin = Instant::now();
    whatif::simulate(model.workload(), &setup, 1, REQUESTS);
    begin.elapsed().as_secs_f64()
}
