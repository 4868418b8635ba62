//! Costs of the database server, the server's settings and the driver.

use schema_db::Database;
use schema_db::scratch::{open, url_of};

use crate::small::{Small, check, check_no_other};

/// An app with a commit on one route, and on another a sort larger than the memory for sorts.
const POSTGRES: &str = r#"
require "pg"

DB = PG.connect(ENV.fetch("DATABASE_URL"))
DB.exec("SET work_mem = '64kB'")
DB.exec("CREATE TABLE kept (id BIGSERIAL PRIMARY KEY, text TEXT NOT NULL)")
WRITE = "INSERT INTO kept (text) SELECT repeat('x', 100) FROM generate_series(1, 200)"
SORT = "SELECT max(filler) FROM (SELECT repeat('x', 400) AS filler FROM generate_series(1, 5000) g
        ORDER BY md5(g::text)) sorted"

run ->(env) do
  case env["PATH_INFO"]
  when "/write" then DB.exec(WRITE)
  when "/sort" then DB.exec(SORT)
  end
  [200, { "cache-control" => "no-store" }, [env["PATH_INFO"]]]
end
"#;

const MYSQL: &str = r#"
require "mysql2"
require "uri"

def connect
  url = URI(ENV.fetch("DATABASE_URL"))
  Mysql2::Client.new(host: url.host, port: url.port, username: url.user, password: url.password,
                     database: url.path.delete_prefix("/"))
end
"#;

/// An app with commits, random reads of many pages, and tables joined on the disk.
const SETTINGS: &str = r#"
DB = connect
DB.query("CREATE TABLE written (id INT PRIMARY KEY AUTO_INCREMENT, text VARCHAR(200) NOT NULL)")
DB.query("CREATE TABLE pages (id INT PRIMARY KEY, text VARBINARY(8100) NOT NULL)")
DB.query("CREATE TABLE notes (id INT PRIMARY KEY, text TEXT NOT NULL)")
(1..6_000).each_slice(100) do |ids|
  DB.query("INSERT INTO pages VALUES #{ids.map { |id| "(#{id}, REPEAT('x', 8000))" }.join(", ")}")
end
DB.query("INSERT INTO notes VALUES #{(1..50).map { |id| "(#{id}, 'note #{id}')" }.join(", ")}")
DB.query("ANALYZE TABLE pages").to_a
WRITE = "INSERT INTO written (text) VALUES #{(["(REPEAT('y', 200))"] * 200).join(", ")}"
UNION = "SELECT SQL_NO_CACHE text FROM notes WHERE id < 40 UNION SELECT text FROM notes WHERE id > 10"

run ->(env) do
  case env["PATH_INFO"]
  when "/write" then DB.query(WRITE)
  when "/union" then DB.query(UNION).to_a
  when "/read"
    ids = Array.new(20) { rand(1..6_000) }
    DB.query("SELECT SUM(LENGTH(text)) AS sum FROM pages WHERE id IN (#{ids.join(", ")})").to_a
  end
  [200, { "cache-control" => "no-store" }, [env["PATH_INFO"]]]
end
"#;

const WRITES: &str = r#"
DB = connect
DB.query("CREATE TABLE written (id INT PRIMARY KEY AUTO_INCREMENT, text VARCHAR(200) NOT NULL)")
WRITE = "INSERT INTO written (text) VALUES #{(["(REPEAT('y', 200))"] * 200).join(", ")}"

run ->(_env) do
  DB.query(WRITE)
  [200, { "cache-control" => "no-store" }, ["written"]]
end
"#;

/// 20 rows, each of which comes 5 ms after the one before and is larger than what the server holds
/// back. The driver fetches rows of a prepared statement with the GVL held.
const SLOW_ROWS: &str = r#"
ROWS = "SELECT SLEEP(0.005) AS pause, REPEAT('x', 20000) AS text FROM seq_1_to_20"

run ->(_env) do
  kept = Thread.current.thread_variable_get(:kept)
  unless kept
    client = connect
    kept = [client, client.prepare(ROWS)]
    Thread.current.thread_variable_set(:kept, kept)
  end
  [200, { "cache-control" => "no-store" }, [kept.last.execute.to_a.size.to_s]]
end
"#;

/// An app with a rollback journal, and on one route a database locked for good by another
/// connection.
const ROLLED_BACK: &str = r#"
require "sqlite3"

def open(name)
  SQLite3::Database.new(File.join(__dir__, name)).tap do |db|
    db.execute("CREATE TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
  end
end

DB = open("writes.db")
HOLDER = open("held.db")
HOLDER.execute("BEGIN IMMEDIATE")
SECOND = open("held.db")
WRITE = "INSERT INTO kept (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
         SELECT printf('text %d', i) FROM n"

run ->(env) do
  (env["PATH_INFO"] == "/held" ? SECOND : DB).execute(WRITE)
  [200, { "cache-control" => "no-store" }, ["written"]]
rescue SQLite3::BusyException => e
  [503, {}, [e.message]]
end
"#;

/// An app with a write-ahead log, flushed with each commit.
const FLUSHED: &str = r#"
require "sqlite3"

DB = SQLite3::Database.new(File.join(__dir__, "writes.db"))
DB.execute("PRAGMA journal_mode = WAL")
DB.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
WRITE = "INSERT INTO kept (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
         SELECT printf('text %d', i) FROM n"

run ->(_env) do
  DB.execute("PRAGMA synchronous = FULL")
  DB.execute(WRITE)
  [200, { "cache-control" => "no-store" }, ["written"]]
end
"#;

/// A new database on a test server, and planted settings; a drop reverts both.
struct Planted {
    server: Box<dyn Database>,
    name: &'static str,
    url: String,
    /// Statements to restore the settings.
    undo: Vec<String>,
}

impl Planted {
    fn new(
        variable: &str,
        name: &'static str,
        settings: &[(&'static str, &'static str)],
    ) -> Planted {
        let url = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} is not set; bin/test starts the servers that tests need")
        });
        let server = open(&url).unwrap_or_else(|error| panic!("{}", error.message));
        let mut planted = Planted {
            server,
            name,
            url: url_of(&url, name).expect("the address names a database"),
            undo: Vec::new(),
        };
        planted.execute(&format!("DROP DATABASE IF EXISTS {name}"));
        planted.execute(&format!("CREATE DATABASE {name}"));
        for (setting, value) in settings {
            if url.starts_with("postgres") {
                planted.set_of_postgres(&url, setting, value);
            } else {
                planted.set_of_mysql(setting, value);
            }
        }
        planted
    }

    fn set_of_mysql(&mut self, setting: &str, value: &str) {
        let was = ask(&mut *self.server, &format!("SELECT @@GLOBAL.{setting}"));
        self.undo.push(format!("SET GLOBAL {setting} = {was}"));
        self.execute(&format!("SET GLOBAL {setting} = {value}"));
    }

    /// For every connection from now on.
    fn set_of_postgres(&mut self, url: &str, setting: &str, value: &str) {
        const RELOAD: &str = "SELECT pg_reload_conf()";
        self.execute(&format!("ALTER SYSTEM SET {setting} = {value}"));
        self.execute(RELOAD);
        self.undo.push(format!("ALTER SYSTEM RESET {setting}"));
        self.undo.push(RELOAD.to_owned());
        let holds = || {
            let mut server = open(url).unwrap_or_else(|error| panic!("{}", error.message));
            ask(&mut *server, &format!("SHOW {setting}")) == value
        };
        assert!((0..1000).any(|_| holds()), "{setting} stays as it was");
    }

    fn execute(&mut self, sql: &str) {
        let done = self.server.execute(sql);
        done.unwrap_or_else(|error| panic!("{sql}: {}", error.message));
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        // What fails here has no other consequence than more to be seen on a server that goes with
        // the tests.
        for statement in &self.undo {
            let _ = self.server.execute(statement);
        }
        let _ = self.server.execute(&format!("DROP DATABASE {}", self.name));
    }
}

/// The first value of a query's result.
fn ask(server: &mut dyn Database, query: &str) -> String {
    let rows = server.query(query);
    let rows = rows.unwrap_or_else(|error| panic!("{}", error.message));
    rows.into_iter()
        .flatten()
        .flatten()
        .next()
        .expect("a value")
}

#[test]
fn settings_of_postgresql() {
    let settings = [("fsync", "on")];
    let planted = Planted::new("HAKARU_TEST_POSTGRES_URL", "hakaru_causes", &settings);
    let json = Small {
        database: Some(&planted.url),
        ..Small::alone(POSTGRES, &["/write", "/write", "/write", "/write", "/sort"])
    }
    .json();
    check(&json, "database-settings", "synchronous_commit");
    check(&json, "database-settings", "temporary files");
    check_no_other(&json, &["database-settings"]);
}

#[test]
fn settings_of_mariadb() {
    let settings = [
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_buffer_pool_size", "16777216"),
        ("query_cache_type", "ON"),
        ("slow_query_log", "ON"),
        ("long_query_time", "0"),
    ];
    let planted = Planted::new("HAKARU_TEST_MARIADB_URL", "hakaru_causes", &settings);
    let json = Small {
        database: Some(&planted.url),
        ..Small::alone(&[MYSQL, SETTINGS].concat(), &["/write", "/read", "/union"])
    }
    .json();
    for part in [
        "innodb_flush_log_at_trx_commit=1",
        "the buffer pool holds 16.0 MiB",
        "the query cache answers",
        "slow_query_log",
        "temporary tables per second on disk",
    ] {
        check(&json, "database-settings", part);
    }
    check_no_other(&json, &["database-settings"]);
}

#[test]
fn a_binary_log_of_mysql() {
    let settings = [("sync_binlog", "1")];
    let planted = Planted::new("HAKARU_TEST_MYSQL_URL", "hakaru_causes", &settings);
    let json = Small {
        database: Some(&planted.url),
        ..Small::alone(&[MYSQL, WRITES].concat(), &["/"])
    }
    .json();
    check(&json, "database-settings", "sync_binlog=1");
    check_no_other(&json, &["database-settings"]);
}

#[test]
fn a_driver_that_waits_with_the_gvl_held() {
    let planted = Planted::new("HAKARU_TEST_MARIADB_URL", "hakaru_causes_gvl", &[]);
    let json = Small {
        database: Some(&planted.url),
        ..Small::new(&[MYSQL, SLOW_ROWS].concat(), &["/"])
    }
    .json();
    check(&json, "gvl-in-sql", "for the database with the GVL held");
    check(&json, "gvl-in-sql", "config.ru:");
}

#[test]
fn settings_of_sqlite() {
    let json = Small {
        code: 4,
        ..Small::alone(ROLLED_BACK, &["/write", "/held"])
    }
    .json();
    check(&json, "database-settings", "journal_mode is delete");
    check(&json, "database-settings", "database is locked");
    // SQLite flushes with the GVL held, which a slow disk makes worth a word.
    check_no_other(&json, &["database-settings", "errors", "gvl-in-sql"]);
    let json = Small::alone(FLUSHED, &["/"]).json();
    check(&json, "database-settings", "the app sets it to FULL");
    check_no_other(&json, &["database-settings", "gvl-in-sql"]);
}
