//! The copy of a whole database, which may be given up while the server is at it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use database::Kind;
use schema::mysql::{backticked, literal};

use super::{POSTGRES_ALWAYS, kind, open, postgres_address, unsupported, url_name};
use crate::mysql::{Mysql, MysqlAddress};
use crate::{Database, DbError, mysql, postgres};

/// How often somebody looks whether a copy in the making is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// Another database present on every PostgreSQL server.
const POSTGRES_OTHER: &str = "template1";

/// How a copy ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEnding {
    /// With all rows.
    Whole,
    /// It is not wanted any more. What the server has of it is to be dropped.
    Stopped,
}

/// Copies the database with all rows to a new one called `name`. Once `stop` is raised, the server
/// is asked to end the statement that it executes; MySQL and MariaDB first take back the rows that
/// the statement has written.
///
/// # Errors
/// Whatever the server says; [`DbErrorKind::Unsupported`](crate::DbErrorKind::Unsupported) where
/// there is more in it than tables, which would not be copied.
pub fn copy(url: &str, name: &str, stop: &AtomicBool) -> Result<CopyEnding, DbError> {
    let copied = match kind(url)? {
        Kind::Mysql => copy_mysql(url, name, stop),
        Kind::Postgres => copy_postgres(url, name, stop),
        Kind::Sqlite => Err(unsupported("a SQLite database is copied as a file")),
    };
    match is_raised(stop) {
        // Whatever the server says of a statement that it had to end.
        true => Ok(CopyEnding::Stopped),
        false => copied.map(|()| CopyEnding::Whole),
    }
}

/// `Relaxed`: the flag carries no other data.
fn is_raised(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

fn copy_postgres(url: &str, name: &str, stop: &AtomicBool) -> Result<(), DbError> {
    let original = url_name(url).ok_or_else(|| unsupported("the address names no database"))?;
    let mut server = postgres::connect(&postgres_address(url, Some(POSTGRES_ALWAYS)))?;
    let session = first(&mut server, "SELECT pg_backend_pid()")?;
    // Nobody is let into a database that is being copied.
    let beside = match original == POSTGRES_ALWAYS {
        true => POSTGRES_OTHER,
        false => POSTGRES_ALWAYS,
    };
    let beside = || -> Result<Box<dyn Database>, DbError> {
        let address = postgres_address(url, Some(beside));
        Ok(Box::new(postgres::connect(&address)?))
    };
    let cancel = vec![format!("SELECT pg_cancel_backend({session})")];
    let end = asking(beside, cancel);
    let create = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{original}\"");
    watched(stop, end, || match is_raised(stop) {
        true => Ok(()),
        false => server.execute(&create),
    })
}

/// Copies tables as spelled by the server, then the rows.
fn copy_mysql(url: &str, name: &str, stop: &AtomicBool) -> Result<(), DbError> {
    let address = MysqlAddress::from_url(url)?;
    let mut from = mysql::connect(&address)?;
    refuse_more_than_tables(&mut from)?;
    let server = from.server().clone();
    let mut create = format!("CREATE DATABASE `{name}`");
    if let (Some(charset), Some(collation)) = (&server.charset, &server.collation) {
        create += &format!(" CHARACTER SET {charset} COLLATE {collation}");
    }
    from.execute(&create)?;
    let original = backticked(&address.database);
    let mut to = mysql::connect(&MysqlAddress {
        database: name.to_owned(),
        ..address
    })?;
    to.execute("SET SESSION foreign_key_checks = 0")?;
    to.execute("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")?;
    let mut kills = Vec::new();
    for connection in [&mut from, &mut to] {
        let session = first(connection, "SELECT CONNECTION_ID()")?;
        kills.push(format!("KILL QUERY {session}"));
    }
    let end = asking(|| open(url), kills);
    watched(stop, end, || {
        copy_tables(&mut from, &mut to, &original, stop)
    })
}

fn copy_tables(
    from: &mut Mysql,
    to: &mut Mysql,
    original: &str,
    stop: &AtomicBool,
) -> Result<(), DbError> {
    let tables = from.query(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name",
    )?;
    for table in tables.into_iter().flatten().flatten() {
        if is_raised(stop) {
            return Ok(());
        }
        let quoted = backticked(&table);
        let shown = from.query(&format!("SHOW CREATE TABLE {quoted}"))?;
        let text = shown.into_iter().flatten().nth(1).flatten();
        to.execute(&text.ok_or_else(|| unsupported("the server does not show a table"))?)?;
        let columns = columns(from, &table)?;
        to.execute(&format!(
            "INSERT INTO {quoted} ({columns}) SELECT {columns} FROM {original}.{quoted}"
        ))?;
    }
    Ok(())
}

/// Does some work while another thread looks at the flag and, once it is raised, ends what the
/// server executes: at every look, since one may come between two statements.
fn watched<T>(stop: &AtomicBool, mut end: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    let (working, is_working) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while is_working.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if is_raised(stop) {
                    end();
                }
            }
        });
        let done = work();
        // The other thread ends with the channel.
        drop(working);
        done
    })
}

/// Executes statements on a connection that is opened at the first call. After an error the next
/// call opens another.
fn asking(
    connect: impl Fn() -> Result<Box<dyn Database>, DbError> + Send,
    statements: Vec<String>,
) -> impl FnMut() + Send {
    let mut connection: Option<Box<dyn Database>> = None;
    move || {
        let database = connection.take().or_else(|| connect().ok());
        connection = database.and_then(|mut database| {
            let mut statements = statements.iter();
            let are_done = statements.all(|sql| database.execute(sql).is_ok());
            are_done.then_some(database)
        });
    }
}

/// The first value that a query returns.
fn first(database: &mut dyn Database, sql: &str) -> Result<String, DbError> {
    let rows = database.query(sql)?;
    let value = rows.into_iter().flatten().flatten().next();
    value.ok_or_else(|| unsupported("the server does not number its sessions"))
}

/// Writable columns, as a list.
fn columns(from: &mut dyn Database, table: &str) -> Result<String, DbError> {
    let names = from.query(&format!(
        "SELECT column_name FROM information_schema.columns \
         WHERE table_schema = DATABASE() AND table_name = {} AND coalesce(generation_expression, '') = '' \
         ORDER BY ordinal_position",
        literal(table)
    ))?;
    let names = names.into_iter().flatten().flatten();
    let quoted: Vec<String> = names.map(|name| backticked(&name)).collect();
    Ok(quoted.join(", "))
}

fn refuse_more_than_tables(from: &mut dyn Database) -> Result<(), DbError> {
    let more = from.query(
        "SELECT (SELECT count(*) FROM information_schema.views WHERE table_schema = DATABASE()) \
              + (SELECT count(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()) \
              + (SELECT count(*) FROM information_schema.routines WHERE routine_schema = DATABASE())",
    )?;
    match more.into_iter().flatten().flatten().next().as_deref() {
        Some("0") => Ok(()),
        _ => Err(unsupported(
            "it holds views, triggers or routines, which would not be copied",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_ended_once_the_flag_is_raised() {
        const LIMIT: Duration = Duration::from_secs(30);
        let stop = AtomicBool::new(true);
        let (ended, is_ended) = mpsc::channel();
        let end = move || ended.send(()).unwrap();
        let waited = watched(&stop, end, || is_ended.recv_timeout(LIMIT));
        assert_eq!(waited, Ok(()));
    }

    #[test]
    fn what_is_still_wanted_runs_on() {
        let stop = AtomicBool::new(false);
        let (ended, is_ended) = mpsc::channel();
        let end = move || ended.send(()).unwrap();
        let waited = watched(&stop, end, || is_ended.recv_timeout(LOOK * 3));
        assert_eq!(waited, Err(RecvTimeoutError::Timeout));
    }

    #[test]
    fn a_server_is_asked_again_on_a_new_connection_after_an_error() {
        use crate::fake::Fake;
        let opened = std::sync::atomic::AtomicUsize::new(0);
        let connect = || -> Result<Box<dyn Database>, DbError> {
            let before = opened.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(Fake {
                refuse: (before == 0).then(|| "KILL QUERY 7".to_owned()),
                ..Fake::default()
            }))
        };
        let mut ask = asking(connect, vec!["KILL QUERY 7".to_owned()]);
        for expected in [1, 2, 2] {
            ask();
            assert_eq!(opened.load(Ordering::Relaxed), expected);
        }
    }
}
