//! `hakaru run`: start the app, load it, watch it, explain.
//!
//! Order of events: (1) claim the folder, (2) read the flows, (3) reset the data, (4) start the app,
//! (5) load it while the recorder collects and keeps facts every second, (6) ask the database for its
//! plans, (7) stop the app, (8) explain. Ctrl-C in any phase leads on to the next that still makes
//! sense: before (5) to the end, afterwards to (6).

pub(crate) mod facts;
mod live;
pub(crate) mod places;
pub(crate) mod recorder;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::LoadResult;
use recording::{Recording, Trouble};
use scenario::Scenario;
use store::{RunClaim, RunWriter, Store};
use target::{Running, TargetError};
use words::text;

use crate::cli::RunArgs;
use crate::exit::{Exit, Failure};
use crate::init::prove;
use crate::page::{Form, Outputs};
use crate::settings::Settings;
use crate::{config, guard, log, page, profile, revision, signals, talk, undo};
use places::Places;
use recorder::{Recorded, Recorder};

/// An app that runs already must answer within this time.
pub(crate) const ATTACH_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs it, prints the page, and says how the program ends.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let folder = std::env::current_dir().map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("the current folder cannot be read: {error}"),
        )
    })?;
    let mut settings = Settings::resolve(args, config::load(args.config.as_deref(), &folder)?)?;
    settings.profile = settings.agent && !args.no_profile;
    page::check_html(args.html.as_deref(), args.json)?;
    let stop = signals::watch()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot watch for Ctrl-C: {error}")))?;
    let (recording, number) = record(&settings, &stop)?;
    let exit = page::exit_of(&recording);
    let form = match args.json {
        true => Form::Json,
        false => Form::of(args.full),
    };
    let outputs = Outputs {
        print: Some(form),
        html: args.html.as_deref(),
    };
    page::show(&recording, number, outputs)?;
    // Also a Ctrl-C that came too late to cut anything off: who repeats runs in a loop wants it to end.
    Ok(match exit {
        Exit::TargetDied => exit,
        _ if signals::raised(&stop) => Exit::Interrupted,
        _ => exit,
    })
}

/// From a claimed folder to a recording that is kept: all but the page.
pub(crate) fn record(
    settings: &Settings,
    stop: &Arc<AtomicBool>,
) -> Result<(Recording, Option<i64>), Failure> {
    guard::check(settings)?;
    let mut troubles = Vec::new();
    let kept = claim(settings, &mut troubles)?;
    let mut scenario = read_scenario(settings)?;
    let plan = &settings.plan;
    plan.check(&scenario)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let revision = revision::of(&settings.project);
    let places = Places::new(settings, &mut troubles)?;
    reset_data(settings, stop)?;
    let app = start(settings, &places, stop)?;
    if prove::flows(settings)? {
        scenario = read_scenario(settings)?;
    }
    let (recording, number) = measure(Measure {
        settings,
        scenario: &scenario,
        places: &places,
        app,
        kept,
        troubles,
        stop,
    })?;
    if let Some(number) = number {
        log::keep(settings, revision, number, &recording);
    }
    Ok((recording, number))
}

/// Claims the folder. When runs cannot be kept there, the run goes on in memory and says so.
pub(crate) fn claim(
    settings: &Settings,
    troubles: &mut Vec<Trouble>,
) -> Result<Option<(Store, RunClaim)>, Failure> {
    let claimed = Store::open(&settings.project).and_then(|store| {
        let claim = store.claim()?.part_of(settings.part_of);
        store.check()?;
        Ok((store, claim))
    });
    match claimed {
        Ok((store, claim)) => {
            undo::pending(&store, facts::database_url(settings).as_deref());
            Ok(Some((store, claim)))
        }
        Err(error @ store::StoreError::Busy { .. }) => Err(Failure::new(Exit::Busy, error)),
        Err(error @ store::StoreError::Newer { .. }) => Err(Failure::new(Exit::Failed, error)),
        Err(error) => {
            let why = error.to_string();
            talk::say(text!("hakaru: {why}; this run will not be kept", why));
            troubles.push(recorder::not_kept(&error));
            Ok(None)
        }
    }
}

pub(crate) fn read_scenario(settings: &Settings) -> Result<Scenario, Failure> {
    let read = if settings.scenario.flows.is_empty() {
        Scenario::single(&settings.url)
    } else {
        Scenario::read_files(&settings.scenario)
    };
    read.map_err(|error| Failure::new(Exit::Usage, error))
}

pub(crate) fn reset_data(settings: &Settings, stop: &AtomicBool) -> Result<(), Failure> {
    let (Some(spec), Some((command, limit))) = (&settings.start, &settings.before) else {
        return Ok(());
    };
    talk::say(text!(
        "resetting the data: {command}",
        command = command.to_string()
    ));
    let log = before_log(settings);
    talk::during(&text!("resetting the data"), || {
        target::run_before(spec, command, *limit, log.as_deref(), stop)
    })
    .map_err(|error| target_failure(error, "the data was reset"))
}

/// Where the output of `before` is kept, when the project has a folder for it.
pub(crate) fn before_log(settings: &Settings) -> Option<PathBuf> {
    let folder = settings.project.join(store::FOLDER);
    folder.is_dir().then(|| folder.join("before.log"))
}

pub(crate) fn start(
    settings: &Settings,
    places: &Places,
    stop: &AtomicBool,
) -> Result<Running, Failure> {
    let started = match &settings.start {
        Some(spec) => {
            talk::say(text!(
                "starting the app: {command}",
                command = spec.command.to_string()
            ));
            let mut spec = spec.clone();
            spec.log = places.log();
            spec.agent = places.agent();
            spec.remove_when_killed = places.private_folders();
            talk::during(&text!("starting the app"), || target::start(&spec, stop))
        }
        None => target::attach(&settings.endpoint, ATTACH_TIMEOUT, stop),
    };
    let running = started.map_err(|error| target_failure(error, "the app was starting"))?;
    guard::connections(&running, &settings.allowed)?;
    Ok(running)
}

fn target_failure(error: TargetError, phase: &str) -> Failure {
    match error {
        TargetError::Interrupted => Failure::new(
            Exit::Interrupted,
            format!("interrupted while {phase}; nothing was measured"),
        ),
        error => Failure::new(Exit::TargetFailed, error),
    }
}

struct Measure<'a> {
    settings: &'a Settings,
    scenario: &'a Scenario,
    places: &'a Places,
    app: Running,
    kept: Option<(Store, RunClaim)>,
    troubles: Vec<Trouble>,
    stop: &'a Arc<AtomicBool>,
}

/// From the running app to the facts; the app is stopped on the way.
fn measure(measure: Measure<'_>) -> Result<(Recording, Option<i64>), Failure> {
    let Measure {
        settings,
        scenario,
        places,
        mut app,
        kept,
        troubles,
        stop,
    } = measure;
    let meta = facts::meta(settings, scenario);
    // Its own flag: the app's death ends the load, but is no Ctrl-C.
    let over = Arc::new(AtomicBool::new(false));
    let connections = guard::ConnectionWatch::start(&app, &settings.allowed, &over);
    let recorder = Recorder::start(recorder::Start {
        kept,
        meta: meta.clone(),
        rings: places.rings().to_owned(),
        app_pids: app.pids(),
        port: meta.same_host.then_some(settings.endpoint.port),
        database: places.database_process(settings),
        database_url: facts::database_url(settings),
        allowed: (!app.is_attached()).then(|| settings.allowed.clone()),
        over: Arc::clone(&over),
    })?;
    let loaded = watch::load(settings, scenario, &mut app, &recorder, &over, stop);
    let Recorded {
        mut recording,
        writer,
        rings,
        database,
        profile: profiled,
        troubles: met,
        refusal,
    } = recorder.end();
    if let Err(failure) = refusal.map_or_else(|| connections.end(), Err) {
        give_up(app, writer);
        return Err(failure);
    }
    let died = app.exited();
    let tail = app.log_tail();
    recording.meta = meta;
    recording.troubles = troubles;
    recording.troubles.extend(met);
    let result = loaded.map_err(|error| Failure::new(Exit::Failed, error))?;
    facts::of_load(&mut recording, result);
    if let Some(status) = died.filter(|_| !app.is_attached()) {
        facts::of_death(&mut recording, status, &tail);
        talk::say(text!(
            "hakaru: the app died while it was measured ({status}); its last lines:",
            status = status.to_string()
        ));
        tail.iter().for_each(|line| talk::say(format!("  {line}")));
    } else if signals::raised(stop) {
        recording.meta.ended_early = Some("interrupted".to_owned());
    }
    facts::of_agents(&mut recording, &rings, settings);
    facts::of_database(&mut recording, database);
    talk::during(&text!("asking the database for its plans"), || {
        facts::explain(&mut recording, &rings, settings);
    });
    let stopped = talk::during(&text!("stopping the app"), || app.stop());
    facts::of_stop(&mut recording, &stopped);
    let number = recorder::finish(writer, &mut recording);
    profile::keep_of_run(settings, number, profiled);
    Ok((recording, number))
}

/// Stops an app that may not be measured. Nothing of the run stays, since nobody asked for such a run.
fn give_up(mut app: Running, writer: Option<RunWriter>) {
    talk::during(&text!("stopping the app"), || app.stop());
    if let Some(writer) = writer
        && let Err(error) = writer.discard()
    {
        talk::say(format!("hakaru: {error}"));
    }
}

/// What the load brought, or why there was none.
type Loaded = Result<LoadResult, load::LoadError>;
