//! SQL, outgoing HTTP and stores, as recorded by the agent through the real drivers.

use crate::support::{Puma, free_port};
use recording::{Handled, TextId};

/// Requests each path once and returns the agent's records.
fn seen(app: &str, paths: &[&str], env: &[(&str, &str)]) -> (Puma, Vec<Handled>) {
    let mut puma = Puma::start_with(&["-t", "1:1"], app, env);
    let mut client = puma.connect();
    for (number, path) in paths.iter().enumerate() {
        let answer = client.get(path, number as u64 + 1);
        assert_eq!(
            answer.as_ref().map(|(status, _)| *status),
            Some(200),
            "{path}: {answer:?}"
        );
    }
    puma.poll_until("all requests", |puma| puma.handled.len() == paths.len());
    let handled = std::mem::take(&mut puma.handled);
    assert!(
        puma.rings
            .processes()
            .iter()
            .all(|process| process.troubles.is_empty()),
        "{:?}",
        puma.rings.processes()
    );
    (puma, handled)
}

/// Digest, source line, count and rows of the request's calls.
fn calls(puma: &Puma, handled: &Handled) -> Vec<(String, String, u32, u64)> {
    handled
        .sql
        .iter()
        .map(|sql| {
            (
                puma.text(sql.digest).to_owned(),
                puma.text(sql.site).to_owned(),
                sql.count,
                sql.rows,
            )
        })
        .collect()
}

fn call(digest: &str, site: &str, count: u32, rows: u64) -> (String, String, u32, u64) {
    (digest.to_owned(), site.to_owned(), count, rows)
}

fn server(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is set; bin/test starts the servers that tests need"))
}

#[test]
fn sqlite_calls_are_recorded_with_digest_line_and_rows() {
    let app = r##"
require "sqlite3"
DB = SQLite3::Database.new(File.join(__dir__, "test.db"))
DB.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT)")
3.times { |i| DB.execute("INSERT INTO t (n) VALUES (?)", ["n#{i}"]) }
def find(id)
  DB.execute("SELECT * FROM t WHERE id = #{id}")
end
run ->(env) do
  3.times { |i| find(i + 1) }
  statement = DB.prepare("SELECT n FROM t WHERE id > ?")
  statement.execute(1).to_a
  statement.close
  [200, {}, ["ok"]]
end
"##;
    let (puma, handled) = seen(app, &["/", "/"], &[]);
    for handled in &handled {
        assert_eq!(
            calls(&puma, handled),
            [
                call(
                    "SELECT * FROM t WHERE id = ?",
                    "config.ru:7 in find < config.ru:10",
                    3,
                    3
                ),
                call("SELECT n FROM t WHERE id > ?", "config.ru:12", 1, 0),
            ]
        );
        assert_eq!(handled.statements, 4);
        assert!(handled.parts.sql_running.0 > 0);
    }
    let url = puma.rings.database_url().expect("the database is told");
    assert!(
        url.starts_with("sqlite:/") && url.ends_with("/test.db"),
        "{url}"
    );
    let digest = TextId::of(b"SELECT * FROM t WHERE id = ?");
    assert_eq!(
        puma.rings.samples()[&digest],
        "SELECT * FROM t WHERE id = 1"
    );
}

/// Statements as in ActiveRecord's adapters: 7.2 asks a prepared statement for the rows, 8 steps
/// through a statement without rows.
#[test]
fn prepared_sqlite_statements_are_recorded_once_however_their_rows_are_fetched() {
    let app = r##"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
DB.execute("CREATE TABLE t (n INTEGER)")
4.times { |i| DB.execute("INSERT INTO t (n) VALUES (?)", [i]) }
def prepared(sql, *values) = DB.prepare(sql).tap { |statement| statement.bind_params(values) }
run ->(env) do
  statements = [
    prepared("SELECT n FROM t WHERE n > ?", 0),
    prepared("UPDATE t SET n = n WHERE n = ?", 2),
    prepared("SELECT n FROM t WHERE n < ?", 2)
  ]
  statements[0].to_a
  statements[1].step
  nil while statements[2].step
  statements.each(&:close)
  [200, {}, ["ok"]]
end
"##;
    let (puma, handled) = seen(app, &["/", "/"], &[]);
    for handled in &handled {
        assert_eq!(
            calls(&puma, handled),
            [
                call("SELECT n FROM t WHERE n > ?", "config.ru:13", 1, 3),
                call("UPDATE t SET n = n WHERE n = ?", "config.ru:14", 1, 0),
            ],
            "rows that are stepped through by hand are not told apart from one statement a row"
        );
        assert_eq!(handled.statements, 2);
    }
}

#[test]
fn mysql_calls_are_recorded_also_when_the_driver_is_loaded_late() {
    let url = server("HAKARU_TEST_MARIADB_URL");
    let app = r##"
require "uri"
URL = URI(ENV.fetch("MARIADB"))
def connect = Mysql2::Client.new(host: URL.host, port: URL.port, username: URL.user, password: URL.password)
run ->(env) do
  require "mysql2"
  client = connect
  client.query("SELECT 1 AS a UNION SELECT 2")
  statement = client.prepare("SELECT ? AS b")
  2.times { |i| statement.execute(i).to_a }
  client.close
  [200, {}, ["ok"]]
end
"##;
    let (puma, handled) = seen(app, &["/", "/"], &[("MARIADB", &url)]);
    for handled in &handled {
        assert_eq!(
            calls(&puma, handled),
            [
                call("SELECT ? AS a UNION SELECT ?", "config.ru:8", 1, 2),
                call("SELECT ? AS b", "config.ru:10", 2, 2),
            ]
        );
        assert!(handled.parts.sql_waiting.0 > 0);
    }
    let told = puma.rings.database_url().expect("the database is told");
    assert!(
        told.starts_with("mysql://") && told.contains("@127.0.0.1:"),
        "{told}"
    );
}

#[test]
fn postgres_calls_are_recorded() {
    let url = server("HAKARU_TEST_POSTGRES_URL");
    let app = r##"
require "pg"
DB = PG.connect(ENV.fetch("POSTGRES"))
DB.prepare("two", "SELECT $1::int + 2")
run ->(env) do
  DB.exec("SELECT 1")
  DB.exec_params("SELECT $1::text", ["x"])
  DB.exec_prepared("two", [3])
  [200, {}, ["ok"]]
end
"##;
    let (puma, handled) = seen(app, &["/", "/"], &[("POSTGRES", &url)]);
    // A statement prepared before the first request is known by its name alone.
    assert_eq!(
        calls(&puma, &handled[1]),
        [
            call("SELECT ?", "config.ru:6", 1, 1),
            call("SELECT ?::text", "config.ru:7", 1, 1),
            call("two", "config.ru:8", 1, 1),
        ]
    );
}

#[test]
fn outgoing_http_is_recorded_with_its_host() {
    let app = r##"
require "net/http"
run ->(env) do
  next [200, {}, ["inner"]] if env["PATH_INFO"] == "/inner"
  Net::HTTP.get(URI("http://127.0.0.1:#{ENV.fetch("OTHER")}/inner"))
  [200, {}, ["ok"]]
end
"##;
    let inner = Puma::start(
        &["-t", "1:1"],
        "run ->(env) { sleep 0.01; [200, {}, ['inner']] }",
    );
    let (puma, handled) = seen(app, &["/"], &[("OTHER", &inner.port.to_string())]);
    assert_eq!(
        calls(&puma, &handled[0]),
        [
            call("HTTP connect 127.0.0.1", "config.ru:5", 1, 0),
            call("HTTP GET 127.0.0.1", "config.ru:5", 1, 0),
        ]
    );
    assert!(handled[0].parts.http_waiting.0 >= 10_000_000);
    assert_eq!(handled[0].statements, 0);
}

/// The store in the test replies to every command alike.
#[test]
fn calls_of_stores_are_recorded_by_command() {
    let app = r##"
require "redis"
require "socket"
server = TCPServer.new("127.0.0.1", 0)
Thread.new do
  while (client = server.accept)
    Thread.new(client) do |peer|
      while (line = peer.gets)
        line[1..].to_i.times { peer.read(peer.gets[1..].to_i + 2) }
        peer.write("+OK\r\n")
      end
    end
  end
end
REDIS = Redis.new(host: "127.0.0.1", port: server.addr[1], protocol: 2)
REDIS.ping
run ->(env) do
  3.times { |n| REDIS.get("user:#{n}") }
  REDIS.pipelined { |pipe| 2.times { |n| pipe.get("user:#{n}") } }
  [200, {}, [REDIS.set("seen", 1)]]
end
"##;
    let (puma, handled) = seen(app, &["/"], &[]);
    assert_eq!(
        calls(&puma, &handled[0]),
        [
            call("Redis GET", "config.ru:18", 3, 0),
            call("Redis pipelined", "config.ru:19", 1, 0),
            call("Redis SET", "config.ru:20", 1, 0),
        ]
    );
    assert!(handled[0].parts.http_waiting.0 > 0);
    assert_eq!(handled[0].statements, 0);
}

#[test]
fn a_store_that_is_down_raises_in_the_app_as_without_us() {
    let app = r##"
require "dalli"
STORE = Dalli::Client.new("127.0.0.1:#{ENV.fetch("OTHER")}", socket_max_failures: 0)
Dalli.logger.level = Logger::FATAL
run ->(env) do
  STORE.set("a", 1)
  [500, {}, []]
rescue Dalli::RingError, Dalli::NetworkError => error
  [200, {}, [error.class.name]]
end
"##;
    let (puma, handled) = seen(app, &["/"], &[("OTHER", &free_port().to_string())]);
    assert_eq!(
        calls(&puma, &handled[0]),
        [call("Memcached set", "config.ru:6", 1, 0)]
    );
}

/// A gem chaining a driver's method after the first request captures the agent's as "the original".
#[test]
fn a_method_chained_by_another_gem_does_not_go_round_in_circles() {
    let app = r##"
require "sqlite3"
DB = SQLite3::Database.new(":memory:")
DB.execute("SELECT 1")
def chain
  SQLite3::Database.class_eval do
    alias_method :execute_without_gem, :execute
    def execute(sql, *rest, &block)
      execute_without_gem("#{sql} /* traced */", *rest, &block)
    end
  end
end
run ->(env) do
  chain if env["PATH_INFO"] == "/chain"
  rows = DB.execute("SELECT 41 + 1 AS n")
  [200, {}, [rows.inspect]]
end
"##;
    let mut puma = Puma::start(&["-t", "1:1"], app);
    let mut client = puma.connect();
    let expected = Some((200, "[[42]]".to_owned()));
    assert_eq!(client.get("/", 1), expected);
    assert_eq!(client.get("/chain", 2), expected);
    assert_eq!(client.get("/", 3), expected);
    puma.poll_until("all requests", |puma| puma.handled.len() == 3);
    for handled in &puma.handled {
        assert_eq!(handled.statements, 1, "counted once, chained or not");
    }
}

#[test]
fn a_port_nobody_listens_on_raises_in_the_app_as_without_us() {
    let app = r##"
require "net/http"
run ->(env) do
  begin
    Net::HTTP.get(URI("http://127.0.0.1:#{ENV.fetch("OTHER")}/"))
  rescue => error
    next [200, {}, [error.class.name]]
  end
  [500, {}, []]
end
"##;
    let (puma, handled) = seen(app, &["/"], &[("OTHER", &free_port().to_string())]);
    assert_eq!(calls(&puma, &handled[0])[0].2, 1);
}

#[test]
fn routes_are_the_frameworks_own() {
    let app = r##"
require "sinatra/base"
class App < Sinatra::Base
  get("/channel/:id") { "channel #{params[:id]}" }
end
run App
"##;
    let (puma, handled) = seen(app, &["/channel/1", "/channel/2"], &[]);
    for handled in &handled {
        assert_eq!(puma.text(handled.route), "GET /channel/:id");
    }
}
