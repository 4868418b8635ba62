//! `hakaru tune`: the best workers and threads, predicted from one recorded run and then raced.
//!
//! Order of events: (1) record the app as it is, or take a run that was kept, (2) predict the grid, (3) measure what
//! [`whatif::search`] asks for in blocks, until it knows, the budget is out, or Ctrl-C, (4) say what
//! to change. Nothing of the user's is changed.

mod block;
mod knobs;
mod live;
mod race;
mod runtime;
mod workers;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use figures::counted;
use recording::{Nanos, Recording};
use report::tuned::{Ended, Tuned};
use store::StoredRun;
use whatif::goal::Figures;
use whatif::search::{Aim, Better, Candidate, Cell, Extra, Search};
use whatif::{HandOut, Load, Model, Setup};
use words::text;

use crate::cli::{RunArgs, TuneArgs};
use crate::exit::{Exit, Failure};
use crate::segment::Length;
use crate::settings::{self, Settings};
use crate::talk::{self, look};
use crate::{config, guard, language, page, predict, run, signals};
use knobs::Server;
use race::Race;

/// Requests simulated for each cell of the grid.
const GRID_REPLAYED: u32 = 8_000;
/// The recording is so many blocks long: all predictions hang on it.
const RECORDED_BLOCKS: u32 = 2;
/// Tunes, prints, and says how the program ends.
pub(crate) fn tune(args: &TuneArgs) -> Result<Exit, Failure> {
    if args.advise {
        return advise(args);
    }
    let begin = Instant::now();
    let kept = args.run.as_deref().map(predict::stored).transpose()?;
    let settings = settings(args, kept.as_ref())?;
    guard::check(&settings)?;
    let stop = signals::watch()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot watch for Ctrl-C: {error}")))?;
    let from = model(kept, &settings, &stop)?;
    let model = &from.model;
    let present = Cell {
        workers: model.recorded.workers,
        threads: model.recorded.threads,
    };
    let aim = Aim {
        goal: args.goal,
        by: match model.recorded.load {
            Load::Closed { .. } => Better::Throughput,
            Load::Open { .. } => Better::Memory,
        },
    };
    let mut search = Search::new(aim, present, grid(args, model));
    let length = Length {
        warmup: args.warmup,
        measured: args.block,
        seed: settings.plan.seed,
    };
    let server = Server::of(model.recorded.hand_out);
    let threads_max = args.threads_max.max(present.threads);
    let deadline = begin + args.budget;
    let mut race = Race::new(&settings, server, length, threads_max, deadline, &stop);
    // Held for the length of the race; the recording had a claim of its own.
    let claimed = run::claim(&settings, &mut Vec::new())?;
    let (mut ended, broken) = race.cells(&mut search)?;
    let extras = match args.knobs {
        true => extras(&mut race, &search, &mut ended)?,
        false => Vec::new(),
    };
    race.stop_app();
    drop(claimed);
    let tuned = Tuned {
        run: from.number,
        command: &from.command,
        model,
        aim,
        present,
        search: &search,
        broken: &broken,
        extras: &extras,
        redone: race.redone,
        boots: race.boots,
        ended,
        measuring: begin.elapsed(),
        budget: args.budget,
    };
    match args.json {
        true => talk::data(&tuned.json()),
        false => talk::page(&tuned.text(look::page_columns(), language::chosen())),
    }
    Ok(match ended {
        Ended::Interrupted => Exit::Interrupted,
        _ if tuned.goal_met() => Exit::Ok,
        _ => Exit::EXPECTATION_MISSED,
    })
}

/// Settings of the runtime on the best cell, where the race came to an end of its own.
fn extras(race: &mut Race<'_>, search: &Search, ended: &mut Ended) -> Result<Vec<Extra>, Failure> {
    let Some(outcome) = search
        .outcome()
        .filter(|_| matches!(ended, Ended::Search(_)))
    else {
        return Ok(Vec::new());
    };
    let names = race.runtime_settings();
    talk::say(text!(
        "racing {settings} of the runtime on {workers} × {threads}",
        settings = counted!(names.len() as u64, "setting"),
        workers = outcome.best.cell.workers,
        threads = outcome.best.cell.threads
    ));
    let (extras, early) = race.extras(outcome.best.cell, &names)?;
    if early == Some(Ended::Interrupted) {
        *ended = Ended::Interrupted;
    }
    Ok(extras.outcomes())
}

/// `--advise`: from a recorded run alone.
fn advise(args: &TuneArgs) -> Result<Exit, Failure> {
    let stored = predict::stored(args.run.as_deref().unwrap_or("LAST"))?;
    let model = predict::model_of(&stored)?;
    only_puma(&model)?;
    let advice = whatif::advice::advise(&model);
    let page = report::advice::Page {
        run: stored.entry.number,
        command: &stored.recording.meta.target.command,
        threads: &breakdown::threads(&stored.recording),
        model: &model,
        advice: &advice,
        replay_error: model.error(),
    };
    match args.json {
        true => talk::data(&page.json()),
        false => talk::page(&page.text(look::page_columns(), language::chosen())),
    }
    Ok(Exit::Ok)
}

/// Threads are what is tuned, and no other server that is seen from inside has several.
fn only_puma(model: &Model) -> Result<(), Failure> {
    if model.recorded.hand_out == HandOut::Shared {
        return Err(Failure::new(
            Exit::Usage,
            "this server is not Puma and has one thread per worker; `hakaru predict --workers N` says what more workers would give",
        ));
    }
    Ok(())
}

/// What is to be measured: what is typed now, over what was typed for the kept run, over the config file.
fn settings(args: &TuneArgs, kept: Option<&StoredRun>) -> Result<Settings, Failure> {
    let folder = std::env::current_dir().map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("the current folder cannot be read: {error}"),
        )
    })?;
    let (config, url) = (args.config.as_deref(), args.url.as_ref());
    let typed = settings::typed(config, url, &args.flows, &args.command);
    let typed = match kept {
        Some(stored) => typed.over(&stored.recording.meta.typed),
        None => typed,
    };
    let path = typed.config.map(PathBuf::from);
    let run_args = RunArgs {
        connections: args.connections,
        rate: args.rate,
        duration: Some(args.block * RECORDED_BLOCKS),
        warmup: Some(args.warmup),
        url: typed.url,
        flows: typed.flows,
        command: typed.command,
        ..RunArgs::default()
    };
    let loaded = config::load(path.as_deref(), &folder)?;
    let mut settings = Settings::resolve(&run_args, loaded)?;
    settings.part_of = "tune";
    Ok(settings)
}

/// What predictions come from.
struct From {
    number: Option<i64>,
    command: String,
    model: Model,
}

fn model(
    kept: Option<StoredRun>,
    settings: &Settings,
    stop: &Arc<AtomicBool>,
) -> Result<From, Failure> {
    if let Some(stored) = kept {
        doubt(&stored.recording);
        return Ok(From {
            number: Some(stored.entry.number),
            command: stored.recording.meta.target.command.clone(),
            model: under(predict::model_of(&stored)?, settings),
        });
    }
    talk::say(text!("recording the app as it is"));
    let (recording, number) = run::record(settings, stop)?;
    if signals::raised(stop) {
        return Err(Failure::new(
            Exit::Interrupted,
            "interrupted while the app was recorded; nothing was compared",
        ));
    }
    doubt(&recording);
    let (joined, breakdown) = (breakdown::join(&recording), breakdown::of(&recording));
    let model = Model::of(&recording, &joined, &breakdown).map_err(|error| {
        Failure::new(Exit::Failed, format!("this app cannot be tuned: {error}"))
    })?;
    Ok(From {
        number,
        command: recording.meta.target.command.clone(),
        model,
    })
}

/// Says where what all is predicted from are redirects or refusals.
fn doubt(recording: &Recording) {
    if let Some(doubt) = findings::hollow(page::statuses(recording)) {
        talk::say(text!("hakaru: {doubt}", doubt));
    }
}

/// A run that was kept may have had another load than the race will have.
fn under(mut model: Model, settings: &Settings) -> Model {
    let connections = settings.plan.connections;
    model.recorded.load = match settings.plan.pace {
        load::Pace::Constant { per_second } => Load::Open {
            rate: per_second,
            arrivals: whatif::Arrivals::Even,
            connections,
        },
        // Tune's own settings schedule nothing.
        load::Pace::Closed | load::Pace::Scheduled(_) => Load::Closed {
            clients: connections,
            think: Nanos::ZERO,
        },
    };
    model
}

/// Every cell with its prediction; the present one is among them whatever the limits are.
fn grid(args: &TuneArgs, model: &Model) -> Vec<Candidate> {
    let recorded = &model.recorded;
    let workers_max = args.workers_max.unwrap_or(recorded.cores).max(1);
    let threads_max = match Server::of(recorded.hand_out) {
        Server::Puma => args.threads_max,
        Server::Unicorn => 1,
    };
    let mut cells: Vec<Cell> = (1..=workers_max)
        .flat_map(|workers| (1..=threads_max).map(move |threads| Cell { workers, threads }))
        .collect();
    let present = Cell {
        workers: recorded.workers,
        threads: recorded.threads,
    };
    if !cells.contains(&present) {
        cells.push(present);
    }
    talk::say(text!(
        "predicting {settings}",
        settings = counted!(cells.len() as u64, "setting")
    ));
    let candidate = |cell: Cell| {
        let setup = Setup {
            workers: cell.workers,
            threads: cell.threads,
            ..*recorded
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
