//! One block of a race: a fresh boot of one setting, warmed up, loaded, stopped. The measuring itself is `segment`'s.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use capture::Rings;
use recording::Nanos;
use report::comparison::Ending;
use target::Running;
use whatif::goal::Figures;
use whatif::search::Cell;

use super::knobs::{self, Server};
use super::{runtime, workers};
use crate::exit::{Exit, Failure};
use crate::run::places::Places;
use crate::segment::{self, Length, Segment, Subject, Trouble};
use crate::settings::Settings;

/// What a block measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    /// Throughput and latencies.
    pub(crate) figures: Figures,
    /// Memory of the app's processes, shared pages counted once; 0 when `/proc` does not tell.
    pub(crate) memory_bytes: u64,
    /// Time of the cores that others took, as a share of all.
    pub(crate) disturbed: f64,
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
    pub(crate) length: Length,
}

/// Measures it.
pub(crate) fn measure(
    settings: &Settings,
    wanted: Wanted<'_>,
    stop: &Arc<AtomicBool>,
) -> Result<Block, NoBlock> {
    let Wanted {
        server,
        cell,
        length,
        ..
    } = wanted;
    let mut variant = settings.clone();
    variant.start = settings.start.as_ref().map(|spec| {
        let spec = knobs::with_cell(spec, server, cell);
        (wanted.runtime).map_or_else(|| spec.clone(), |setting| runtime::with(&spec, setting))
    });
    let places = Places::new(&variant, &mut Vec::new()).map_err(NoBlock::Failed)?;
    let subject = Subject {
        settings: &variant,
        name: format!("the app with {} × {}", cell.workers, cell.threads),
        log: "app.log".to_owned(),
        places: Some(&places),
    };
    let mut rings = Rings::new(places.rings());
    segment::reset(&subject, stop)?;
    let mut up = segment::start(&subject, stop)?;
    if server == Server::Unicorn {
        workers::bring_to(&up.running, cell.workers, stop)?;
    }
    let segment = segment::load(&subject, &mut up, length, Some(&mut rings), stop)?;
    let runs = running(server, &rings, &up.running);
    rings.poll();
    up.running.stop();
    is_as_asked(server, runs, cell)?;
    figures(&segment).map_err(NoBlock::Broken)
}

/// What the server says it runs; of Unicorn, whose workers come and go by signals, what is there.
fn running(server: Server, rings: &Rings, app: &Running) -> Option<Cell> {
    let told = rings.server()?;
    Some(match server {
        Server::Puma => Cell {
            workers: told.workers.max(1),
            threads: told.threads,
        },
        Server::Unicorn => Cell {
            workers: workers::count(app),
            threads: 1,
        },
    })
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
fn figures(segment: &Segment) -> Result<Block, String> {
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
        disturbed: segment.disturbed,
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
