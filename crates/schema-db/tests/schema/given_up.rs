//! Copies of databases, and indexes, given up while the server is busy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use schema_db::Database;
use schema_db::scratch::{self, CopyEnding, PREFIX};

/// Longest wait for some work to come to what is held.
const PATIENCE: Duration = Duration::from_secs(60);

fn address(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set; `cargo xtask with-servers` sets it"))
}

/// Name of the copied database.
fn original() -> String {
    format!("hakaru_given_up_{}", std::process::id())
}

/// Begins some work, and gives up once the query finds the server waiting for what somebody holds,
/// which would last for ever. Returns what the work returned.
fn give_up<T: Send>(
    watcher: &mut dyn Database,
    waiting: &str,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> T {
    let stop = AtomicBool::new(false);
    let (is_waiting, ended) = std::thread::scope(|scope| {
        let working = scope.spawn(|| work(&stop));
        let deadline = Instant::now() + PATIENCE;
        let mut is_waiting = false;
        while !is_waiting && Instant::now() < deadline {
            let found = watcher.query(waiting).unwrap_or_default();
            is_waiting = !found.is_empty();
            std::thread::sleep(Duration::from_millis(10));
        }
        // Relaxed: the flag carries no other data.
        stop.store(true, Ordering::Relaxed);
        (is_waiting, working.join().unwrap())
    });
    assert!(is_waiting, "nothing was found by {waiting}");
    ended
}

/// Gives a copy up, and drops the incomplete database.
fn give_up_copy(url: &str, watcher: &mut dyn Database, waiting: &str) {
    let name = format!("{PREFIX}given_up_{}", std::process::id());
    let ended = give_up(watcher, waiting, |stop| scratch::copy(url, &name, stop));
    assert_eq!(ended, Ok(CopyEnding::Stopped));
    scratch::drop_copy(url, &name).unwrap();
}

/// Gives an index up.
fn give_up_index(url: &str, watcher: &mut dyn Database, waiting: &str) {
    let mut builder = scratch::open(url).unwrap();
    let ended = give_up(watcher, waiting, |stop| {
        scratch::until_stopped(url, builder.as_mut(), stop, |database| {
            database.execute("CREATE INDEX given_up ON t (a)")
        })
    });
    assert!(ended.unwrap().is_err());
}

fn on_mysql(variable: &str) {
    let server = address(variable);
    let mut admin = scratch::open(&server).unwrap();
    let original = original();
    let sql = format!("CREATE DATABASE {original}");
    admin.execute(&sql).unwrap();
    let url = scratch::url_of(&server, &original).unwrap();
    let mut holder = scratch::open(&url).unwrap();
    for sql in ["CREATE TABLE t (a int)", "LOCK TABLES t WRITE"] {
        holder.execute(sql).unwrap();
    }
    let waiting =
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'INSERT INTO `t`%'";
    give_up_copy(&url, admin.as_mut(), waiting);
    let waiting =
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'CREATE INDEX given_up%'";
    give_up_index(&url, admin.as_mut(), waiting);
    drop(holder);
    let sql = format!("DROP DATABASE {original}");
    admin.execute(&sql).unwrap();
}

#[test]
fn what_is_given_up_ends_on_mariadb() {
    on_mysql("HAKARU_TEST_MARIADB_URL");
}

#[test]
fn what_is_given_up_ends_on_mysql() {
    on_mysql("HAKARU_TEST_MYSQL_URL");
}

#[test]
fn what_is_given_up_ends_on_postgres() {
    let server = address("HAKARU_TEST_POSTGRES_URL");
    let beside = scratch::url_of(&server, "postgres").unwrap();
    let (mut admin, mut holder) = (
        scratch::open(&beside).unwrap(),
        scratch::open(&beside).unwrap(),
    );
    let original = original();
    let sql = format!("CREATE DATABASE {original}");
    admin.execute(&sql).unwrap();
    holder.execute("BEGIN").unwrap();
    let sql = format!("ALTER DATABASE {original} RENAME TO {original}_held");
    holder.execute(&sql).unwrap();
    let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                   AND query LIKE 'CREATE DATABASE \"hakaru_scratch_given_up%'";
    let url = scratch::url_of(&server, &original).unwrap();
    give_up_copy(&url, admin.as_mut(), waiting);
    holder.execute("ROLLBACK").unwrap();
    let mut holder = scratch::open(&url).unwrap();
    for sql in ["CREATE TABLE t (a int)", "BEGIN", "LOCK TABLE t"] {
        holder.execute(sql).unwrap();
    }
    let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                   AND query LIKE 'CREATE INDEX given_up%'";
    give_up_index(&url, admin.as_mut(), waiting);
    drop(holder);
    let sql = format!("DROP DATABASE {original}");
    admin.execute(&sql).unwrap();
}
