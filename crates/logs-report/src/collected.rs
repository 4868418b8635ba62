//! The figures of `hakaru collect`: what several hosts recorded, added up, as a page and as JSON.

mod inside;
pub mod json;
pub mod page;
mod sentences;
mod stamps;
pub mod stored;

use std::time::Duration;

use collect::follow::{Database, Followed};
use collect::layers::{self, Balance, Client, Recorded, Statements};
use collect::notes::{self, Note, Subject};
use logs::access::Behind;
use logs::{Digest, Unread};
use stamps::Seconds;

/// A host with all collected facts, after the end.
pub struct Collected {
    /// Name of the host in the config file.
    pub name: String,
    /// Roles of the host, such as `app`.
    pub roles: Vec<String>,
    /// Facts, or why there are none.
    pub followed: Result<Followed, String>,
}

impl Collected {
    /// Returns what could not be read, a sentence each, fit for a terminal: hosts write parts of
    /// the sentences.
    pub fn missing(&self) -> Vec<String> {
        let sentences = self.sentences().into_iter();
        sentences
            .map(|sentence| figures::line::one_line(&sentence))
            .collect()
    }

    fn sentences(&self) -> Vec<String> {
        let followed = match &self.followed {
            Ok(followed) => followed,
            Err(error) => return vec![error.clone()],
        };
        let logs = followed.logs.iter();
        let logs = logs.map(|log| (log.path.as_str(), log.error.as_ref()));
        let units = followed.units.iter();
        let units = units.map(|unit| (unit.unit.as_str(), unit.error.as_ref()));
        let database = followed.database.iter();
        let database = database.map(|database| ("database", database.end.error.as_ref()));
        let inside = followed.inside.iter();
        let inside = inside.map(|inside| ("rings", inside.end.error.as_ref()));
        let parts = logs.chain(units).chain(database).chain(inside);
        let parts = parts
            .filter_map(|(what, error)| Some(format!("host {}: {what}: {}", self.name, error?)));
        followed.lost.iter().cloned().chain(parts).collect()
    }
}

/// Input of the page.
pub struct View {
    pub(crate) hosts: Vec<Collected>,
    /// The access logs of all hosts as one.
    pub(crate) access: Option<Digest>,
    /// Slow logs of all hosts as one digest.
    pub(crate) slow: Option<Digest>,
    /// Lines not read of each log of each host.
    pub(crate) unread: Vec<Vec<Unread>>,
    pub(crate) notes: Vec<Note>,
    /// Where the time of a request is; `None` without an access log with times.
    pub(crate) balance: Option<Balance>,
    /// Requests by second of each host, by clocks set right.
    pub(crate) seconds: Vec<Option<Seconds>>,
    pub(crate) elapsed: Duration,
}

/// Facts of a host, by the logs.
#[derive(Default)]
struct Served {
    requests: u64,
    took_s: f64,
    behind: Vec<Behind>,
    statements: Option<Statements>,
    /// When requests ended, milliseconds since 1970 by the host's clock.
    ends_ms: Vec<i64>,
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
                    let stamps = access.stamps();
                    self.ends_ms = stamps.map_or_else(Vec::new, |all| all.all_ms().collect());
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

    /// Adds the server's counters, which count all statements: a slow log has those above its
    /// limit only.
    fn add_database(&mut self, database: &Database) {
        let counted = database.statements.iter();
        let counted = counted.fold(Statements::default(), |all, one| Statements {
            count: all.count + one.count,
            total_s: all.total_s + one.time_ns as f64 / 1e9,
            ..all
        });
        let logged = self.statements.unwrap_or_default();
        let more = match counted.count > logged.count {
            true => counted,
            false => logged,
        };
        let end = &database.end;
        let executed = end.sent.unwrap_or(more.count);
        self.statements = Some(Statements {
            round_trips: executed + end.prepares + end.opening_trips,
            ..more
        });
    }
}

impl View {
    /// Adds up the facts of all hosts; `client` is the load's own view, of a load by `hakaru run`.
    pub fn of(mut hosts: Vec<Collected>, elapsed: Duration, client: Option<Client>) -> View {
        let unread = hosts.iter().map(unread).collect();
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
            if let Ok(Followed {
                database: Some(database),
                ..
            }) = &one.followed
            {
                all_served.add_database(database);
            }
            served.push(all_served);
        }
        let origin_ns = origin_ns(&hosts);
        let seconds: Vec<Option<Seconds>> = (hosts.iter().zip(&served))
            .map(|(one, served)| {
                let followed = one.followed.as_ref().ok()?;
                stamps::seconds(&served.ends_ms, followed, origin_ns?)
            })
            .collect();
        let all = hosts.iter().zip(&served).zip(&seconds);
        let subjects = all.filter_map(|((one, served), seconds)| {
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
                recorded: (followed.inside.as_ref()).map(|inside| Recorded::of(&inside.routes)),
                early: seconds.as_ref().map_or(0, |seconds| seconds.early),
            })
        });
        let subjects: Vec<Subject> = subjects.collect();
        View {
            notes: notes::of(&subjects),
            balance: layers::balance(&subjects, client),
            hosts,
            access,
            slow,
            unread,
            seconds,
            elapsed,
        }
    }

    /// Returns the common zero of all hosts' times, nanoseconds since 1970 by our clock.
    pub(crate) fn origin_ns(&self) -> Option<i64> {
        origin_ns(&self.hosts)
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

/// Returns the lines not read of each log of a host.
fn unread(one: &Collected) -> Vec<Unread> {
    let logs = one.followed.iter().flat_map(|followed| &followed.logs);
    let digests = logs.map(|log| log.digest.as_ref());
    digests
        .map(|digest| digest.map(Digest::unread).cloned().unwrap_or_default())
        .collect()
}

/// Returns the earliest beginning of all hosts.
fn origin_ns(hosts: &[Collected]) -> Option<i64> {
    let began = hosts
        .iter()
        .filter_map(|one| one.followed.as_ref().ok()?.began_ns);
    began.min()
}

#[cfg(test)]
mod tests {
    use collect::follow::{Inside, Log};
    use collect::message::{Counted, DatabaseEnd, RouteTime};
    use collect::usage::Usage;

    use super::*;

    fn trips(counted: u64, sent: Option<u64>) -> u64 {
        let database = Database {
            statements: vec![Counted {
                count: counted,
                ..Counted::default()
            }],
            end: DatabaseEnd {
                prepares: 10,
                connections: 5,
                sent,
                opening_trips: 15,
                ..DatabaseEnd::default()
            },
        };
        let mut served = Served::default();
        served.add_database(&database);
        served.statements.expect("statements").round_trips
    }

    /// A host with an access log.
    fn host(text: &str, usage: Option<Usage>, inside: Option<Inside>) -> Collected {
        let digest = logs::read(text.as_bytes(), None, &logs::access::Grouping::Routes);
        let log = Log {
            path: "a.log".to_owned(),
            bytes: text.len() as u64,
            truncations: 0,
            incomplete: 0,
            error: None,
            is_slow: false,
            digest: digest.ok(),
        };
        let followed = Followed {
            cores: 2,
            core_limit: None,
            usage,
            clock: None,
            logs: vec![log],
            database: None,
            inside,
            units: Vec::new(),
            began_ns: None,
            lost: None,
        };
        Collected {
            name: "web".to_owned(),
            roles: Vec::new(),
            followed: Ok(followed),
        }
    }

    fn view(host: Collected) -> View {
        View::of(vec![host], Duration::from_secs(1), None)
    }

    #[test]
    fn lines_that_could_not_be_read_stand_below_their_log() {
        let text = "uri:/a\tstatus:200\nbroken\n";
        let page = page::of(&view(host(text, None, None)), 20);
        let words: Vec<&str> = page.split_whitespace().collect();
        let line = "a.log: 1 line could not be read and are in no figure; the first: broken";
        assert!(words.join(" ").contains(line), "{page}");
    }

    #[test]
    fn what_hosts_say_of_errors_cannot_steer_the_terminal() {
        let mut host = host("uri:/a\tstatus:200\n", None, Some(Inside::default()));
        let Ok(followed) = &mut host.followed else {
            panic!("facts")
        };
        followed.logs[0].error = Some("no\u{1b}[2J\nlog".to_owned());
        if let Some(inside) = &mut followed.inside {
            inside.end.error = Some("\u{1b}]0;title\u{7}".to_owned());
        }
        let expected = ["host web: a.log: no?[2J log", "host web: rings: ?]0;title?"];
        assert_eq!(host.missing(), expected);
    }

    #[test]
    fn the_balance_splits_an_app_with_agents_by_their_terms() {
        let text = "uri:/a\tstatus:200\treqtime:0.011\tapptime:0.010\n";
        let route = RouteTime {
            requests: 1,
            waited_ns: 1_000_000,
            time_ns: 8_000_000,
            states_ns: [0, 0, 6_000_000, 0, 0, 0, 0, 1_000_000],
            ..RouteTime::default()
        };
        let inside = Inside {
            routes: vec![route],
            ..Inside::default()
        };
        let view = view(host(text, Some(Usage::default()), Some(inside)));
        let document = json::of(&view);
        let layers = document["balance"]["layers"].as_array().expect("layers");
        let app = layers.iter().find(|layer| layer["kind"] == "app");
        let terms = &app.expect("an app")["terms_s"];
        let micros = |name: &str| terms[name].as_f64().map(|seconds| (seconds * 1e6).round());
        assert_eq!(micros("queue"), Some(1e3));
        assert_eq!(micros("sql"), Some(6e3));
        assert_eq!(micros("unaccounted"), Some(1e3));
        assert_eq!(layers[0]["terms_s"], serde_json::Value::Null);
        let page = page::of(&view, 20);
        let words: Vec<&str> = page.split_whitespace().collect();
        let line = "app on web sql 6.00 ms 67%, queue 1.00 ms 11%";
        assert!(words.join(" ").contains(line), "{page}");
    }

    #[test]
    fn processes_that_were_dropped_are_said() {
        let usage = Usage {
            processes_dropped: 3,
            ..Usage::default()
        };
        let view = view(host("uri:/a\tstatus:200\n", Some(usage), None));
        let page = page::of(&view, 20);
        let words: Vec<&str> = page.split_whitespace().collect();
        let line = "too many processes: 3 records of further ones are in no figure by name";
        assert!(words.join(" ").contains(line), "{page}");
        let document = json::of(&view);
        assert_eq!(document["hosts"][0]["usage"]["processes_dropped"], 3);
    }

    #[test]
    fn preparing_and_connecting_are_round_trips_beside_the_statements_sent() {
        // performance_schema of MySQL 9 counts preparing and closing as statements.
        assert_eq!(trips(30, Some(10)), 10 + 10 + 15);
        assert_eq!(trips(10, None), 10 + 10 + 15);
    }
}
