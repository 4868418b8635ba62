//! Needs of the recommended setting, for other machines.

use figures::numbers;
use whatif::search::Cell;
use words::Language;

use super::{Tuned, page};

/// The recommended setting, with the resources used where measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Workers and threads.
    pub cell: Cell,
    /// `WEB_CONCURRENCY` of a single worker: 0 for Puma, which then has no master.
    pub single: u32,
    /// Cores in use by the app's own processes.
    pub cores: f64,
    /// Memory of a worker, bytes; 0 where not known.
    pub worker_bytes: u64,
    /// Memory of the processes beside the workers, bytes.
    pub other_bytes: u64,
    /// Lines of English about the measurement.
    pub origin: Vec<String>,
}

impl Tuned<'_> {
    /// Returns the demand of the recommended setting; `None` without one.
    ///
    /// The app's CPU is that of a replayed request times the requests per second: the database and
    /// the load generator, on the same machine, are not in it.
    pub fn demand(&self) -> Option<Demand> {
        let outcome = self.search.outcome()?;
        let cell = outcome.best.cell;
        let means = self.model.workload().means();
        let cores = outcome.figures.rps * (means.run + means.computing) / 1e9;
        let memory = self.model.memory;
        let predicted = self.model.memory_of(cell.workers);
        // Measured memory is of all processes; the model knows how they share it.
        let scale = match (outcome.best.memory_bytes, predicted) {
            (0, _) | (_, 0) => 1.0,
            (measured, predicted) => measured as f64 / predicted as f64,
        };
        let other_bytes = (memory.other as f64 * scale) as u64;
        let worker_bytes = match predicted {
            0 => outcome.best.memory_bytes / u64::from(cell.workers.max(1)),
            _ => (memory.worker as f64 * scale) as u64,
        };
        let figures = &outcome.figures;
        let verb = match outcome.best.measured.is_empty() {
            true => "predicted, not measured",
            false => "measured",
        };
        let found = format!(
            "hakaru tune: {workers} workers × {threads} threads on one machine gave {rps} requests/s at p95 {p95} ({verb}) with {cores:.2} cores",
            workers = cell.workers,
            threads = cell.threads,
            rps = numbers::plain(figures.rps),
            p95 = numbers::duration_ms(figures.p95),
        );
        let ended = self.how_it_ended().written_in(Language::English);
        Some(Demand {
            cell,
            single: if self.is_unicorn() {
                1
            } else {
                page::web_concurrency(Cell { workers: 1, ..cell })
            },
            cores,
            worker_bytes,
            other_bytes,
            origin: vec![found, ended],
        })
    }
}
