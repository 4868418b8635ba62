//! A recorded run: the app is started, loaded and observed from inside, and the facts are stored.
//!
//! In two steps, so that the program can look at the app between them: [`Prepared::new`] goes from
//! a claimed folder to an app that is up, [`Prepared::measure`] from there to the facts.

mod again;
mod facts;
mod inside;
mod machine;
mod recorder;

use std::ops::ControlFlow;
use std::process::ExitStatus;
use std::time::Instant;

use app_process::Running;
use capture::{ProfileCollector, Rings};
use guard::Refusal;
use load::{LoadError, LoadResult};
use recording::{EndedEarly, Nanos, Recording, Trouble};
use scenario::Scenario;
use store::RunWriter;
use words::text;

use crate::lifecycle::{self, Load, ProjectLock, Purpose, RunningApp, Subject};
use crate::observer::{Context, Phase};
use crate::settings::Settings;
use crate::workspace::RunFolders;
use again::Again;
use ending::Failure;
use machine::Machine;
use recorder::{Recorded, Recorder};

/// A running app, with everything needed for a measurement.
pub struct Prepared<'a> {
    settings: &'a Settings,
    context: &'a Context,
    scenario: Scenario,
    folders: RunFolders,
    app: RunningApp,
    lock: ProjectLock,
    troubles: Vec<Trouble>,
}

/// A measured run.
pub struct Measured {
    /// Facts of the run.
    pub recording: Recording,
    /// Number of the run in the store; `None` for a run not stored.
    pub number: Option<i64>,
    /// Sampled stacks.
    pub profile: ProfileCollector,
}

impl<'a> Prepared<'a> {
    /// Claims the folder, reads the flows, makes the run's folders, resets the data and starts the
    /// app, in the given order.
    ///
    /// # Errors
    /// The first of these that fails, or the user's interruption.
    pub fn new(settings: &'a Settings, context: &'a Context) -> Result<Prepared<'a>, Failure> {
        let mut lock = ProjectLock::claim(settings, Purpose::Run, context)?;
        let mut troubles: Vec<Trouble> = lock.trouble.take().into_iter().collect();
        let scenario = settings.read_scenario()?;
        settings.plan.check(&scenario).map_err(Failure::usage)?;
        let folders = RunFolders::new(settings, &mut troubles)?;
        let subject = Subject {
            settings,
            name: None,
            log: folders.log(),
            folders: Some(&folders),
        };
        lifecycle::reset(&subject, context)?;
        let app = lifecycle::start(&subject, context)?;
        Ok(Prepared {
            settings,
            context,
            scenario,
            folders,
            app,
            lock,
            troubles,
        })
    }

    /// Reads the flows again, which have been rewritten since.
    ///
    /// # Errors
    /// They cannot be run.
    pub fn read_flows_again(&mut self) -> Result<(), Failure> {
        self.scenario = self.settings.read_scenario()?;
        Ok(())
    }

    /// Loads the app and stores the facts; the app is stopped on the way.
    ///
    /// # Errors
    /// The load cannot be sent at all; whatever else goes wrong stands in the recording.
    pub fn measure(self) -> Result<Measured, Failure> {
        let (settings, context) = (self.settings, self.context);
        let mut app = self.app.running;
        let meta = facts::meta(settings, &self.scenario);
        let machine = Machine::look(settings, &app.pids());
        let rings = inside::rings(settings, &self.folders, &app);
        let recorder = Recorder::start(recorder::Start {
            kept: self.lock.kept,
            meta: meta.clone(),
            rings,
            app_pids: app.pids(),
            port: meta.same_host.then_some(settings.endpoint.port),
            database: facts::database_processes(settings),
            database_url: settings.database_url(),
            allowed: (!app.is_attached()).then(|| settings.allowed.clone()),
            databases: settings.allowed.databases.clone(),
            context: context.clone(),
        })?;
        let loaded = load(settings, &self.scenario, &mut app, &recorder, context);
        let machine = machine.end();
        let Recorded {
            mut recording,
            writer,
            rings,
            database,
            profile,
            troubles: met,
            refusal,
        } = recorder.end();
        let loaded = match (refusal, loaded) {
            (None, Ok(loaded)) => loaded,
            (Some(refusal), _) | (None, Err(refusal)) => {
                give_up(app, writer, context);
                return Err(refusal.into());
            }
        };
        let died = app.exited();
        let tail = app.log_tail();
        recording.meta = meta;
        recording.machine = machine;
        recording.troubles = self.troubles;
        recording.troubles.extend(met);
        let repeatables = facts::of_load(&mut recording, loaded.map_err(Failure::failed)?);
        if let Some(status) = died.filter(|_| !app.is_attached()) {
            facts::of_death(&mut recording, status, &tail);
            notice_of_death(context, status, &tail);
        } else if context.is_stopped() && recording.meta.ended_early.is_none() {
            recording.meta.ended_early = Some(EndedEarly::Interrupted);
        }
        facts::of_agents(&mut recording, &rings, settings);
        facts::of_database(&mut recording, database);
        let again = Again::begin((settings, &self.scenario), &recording, repeatables, context);
        explain(&mut recording, &rings, settings, context);
        if let Some(again) = again {
            again.end(&mut recording);
        }
        let phase = context.observer.enter(Phase::Stop);
        let stopped = app.stop();
        drop(phase);
        facts::of_stop(&mut recording, &stopped);
        let number = recorder::finish(writer, &mut recording, context);
        Ok(Measured {
            recording,
            number,
            profile,
        })
    }
}

fn notice_of_death(context: &Context, status: ExitStatus, tail: &[String]) {
    context.notice(text!(
        "hakaru: the app died while it was measured ({status}); its last lines:",
        status = status.to_string()
    ));
    for line in tail {
        context.notice(format!("  {line}"));
    }
}

/// Runs the load to the regular end, to the user's interruption, or to the app's death.
fn load(
    settings: &Settings,
    scenario: &Scenario,
    app: &mut Running,
    recorder: &Recorder,
    context: &Context,
) -> Result<Result<LoadResult, LoadError>, Refusal> {
    let _phase = context.observer.enter(Phase::Load(settings));
    let begin = Instant::now();
    let load = Load {
        plan: &settings.plan,
        scenario,
        allowed: &settings.allowed,
    };
    lifecycle::load(load, app, context, &mut |batch| {
        let passed = Nanos(begin.elapsed().as_nanos() as u64);
        context.observer.loaded(&batch.exchanges, passed);
        recorder.take(batch);
        match recorder.is_refused() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })
}

/// Asks the database for plans.
fn explain(recording: &mut Recording, rings: &Rings, settings: &Settings, context: &Context) {
    let _phase = context.observer.enter(Phase::Explain);
    facts::explain(recording, rings, settings);
}

/// Stops an app refused before the measurement, and discards the run, since nobody asked for such a
/// run.
fn give_up(mut app: Running, writer: Option<RunWriter>, context: &Context) {
    let phase = context.observer.enter(Phase::Stop);
    app.stop();
    drop(phase);
    if let Some(writer) = writer
        && let Err(error) = writer.discard()
    {
        context.notice(format!("hakaru: {error}"));
    }
}
