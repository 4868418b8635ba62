//! `hakaru tune`: the best workers and threads, predicted from one recorded run and then raced.
//!
//! Order of events: (1) record the app as it is, or take a run that was kept, (2) predict the grid,
//! (3) measure what [`whatif::search`] asks for in blocks, until it knows, the budget is out, or
//! Ctrl-C, (4) say what to change. Nothing of the user's is changed.

use std::path::PathBuf;
use std::time::Instant;

use experiment::lifecycle::{ProjectLock, Purpose};
use experiment::tune::{self as races, Race, Server};
use experiment::{Context, Length, Settings};
use figures::counted;
use recording::Recording;
use report::tuned::Tuned;
use store::StoredRun;
use whatif::search::{Extra, RaceEnd, Search};
use whatif::{HandOut, Model};
use words::text;

use crate::cli::{AppArgs, RateArgs, RunArgs, TuneArgs};
use crate::commands::predict;
use crate::commands::run;
use crate::consent;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::{self, look, observer};
use crate::runs;
use crate::settings::config;
use console::language;

/// Blocks of the recording, the base of all predictions.
const RECORDED_BLOCKS: u32 = 2;
/// Tunes, prints, and says how the program ends.
pub(crate) fn tune(args: &TuneArgs) -> Result<Exit, Failure> {
    if args.advise {
        return advise(args);
    }
    let begin = Instant::now();
    let kept = args.run.as_deref().map(runs::stored).transpose()?;
    let settings = settings(args, kept.as_ref())?;
    consent::check(&settings)?;
    let context = observer::of_run()?;
    let from = model(kept, &settings, &context)?;
    let model = &from.model;
    let present = races::present(model);
    let aim = races::aim(model, args.goal);
    let cells = races::cells(model, args.workers_max, args.threads_max);
    output::notice(text!(
        "predicting {settings}",
        settings = counted!(cells.len() as u64, "setting")
    ));
    let mut search = Search::new(aim, present, races::grid(model, cells));
    let length = Length {
        warmup: args.warmup,
        measured: args.block,
        seed: settings.plan.seed,
    };
    let server = Server::of(model.recorded.hand_out);
    let threads_max = args.threads_max.max(present.threads);
    let deadline = begin + args.budget;
    let context = observer::quiet(&context);
    let mut race = Race::new(&settings, server, length, threads_max, deadline, &context);
    // Held for the length of the race; the recording had a claim of its own.
    let claimed = ProjectLock::claim(&settings, Purpose::Run, &context)?;
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
    match (&args.kubernetes, args.form.json) {
        (Some(name), _) => output::data(&patch(&tuned, name, args.pod_workers)?),
        (None, true) => output::data(&tuned.json()),
        (None, false) => output::page(&tuned.text(look::page_columns(), language::chosen())),
    }
    Ok(match ended {
        RaceEnd::Interrupted => Exit::Interrupted,
        _ if tuned.goal_met() => Exit::Ok,
        _ => Exit::EXPECTATION_MISSED,
    })
}

/// Races settings of the runtime on the best cell, when the race was not ended early.
fn extras(
    race: &mut Race<'_>,
    search: &Search,
    ended: &mut RaceEnd,
) -> Result<Vec<Extra>, Failure> {
    let Some(outcome) = search
        .outcome()
        .filter(|_| matches!(ended, RaceEnd::Search(_)))
    else {
        return Ok(Vec::new());
    };
    let names = race.runtime_settings();
    output::notice(text!(
        "racing {settings} of the runtime on {workers} × {threads}",
        settings = counted!(names.len() as u64, "setting"),
        workers = outcome.best.cell.workers,
        threads = outcome.best.cell.threads
    ));
    let (extras, early) = race.extras(outcome.best.cell, &names)?;
    if early == Some(RaceEnd::Interrupted) {
        *ended = RaceEnd::Interrupted;
    }
    Ok(extras.outcomes())
}

/// Returns the recommendation as a patch of a Deployment named as in `web/app`.
///
/// # Errors
/// [`Exit::Failed`] without a setting that works.
fn patch(tuned: &Tuned, name: &str, pod_workers: Option<u32>) -> Result<String, Failure> {
    let why =
        "no setting works, so there is nothing to recommend; without --kubernetes it says why";
    let demand = (tuned.demand()).ok_or_else(|| Failure::new(Exit::Failed, why))?;
    let (deployment, container) = name.split_once('/').unwrap_or((name, name));
    let sizing = kubernetes::Sizing {
        deployment: deployment.to_owned(),
        container: container.to_owned(),
        workers: demand.cell.workers,
        threads: demand.cell.threads,
        pod_workers,
        single: demand.single,
        cores: demand.cores,
        worker_bytes: demand.worker_bytes,
        other_bytes: demand.other_bytes,
        origin: demand.origin,
    };
    Ok(sizing.yaml())
}

/// `--advise`: from a recorded run alone.
fn advise(args: &TuneArgs) -> Result<Exit, Failure> {
    let stored = runs::stored(args.run.as_deref().unwrap_or("LAST"))?;
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
    match args.form.json {
        true => output::data(&page.json()),
        false => output::page(&page.text(look::page_columns(), language::chosen())),
    }
    Ok(Exit::Ok)
}

/// Fails for servers other than Puma: only Puma has several threads and an agent inside.
fn only_puma(model: &Model) -> Result<(), Failure> {
    if model.recorded.hand_out == HandOut::Shared {
        return Err(Failure::new(
            Exit::Usage,
            "this server is not Puma and has one thread per worker; `hakaru predict --workers N` says what more workers would give",
        ));
    }
    Ok(())
}

/// Settings of the measurement: the command line, over the stored run's command line, over the
/// config file.
fn settings(args: &TuneArgs, kept: Option<&StoredRun>) -> Result<Settings, Failure> {
    let folder = context::current_folder()?;
    let (config, url) = (args.config.file.as_deref(), args.url.as_ref());
    let typed = crate::settings::typed(config, url, &args.flows, &args.command);
    let typed = match kept {
        Some(stored) => typed.over(&stored.recording.meta.typed),
        None => typed,
    };
    let path = typed.config.map(PathBuf::from);
    let ran = kept.map(|stored| &stored.recording.meta.load);
    let ran_connections = ran.map(|load| load.connections).filter(|count| *count > 0);
    let run_args = RunArgs {
        connections: args.connections.or(ran_connections),
        open: RateArgs {
            rate: args.rate.or(ran.and_then(|load| load.rate)),
        },
        duration: Some(args.block * RECORDED_BLOCKS),
        warmup: Some(args.warmup),
        app: AppArgs {
            url: typed.url,
            flows: typed.flows,
        },
        command: typed.command,
        ..RunArgs::default()
    };
    let loaded = config::load(path.as_deref(), &folder)?;
    let mut settings = crate::settings::resolve(&run_args, loaded)?;
    settings.part_of = "tune";
    Ok(settings)
}

/// Basis of predictions.
struct PredictionBasis {
    number: Option<i64>,
    command: String,
    model: Model,
}

fn model(
    kept: Option<StoredRun>,
    settings: &Settings,
    context: &Context,
) -> Result<PredictionBasis, Failure> {
    if let Some(stored) = kept {
        doubt(&stored.recording);
        return Ok(PredictionBasis {
            number: Some(stored.entry.number),
            command: stored.recording.meta.target.command.clone(),
            model: races::under(predict::model_of(&stored)?, settings),
        });
    }
    output::notice(text!("recording the app as it is"));
    let (recording, number) = run::record(settings, context)?;
    if context.is_stopped() {
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
    Ok(PredictionBasis {
        number,
        command: recording.meta.target.command.clone(),
        model,
    })
}

/// Warns when most responses of the recording are redirects or refusals.
fn doubt(recording: &Recording) {
    if let Some(doubt) = figures::hollow::warning(recording.statuses()) {
        output::notice(text!("hakaru: {doubt}", doubt));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use load::Pace;
    use store::RunEntry;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: TuneArgs,
    }

    #[test]
    fn a_stored_run_is_tuned_for_its_own_load() {
        let mut recording = Recording::default();
        recording.meta.typed.command = vec!["puma".to_owned()];
        recording.meta.load.connections = 50;
        let entry = RunEntry {
            number: 1,
            started_at_unix_ms: 0,
            complete: true,
            target: String::new(),
            requests: 0,
            part_of: String::new(),
        };
        let mut kept = StoredRun { entry, recording };
        let plan = |words: &[&str], kept: &StoredRun| {
            let words = [&["tune", "--run", "1"][..], words].concat();
            let line = Line::try_parse_from(words).expect("flags");
            settings(&line.args, Some(kept)).expect("settings").plan
        };
        let closed = plan(&[], &kept);
        assert_eq!((closed.connections, closed.pace), (50, Pace::Closed));
        assert_eq!(plan(&["-c", "7"], &kept).connections, 7);
        kept.recording.meta.load.rate = Some(300.0);
        let open = Pace::Constant { per_second: 300.0 };
        assert_eq!(plan(&[], &kept).pace, open);
    }
}
