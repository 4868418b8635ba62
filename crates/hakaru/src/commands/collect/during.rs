//! What the hosts of `hakaru.toml` saw of the measured part of a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use ::collect::layers::Client;
use experiment::{Context, watched};
use logs::access::{Format, Grouping};
use recording::{Exchange, Outcome, Recording};

use logs_report::collected::{Collected, View, json, page};

use super::{follow_all, format, say_what_is_missing};
use crate::commands::report::HostsPart;
use crate::exit::Failure;
use crate::hosts;
use crate::settings::config::Loaded;
use crate::settings::config::host::Host;

/// Rows of the page, as of `hakaru collect`.
const ROWS: usize = 20;

/// Hosts to be observed.
pub(in crate::commands) struct Observed {
    hosts: Vec<Host>,
    formats: Vec<Option<Format>>,
    folder: PathBuf,
}

/// What was observed; nothing without hosts.
#[derive(Default)]
pub(in crate::commands) struct Seen {
    all: Vec<Collected>,
    elapsed: Duration,
}

/// Returns the hosts of a config file, without mere generators.
///
/// # Errors
/// A host's format of logs cannot be read.
pub(in crate::commands) fn hosts_of(loaded: &Loaded) -> Result<Observed, Failure> {
    let is_observed =
        |host: &&Host| host.roles.is_empty() || host.roles.iter().any(|role| role != "load");
    let hosts: Vec<Host> = (loaded.config.hosts.iter())
        .filter(is_observed)
        .cloned()
        .collect();
    Ok(Observed {
        formats: hosts.iter().map(format).collect::<Result<_, _>>()?,
        folder: loaded.folder.clone(),
        hosts,
    })
}

impl Observed {
    /// Runs `work` and observes the hosts from the end of the warm-up to the end of the load. Hosts
    /// that cannot be reached are named, and the run goes on without them.
    ///
    /// # Errors
    /// Those of `work`; this program's own file cannot be read.
    pub(in crate::commands) fn during<T>(
        self,
        context: &Context,
        work: impl FnOnce(&Context) -> Result<T, Failure>,
    ) -> Result<(T, Seen), Failure> {
        if self.hosts.is_empty() {
            return Ok((work(context)?, Seen::default()));
        }
        let sessions = hosts::open(&self.hosts, &self.folder, &["collector"])?;
        let (observer, load) = watched(Arc::clone(&context.observer));
        let watched = Context {
            observer,
            stop: Arc::clone(&context.stop),
        };
        let (observed, formats) = (&self.hosts, &self.formats);
        let (done, (elapsed, followed)) = thread::scope(|scope| {
            let observing = scope.spawn(move || {
                let is_loaded = load.wait_for_measured();
                let begun = Instant::now();
                let wait = |_, _: &Receiver<_>| {
                    if is_loaded {
                        load.wait_for_end();
                    }
                };
                let grouping = Grouping::Routes;
                let ((), followed) = follow_all(observed, formats, &grouping, sessions, wait);
                (begun.elapsed(), followed)
            });
            let done = work(&watched);
            // Without it nothing more can happen.
            drop(watched);
            let observed = observing.join();
            (
                done,
                observed.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        });
        let all: Vec<Collected> = (self.hosts.into_iter().zip(followed))
            .map(|(host, followed)| Collected {
                name: host.name,
                roles: host.roles,
                followed,
            })
            .collect();
        let done = done?;
        all.iter().for_each(say_what_is_missing);
        Ok((done, Seen { all, elapsed }))
    }
}

impl Seen {
    /// Returns what stands behind a run's page.
    pub(in crate::commands) fn part(self, recording: &Recording) -> Option<HostsPart> {
        if self.all.is_empty() {
            return None;
        }
        let view = View::of(self.all, self.elapsed, client(recording));
        Some(HostsPart {
            page: page::of(&view, ROWS),
            json: json::of(&view),
        })
    }
}

/// Returns the mean time of the answered requests of the window.
fn client(recording: &Recording) -> Option<Client> {
    let answered = |one: &&Exchange| {
        recording.window.contains(one.due)
            && matches!(
                one.outcome,
                Outcome::Ok | Outcome::CheckFailed | Outcome::ServerError
            )
    };
    let service = |one: &Exchange| one.answered.since(one.sent).as_secs_f64();
    let times: Vec<f64> = (recording.exchanges.iter().filter(answered))
        .map(service)
        .collect();
    let mean_s = times.iter().sum::<f64>() / times.len() as f64;
    (!times.is_empty()).then_some(Client { mean_s })
}
