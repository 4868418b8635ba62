//! One measurement of `compare`, `try` and `tune`: an app is started, loaded, watched from outside, and stopped.

mod cpu;
mod host;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use capture::{HostSampler, Rings};
use load::{LoadResult, Plan};
use recording::{Exchange, HostSample, Nanos, Outcome, ProcessRole, Window};
use report::comparison::Ending;
use scenario::Scenario;
use target::{Running, TargetError};

use crate::exit::Exit;
use crate::run::places::Places;
use crate::settings::Settings;
use crate::{guard, run, signals};

pub(crate) use host::{Disturbance, Judged, Usual};

/// Share of failed requests from which a comparison means nothing: failing is often fast.
const FAILED_SHARE_MAX: f64 = findings::FAILED_SHARE_LOUD;

/// What is measured.
pub(crate) struct Subject<'a> {
    pub(crate) settings: &'a Settings,
    /// For messages, such as `B (puma -t 3:3)`.
    pub(crate) name: String,
    /// The file in the project's folder that its output goes to.
    pub(crate) log: String,
    /// Where the agent's rings are, when it is watched from inside too.
    pub(crate) places: Option<&'a Places>,
}

/// How long and with which random choices to load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    pub(crate) warmup: Duration,
    pub(crate) measured: Duration,
    pub(crate) seed: u64,
}

/// Why there is no measurement.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) ending: Ending,
    pub(crate) exit: Exit,
}

/// What one measurement gave.
pub(crate) struct Segment {
    /// From the start until it was ready, seconds; `None` when it was up already.
    pub(crate) start_s: Option<f64>,
    /// Answered in the window, per second.
    pub(crate) rps: f64,
    /// Due → answered, ascending; of requests that were never answered, how long they had waited at the end. Empty when nothing
    /// was answered in time, on a host that had no time for it, or by an app that takes longer.
    pub(crate) latency: Vec<Nanos>,
    /// Requests due in the window that failed.
    pub(crate) failed: u64,
    /// Everything that was sent, warm-up included.
    pub(crate) exchanges: Vec<Exchange>,
    /// CPU time of the app's processes for each answered request in the calm moments, milliseconds; `None` where it
    /// is not known.
    pub(crate) cpu_ms: Option<f64>,
    /// Resident memory of the app when the window began and when it ended, bytes.
    pub(crate) memory: Option<[u64; 2]>,
    pub(crate) disturbance: Disturbance,
    /// What a try of a core took on average; `None` where the cores cannot be watched.
    pub(crate) pace: Option<Nanos>,
    /// When the cores were as fast as they can be, ascending.
    pub(crate) calm: Vec<Window>,
    /// Share of its thread that the load generator used.
    pub(crate) generator: f64,
}

/// An app that is up.
pub(crate) struct Up {
    pub(crate) running: Running,
    pub(crate) start_s: Option<f64>,
}

impl Trouble {
    /// Nobody's fault.
    pub(crate) fn interrupted() -> Trouble {
        Trouble {
            ending: Ending::Interrupted,
            exit: Exit::Interrupted,
        }
    }

    pub(crate) fn failed(exit: Exit, why: String) -> Trouble {
        Trouble {
            ending: Ending::Failed(why),
            exit,
        }
    }

    fn target(subject: &Subject<'_>, error: TargetError) -> Trouble {
        match error {
            TargetError::Interrupted => Trouble::interrupted(),
            error => Trouble::failed(
                Exit::TargetFailed,
                format!("{} did not start: {error}", subject.name),
            ),
        }
    }
}

/// Puts the data into its known state.
pub(crate) fn reset(subject: &Subject<'_>, stop: &AtomicBool) -> Result<(), Trouble> {
    let settings = subject.settings;
    let (Some(spec), Some((command, limit))) = (&settings.start, &settings.before) else {
        return Ok(());
    };
    let log = run::before_log(settings);
    target::run_before(spec, command, *limit, log.as_deref(), stop)
        .map_err(|error| Trouble::target(subject, error))
}

/// Starts the app, or takes the one that runs.
pub(crate) fn start(subject: &Subject<'_>, stop: &AtomicBool) -> Result<Up, Trouble> {
    let begin = Instant::now();
    let settings = subject.settings;
    let running = match &settings.start {
        Some(spec) => {
            let mut spec = spec.clone();
            let folder = settings.project.join(store::FOLDER);
            spec.log = folder.is_dir().then(|| folder.join(&subject.log));
            if let Some(places) = subject.places {
                spec.agent = places.agent();
                spec.remove_when_killed.extend(places.private_folders());
            }
            target::start(&spec, stop)
        }
        None => target::attach(&settings.endpoint, run::ATTACH_TIMEOUT, stop),
    };
    let running = running.map_err(|error| Trouble::target(subject, error))?;
    guard::connections(&running, &settings.allowed)
        .map_err(|failure| Trouble::failed(failure.exit, failure.message))?;
    let start_s = (!running.is_attached()).then(|| begin.elapsed().as_secs_f64());
    Ok(Up { running, start_s })
}

/// Loads an app that is up. `rings` are emptied meanwhile.
pub(crate) fn load(
    subject: &Subject<'_>,
    up: &mut Up,
    length: Length,
    rings: Option<&mut Rings>,
    stop: &Arc<AtomicBool>,
) -> Result<Segment, Trouble> {
    // Read anew each time: a new run token, since nothing may collide with what an earlier measurement posted.
    let scenario = run::read_scenario(subject.settings)
        .map_err(|failure| Trouble::failed(failure.exit, failure.message))?;
    let plan = Plan {
        // Both sides get the same load.
        level_up: None,
        warmup: nanos(length.warmup),
        duration: nanos(length.measured),
        seed: length.seed,
        ..subject.settings.plan.clone()
    };
    let mut watched = Watched::new(&up.running, length.warmup, rings);
    // Its own flag: the app's death ends the load, but is no Ctrl-C.
    let over = Arc::new(AtomicBool::new(false));
    let connections = guard::ConnectionWatch::start(&up.running, &subject.settings.allowed, &over);
    let result = watched.load(&plan, &scenario, &mut up.running, &over, stop);
    connections
        .end()
        .map_err(|failure| Trouble::failed(failure.exit, failure.message))?;
    let died = up.running.exited().filter(|_| !up.running.is_attached());
    if let Some(status) = died {
        let tail = up.running.log_tail();
        let last = target::telling_line(&tail).unwrap_or("none, it said nothing");
        return Err(Trouble::failed(
            Exit::TargetDied,
            format!(
                "{} died under load ({status}); its last words: {last}",
                subject.name
            ),
        ));
    }
    if signals::raised(stop) {
        return Err(Trouble::interrupted());
    }
    let result = result.map_err(|error| Trouble::failed(Exit::Failed, error.to_string()))?;
    watched.segment(subject, up.start_s, result)
}

/// A measurement while it goes on.
struct Watched<'a> {
    rings: Option<&'a mut Rings>,
    begin: Instant,
    warmup: Duration,
    sampler: HostSampler,
    first: Option<HostSample>,
    exchanges: Vec<Exchange>,
    cpu: cpu::CpuWatch,
}

impl<'a> Watched<'a> {
    fn new(running: &Running, warmup: Duration, rings: Option<&'a mut Rings>) -> Watched<'a> {
        let mut roles = vec![(std::process::id(), ProcessRole::Generator)];
        let app = running.pids();
        roles.extend(app.iter().map(|pid| (*pid, ProcessRole::App)));
        let servers = capture::processes_named(&["mariadbd", "mysqld", "postgres"]);
        roles.extend(servers.into_iter().map(|pid| (pid, ProcessRole::Database)));
        Watched {
            rings,
            begin: Instant::now(),
            warmup,
            sampler: HostSampler::new(&roles),
            first: None,
            exchanges: Vec::new(),
            cpu: cpu::CpuWatch::new(app),
        }
    }

    fn load(
        &mut self,
        plan: &Plan,
        scenario: &Scenario,
        running: &mut Running,
        over: &AtomicBool,
        stop: &AtomicBool,
    ) -> Result<LoadResult, load::LoadError> {
        if self.warmup.is_zero() {
            self.first = self.sampler.sample().ok();
            self.cpu.mark();
        }
        let result = load::run(plan, scenario, over, &mut |batch| {
            self.exchanges.extend(batch.exchanges);
            if let Some(rings) = &mut self.rings {
                // They must not fill up, and they tell what the server says of itself.
                rings.poll();
            }
            if self.first.is_none() && self.begin.elapsed() >= self.warmup {
                self.first = self.sampler.sample().ok();
            }
            if self.first.is_some() {
                self.cpu.mark();
            }
            let died = !running.is_attached() && running.exited().is_some();
            if signals::raised(stop) || died {
                over.store(true, Ordering::Relaxed);
            }
        });
        // A short load may end with its first batch.
        self.cpu.mark();
        result
    }

    fn segment(
        mut self,
        subject: &Subject<'_>,
        start_s: Option<f64>,
        result: LoadResult,
    ) -> Result<Segment, Trouble> {
        let window = result.window;
        let within = |exchange: &&Exchange| window.contains(exchange.due);
        let due = self.exchanges.iter().filter(within);
        let answered = due
            .clone()
            .filter(|exchange| exchange.outcome.was_answered())
            .count();
        // Leaving out those that wait in vain would make an overloaded app look fast.
        let mut latency: Vec<Nanos> = due
            .clone()
            .filter(|exchange| {
                exchange.outcome.was_answered() || exchange.outcome == Outcome::Unanswered
            })
            .map(|exchange| exchange.answered.since(exchange.due))
            .collect();
        latency.sort_unstable();
        if answered == 0 {
            latency.clear();
        }
        let fine = [Outcome::Ok, Outcome::Unanswered];
        let failed = due
            .clone()
            .filter(|exchange| !fine.contains(&exchange.outcome))
            .count();
        let requests = due.count();
        if failed as f64 > FAILED_SHARE_MAX * requests as f64 {
            return Err(failing(subject, failed, requests, &result));
        }
        let answered_at = (self.exchanges.iter())
            .filter(|exchange| exchange.outcome.was_answered())
            .map(|exchange| exchange.answered)
            .collect();
        let seconds = window.length().as_secs_f64();
        let last = self.sampler.sample().ok();
        let samples = self.first.as_ref().zip(last.as_ref());
        let cpu = self.cpu.end(window, answered_at);
        Ok(Segment {
            start_s,
            rps: answered as f64 / seconds,
            latency,
            failed: failed as u64,
            cpu_ms: cpu.each_ms,
            calm: cpu.calm,
            pace: cpu.mean_pace,
            memory: samples.map(|(first, last)| [first, last].map(host::memory)),
            disturbance: Disturbance {
                others: samples.map_or(0.0, |(first, last)| host::others(first, last)),
                pace: cpu.pace,
            },
            generator: result.generator.cpu.as_secs_f64()
                / (seconds * f64::from(result.generator.threads.max(1))),
            exchanges: self.exchanges,
        })
    }
}

fn failing(subject: &Subject<'_>, failed: usize, requests: usize, result: &LoadResult) -> Trouble {
    let example = result.failures.first().map_or_else(
        || "no example was kept".to_owned(),
        |failure| {
            format!(
                "{} at {}: {}",
                failure.outcome.name(),
                failure.place,
                failure.reason
            )
        },
    );
    Trouble::failed(
        Exit::RequestsFailed,
        format!(
            "{} fails {failed} of {requests} requests ({example})",
            subject.name
        ),
    )
}

pub(crate) fn nanos(length: Duration) -> Nanos {
    Nanos(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
}
