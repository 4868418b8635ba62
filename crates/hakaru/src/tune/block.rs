//! One block of a race: a fresh boot of one setting, warmed up, loaded, stopped.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use capture::{HostSampler, Rings};
use load::Plan;
use recording::{Exchange, Nanos, Outcome, ProcessRole, Window};
use scenario::Scenario;
use target::{Running, TargetError};
use whatif::goal::Figures;
use whatif::search::Cell;

use super::knobs;
use crate::exit::{Exit, Failure};
use crate::run::{self, places::Places};
use crate::settings::Settings;
use crate::signals;

/// What a block measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    /// Throughput and latencies.
    pub(crate) figures: Figures,
    /// Memory of the app's processes at its end, shared pages counted once; 0 when `/proc` does not tell.
    pub(crate) memory_bytes: u64,
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

/// Measures `cell` for the length of the plan.
pub(crate) fn measure(
    settings: &Settings,
    scenario: &Scenario,
    plan: &Plan,
    cell: Cell,
    stop: &Arc<AtomicBool>,
) -> Result<Block, NoBlock> {
    let variant = variant(settings, cell);
    let places = Places::new(&variant, &mut Vec::new()).map_err(NoBlock::Failed)?;
    run::reset_data(&variant, stop).map_err(NoBlock::of)?;
    let mut app = start(&variant, &places, stop)?;
    let mut loaded = Loaded::new(places.rings());
    let result = loaded.load(plan, scenario, &mut app, stop)?;
    let memory_bytes = memory(&app);
    loaded.rings.poll();
    app.stop();
    if signals::raised(stop) {
        return Err(NoBlock::Interrupted);
    }
    is_as_asked(&loaded.rings, cell)?;
    figures(&loaded.exchanges, result)
        .map(|figures| Block {
            figures,
            memory_bytes,
        })
        .map_err(NoBlock::Broken)
}

/// The settings with that cell.
fn variant(settings: &Settings, cell: Cell) -> Settings {
    let mut variant = settings.clone();
    variant.start = settings
        .start
        .as_ref()
        .map(|spec| knobs::with_cell(spec, cell));
    variant
}

fn start(settings: &Settings, places: &Places, stop: &AtomicBool) -> Result<Running, NoBlock> {
    let Some(spec) = &settings.start else {
        let message = "there is no command to start the app with";
        return Err(NoBlock::Failed(Failure::new(Exit::Usage, message)));
    };
    let mut spec = spec.clone();
    spec.log = places.log();
    spec.agent = places.agent();
    spec.remove_when_killed = places.private_folders();
    target::start(&spec, stop).map_err(|error| match error {
        TargetError::Interrupted => NoBlock::Interrupted,
        error => NoBlock::Broken(error.to_string()),
    })
}

/// What a load leaves.
struct Loaded {
    exchanges: Vec<Exchange>,
    rings: Rings,
}

impl Loaded {
    fn new(rings: &Path) -> Loaded {
        Loaded {
            exchanges: Vec::new(),
            rings: Rings::new(rings),
        }
    }

    /// To its end, to Ctrl-C, or to the app's death.
    fn load(
        &mut self,
        plan: &Plan,
        scenario: &Scenario,
        app: &mut Running,
        stop: &AtomicBool,
    ) -> Result<Window, NoBlock> {
        let over = AtomicBool::new(false);
        let mut died = None;
        let result = load::run(plan, scenario, &over, &mut |batch| {
            self.exchanges.extend(batch.exchanges);
            // Only to keep the rings from filling up, and to learn what the server says of itself.
            self.rings.poll();
            died = app.exited();
            if died.is_some() || signals::raised(stop) {
                over.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        });
        let result = result.map_err(|error| NoBlock::Failed(Failure::new(Exit::Failed, error)))?;
        match died {
            Some(status) => {
                let last = app.log_tail().pop().unwrap_or_default();
                Err(NoBlock::Broken(format!("the app died ({status}): {last}")))
            }
            None => Ok(result.window),
        }
    }
}

fn memory(app: &Running) -> u64 {
    let roles: Vec<(u32, ProcessRole)> = (app.pids().into_iter())
        .map(|pid| (pid, ProcessRole::App))
        .collect();
    let sample = HostSampler::new(&roles).sample();
    sample.map_or(0, |sample| {
        let bytes = |process: &recording::ProcessSample| process.pss.unwrap_or(process.rss);
        sample.processes.iter().map(bytes).sum()
    })
}

/// A command may ignore what it is told; then its figures would be another setting's.
fn is_as_asked(rings: &Rings, cell: Cell) -> Result<(), NoBlock> {
    let failed = |message: String| Err(NoBlock::Failed(Failure::new(Exit::Failed, message)));
    let Some(server) = rings.server() else {
        return failed(
            "the agent saw no request, so the setting cannot be checked; tune needs the view from inside, under Puma"
                .to_owned(),
        );
    };
    let runs = Cell {
        workers: server.workers.max(1),
        threads: server.threads,
    };
    if runs == cell {
        return Ok(());
    }
    failed(format!(
        "asked for {} × {} and the server runs {} × {}: its command ignores `{}` and the variables {}; \
         let `command` start Puma itself, such as `puma -C config/puma.rb`",
        cell.workers,
        cell.threads,
        runs.workers,
        runs.threads,
        knobs::flags(cell).join(" "),
        knobs::environment(cell).map(|(name, _)| name).join(", "),
    ))
}

/// Of the exchanges due in the window; a sentence when requests failed.
fn figures(exchanges: &[Exchange], window: Window) -> Result<Figures, String> {
    let measured: Vec<&Exchange> = (exchanges.iter())
        .filter(|exchange| window.contains(exchange.due))
        .collect();
    let failed =
        |exchange: &&&Exchange| !matches!(exchange.outcome, Outcome::Ok | Outcome::Unanswered);
    if let Some(first) = measured.iter().find(failed) {
        let count = measured.iter().filter(failed).count();
        return Err(format!(
            "{count} of {} requests failed, the first: {} (status {})",
            measured.len(),
            first.outcome.name(),
            first.status
        ));
    }
    let answered = measured
        .iter()
        .filter(|exchange| exchange.outcome == Outcome::Ok)
        .count();
    let mut latency: Vec<Nanos> = (measured.iter())
        .map(|exchange| exchange.answered.since(exchange.due))
        .collect();
    latency.sort_unstable();
    if answered == 0 {
        return Err("no request was answered".to_owned());
    }
    let quantile = |q| {
        stats::quantile(&latency, q)
            .unwrap_or_default()
            .as_millis_f64()
    };
    let sum: Nanos = latency.iter().copied().sum();
    Ok(Figures {
        rps: answered as f64 / window.length().as_secs_f64(),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        mean: sum.as_millis_f64() / latency.len() as f64,
    })
}

impl NoBlock {
    fn of(failure: Failure) -> NoBlock {
        match failure.exit {
            Exit::Interrupted => NoBlock::Interrupted,
            _ => NoBlock::Failed(failure),
        }
    }
}
