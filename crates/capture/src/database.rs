//! Settings of the database server, and growth of the server's counters over a time, read on a
//! separate connection by a separate thread.
//!
//! What is sent: reads of settings, counters and the catalogue, in a session set to read only.
//! Whatever the server refuses (a missing privilege, an extension that is not there) is a note
//! beside the facts, never a failure. Everything has a deadline: the connection's own limits, and
//! two readings in all.

mod mysql;
mod postgres;
mod sqlite;

use database::Kind;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fmt, io};

use recording::{Counter, DatabaseFacts, Setting, StatementFacts, TextId, Timestamp};

use crate::explain::{ExplainError, ExplainLimits, kind_of};

/// Name of a counter of the reading's own statements, which MySQL and MariaDB count among those of
/// all clients.
pub const OWN_STATEMENTS: &str = "(own statements)";

/// Most statements recorded, the costliest first.
const STATEMENTS_MAX: usize = 500;
/// Most statements read, the costliest first: the limit in the queries of both servers.
const STATEMENTS_READ_MAX: usize = 2_000;
/// Note on a first reading as long as the limit.
const CUT_OFF: &str = "the server counts more than 2000 statements, so some of the costliest may be missing; emptying \
     its counters before the load (pg_stat_statements_reset(), TRUNCATE TABLE \
     performance_schema.events_statements_summary_by_digest) changes that";

/// Watches a database from now on.
#[derive(Debug)]
pub struct DatabaseWatch {
    stop: Sender<()>,
    first: Receiver<()>,
    thread: JoinHandle<Result<Watched, ExplainError>>,
}

/// Times of reading the counters, from the start of the watch.
#[derive(Clone, Copy, Debug)]
pub struct WatchTimes {
    /// First.
    pub first: Duration,
    /// Last, unless the watch is ended before.
    pub last: Duration,
}

/// Facts reported by the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The facts; statements are named by text at first.
    pub facts: DatabaseFacts,
    /// The statements in the server's spelling, without literals.
    pub texts: Vec<(TextId, String)>,
}

/// One reading.
#[derive(Clone, Debug, Default)]
struct Reading {
    settings: Vec<(String, String)>,
    counters: Vec<(String, u64)>,
    /// `None` where refused by the server.
    statements: Option<Vec<StatementRow>>,
    notes: Vec<String>,
}

/// A statement's cumulative counters, under the server's own name of the statement.
#[derive(Clone, Debug, Default)]
struct StatementRow {
    key: String,
    text: String,
    facts: StatementFacts,
}

/// A kind of readable database.
trait Readable {
    fn read(&mut self) -> Reading;
}

impl DatabaseWatch {
    /// Connects and watches. Connecting fails in [`DatabaseWatch::end`].
    pub fn start(database_url: &str, times: WatchTimes) -> io::Result<DatabaseWatch> {
        let (stop, stopped) = channel();
        let (read, first) = channel();
        let url = database_url.to_owned();
        let thread = std::thread::Builder::new()
            .name("hakaru-database".to_owned())
            .spawn(move || watch(&url, times, &stopped, &read))?;
        Ok(DatabaseWatch {
            stop,
            first,
            thread,
        })
    }

    /// Waits for the first reading, or for the watch to have failed, at most for so long.
    pub fn wait_for_first(&self, patience: Duration) {
        let _ = self.first.recv_timeout(patience);
    }

    /// Reads the counters for the last time, if not done before, and returns the facts.
    pub fn end(self) -> Result<Watched, ExplainError> {
        drop(self.stop);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Watched {
    /// Names statements as the app does. Servers have their own spelling: other spaces, other
    /// quotes, keywords in capitals.
    pub fn name_as<'a>(&mut self, digests: impl Iterator<Item = (TextId, &'a str)>) {
        let known: HashMap<String, TextId> =
            digests.map(|(id, digest)| (bare(digest), id)).collect();
        let texts: HashMap<TextId, &str> = self
            .texts
            .iter()
            .map(|(id, text)| (*id, text.as_str()))
            .collect();
        for statement in &mut self.facts.statements {
            let text = texts.get(&statement.digest).copied().unwrap_or_default();
            if let Some(id) = known.get(&bare(text)) {
                statement.digest = *id;
            }
        }
    }
}

/// A digest without what servers and apps spell differently.
fn bare(digest: &str) -> String {
    digest
        .replace("...", "?")
        .chars()
        .filter(|letter| !letter.is_whitespace() && !matches!(letter, '`' | '"' | ';'))
        .flat_map(char::to_lowercase)
        .collect()
}

fn watch(
    url: &str,
    times: WatchTimes,
    stopped: &Receiver<()>,
    read: &Sender<()>,
) -> Result<Watched, ExplainError> {
    let begin = Instant::now();
    let limits = ExplainLimits::default();
    let (kind, rest) = kind_of(url)?;
    let mut server: Box<dyn Readable> = match kind {
        Kind::Sqlite => Box::new(sqlite::Sqlite::open(rest, limits)?),
        Kind::Mysql => Box::new(mysql::Mysql::connect(rest, limits)?),
        Kind::Postgres => Box::new(postgres::Postgres::connect(rest, limits)?),
    };
    wait(begin + times.first, stopped);
    let (start, before) = (now(), server.read());
    // Nobody need wait for it.
    let _ = read.send(());
    wait(begin + times.last, stopped);
    let (end, after) = (now(), server.read());
    Ok(grown((start, &before), (end, after)))
}

/// Until then, or until the watch is ended.
fn wait(until: Instant, stopped: &Receiver<()>) {
    let _ = stopped.recv_timeout(until.saturating_duration_since(Instant::now()));
}

/// The facts between two readings.
fn grown((start, before): (Timestamp, &Reading), (end, after): (Timestamp, Reading)) -> Watched {
    let first: HashMap<&str, u64> = before
        .counters
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let counters = after.counters.into_iter().filter_map(|(name, after)| {
        let before = *first.get(name.as_str())?;
        Some(Counter {
            name,
            before,
            after,
        })
    });
    let mut notes = before.notes.clone();
    let news = after.notes.into_iter();
    notes.extend(news.filter(|note| !before.notes.contains(note)));
    let (statements, texts) = match (&before.statements, after.statements) {
        (Some(before), Some(after)) => {
            if before.len() >= STATEMENTS_READ_MAX {
                notes.push(CUT_OFF.to_owned());
            }
            grown_statements(before, after)
        }
        // Against no first reading, all since the start of the server would have grown.
        _ => Default::default(),
    };
    let setting = |(name, value)| Setting { name, value };
    Watched {
        facts: DatabaseFacts {
            start,
            end,
            settings: after.settings.into_iter().map(setting).collect(),
            counters: counters.collect(),
            statements,
            columns: Vec::new(),
            notes,
        },
        texts,
    }
}

/// Returns the growth of each statement. One that a first reading of limited length lacks is left
/// out: how much of it was there before is not known.
fn grown_statements(
    before: &[StatementRow],
    after: Vec<StatementRow>,
) -> (Vec<StatementFacts>, Vec<(TextId, String)>) {
    let first: HashMap<&str, &StatementFacts> = before
        .iter()
        .map(|row| (row.key.as_str(), &row.facts))
        .collect();
    let (none, is_whole) = (
        StatementFacts::default(),
        before.len() < STATEMENTS_READ_MAX,
    );
    let mut by_text: HashMap<TextId, (String, StatementFacts)> = HashMap::new();
    for row in after {
        let known = first.get(row.key.as_str()).copied();
        let Some(start) = known.or(is_whole.then_some(&none)) else {
            continue;
        };
        let grown = minus(&row.facts, start);
        if grown.count == 0 {
            continue;
        }
        let text = sql_digest::digest(row.text.as_bytes());
        let id = TextId::of(text.as_bytes());
        let (_, sum) = by_text
            .entry(id)
            .or_insert_with(|| (text, StatementFacts::default()));
        *sum = plus(sum, &grown);
        sum.digest = id;
    }
    let mut rows: Vec<(TextId, (String, StatementFacts))> = by_text.into_iter().collect();
    rows.sort_by_key(|(id, (_, facts))| (std::cmp::Reverse(facts.time_ns), *id));
    rows.truncate(STATEMENTS_MAX);
    rows.into_iter()
        .map(|(id, (text, facts))| (facts, (id, text)))
        .unzip()
}

/// Field by field, with what `join` makes of two numbers.
fn joined(a: &StatementFacts, b: &StatementFacts, join: fn(u64, u64) -> u64) -> StatementFacts {
    StatementFacts {
        digest: a.digest,
        count: join(a.count, b.count),
        time_ns: join(a.time_ns, b.time_ns),
        rows_examined: join(a.rows_examined, b.rows_examined),
        rows_sent: join(a.rows_sent, b.rows_sent),
        rows_sorted: join(a.rows_sorted, b.rows_sorted),
        tmp_tables: join(a.tmp_tables, b.tmp_tables),
        tmp_tables_on_disk: join(a.tmp_tables_on_disk, b.tmp_tables_on_disk),
        pages: join(a.pages, b.pages),
    }
}

fn plus(a: &StatementFacts, b: &StatementFacts) -> StatementFacts {
    joined(a, b, u64::saturating_add)
}

/// Returns the difference of two readings; counters reset in between count as nothing.
fn minus(a: &StatementFacts, b: &StatementFacts) -> StatementFacts {
    joined(a, b, u64::saturating_sub)
}

fn now() -> Timestamp {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Timestamp::from_monotonic_nanos(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// A note on what the server refused. Never its words, which may repeat statements.
fn refused(what: &str, reason: impl fmt::Display) -> String {
    format!("{what} could not be read: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, text: &str, count: u64, examined: u64) -> StatementRow {
        StatementRow {
            key: key.to_owned(),
            text: text.to_owned(),
            facts: StatementFacts {
                count,
                time_ns: count,
                rows_examined: examined,
                ..StatementFacts::default()
            },
        }
    }

    fn reading(counters: &[(&str, u64)], statements: Vec<StatementRow>) -> Reading {
        Reading {
            counters: counters
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            statements: Some(statements),
            ..Reading::default()
        }
    }

    #[test]
    fn growth_between_two_readings() {
        let before = reading(
            &[("Queries", 5), ("Gone", 1)],
            vec![row("1", "SELECT `a` FROM `t`", 3, 30)],
        );
        let after = reading(
            &[("Queries", 9), ("New", 4)],
            vec![
                row("1", "SELECT `a` FROM `t`", 5, 70),
                row("2", "SELECT `a` FROM `t`", 1, 1),
                row("3", "SELECT 1", 0, 0),
            ],
        );
        let at = Timestamp::from_monotonic_nanos;
        let mut watched = grown((at(1), &before), (at(2), after));
        assert_eq!(watched.facts.growth("Queries"), Some(4));
        assert_eq!(watched.facts.growth("New"), None);
        assert_eq!(watched.facts.growth("Gone"), None);
        assert_eq!(watched.facts.statements.len(), 1);
        let statement = &watched.facts.statements[0];
        assert_eq!((statement.count, statement.rows_examined), (3, 41));
        watched.name_as([(TextId(9), "SELECT a FROM t")].into_iter());
        assert_eq!(watched.facts.statements[0].digest, TextId(9));
    }

    fn counted(before: Reading, after: Reading) -> (Vec<u64>, Vec<String>) {
        let at = Timestamp::from_monotonic_nanos;
        let facts = grown((at(1), &before), (at(2), after)).facts;
        let counts = facts.statements.iter().map(|one| one.count);
        (counts.collect(), facts.notes)
    }

    #[test]
    fn statements_that_could_not_be_read_at_first_have_not_grown_since_the_servers_start() {
        let refusal = refused("statements of pg_stat_statements", "57014");
        let before = Reading {
            notes: vec![refusal.clone()],
            ..Reading::default()
        };
        let after = || reading(&[], vec![row("1", "SELECT 1", 9_000, 9_000)]);
        assert_eq!(
            counted(before.clone(), after()),
            (Vec::new(), vec![refusal.clone()])
        );
        assert_eq!(counted(reading(&[], Vec::new()), after()).0, [9_000]);
        // What both readings say is said once.
        assert_eq!(counted(before.clone(), before).1, [refusal]);
    }

    #[test]
    fn a_statement_beyond_the_end_of_the_first_reading_is_not_new() {
        let known = |key: usize| row(&key.to_string(), "SELECT 1", 1, 1);
        let before: Vec<StatementRow> = (0..STATEMENTS_READ_MAX).map(known).collect();
        let grown = row("0", "SELECT 1", 5, 5);
        let beyond = row("old", "SELECT a FROM t", 9_000, 9_000);
        let after = vec![grown, beyond];
        let (counts, notes) = counted(reading(&[], before), reading(&[], after));
        assert_eq!((counts, notes), (vec![4], vec![CUT_OFF.to_owned()]));
    }

    #[test]
    fn spellings_of_servers_are_the_same_statement() {
        let check = |server: &str, app: &str| {
            let server = sql_digest::digest(server.as_bytes());
            let app = sql_digest::digest(app.as_bytes());
            assert_eq!(bare(&server), bare(&app));
        };
        check(
            "SELECT COUNT ( * ) AS `c` FROM `pst` WHERE ID IN (...) ORDER BY ID DESC LIMIT ? OFFSET ? ",
            "SELECT count(*) AS c FROM pst WHERE id IN (1, 2, 3) ORDER BY id DESC LIMIT 3 OFFSET 2",
        );
        check(
            "INSERT INTO `t` ( `a` , `b` ) VALUES (...)",
            "INSERT INTO t (a, b) VALUES (1, 'x')",
        );
        check(
            "SELECT * FROM users WHERE id = $1",
            "SELECT * FROM users WHERE id = ?",
        );
    }

    #[test]
    fn an_address_of_no_known_kind_is_an_error_at_the_end() {
        let times = WatchTimes {
            first: Duration::ZERO,
            last: Duration::ZERO,
        };
        let watch = DatabaseWatch::start("oracle://me:secret@db", times).expect("a thread");
        assert_eq!(watch.end(), Err(ExplainError::UnknownAddress));
    }
}
