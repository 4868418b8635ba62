//! Life of a measurement, shared by runs, comparisons and races: claim, reset, start, load;
//! dropping the app stops the app.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use app_process::{Running, TargetError};
use database::Kind;
use guard::{Allowed, ConnectionWatch, Refusal};
use load::{Batch, LoadError, LoadResult, Plan};
use recording::{ProcessRole, Trouble};
use scenario::Scenario;
use store::{RunClaim, Store, StoreError, Trial};
use words::{Text, text};

use crate::failure::{self, not_kept};
use crate::observer::{Context, Phase};
use crate::settings::Settings;
use crate::undo;
use crate::workspace::RunFolders;
use ending::{Cause, Failure};

/// Time limit for the first response of an already running app.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(5);

/// Kind of result to claim the project for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A run.
    Run,
    /// A comparison.
    Comparison,
}

/// Exclusive claim on the project's folder.
pub struct ProjectLock {
    pub(crate) kept: Option<(Store, RunClaim)>,
    /// Why nothing can be kept there.
    pub(crate) trouble: Option<Trouble>,
}

impl ProjectLock {
    /// Claims the folder, and takes back what a killed Hakaru has left. Where nothing can be kept,
    /// the measurement goes on without, and the user is informed.
    ///
    /// # Errors
    /// Another run holds it, or its store is newer than this program.
    pub fn claim(
        settings: &Settings,
        purpose: Purpose,
        context: &Context,
    ) -> Result<ProjectLock, Failure> {
        let claimed = Store::open(&settings.project).and_then(|store| {
            let claim = store.claim()?.part_of(settings.part_of);
            store.check()?;
            Ok((store, claim))
        });
        match claimed {
            Ok((store, claim)) => {
                undo::pending(&store, settings.database_url().as_deref(), context);
                Ok(ProjectLock {
                    kept: Some((store, claim)),
                    trouble: None,
                })
            }
            Err(error @ StoreError::Busy { .. }) => Err(Failure::new(Cause::Busy, error)),
            Err(error @ StoreError::Newer { .. }) => Err(Failure::failed(error)),
            Err(error) => {
                let why = error.to_string();
                context.notice(match purpose {
                    Purpose::Run => text!("hakaru: {why}; this run will not be kept", why),
                    Purpose::Comparison => {
                        text!("hakaru: {why}; this comparison will not be kept", why)
                    }
                });
                Ok(ProjectLock {
                    kept: None,
                    trouble: Some(not_kept(&error)),
                })
            }
        }
    }

    /// Keeps a comparison for the journal. Returns whether the journal has the comparison.
    #[must_use]
    pub fn keep(&self, trial: &Trial, context: &Context) -> bool {
        let Some((store, _)) = &self.kept else {
            return false;
        };
        let kept = store.put_trial(trial);
        if let Err(error) = &kept {
            context.notice(text!(
                "hakaru: {why}; the journal lacks this comparison",
                why = error.to_string()
            ));
        }
        kept.is_ok()
    }
}

/// What is measured.
pub(crate) struct Subject<'a> {
    pub(crate) settings: &'a Settings,
    /// Name in messages, such as `B (puma -t 3:3)`; `None` for a single app.
    pub(crate) name: Option<String>,
    /// File for the app's output.
    pub(crate) log: Option<PathBuf>,
    /// Folders of the agent, when the app is watched from inside.
    pub(crate) folders: Option<&'a RunFolders>,
}

/// A running app; dropping the value stops the app and all descendants.
pub(crate) struct RunningApp {
    pub(crate) running: Running,
    /// Time from the start until readiness, seconds; `None` for an app running already.
    pub(crate) start_s: Option<f64>,
}

impl Subject<'_> {
    pub(crate) fn in_words(&self) -> &str {
        self.name.as_deref().unwrap_or("the app")
    }

    fn failure(&self, error: TargetError, while_doing: &str) -> Failure {
        match (&self.name, error) {
            (Some(name), error) if !matches!(error, TargetError::Interrupted) => Failure::new(
                Cause::TargetFailed,
                format!("{name} did not start: {error}"),
            ),
            (_, error) => failure::of_target(error, while_doing),
        }
    }
}

/// Resets the data to a known state, without the agent.
pub(crate) fn reset(subject: &Subject<'_>, context: &Context) -> Result<(), Failure> {
    let settings = subject.settings;
    let (Some(spec), Some((command, limit))) = (&settings.start, &settings.before) else {
        return Ok(());
    };
    let log = settings.log_file("before.log");
    let _phase = context.observer.enter(Phase::Reset(command));
    app_process::run_before(spec, command, *limit, log.as_deref(), &context.stop)
        .map_err(|error| failure::of_reset(error, subject.name.as_deref()))
}

/// Starts the app, or attaches to a running one; refused apps are stopped again.
pub(crate) fn start(subject: &Subject<'_>, context: &Context) -> Result<RunningApp, Failure> {
    let begin = Instant::now();
    let settings = subject.settings;
    let running = match &settings.start {
        Some(spec) => {
            let mut spec = spec.clone();
            spec.log.clone_from(&subject.log);
            spec.ask = ask;
            if let Some(folders) = subject.folders {
                spec.agent = folders.agent();
                spec.remove_when_killed.extend(folders.private());
            }
            let _phase = context.observer.enter(Phase::Start(&spec.command));
            app_process::start(&spec, &context.stop)
        }
        None => app_process::attach((&settings.endpoint, ask), ATTACH_TIMEOUT, &context.stop),
    };
    let running = running.map_err(|error| subject.failure(error, "the app was starting"))?;
    guard::connections(&running, &settings.allowed)?;
    let start_s = (!running.is_attached()).then(|| begin.elapsed().as_secs_f64());
    Ok(RunningApp { running, start_s })
}

/// Requests a URL within `limit`; returns the status of a response.
fn ask(url: &str, limit: Duration) -> Option<u16> {
    load::probe(url, limit).ok()
}

/// What to load with.
#[derive(Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) scenario: &'a Scenario,
    /// Hosts to which the app may connect under load.
    pub(crate) allowed: &'a Allowed,
}

/// Loads an app to the plan's end, to the user's interruption, to the app's death, or until `sink`
/// breaks.
///
/// # Errors
/// The load cannot be sent, or the app has connected to a store elsewhere that is not allowed by
/// name, which ends the load at once.
pub(crate) fn load(
    load: Load<'_>,
    app: &mut Running,
    context: &Context,
    sink: &mut dyn FnMut(Batch) -> ControlFlow<()>,
) -> Result<Result<LoadResult, LoadError>, Refusal> {
    // A flag of its own: the app's death ends the load, but is no interruption by the user.
    let over = Arc::new(AtomicBool::new(false));
    let connections = ConnectionWatch::start(app, load.allowed, &over);
    let loaded = load::run(load.plan, load.scenario, &over, &mut |batch| {
        let enough = sink(batch).is_break();
        let died = !app.is_attached() && app.exited().is_some();
        if enough || context.is_stopped() || died {
            over.store(true, Ordering::Relaxed);
        }
    });
    connections.end().map(|()| loaded)
}

/// Names of the processes of servers of keys and values.
const STORES: [&str; 5] = [
    "redis-server",
    "valkey-server",
    "keydb-server",
    "dragonfly",
    "memcached",
];

/// Returns the processes to sample: the generator, the app's, the databases' and the stores' on the
/// local host.
pub(crate) fn roles(app: &[u32], databases: &[u32]) -> Vec<(u32, ProcessRole)> {
    let of = |pids: &[u32], role| pids.iter().map(move |pid| (*pid, role)).collect::<Vec<_>>();
    let mut roles = vec![(std::process::id(), ProcessRole::Generator)];
    roles.extend(of(app, ProcessRole::App));
    roles.extend(of(databases, ProcessRole::Database));
    let stores = capture::processes_named(&STORES);
    roles.extend(of(&stores, ProcessRole::Store));
    roles
}

/// Returns the processes of all database servers on the local host.
pub(crate) fn database_processes() -> Vec<u32> {
    let names = Kind::ALL.map(Kind::processes).concat();
    capture::processes_named(&names)
}

/// Returns the last telling line of an app's output, for messages.
pub(crate) fn last_words(tail: &[String]) -> &str {
    app_process::telling_line(tail).unwrap_or("none, it said nothing")
}

/// Returns the message about processes still alive after the kill.
pub(crate) fn left_over(label: &str, left: &[u32]) -> Option<Text> {
    (!left.is_empty()).then(|| {
        text!(
            "processes of {label} could not be ended: {left}; end them by hand",
            label,
            left = format!("{left:?}")
        )
    })
}
