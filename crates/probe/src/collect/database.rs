//! Reads a database: settings, counters and a few lists, each by one statement without writes.
//!
//! A statement refused by the server is listed as unseen; the others are sent all the same.

mod limit;
mod mysql;
mod postgres;
mod replicas;
mod sqlite;

use std::net::IpAddr;
use std::time::{Duration, Instant};

use capture::{Catalogue, ExplainError, ExplainLimits};
use database::Kind;

use doctor::snapshot::{Database, DatabaseKind, Unseen};

/// A statement and the meaning of the rows.
struct Question {
    /// Name of the value or list; of pairs, the common name.
    name: &'static str,
    rows: Rows,
    sql: &'static str,
}

/// Meaning of a statement's rows.
#[derive(Clone, Copy)]
enum Rows {
    /// A name and a value each.
    Pairs,
    /// One value.
    Value,
    /// One name each.
    List,
    /// One source each that the server is a copy of, by names of columns.
    Replicas,
}

/// Most names recorded of a list.
const NAMES_MAX: usize = 50;
/// Round trips of which the median is taken.
const ROUND_TRIPS: usize = 20;

/// Reads the database; `None` if not reachable.
pub(super) fn read(url: &str, unseen: &mut Vec<Unseen>) -> Option<Database> {
    let limits = ExplainLimits {
        connect: Duration::from_secs(1),
        statement: Duration::from_secs(1),
        ..ExplainLimits::default()
    };
    let mut server = match Catalogue::open(url, limits) {
        Ok(server) => server,
        Err(error) => {
            unseen.push(Unseen {
                what: "a database".to_owned(),
                why: match error {
                    ExplainError::Connect { database, reason } => format!("{database}: {reason}"),
                    ExplainError::UnknownAddress => error.to_string(),
                },
            });
            return None;
        }
    };
    let mut database = Database {
        is_local: is_local(url),
        ..Database::default()
    };
    match server.kind() {
        Kind::Mysql => {
            database.version = version(&mut server, "SELECT VERSION()");
            let is_mariadb = database.version.contains("MariaDB");
            database.kind = match is_mariadb {
                true => DatabaseKind::Mariadb,
                false => DatabaseKind::Mysql,
            };
            ask(&mut server, mysql::QUESTIONS, &mut database, unseen);
            let own = if is_mariadb {
                mysql::MARIADB
            } else {
                mysql::MYSQL
            };
            ask(&mut server, own, &mut database, unseen);
            if database.is_on("performance_schema") == Some(true) {
                ask(&mut server, mysql::MEASURED, &mut database, unseen);
            }
        }
        Kind::Postgres => {
            database.kind = DatabaseKind::Postgres;
            database.version = version(&mut server, "SHOW server_version");
            ask(&mut server, postgres::QUESTIONS, &mut database, unseen);
            if database.release().0 >= 14 {
                ask(&mut server, postgres::SINCE_14, &mut database, unseen);
            }
            let own = match database.release().0 {
                17.. => postgres::SINCE_17,
                _ => postgres::BEFORE_17,
            };
            ask(&mut server, own, &mut database, unseen);
        }
        Kind::Sqlite => {
            database.kind = DatabaseKind::Sqlite;
            ask(&mut server, sqlite::QUESTIONS, &mut database, unseen);
        }
    }
    database.name = name(&database);
    if database.is_local {
        database.memory_max_bytes = limit::memory(database.kind);
    }
    database.round_trip_ns = round_trip(&mut server);
    Some(database)
}

/// Returns kind and version for people: `mariadb 10.11.14`.
fn name(database: &Database) -> String {
    let kind = match database.kind {
        DatabaseKind::Mysql => "mysql",
        DatabaseKind::Mariadb => "mariadb",
        DatabaseKind::Postgres => "postgres",
        DatabaseKind::Sqlite => "sqlite",
    };
    let number: String = database
        .version
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || *letter == '.')
        .collect();
    format!("{kind} {number}").trim_end().to_owned()
}

fn ask(
    server: &mut Catalogue,
    questions: &[Question],
    database: &mut Database,
    unseen: &mut Vec<Unseen>,
) {
    for question in questions {
        if let Err(why) = ask_one(server, question, database) {
            unseen.push(Unseen {
                what: format!("{} of the database", question.name),
                why,
            });
        }
    }
}

fn ask_one(
    server: &mut Catalogue,
    question: &Question,
    database: &mut Database,
) -> Result<(), String> {
    let sql = question.sql;
    match question.rows {
        Rows::Pairs => {
            let rows = server.rows(sql)?.into_iter();
            database.values.extend(rows.filter_map(|row| {
                let mut row = row.into_iter();
                Some((row.next()??, row.next()??))
            }));
        }
        Rows::Value => {
            let value = first(server, sql)?.map(|value| (question.name.to_owned(), value));
            database.values.extend(value);
        }
        Rows::List => {
            let rows = server.rows(sql)?.into_iter();
            let names = rows.filter_map(|row| row.into_iter().next()?);
            let names = names.take(NAMES_MAX).collect();
            database.lists.insert(question.name.to_owned(), names);
        }
        Rows::Replicas => {
            let status = replicas::status(&server.named_rows(sql)?);
            let lag = status.lag_s.map(|seconds| seconds.to_string());
            let value = lag.map(|lag| ("(replication lag)".to_owned(), lag));
            database.values.extend(value);
            let list = "stopped replication".to_owned();
            database.lists.insert(list, status.stopped);
        }
    }
    Ok(())
}

/// Returns the first value of the first row; `None` also for NULL.
fn first(server: &mut Catalogue, sql: &str) -> Result<Option<String>, String> {
    let row = server.rows(sql)?.into_iter().next();
    Ok(row.and_then(|row| row.into_iter().next()?))
}

fn version(server: &mut Catalogue, sql: &str) -> String {
    first(server, sql).ok().flatten().unwrap_or_default()
}

fn round_trip(server: &mut Catalogue) -> Option<f64> {
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let begin = Instant::now();
        server.rows("SELECT 1").ok()?;
        times.push(begin.elapsed().as_nanos() as f64);
    }
    stats::median(&times)
}

/// Whether the address is a file, a socket, or on the same machine.
fn is_local(url: &str) -> bool {
    let is_here = |host: &&str| {
        let is_socket = host.is_empty() || host.starts_with('/');
        is_socket
            || host.to_ascii_lowercase().starts_with("%2f")
            || host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    };
    hosts(url).is_some_and(|hosts| hosts.iter().all(is_here))
}

/// Returns the hosts of an address, empty for files and sockets; `None` for an invalid address.
/// Those of the query win, as in libpq.
fn hosts(url: &str) -> Option<Vec<&str>> {
    let (scheme, rest) = url.split_once(':')?;
    if scheme.starts_with("sqlite") {
        return Some(Vec::new());
    }
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let query = tail.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named: Vec<&str> = pairs
        .filter(|(name, _)| ["host", "hostaddr"].contains(name))
        .flat_map(|(_, hosts)| hosts.split(','))
        .collect();
    if !named.is_empty() {
        return Some(named);
    }
    let hosts = authority
        .rsplit_once('@')
        .map_or(authority, |(_, hosts)| hosts);
    hosts.split(',').map(without_port).collect()
}

fn without_port(host: &str) -> Option<&str> {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_known() {
        let check = |url: &str, local: bool| assert_eq!(is_local(url), local, "{url}");
        check("sqlite:db/app.sqlite3", true);
        check("mysql2://me:p@ss@127.0.0.1:3306/app", true);

        check("postgres:///app?host=/run/postgresql", true);
        check("postgres://%2Frun%2Fpostgresql/app", true);
        // libpq lets the query win, and takes any of several.
        check("postgres:///app?host=db.example.org", false);
        check(
            "postgres://localhost/app?sslmode=x&hostaddr=10.0.0.7",
            false,
        );
        check("postgres://localhost:5432,db.example.org/app", false);
        check("mysql2://127.example.org/app", false);
        check("mysql2://LOCALHOST/app", true);
        check("postgres://[::1]:5432/app", true);
        check("postgres://me@db.example.org/app", false);
        check("nothing", false);
    }
}
