//! Puts what the parts say into the recording.

use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

use app_process::Stopped;
use capture::{ExplainError, Rings, TroubleKind, Watched};
use database::Kind;
use load::{LoadResult, Pace, Repeatable};
use recording::{
    AgentProcess, EndedEarly, LoadFacts, LoadMode, Meta, Recording, TargetFacts, Trouble,
};
use scenario::Scenario;

use super::inside;
use crate::lifecycle;
use crate::settings::Settings;

/// What is known before the load starts.
pub(crate) fn meta(settings: &Settings, scenario: &Scenario) -> Meta {
    let plan = &settings.plan;
    let (mode, rate) = match &plan.pace {
        Pace::Closed => (LoadMode::Closed, None),
        Pace::Constant { per_second } => (LoadMode::Open, Some(*per_second)),
        Pace::Scheduled(schedule) => (LoadMode::Open, schedule.constant_rate()),
    };
    Meta {
        started_at_unix_ms: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as i64),
        target: TargetFacts {
            command: settings
                .start
                .as_ref()
                .map(|spec| spec.command.to_string())
                .unwrap_or_default(),
            url: settings.url.clone(),
            database_pool: settings.database_pool,
            ..TargetFacts::default()
        },
        load: LoadFacts {
            mode,
            connections: plan.connections,
            rate,
            duration: plan.duration,
            warmup: plan.warmup,
            flows: scenario.flow_names(),
        },
        cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        same_host: is_on_this_host(settings),
        ended_early: None,
        typed: settings.typed.clone(),
    }
}

/// Whether the app is on the local host, by the address.
pub(super) fn is_on_this_host(settings: &Settings) -> bool {
    settings.start.is_some()
        || settings
            .endpoint
            .resolve()
            .is_ok_and(|addresses| addresses.iter().all(|address| address.ip().is_loopback()))
}

/// What the load generator brought. Returns the requests that can be sent again.
pub(crate) fn of_load(recording: &mut Recording, result: LoadResult) -> Vec<Repeatable> {
    if let Some(fault) = &result.fault {
        recording.meta.ended_early = Some(EndedEarly::LoadFailed(fault.to_string()));
    }
    recording.answers = result.answers;
    for (id, text) in result.texts {
        recording.texts.keep_as(id, &text);
    }
    recording.window = result.window;
    recording.generator = result.generator;
    recording.failures = result.failures;
    recording.score = result.score;
    result.repeatables
}

/// The app died by itself.
pub(crate) fn of_death(recording: &mut Recording, status: ExitStatus, tail: &[String]) {
    recording.meta.ended_early = Some(EndedEarly::Died(status.to_string()));
    let last = lifecycle::last_words(tail);
    recording.troubles.push(Trouble {
        what: format!("the app died while it was measured ({status}); its last words: {last}"),
        remedy: "look at .hakaru/app.log for its last words".to_owned(),
    });
}

/// Notes processes still alive after the app was stopped.
pub(crate) fn of_stop(recording: &mut Recording, stopped: &Stopped) {
    if !stopped.left.is_empty() {
        recording.troubles.push(Trouble {
            what: format!(
                "processes of the app could not be ended: {:?}",
                stopped.left
            ),
            remedy: "end them by hand".to_owned(),
        });
    }
}

/// Adds the facts reported by the agents about themselves and the server.
pub(crate) fn of_agents(recording: &mut Recording, rings: &Rings, settings: &Settings) {
    recording.agents = rings.processes();
    let target = &mut recording.meta.target;
    if let Some(server) = rings.server() {
        target.ruby = first_words(&server.ruby, 2);
        target.server = server.server;
        target.workers = server.workers.max(1);
        target.threads = server.threads;
        target.database_pool = target.database_pool.or(server.database_pool);
    }
    target.database = known_database(rings, settings)
        .map(|url| database_name(&url).to_owned())
        .unwrap_or_default();
    let troubles = agent_troubles(settings, &recording.agents, rings);
    recording.troubles.extend(troubles);
    recording.troubles.extend(not_asked(rings, settings));
}

fn agent_troubles(settings: &Settings, agents: &[AgentProcess], rings: &Rings) -> Vec<Trouble> {
    let trouble = |what: &str, remedy: &str| Trouble {
        what: what.to_owned(),
        remedy: remedy.to_owned(),
    };
    if settings.start.is_some() && !settings.agent {
        return vec![trouble(
            "the agent was left out by --no-agent, so there is no view from inside",
            "run without --no-agent",
        )];
    }
    let reported = rings.troubles().into_iter();
    let mut troubles: Vec<Trouble> = reported
        .map(|(kind, sentence)| trouble(&format!("the agent says: {sentence}"), remedy_of(kind)))
        .collect();
    if settings.start.is_none() {
        let is_seen = agents.iter().any(|agent| agent.requests > 0);
        troubles.extend(inside::trouble(settings, rings, is_seen));
    } else if agents.is_empty() {
        troubles.push(trouble(
            "the agent was not loaded into any process: the command replaces RUBYOPT, or starts no Ruby",
            "let the command keep RUBYOPT: it names the agent",
        ));
    } else if agents.iter().all(|agent| agent.requests == 0) && troubles.is_empty() {
        troubles.push(trouble(
            "the agent was loaded but saw no request",
            "the view from inside needs Puma 5.6 or later, or Unicorn 6; does the server's process keep RUBYOPT?",
        ));
    }
    if agents.iter().any(|agent| agent.requests > 0 && !agent.gvl) {
        troubles.push(trouble(
            "this Ruby tells no GVL events: GVL wait, locks, sleep and other I/O are not told apart \
             and stand under unaccounted",
            "use Ruby 3.2 or later",
        ));
    }
    troubles
}

fn remedy_of(kind: TroubleKind) -> &'static str {
    match kind {
        TroubleKind::NoLoad => {
            "the agent needs a Ruby on glibc 2.34 or later, and a TMPDIR from which files can be executed"
        }
        TroubleKind::NoRing => {
            "make room there (`df` shows how full it is), or set a smaller HAKARU_RING_KIB under [target.env]"
        }
        TroubleKind::Other => "run again; report it if it stays",
    }
}

/// The database of a running app on another host, without a connection unless allowed.
fn not_asked(rings: &Rings, settings: &Settings) -> Option<Trouble> {
    rings.running()?;
    let hosts = guard::remote_hosts(rings.database_url()?, &settings.allowed.databases);
    (!hosts.is_empty() && settings.database.is_none()).then(|| Trouble {
        what: format!(
            "the app's database is on {}, so it was asked neither for its counters nor for plans",
            hosts.join(", ")
        ),
        remedy: "`database_host_ok` under [target] in hakaru.toml allows it".to_owned(),
    })
}

/// Returns the address of the database reported by the agents, if connections to the hosts are
/// allowed.
pub(super) fn reported_database(rings: &Rings, allowed: &[String]) -> Option<String> {
    let url = rings.database_url()?;
    guard::remote_hosts(url, allowed)
        .is_empty()
        .then(|| url.to_owned())
}

/// What the database said of itself over the window. That it cannot be reached is said where it is
/// asked for its plans.
pub(crate) fn of_database(
    recording: &mut Recording,
    watched: Option<Result<Watched, ExplainError>>,
) {
    let Some(Ok(mut watched)) = watched else {
        return;
    };
    watched.name_as(recording.texts.iter());
    for (id, text) in watched.texts {
        recording.texts.keep_as(id, &text);
    }
    recording.database = Some(watched.facts);
}

/// Asks the app's database for the plans of the costliest statements.
pub(crate) fn explain(recording: &mut Recording, rings: &Rings, settings: &Settings) {
    let url = match (&settings.database, rings.database_url()) {
        (Some(given), _) => Some(given.clone()),
        (None, Some(_)) => reported_database(rings, &settings.allowed.databases),
        (None, None) => settings.database_url(),
    };
    let Some(url) = url else {
        return;
    };
    let candidates = costliest(recording, rings);
    if candidates.is_empty() {
        return;
    }
    match capture::explain(&url, &candidates, capture::ExplainLimits::default()) {
        Ok(explained) => {
            recording.meta.target.database = explained.server;
            recording.explained = explained.statements;
            let database = recording.database.get_or_insert_default();
            database.columns = explained.columns;
        }
        Err(error) => recording.troubles.push(Trouble {
            what: format!("the database could not be asked for its plans: {error}"),
            remedy: "set `database` under [target] in hakaru.toml to a URL that this host can use"
                .to_owned(),
        }),
    }
}

/// Statements with most time first, each with one sample.
fn costliest(recording: &Recording, rings: &Rings) -> Vec<(recording::TextId, String)> {
    let mut time = std::collections::HashMap::new();
    for sql in recording.handled.iter().flat_map(|handled| &handled.sql) {
        *time.entry(sql.digest).or_insert(0u64) += sql.time.0;
    }
    let mut digests: Vec<_> = time.into_iter().collect();
    digests.sort_by_key(|(id, nanos)| (std::cmp::Reverse(*nanos), *id));
    digests
        .into_iter()
        .filter_map(|(id, _)| Some((id, rings.samples().get(&id)?.clone())))
        .collect()
}

/// The config file's word first, then what the app's own driver is connected to, then the
/// environment.
fn known_database(rings: &Rings, settings: &Settings) -> Option<String> {
    settings
        .database
        .clone()
        .or_else(|| rings.database_url().map(str::to_owned))
        .or_else(|| settings.database_url())
}

/// Returns the processes of the local database server, as far as the kind is known before the load.
pub(crate) fn database_processes(settings: &Settings) -> Vec<u32> {
    let url = settings.database_url();
    let kind = url.as_deref().and_then(Kind::of_address);
    kind.map_or_else(Vec::new, |(kind, _)| {
        capture::processes_named(kind.processes())
    })
}

/// Returns the name of the kind of database at `url`; of an unknown kind, the address's scheme.
fn database_name(url: &str) -> &str {
    match Kind::of_address(url) {
        Some((kind, _)) => kind.name(),
        None => url.split(':').next().unwrap_or_default(),
    }
}

fn first_words(text: &str, count: usize) -> String {
    text.split(' ').take(count).collect::<Vec<_>>().join(" ")
}
