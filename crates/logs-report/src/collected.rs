//! The figures of `hakaru collect`: what several hosts recorded, added up, as a page and as JSON.

pub mod json;
pub mod page;

use std::time::Duration;

use collect::follow::Followed;
use collect::notes::{self, Note, Subject};
use logs::Digest;

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
    pub(crate) elapsed: Duration,
}

impl View {
    /// Adds up what all hosts saw.
    pub fn of(mut hosts: Vec<Collected>, elapsed: Duration) -> View {
        let (mut access, mut slow, mut passed_on) = (None, None, Vec::new());
        for one in &mut hosts {
            let mut count = 0;
            let logs = one
                .followed
                .iter_mut()
                .flat_map(|followed| &mut followed.logs);
            for digest in logs.filter_map(|log| log.digest.take()) {
                let all = match &digest {
                    Digest::Access(found) => {
                        count += found.passed_on();
                        &mut access
                    }
                    Digest::Slow(_) => &mut slow,
                };
                *all = match all.take() {
                    None => Some(digest),
                    Some(known) => Digest::merge(known, digest),
                };
            }
            passed_on.push(count);
        }
        let subjects = hosts.iter().zip(passed_on).filter_map(|(one, passed_on)| {
            let followed = one.followed.as_ref().ok()?;
            Some(Subject {
                name: &one.name,
                roles: &one.roles,
                cores: followed.cores,
                usage: followed.usage.as_ref()?,
                clock: followed.clock,
                passed_on,
            })
        });
        View {
            notes: notes::of(&subjects.collect::<Vec<_>>()),
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
