//! What is likely to hurt about a set of hosts, by what was collected. Pure; what is not sure is
//! left out.

use remote::clock::Offset;

use crate::usage::Usage;

/// Share of a host's cores in use from which the host is full.
const SATURATED_SHARE: f64 = 0.9;
/// Ratio of use, between hosts of one role, above which work is shared badly.
const UNEVEN_FACTOR: f64 = 1.5;
/// Share of cores in use below which a busier host does not matter.
const BUSY_SHARE: f64 = 0.3;
/// Requests passed on to the app, below which connections show nothing.
const REQUESTS_MIN: u64 = 100;
/// Connections opened for each request passed on, from which connections are not reused.
const OPENED_EACH: f64 = 0.5;
/// Offset of a clock, nanoseconds, above which logs of several hosts are hard to put side by side.
const CLOCK_OFF_NS: i64 = 100_000_000;

/// A sampled host, with all facts needed for notes.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Name of the host.
    pub name: &'a str,
    /// Roles of the host: `proxy`, `app`, `database`.
    pub roles: &'a [String],
    /// Number of cores.
    pub cores: u32,
    /// What was used.
    pub usage: &'a Usage,
    /// Offset of the host's wall clock from ours.
    pub clock: Option<Offset>,
    /// Requests passed on by the host's web server.
    pub passed_on: u64,
}

/// A condition likely to hurt.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A host has no CPU left, as a mean over the whole time.
    Saturated {
        /// Which.
        host: String,
        /// Cores in use.
        used: f64,
        /// Number of cores.
        cores: u32,
    },
    /// Of hosts with a role one does far more than another.
    Uneven {
        /// The role.
        role: String,
        /// The busiest.
        busy: String,
        /// Share of the busier host's cores in use, 0 to 1.
        busy_share: f64,
        /// The least busy.
        idle: String,
        /// Share of the idler host's cores in use, 0 to 1.
        idle_share: f64,
    },
    /// Programs of a proxy's host open a connection for each request or each other one.
    NotKept {
        /// Which host.
        host: String,
        /// Connections opened.
        opened: u64,
        /// Requests passed on to the app.
        requests: u64,
    },
    /// A wall clock is off, beyond doubt.
    ClockOff {
        /// Whose.
        host: String,
        /// By how much and how sure.
        offset: Offset,
    },
}

/// Returns what is likely to hurt, in the order of the hosts.
pub fn of(hosts: &[Subject]) -> Vec<Note> {
    let mut notes: Vec<Note> = hosts.iter().flat_map(of_one).collect();
    let mut roles: Vec<&String> = hosts.iter().flat_map(|host| host.roles).collect();
    roles.sort();
    roles.dedup();
    notes.extend(roles.into_iter().filter_map(|role| uneven(role, hosts)));
    notes
}

fn of_one(host: &Subject) -> Vec<Note> {
    let name = || host.name.to_owned();
    let mut notes = Vec::new();
    if share(host) >= SATURATED_SHARE {
        notes.push(Note::Saturated {
            host: name(),
            used: host.usage.cpu_cores,
            cores: host.cores,
        });
    }
    if let Some(opened) = host.usage.opened
        && host.passed_on >= REQUESTS_MIN
        && opened as f64 >= OPENED_EACH * host.passed_on as f64
    {
        notes.push(Note::NotKept {
            host: name(),
            opened,
            requests: host.passed_on,
        });
    }
    if let Some(offset) = host.clock
        && offset.nanos.saturating_abs() > CLOCK_OFF_NS.saturating_add_unsigned(offset.bound_ns)
    {
        notes.push(Note::ClockOff {
            host: name(),
            offset,
        });
    }
    notes
}

fn uneven(role: &str, hosts: &[Subject]) -> Option<Note> {
    let those = || {
        hosts
            .iter()
            .filter(|host| host.roles.iter().any(|own| own == role))
    };
    let busy = those().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let idle = those().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let is_uneven = share(busy) >= BUSY_SHARE && share(busy) > UNEVEN_FACTOR * share(idle);
    is_uneven.then(|| Note::Uneven {
        role: role.to_owned(),
        busy: busy.name.to_owned(),
        busy_share: share(busy),
        idle: idle.name.to_owned(),
        idle_share: share(idle),
    })
}

fn share(host: &Subject) -> f64 {
    host.usage.cpu_cores / f64::from(host.cores.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(cpu_cores: f64, opened: u64) -> Usage {
        Usage {
            cpu_cores,
            opened: Some(opened),
            ..Usage::default()
        }
    }

    fn check(hosts: &[(&str, &str, f64, u64, u64)], expected: &[Note]) {
        let usages: Vec<Usage> = hosts.iter().map(|host| usage(host.2, host.3)).collect();
        let roles: Vec<Vec<String>> = hosts.iter().map(|host| vec![host.1.to_owned()]).collect();
        let subjects = hosts
            .iter()
            .zip(&usages)
            .zip(&roles)
            .map(|((host, usage), roles)| Subject {
                name: host.0,
                roles,
                cores: 2,
                usage,
                clock: None,
                passed_on: host.4,
            });
        assert_eq!(of(&subjects.collect::<Vec<_>>()), expected);
    }

    #[test]
    fn a_full_host_an_uneven_pair_and_connections_that_are_not_kept_are_seen_and_calm_ones_are_not()
    {
        check(
            &[
                ("web", "proxy", 0.4, 60, 1000),
                ("db", "database", 1.5, 0, 0),
            ],
            &[],
        );
        let full = Note::Saturated {
            host: "db".to_owned(),
            used: 1.9,
            cores: 2,
        };
        check(
            &[
                ("web", "proxy", 0.4, 60, 1000),
                ("db", "database", 1.9, 0, 0),
            ],
            &[full],
        );
        let not_kept = Note::NotKept {
            host: "web".to_owned(),
            opened: 990,
            requests: 1000,
        };
        check(&[("web", "proxy", 0.4, 990, 1000)], &[not_kept]);
        check(&[("web", "proxy", 0.4, 99, 99)], &[]);
        let uneven = Note::Uneven {
            role: "app".to_owned(),
            busy: "app2".to_owned(),
            busy_share: 0.75,
            idle: "app1".to_owned(),
            idle_share: 0.25,
        };
        check(
            &[("app1", "app", 0.5, 0, 0), ("app2", "app", 1.5, 0, 0)],
            &[uneven],
        );
        check(
            &[("app1", "app", 1.2, 0, 0), ("app2", "app", 1.5, 0, 0)],
            &[],
        );
    }

    #[test]
    fn a_clock_is_off_only_beyond_its_bound() {
        let usage = Usage::default();
        let off = |nanos, bound_ns| {
            let offset = Offset {
                nanos,
                bound_ns,
                is_steady: true,
            };
            let host = Subject {
                name: "db",
                roles: &[],
                cores: 1,
                usage: &usage,
                clock: Some(offset),
                passed_on: 0,
            };
            of(&[host]).len()
        };
        assert_eq!(
            (off(-300_000_000, 1_000_000), off(300_000_000, 250_000_000)),
            (1, 0)
        );
        assert_eq!(off(20_000_000, 1_000), 0);
    }
}
