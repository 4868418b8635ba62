//! One block of a race: boots a setting, or changes the threads of a running Puma; then warm-up and
//! load.

use capture::Rings;
use recording::Nanos;
use stats::baseline::Disturbance;
use whatif::goal::Figures;
use whatif::search::Cell;

use super::knobs::{self, Server};
use super::{live, runtime, workers};
use crate::lifecycle::{self, RunningApp, Subject};
use crate::measurement::{self, Length, Measurement};
use crate::observer::Context;
use crate::settings::Settings;
use crate::workspace::RunFolders;
use ending::{Cause, Failure};

/// What a block measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    /// Throughput and latencies.
    pub(crate) figures: Figures,
    /// Memory of the app's processes, shared pages counted once; 0 when `/proc` does not tell.
    pub(crate) memory_bytes: u64,
    pub(crate) disturbance: Disturbance,
    /// Whether the app was started for the block.
    pub(crate) booted: bool,
}

/// Why a block gave nothing.
#[derive(Debug)]
pub(crate) enum BlockError {
    /// Ctrl-C.
    Interrupted,
    /// The setting does not work, for the reason given; others may.
    Broken(String),
    /// No block can be measured.
    Failed(Failure),
}

/// What to measure.
#[derive(Clone, Copy)]
pub(crate) struct BlockRequest<'a> {
    pub(crate) server: Server,
    pub(crate) cell: Cell,
    /// Variables of the environment, such as `MALLOC_ARENA_MAX=2`.
    pub(crate) runtime: Option<&'a str>,
    /// Greatest number of threads reachable while the app runs; `None` for a start in each block.
    pub(crate) live: Option<u32>,
    pub(crate) length: Length,
}

/// A running app, reused in the next block when only the threads differ, and stopped on drop.
pub(crate) struct App {
    up: RunningApp,
    rings: Rings,
    folders: RunFolders,
    variant: Settings,
    server: Server,
    booted: Cell,
    now: Cell,
    live: bool,
}

/// Measures a block, on the app of the block before where possible.
pub(crate) fn measure(
    settings: &Settings,
    wanted: BlockRequest<'_>,
    kept: &mut Option<App>,
    context: &Context,
) -> Result<Block, BlockError> {
    let changed = kept.take().and_then(|app| app.brought_to(wanted, context));
    let booted = changed.is_none();
    let mut app = match changed {
        Some(app) => app,
        None => App::boot(settings, wanted, context)?,
    };
    let segment = app.load(wanted.length, context)?;
    is_as_asked(app.server, app.runs(), app.booted)?;
    let block = figures(&segment, booted).map_err(BlockError::Broken)?;
    *kept = Some(app).filter(|app| app.live);
    Ok(block)
}

impl App {
    fn boot(
        settings: &Settings,
        wanted: BlockRequest<'_>,
        context: &Context,
    ) -> Result<App, BlockError> {
        let BlockRequest { server, cell, .. } = wanted;
        let (variant, live) = variant(settings, wanted);
        let folders = RunFolders::new(&variant, &mut Vec::new()).map_err(BlockError::Failed)?;
        let subject = subject(&variant, cell, &folders);
        lifecycle::reset(&subject, context).map_err(of_reset)?;
        let up = lifecycle::start(&subject, context)?;
        if server == Server::Unicorn {
            workers::bring_to(&up.running, cell.workers, context)?;
        }
        Ok(App {
            up,
            rings: Rings::new(folders.rings()),
            folders,
            variant,
            server,
            booted: cell,
            now: cell,
            live,
        })
    }

    /// Returns the app with the wanted threads; `None` when a new start is needed.
    fn brought_to(mut self, wanted: BlockRequest<'_>, context: &Context) -> Option<App> {
        let same = self.now.workers == wanted.cell.workers && wanted.live.is_some();
        if !same || !live::bring_to(self.folders.rings(), &self.up.running, wanted.cell, context) {
            return None;
        }
        self.now = wanted.cell;
        Some(self)
    }

    fn load(&mut self, length: Length, context: &Context) -> Result<Measurement, Failure> {
        let subject = subject(&self.variant, self.now, &self.folders);
        let segment = measurement::measure(
            &subject,
            &mut self.up,
            length,
            Some(&mut self.rings),
            context,
        )?;
        self.rings.poll();
        Ok(segment)
    }

    /// Returns the cell reported by the server at the start; for Unicorn, where signals add and
    /// remove workers, the current one.
    fn runs(&self) -> Option<Cell> {
        let told = self.rings.server()?;
        Some(match self.server {
            Server::Puma => Cell {
                workers: told.workers.max(1),
                threads: told.threads,
            },
            Server::Unicorn => Cell {
                workers: workers::count(&self.up.running),
                threads: 1,
            },
        })
    }
}

/// Returns the settings with the wanted cell, and whether the app's threads can be changed at run
/// time.
fn variant(settings: &Settings, wanted: BlockRequest<'_>) -> (Settings, bool) {
    let BlockRequest { server, cell, .. } = wanted;
    let mut variant = settings.clone();
    let Some(spec) = &settings.start else {
        return (variant, false);
    };
    let live = (wanted.live).and_then(|threads_max| knobs::live(spec, cell, threads_max));
    let is_live = live.is_some();
    let spec = live.unwrap_or_else(|| knobs::with_cell(spec, server, cell));
    variant.start = Some(match wanted.runtime {
        Some(setting) => runtime::with(&spec, setting),
        None => spec,
    });
    (variant, is_live)
}

fn subject<'a>(variant: &'a Settings, cell: Cell, folders: &'a RunFolders) -> Subject<'a> {
    Subject {
        settings: variant,
        name: Some(format!("the app with {} × {}", cell.workers, cell.threads)),
        log: variant.log_file("app.log"),
        folders: Some(folders),
    }
}

/// Returns an error when the server does not run the wanted cell: a command may ignore flags and
/// variables.
fn is_as_asked(server: Server, runs: Option<Cell>, cell: Cell) -> Result<(), BlockError> {
    let failed = |message: String| Err(BlockError::Failed(Failure::failed(message)));
    let Some(runs) = runs else {
        return failed(
            "the agent saw no request, so the setting cannot be checked; tune needs the view from inside, under Puma or Unicorn"
                .to_owned(),
        );
    };
    if runs == cell {
        return Ok(());
    }
    let asked = format!(
        "asked for {} × {} and the server runs {} × {}",
        cell.workers, cell.threads, runs.workers, runs.threads
    );
    if server == Server::Unicorn {
        // A worker that dies under load and is made anew was missing for a moment.
        return Err(BlockError::Broken(asked));
    }
    failed(format!(
        "{asked}: its command ignores `{}` and the variables {}; let `command` start Puma itself, such as `puma -C config/puma.rb`",
        knobs::flags(cell).join(" "),
        knobs::environment(server, cell)
            .map(|(name, _)| name)
            .join(", "),
    ))
}

/// A sentence when nothing was answered.
fn figures(segment: &Measurement, booted: bool) -> Result<Block, String> {
    let latency = &segment.latency;
    let quantile = |q| stats::quantile(latency, q).map(|value: Nanos| value.as_millis_f64());
    let sum: Nanos = latency.iter().copied().sum();
    let [Some(p50), Some(p95), Some(p99)] = [0.5, 0.95, 0.99].map(quantile) else {
        return Err("no request was answered; a longer --block gives it more time".to_owned());
    };
    Ok(Block {
        figures: Figures {
            rps: segment.rps,
            p50,
            p95,
            p99,
            mean: sum.as_millis_f64() / latency.len() as f64,
        },
        memory_bytes: segment.memory.map_or(0, |[_, last]| last),
        disturbance: segment.disturbance,
        booted,
    })
}

/// Data not reset is no setting's fault: called broken, working settings would drop out.
fn of_reset(failure: Failure) -> BlockError {
    match failure.cause {
        Cause::Interrupted => BlockError::Interrupted,
        _ => BlockError::Failed(failure),
    }
}

/// Turns a failure caused by a setting into a broken setting, and others into a failed block.
impl From<Failure> for BlockError {
    fn from(failure: Failure) -> BlockError {
        match failure.cause {
            Cause::TargetFailed | Cause::TargetDied | Cause::RequestsFailed => {
                BlockError::Broken(failure.message)
            }
            Cause::Interrupted => BlockError::Interrupted,
            _ => BlockError::Failed(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_reset_breaks_no_setting() {
        let failure = |cause| Failure::new(cause, "why");
        let of_start = BlockError::from(failure(Cause::TargetFailed));
        assert!(matches!(of_start, BlockError::Broken(_)));
        let failed = of_reset(failure(Cause::TargetFailed));
        assert!(matches!(failed, BlockError::Failed(_)));
        let interrupted = of_reset(failure(Cause::Interrupted));
        assert!(matches!(interrupted, BlockError::Interrupted));
    }
}
