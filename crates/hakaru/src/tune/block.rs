//! One block of a race: a setting is booted, or a running Puma is brought to its threads; warmed up, loaded. The measuring
//! itself is `segment`'s.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use capture::Rings;
use recording::Nanos;
use report::comparison::Ending;
use whatif::goal::Figures;
use whatif::search::Cell;

use super::knobs::{self, Server};
use super::{live, runtime, workers};
use crate::exit::{Exit, Failure};
use crate::run::places::Places;
use crate::segment::{self, Disturbance, Length, Segment, Subject, Trouble, Up};
use crate::settings::Settings;

/// What a block measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    /// Throughput and latencies.
    pub(crate) figures: Figures,
    /// Memory of the app's processes, shared pages counted once; 0 when `/proc` does not tell.
    pub(crate) memory_bytes: u64,
    pub(crate) disturbance: Disturbance,
    /// Whether the app was started for it.
    pub(crate) booted: bool,
}

/// Why a block gave nothing.
#[derive(Debug)]
pub(crate) enum NoBlock {
    /// Ctrl-C.
    Interrupted,
    /// This setting does not work; the others may. A sentence says why.
    Broken(String),
    /// No block can be measured.
    Failed(Failure),
}

/// What to measure.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) server: Server,
    pub(crate) cell: Cell,
    /// Variables of the environment, such as `MALLOC_ARENA_MAX=2`.
    pub(crate) runtime: Option<&'a str>,
    /// Most threads that the app may be brought to while it runs; `None` where it is to be started for each block.
    pub(crate) live: Option<u32>,
    pub(crate) length: Length,
}

/// An app that is up, and stays so for the next block where only its threads differ. It is stopped when it is dropped.
pub(crate) struct App {
    up: Up,
    rings: Rings,
    places: Places,
    variant: Settings,
    server: Server,
    booted: Cell,
    now: Cell,
    live: bool,
}

/// Measures it, on the app that was kept where that can be.
pub(crate) fn measure(
    settings: &Settings,
    wanted: Wanted<'_>,
    kept: &mut Option<App>,
    stop: &Arc<AtomicBool>,
) -> Result<Block, NoBlock> {
    let changed = kept.take().and_then(|app| app.brought_to(wanted, stop));
    let booted = changed.is_none();
    let mut app = match changed {
        Some(app) => app,
        None => App::boot(settings, wanted, stop)?,
    };
    let segment = app.load(wanted.length, stop)?;
    is_as_asked(app.server, app.runs(), app.booted)?;
    let block = figures(&segment, booted).map_err(NoBlock::Broken)?;
    *kept = Some(app).filter(|app| app.live);
    Ok(block)
}

impl App {
    fn boot(
        settings: &Settings,
        wanted: Wanted<'_>,
        stop: &Arc<AtomicBool>,
    ) -> Result<App, NoBlock> {
        let Wanted { server, cell, .. } = wanted;
        let (variant, live) = variant(settings, wanted);
        let places = Places::new(&variant, &mut Vec::new()).map_err(NoBlock::Failed)?;
        let subject = subject(&variant, cell, &places);
        segment::reset(&subject, stop)?;
        let up = segment::start(&subject, stop)?;
        if server == Server::Unicorn {
            workers::bring_to(&up.running, cell.workers, stop)?;
        }
        Ok(App {
            up,
            rings: Rings::new(places.rings()),
            places,
            variant,
            server,
            booted: cell,
            now: cell,
            live,
        })
    }

    /// With the wanted threads; `None` when it must be started anew.
    fn brought_to(mut self, wanted: Wanted<'_>, stop: &AtomicBool) -> Option<App> {
        let same = self.now.workers == wanted.cell.workers && wanted.live.is_some();
        if !same || !live::bring_to(self.places.rings(), &self.up.running, wanted.cell, stop) {
            return None;
        }
        self.now = wanted.cell;
        Some(self)
    }

    fn load(&mut self, length: Length, stop: &Arc<AtomicBool>) -> Result<Segment, Trouble> {
        let subject = subject(&self.variant, self.now, &self.places);
        let segment = segment::load(&subject, &mut self.up, length, Some(&mut self.rings), stop)?;
        self.rings.poll();
        Ok(segment)
    }

    /// What the server said that it runs when it was started; of Unicorn, whose workers come and go by signals, what
    /// is there.
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

/// The settings with that cell, and whether the app's threads can be changed while it runs.
fn variant(settings: &Settings, wanted: Wanted<'_>) -> (Settings, bool) {
    let Wanted { server, cell, .. } = wanted;
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

fn subject<'a>(variant: &'a Settings, cell: Cell, places: &'a Places) -> Subject<'a> {
    Subject {
        settings: variant,
        name: format!("the app with {} × {}", cell.workers, cell.threads),
        log: "app.log".to_owned(),
        places: Some(places),
    }
}

/// A command may ignore what it is told; then its figures would be another setting's.
fn is_as_asked(server: Server, runs: Option<Cell>, cell: Cell) -> Result<(), NoBlock> {
    let failed = |message: String| Err(NoBlock::Failed(Failure::new(Exit::Failed, message)));
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
        return Err(NoBlock::Broken(asked));
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
fn figures(segment: &Segment, booted: bool) -> Result<Block, String> {
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

/// Whatever is a setting's own fault breaks that setting only.
impl From<Trouble> for NoBlock {
    fn from(trouble: Trouble) -> NoBlock {
        match (trouble.ending, trouble.exit) {
            (Ending::Failed(why), Exit::TargetFailed | Exit::TargetDied | Exit::RequestsFailed) => {
                NoBlock::Broken(why)
            }
            (Ending::Failed(why), exit) => NoBlock::Failed(Failure::new(exit, why)),
            _ => NoBlock::Interrupted,
        }
    }
}
