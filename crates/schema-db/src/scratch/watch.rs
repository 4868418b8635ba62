//! Statements ended by the server once nobody wants the result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use database::Kind;
use schema::Product;

use super::{POSTGRES_ALWAYS, kind, open, postgres_address, unsupported, url_name};
use crate::{Database, DbError, postgres};

/// How often somebody looks whether the result is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// Another database present on every PostgreSQL server.
const POSTGRES_OTHER: &str = "template1";

/// Does some work on the database of an address, and returns what the work returns. Once `stop` is
/// raised, the server is asked to end the statement that it executes. SQLite is no server: its
/// statements are executed to the end.
///
/// # Errors
/// The server does not say which session it has to end.
pub fn until_stopped<T>(
    url: &str,
    database: &mut dyn Database,
    stop: &AtomicBool,
    work: impl FnOnce(&mut dyn Database) -> T,
) -> Result<T, DbError> {
    let Some(statement) = ending(database)? else {
        return Ok(work(database));
    };
    let end = asking(|| beside(url), vec![statement]);
    Ok(watched(stop, end, || work(database)))
}

/// `Relaxed`: the flag carries no other data.
pub(super) fn is_raised(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

/// Connects to the server of an address. On PostgreSQL to another database, since nobody is let
/// into one that is being copied, and one with sessions is not dropped.
pub(super) fn beside(url: &str) -> Result<Box<dyn Database>, DbError> {
    if kind(url)? != Kind::Postgres {
        return open(url);
    }
    let other = match url_name(url) == Some(POSTGRES_ALWAYS) {
        true => POSTGRES_OTHER,
        false => POSTGRES_ALWAYS,
    };
    let address = postgres_address(url, Some(other));
    Ok(Box::new(postgres::connect(&address)?))
}

/// Returns the statement with which another session ends the current one of a connection; `None`
/// for SQLite.
pub(super) fn ending(database: &mut dyn Database) -> Result<Option<String>, DbError> {
    let product = database.server().product;
    Ok(match product {
        Product::Sqlite => None,
        Product::Postgres => {
            let session = first(database, "SELECT pg_backend_pid()")?;
            Some(format!("SELECT pg_cancel_backend({session})"))
        }
        Product::Mysql | Product::MariaDb => {
            let session = first(database, "SELECT CONNECTION_ID()")?;
            Some(format!("KILL QUERY {session}"))
        }
    })
}

/// Does some work while another thread looks at the flag and, once raised, ends what the server
/// executes: at every look, since one may come between two statements.
pub(super) fn watched<T>(
    stop: &AtomicBool,
    mut end: impl FnMut() + Send,
    work: impl FnOnce() -> T,
) -> T {
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

/// Executes statements on a connection opened at the first call. After an error the next
/// call opens another.
pub(super) fn asking(
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

/// The first value returned by a query.
fn first(database: &mut dyn Database, sql: &str) -> Result<String, DbError> {
    let rows = database.query(sql)?;
    let value = rows.into_iter().flatten().flatten().next();
    value.ok_or_else(|| unsupported("the server does not number its sessions"))
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
