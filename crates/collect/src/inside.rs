//! The inside of an app of the host, from the rings of agents on standby: sums by route and by
//! statement.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use capture::{Polled, Rings, step_back};
use recording::{Handled, TextId};

use crate::message::{InsideEnd, RouteTime, StatementTime};

/// Interval of reading, short enough for no ring to fill up.
const POLL: Duration = Duration::from_millis(20);
/// How long records of the last requests may take to appear.
const LAST_RECORDS: Duration = Duration::from_millis(100);
/// Most routes and most statements; further ones are added up under no name.
const NAMES_MAX: usize = 1_000;
/// Most texts kept. Each name has one of its own, and a text may come before the records that name
/// it: at this number those that no sum names are forgotten.
const TEXTS_MAX: usize = 10_000;

/// A reader at work on a separate thread.
pub(crate) struct Inside {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Read>>,
}

/// What was read.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) routes: Vec<RouteTime>,
    pub(crate) statements: Vec<StatementTime>,
    pub(crate) end: InsideEnd,
}

impl Inside {
    /// Begins to read; agents record from now on.
    pub(crate) fn begin(folder: &str) -> Inside {
        let rings = Rings::of_running(Path::new(folder));
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_over);
        let thread = thread::Builder::new()
            .name("hakaru-rings".to_owned())
            .spawn(move || read(rings, &flag));
        Inside {
            is_over,
            thread: thread.ok(),
        }
    }

    /// Ends the reading; agents stop to record.
    pub(crate) fn end(mut self) -> Read {
        self.is_over.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else {
            let error = Some("no thread could be started to read the rings".to_owned());
            return Read {
                end: InsideEnd {
                    error,
                    ..InsideEnd::default()
                },
                ..Read::default()
            };
        };
        match thread.join() {
            Ok(read) => read,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Ends the reading of a collector whose near side has gone.
impl Drop for Inside {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn read(mut rings: Rings, is_over: &AtomicBool) -> Read {
    step_back();
    let mut sums = Sums::default();
    while !is_over.load(Ordering::Relaxed) {
        sums.add_all(rings.poll());
        thread::sleep(POLL);
    }
    thread::sleep(LAST_RECORDS);
    sums.add_all(rings.poll());
    rings.leave();
    let mut read = sums.named();
    read.end = end_of(&rings);
    read
}

fn end_of(rings: &Rings) -> InsideEnd {
    let processes = rings.processes();
    let server = rings.server().unwrap_or_default();
    let serving = || processes.iter().filter(|process| process.requests > 0);
    let unread = rings.running().and_then(|(_, unread)| unread);
    InsideEnd {
        error: unread.map(ToString::to_string),
        server: server.server,
        ruby: server.ruby,
        processes: serving().count() as u64,
        requests: serving().map(|process| process.requests).sum(),
        dropped: processes.iter().map(|process| process.dropped).sum(),
        notes: (rings.troubles().into_iter())
            .map(|(_, sentence)| sentence)
            .collect(),
    }
}

/// Sums by the hashes of names, whose texts may come later.
#[derive(Default)]
struct Sums {
    routes: HashMap<TextId, RouteTime>,
    statements: HashMap<(TextId, TextId), StatementTime>,
    texts: HashMap<TextId, String>,
}

impl Sums {
    fn add_all(&mut self, polled: Polled) {
        self.texts.extend(polled.texts);
        polled.handled.iter().for_each(|one| self.add(one));
        if self.texts.len() > TEXTS_MAX {
            self.forget();
        }
    }

    /// Forgets the texts of what is added up under no name.
    fn forget(&mut self) {
        let statements = self.statements.keys();
        let named: HashSet<TextId> = statements
            .flat_map(|(digest, site)| [*digest, *site])
            .chain(self.routes.keys().copied())
            .collect();
        self.texts.retain(|id, _| named.contains(id));
    }

    fn add(&mut self, handled: &Handled) {
        let route = entry(&mut self.routes, handled.route);
        route.requests += 1;
        route.failed += u64::from(handled.status == 0 || handled.status >= 500);
        route.time_ns += handled.end.since(handled.start).0;
        if let Some(ready) = handled.ready {
            route.waited_ns += handled.start.since(ready).0;
        }
        let parts = &handled.parts;
        let states = [
            parts.gvl_wait.0,
            parts.gc.0,
            parts.sql_running.0 + parts.sql_waiting.0,
            parts.http_running.0 + parts.http_waiting.0,
            parts.lock.0,
            parts.sleep.0,
            parts.other_io.0,
            parts.running.0,
        ];
        for (sum, more) in route.states_ns.iter_mut().zip(states) {
            *sum += more;
        }
        for sql in &handled.sql {
            let sum = entry(&mut self.statements, (sql.digest, sql.site));
            sum.count += u64::from(sql.count);
            sum.rows += sql.rows;
            sum.time_ns += sql.time.0;
            sum.gvl_wait_ns += sql.gvl_wait.0;
        }
    }

    fn named(self) -> Read {
        let text = |id: &TextId| self.texts.get(id).cloned().unwrap_or_default();
        let mut routes: Vec<RouteTime> = (self.routes.iter())
            .map(|(id, sum)| RouteTime {
                route: text(id),
                ..sum.clone()
            })
            .collect();
        routes.sort_by(|a, b| (b.time_ns, &a.route).cmp(&(a.time_ns, &b.route)));
        let mut statements: Vec<StatementTime> = (self.statements.iter())
            .map(|((digest, site), sum)| StatementTime {
                digest: text(digest),
                site: text(site),
                ..sum.clone()
            })
            .collect();
        statements.sort_by(|a, b| (b.time_ns, &a.digest).cmp(&(a.time_ns, &b.digest)));
        Read {
            routes,
            statements,
            end: InsideEnd::default(),
        }
    }
}

/// Returns the sum of a name; for one too many, the sum of no name.
fn entry<K: Copy + Default + Eq + std::hash::Hash, V: Default>(
    sums: &mut HashMap<K, V>,
    name: K,
) -> &mut V {
    let is_new = !sums.contains_key(&name);
    match is_new && sums.len() >= NAMES_MAX {
        true => sums.entry(K::default()).or_default(),
        false => sums.entry(name).or_default(),
    }
}

#[cfg(test)]
mod tests {
    use recording::{Nanos, Parts, SqlUse, Timestamp};

    use super::*;

    fn handled(route: u64, ms: u64) -> Handled {
        let at = |ms: u64| Timestamp::from_monotonic_nanos(ms * 1_000_000);
        Handled {
            route: TextId(route),
            ready: Some(at(8)),
            start: at(10),
            end: at(10 + ms),
            status: 200,
            parts: Parts {
                gvl_wait: Nanos(1),
                sql_running: Nanos(2),
                sql_waiting: Nanos(3),
                running: Nanos(4),
                ..Parts::default()
            },
            sql: vec![SqlUse {
                digest: TextId(7),
                site: TextId(8),
                count: 2,
                rows: 3,
                time: Nanos(5),
                gvl_wait: Nanos(1),
            }],
            ..Handled::default()
        }
    }

    #[test]
    fn requests_are_added_up_by_route_and_by_statement() {
        let mut sums = Sums::default();
        let texts = [(1, "GET /a"), (7, "SELECT ?"), (8, "app.rb:1")];
        sums.add_all(Polled {
            handled: vec![handled(1, 5), handled(1, 7), handled(2, 20)],
            texts: texts.map(|(id, text)| (TextId(id), text.to_owned())).into(),
            ..Polled::default()
        });
        let read = sums.named();
        let routes: Vec<_> = (read.routes.iter())
            .map(|one| (one.route.as_str(), one.requests, one.time_ns, one.waited_ns))
            .collect();
        let expected = [
            ("", 1, 20_000_000, 2_000_000),
            ("GET /a", 2, 12_000_000, 4_000_000),
        ];
        assert_eq!(routes, expected);
        assert_eq!(read.routes[1].states_ns, [2, 0, 10, 0, 0, 0, 0, 8]);
        let [statement] = &read.statements[..] else {
            panic!("{:?}", read.statements)
        };
        let named = (statement.digest.as_str(), statement.site.as_str());
        assert_eq!(named, ("SELECT ?", "app.rb:1"));
        let sums = (statement.count, statement.rows, statement.time_ns);
        assert_eq!(sums, (6, 9, 15));
    }

    #[test]
    fn names_beyond_the_limit_are_one() {
        let mut sums = Sums::default();
        for route in 0..NAMES_MAX as u64 + 50 {
            sums.add(&handled(route + 1, 1));
        }
        let read = sums.named();
        assert!(read.routes.len() <= NAMES_MAX + 1);
        let all: u64 = read.routes.iter().map(|one| one.requests).sum();
        assert_eq!(all, NAMES_MAX as u64 + 50);
    }

    #[test]
    fn texts_without_end_are_forgotten_but_those_of_sums() {
        let mut sums = Sums::default();
        let text = |id: u64| (TextId(id), format!("text {id}"));
        for poll in 0..40u64 {
            sums.add_all(Polled {
                handled: vec![handled(poll + 1, 1)],
                texts: (1..=1_000).map(|one| text(poll * 1_000 + one)).collect(),
                ..Polled::default()
            });
            assert!(sums.texts.len() <= TEXTS_MAX, "{}", sums.texts.len());
        }
        let read = sums.named();
        let first = read.routes.iter().find(|one| one.route == "text 1");
        assert_eq!(first.map(|one| one.requests), Some(1));
        assert_eq!(read.statements[0].digest, "text 7");
    }
}
