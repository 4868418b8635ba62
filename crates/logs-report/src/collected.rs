//! The figures of `hakaru collect`: what several hosts recorded, added up, as a page and as JSON.

pub mod json;
pub mod page;
mod sentences;

use std::time::Duration;

use collect::follow::Followed;
use collect::layers::{self, Balance, Client, Statements};
use collect::notes::{self, Note, Subject};
use logs::Digest;
use logs::access::Behind;

/// A host with all collected facts, after the end.
pub struct Collected {
    /// Name of the host in the config file.
    pub name: String,
    /// Roles of the host, such as `app`.
    pub roles: Vec<String>,
    /// Facts, or why there are none.
    pub followed: Result<Followed, String>,
}

/// Input of the page.
pub struct View {
    pub(crate) hosts: Vec<Collected>,
    /// The access logs of all hosts as one.
    pub(crate) access: Option<Digest>,
    /// Slow logs of all hosts as one digest.
    pub(crate) slow: Option<Digest>,
    pub(crate) notes: Vec<Note>,
    /// Where the time of a request is; `None` without an access log with times.
    pub(crate) balance: Option<Balance>,
    pub(crate) elapsed: Duration,
}

/// Facts of a host, by the logs.
#[derive(Default)]
struct Served {
    requests: u64,
    took_s: f64,
    behind: Vec<Behind>,
    statements: Option<Statements>,
}

impl Served {
    /// Adds a log. Of several access logs of a host the one whose server passes most requests on
    /// counts: the others are of servers behind it.
    fn add(&mut self, digest: &Digest) {
        match digest {
            Digest::Access(access) => {
                let passed_on: u64 = self.behind.iter().map(Behind::requests).sum();
                let (requests, took_s) = access.total();
                if (access.passed_on(), requests) > (passed_on, self.requests) {
                    (self.requests, self.took_s) = (requests, took_s);
                    self.behind = access.behind();
                }
            }
            Digest::Slow(slow) => {
                let all = self.statements.get_or_insert_default();
                for statement in slow.statements() {
                    all.count += statement.times.count();
                    all.total_s += statement.times.sum();
                }
            }
        }
    }
}

impl View {
    /// Adds up the facts of all hosts; `client` is the load's own view, of a load by `hakaru run`.
    pub fn of(mut hosts: Vec<Collected>, elapsed: Duration, client: Option<Client>) -> View {
        let (mut access, mut slow, mut served) = (None, None, Vec::new());
        for one in &mut hosts {
            let mut all_served = Served::default();
            let logs = one
                .followed
                .iter_mut()
                .flat_map(|followed| &mut followed.logs);
            for digest in logs.filter_map(|log| log.digest.take()) {
                all_served.add(&digest);
                let all = match &digest {
                    Digest::Access(_) => &mut access,
                    Digest::Slow(_) => &mut slow,
                };
                *all = match all.take() {
                    None => Some(digest),
                    Some(known) => Digest::merge(known, digest),
                };
            }
            served.push(all_served);
        }
        let subjects = hosts.iter().zip(&served).filter_map(|(one, served)| {
            let followed = one.followed.as_ref().ok()?;
            Some(Subject {
                name: &one.name,
                roles: &one.roles,
                cores: followed
                    .core_limit
                    .unwrap_or_else(|| f64::from(followed.cores.max(1))),
                usage: followed.usage.as_ref()?,
                clock: followed.clock,
                requests: served.requests,
                took_s: served.took_s,
                behind: &served.behind,
                statements: served.statements,
            })
        });
        let subjects: Vec<Subject> = subjects.collect();
        View {
            notes: notes::of(&subjects),
            balance: layers::balance(&subjects, client),
            hosts,
            access,
            slow,
            elapsed,
        }
    }

    /// Seconds between the first sample and the last, of the host with the longest time.
    pub(crate) fn seconds(&self) -> f64 {
        let usages = self
            .hosts
            .iter()
            .filter_map(|one| one.followed.as_ref().ok()?.usage.as_ref());
        usages
            .map(|usage| usage.seconds)
            .reduce(f64::max)
            .unwrap_or(self.elapsed.as_secs_f64())
    }
}
