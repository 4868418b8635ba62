//! What the hosts of `hakaru.toml` saw of the measured part of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use ::collect::follow::follow_all;
use ::collect::layers::Client;
use experiment::{Context, watched};
use logs::access::{Format, Grouping};
use recording::Recording;

use console::language;
use logs_report::collected::{Collected, View, json, page, stored};
use store::Store;
use words::text;

use super::{collected, format, say_what_is_missing, wanted};
use crate::commands::report::HostsPart;
use crate::exit::Failure;
use crate::hosts;
use crate::output;
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
        let sessions = hosts::open(&self.hosts, &self.folder, hosts::Part::Collector)?;
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
                let ((), followed) =
                    follow_all(&wanted(observed), formats, &grouping, &sessions, wait);
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
        let all = collected(self.hosts, followed);
        let done = done?;
        all.iter().for_each(say_what_is_missing);
        Ok((done, Seen { all, elapsed }))
    }
}

impl Seen {
    /// Stores what was observed with the run. A failure leaves the run stored all the same.
    pub(in crate::commands) fn keep(&self, store: &Path, number: Option<i64>) {
        let Some(number) = number.filter(|_| !self.all.is_empty()) else {
            return;
        };
        let bytes = stored::bytes(&self.all, self.elapsed);
        let kept = Store::open(store).and_then(|store| store.put_hosts(number, &bytes));
        if let Err(error) = kept {
            output::notice(text!(
                "hakaru: {why}; the run is stored without its hosts",
                why = error.to_string()
            ));
        }
    }

    /// Returns what was stored with a run; nothing where the run had no hosts. What cannot be read
    /// is named.
    pub(in crate::commands) fn of_run(store: &Store, number: i64) -> Seen {
        let bytes = store.hosts(number).map_err(|error| error.to_string());
        let read = bytes.and_then(|bytes| bytes.as_deref().map(stored::read).transpose());
        match read {
            Ok(Some((all, elapsed))) => Seen { all, elapsed },
            Ok(None) => Seen::default(),
            Err(error) => {
                output::notice(format!("hakaru: {error}"));
                Seen::default()
            }
        }
    }

    /// Returns what stands behind a run's page.
    pub(in crate::commands) fn part(self, recording: &Recording) -> Option<HostsPart> {
        if self.all.is_empty() {
            return None;
        }
        let client = breakdown::service_mean_s(recording).map(|mean_s| Client { mean_s });
        let view = View::of(self.all, self.elapsed, client);
        Some(HostsPart {
            page: page::of(&view, ROWS),
            json: json::of(&view),
            html: json::in_language(&view, language::chosen()),
        })
    }
}
