//! What is likely to hurt about a set of hosts, by what was collected. Pure; what is not sure is
//! left out.

use logs::access::Behind;
use remote::clock::Offset;

use crate::layers::{self, Recorded, Statements};
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
/// Least requests of each of two app hosts for a comparison of medians.
const SLOWER_REQUESTS_MIN: u64 = 50;
/// Ratio and difference (seconds) between medians of the slowest and the fastest host, at which the
/// slowest host is called slow. Requests are dealt out alike, so the medians of equal hosts are
/// near.
const SLOWER_FACTOR: f64 = 2.0;
const SLOWER_S: f64 = 0.010;
/// Round trip, seconds, above which two hosts are not in one place. Within a data centre it is
/// below one millisecond.
const FAR_S: f64 = 0.005;
/// Share of static files among requests passed on, from which the app is kept busy by files.
const FILES_SHARE: f64 = 0.1;
/// Share of lines written long after the requests, from which a log is buffered.
const EARLY_SHARE: f64 = 0.01;
/// Share of open file descriptors in the limit of a process, from which the limit is near.
const DESCRIPTORS_SHARE: f64 = 0.8;

/// A sampled host, with all facts needed for notes and for the balance.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Name of the host.
    pub name: &'a str,
    /// Roles of the host: `proxy`, `app`, `database`.
    pub roles: &'a [String],
    /// Number of cores, or the limit of a container.
    pub cores: f64,
    /// What was used.
    pub usage: &'a Usage,
    /// Offset of the host's wall clock from ours.
    pub clock: Option<Offset>,
    /// Requests of the host's access logs.
    pub requests: u64,
    /// Time of the requests, seconds; 0 of logs without times.
    pub took_s: f64,
    /// Servers to which the host's web server passed requests on, each with sorted times.
    pub behind: &'a [Behind],
    /// Work of the host's database, where a slow log was read.
    pub statements: Option<Statements>,
    /// What agents inside of the host's app recorded.
    pub recorded: Option<Recorded>,
    /// Requests in the log with an end before the window, by clocks set right.
    pub early: u64,
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
        cores: f64,
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
    /// Of the hosts to which requests are dealt out, one takes far longer than another.
    Slower {
        /// The slow host, or an address of no known host.
        host: String,
        /// Median of the host, seconds.
        median_s: f64,
        /// The fastest host, or an address of no known host.
        other: String,
        /// Median of the host, seconds.
        other_median_s: f64,
    },
    /// Two connected hosts are far apart.
    Far {
        /// One host.
        host: String,
        /// The other.
        other: String,
        /// The shortest round trip, seconds.
        round_trip_s: f64,
    },
    /// Static files are served by the app.
    Files {
        /// The proxy's host.
        host: String,
        /// Requests for static files passed on.
        files: u64,
        /// All requests passed on.
        requests: u64,
    },
    /// Lines of the access log are written long after their requests.
    Buffered {
        /// The host of the log.
        host: String,
        /// Requests with an end before the window.
        early: u64,
        /// Requests of the log.
        requests: u64,
    },
    /// All app hosts are full while the database's host has most of the CPU free.
    DatabaseIdle {
        /// The database's host.
        host: String,
        /// Share of cores in use, 0 to 1.
        share: f64,
    },
    /// A process is near the limit of open files and connections.
    Descriptors {
        /// Which host.
        host: String,
        /// Name of the process.
        process: String,
        /// Open descriptors.
        open: u64,
        /// The limit.
        limit: u64,
    },
}

/// Returns what is likely to hurt, in the order of the hosts.
pub fn of(hosts: &[Subject]) -> Vec<Note> {
    let mut notes: Vec<Note> = hosts.iter().flat_map(of_one).collect();
    let mut roles: Vec<&String> = hosts.iter().flat_map(|host| host.roles).collect();
    roles.sort();
    roles.dedup();
    notes.extend(roles.into_iter().filter_map(|role| uneven(role, hosts)));
    notes.extend(hosts.iter().flat_map(|host| slower(host, hosts)));
    notes.extend(far(hosts));
    notes.extend(database_idle(hosts));
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
    let requests: u64 = host.behind.iter().map(Behind::requests).sum();
    if let Some(opened) = host.usage.opened
        && requests >= REQUESTS_MIN
        && opened as f64 >= OPENED_EACH * requests as f64
    {
        notes.push(Note::NotKept {
            host: name(),
            opened,
            requests,
        });
    }
    let files: u64 = host.behind.iter().map(|one| one.files).sum();
    if files >= REQUESTS_MIN && files as f64 >= FILES_SHARE * requests as f64 {
        notes.push(Note::Files {
            host: name(),
            files,
            requests,
        });
    }
    if host.early as f64 > EARLY_SHARE * host.requests as f64 {
        notes.push(Note::Buffered {
            host: name(),
            early: host.early,
            requests: host.requests,
        });
    }
    for process in &host.usage.processes {
        if let Some((open, limit)) = process.descriptors
            && open as f64 >= DESCRIPTORS_SHARE * limit as f64
        {
            notes.push(Note::Descriptors {
                host: name(),
                process: process.name.clone(),
                open,
                limit,
            });
        }
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

/// Compares the medians of the servers behind a proxy: by the app's own account where the log has
/// one, else by the proxy's wait.
fn slower(proxy: &Subject, hosts: &[Subject]) -> Option<Note> {
    let has_own = |one: &Behind| one.own.count() >= SLOWER_REQUESTS_MIN;
    let by_own = proxy.behind.iter().all(has_own);
    let medians = proxy.behind.iter().filter_map(|one| {
        let times = match by_own {
            true => &one.own,
            false => &one.waited,
        };
        let is_enough = times.count() >= SLOWER_REQUESTS_MIN && one.is_named();
        let host = layers::host_at(hosts, proxy, &one.address).unwrap_or(&one.address);
        is_enough.then_some((host, times.percentile(50)?))
    });
    let medians: Vec<(&str, f64)> = medians.collect();
    let (host, median_s) = *medians.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (other, other_median_s) = *medians.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let is_slower =
        median_s >= SLOWER_FACTOR * other_median_s && median_s - other_median_s >= SLOWER_S;
    is_slower.then(|| Note::Slower {
        host: host.to_owned(),
        median_s,
        other: other.to_owned(),
        other_median_s,
    })
}

/// Returns each pair of distant hosts, once.
fn far(hosts: &[Subject]) -> Vec<Note> {
    let pairs = hosts.iter().enumerate().flat_map(|(index, one)| {
        let others = hosts[index + 1..].iter();
        others.map(move |other| (one.name, other.name))
    });
    let far = pairs.filter_map(|(one, other)| {
        let round_trip_s = layers::round_trip(hosts, one, other)?;
        (round_trip_s >= FAR_S).then(|| Note::Far {
            host: one.to_owned(),
            other: other.to_owned(),
            round_trip_s,
        })
    });
    far.collect()
}

fn database_idle(hosts: &[Subject]) -> Option<Note> {
    let with = |role: &'static str| {
        hosts
            .iter()
            .filter(move |host| host.roles.iter().any(|own| own == role))
    };
    let database = with("database").find(|host| !host.roles.iter().any(|own| own == "app"))?;
    let are_full = with("app").all(|host| share(host) >= SATURATED_SHARE);
    let has_apps = with("app").next().is_some();
    (has_apps && are_full && share(database) < BUSY_SHARE).then(|| Note::DatabaseIdle {
        host: database.name.to_owned(),
        share: share(database),
    })
}

fn share(host: &Subject) -> f64 {
    match host.cores > 0.0 {
        true => host.usage.cpu_cores / host.cores,
        false => 0.0,
    }
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;
