//! Causes that no example app has, each planted in an app of a few lines: from the agent or the load generator to
//! the finding.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Work that is known by name, each on a route of its own.
const WORK: &str = r#"
require "json"
require "logger"

LOG = Logger.new(File.join(__dir__, "app.log"))
DATA = Array.new(300) { |i| { "id" => i, "name" => "name #{i}" } }
TEXT = JSON.generate(DATA)
CACHED = Marshal.dump(DATA)

run ->(env) do
  case env["PATH_INFO"]
  when "/json" then 8.times { JSON.generate(JSON.parse(TEXT)) }
  when "/marshal" then 9.times { Marshal.load(CACHED) }
  when "/log" then 150.times { |i| LOG.info("line #{i}") }
  when "/collect" then GC.start
  end
  [200, { "cache-control" => "no-store" }, [env["PATH_INFO"]]]
end
"#;

/// A framework in development, a session that is far too large, connections that are not kept.
const FRAMEWORK: &str = r#"
require "sinatra/base"

class App < Sinatra::Base
  set :host_authorization, permitted_hosts: []
  set :session_secret, "s" * 64
  enable :sessions

  get "/" do
    session[:visits] = (session[:visits] || 0) + 1
    session[:filler] = "x" * 1_500
    headers "connection" => "close", "cache-control" => "no-store"
    "seen #{session[:visits]} times"
  end
end

run App
"#;

/// Text that is long, on one route sent as it is and on another compressed anew for each answer.
const TEXT: &str = r#"
require "rack"

TEXT = Array.new(20_000) { |i| "line #{i} #{(i * 7919) % 10_007}\n" }.join
ANSWER = ->(_env) { [200, { "content-type" => "text/plain", "cache-control" => "no-store" }, [TEXT]] }

map("/plain") { run ANSWER }
map("/packed") do
  use Rack::Deflater
  run ANSWER
end
"#;

/// Memory and files that are never given back, and a program that is waited for.
const KEPT: &str = r#"
FILES = Array.new(230) { File.open("/dev/null") }
KEPT = []

run ->(env) do
  case env["PATH_INFO"]
  when "/keep" then KEPT << ("x" * 1_000_000)
  when "/ask" then system("sleep", "0.03")
  end
  [200, { "cache-control" => "no-store" }, [env["PATH_INFO"]]]
end
"#;

/// Computes and never waits.
const BURN: &str = r#"
run ->(_env) do
  200_000.times { |i| i * 2 }
  [200, { "cache-control" => "no-store" }, ["done"]]
end
"#;

/// On one route a commit, on another a sort that is larger than the memory for it.
const COMMITS: &str = r#"
require "pg"

DB = PG.connect(ENV.fetch("DATABASE_URL"))
DB.exec("SET work_mem = '64kB'")
DB.exec("CREATE TABLE IF NOT EXISTS kept_by_causes (id BIGSERIAL PRIMARY KEY, text TEXT NOT NULL)")
SORT = "SELECT count(*) FROM (SELECT g FROM generate_series(1, 20000) g ORDER BY md5(g::text)) sorted"

run ->(env) do
  case env["PATH_INFO"]
  when "/write" then DB.exec_params("INSERT INTO kept_by_causes (text) VALUES ($1)", ["x"])
  when "/sort" then DB.exec(SORT)
  end
  [200, { "cache-control" => "no-store" }, [env["PATH_INFO"]]]
end
"#;

/// An app of a few lines, and how it is run.
struct Small<'a> {
    app: &'a str,
    environment: &'a str,
    /// What starts it but for where it listens.
    puma: &'a str,
    /// Of `[load]`, with its lengths.
    load: &'a str,
    paths: &'a [&'a str],
    /// A line of each request.
    header: &'a str,
    database: Option<&'a str>,
}

impl<'a> Small<'a> {
    fn new(app: &'a str, paths: &'a [&'a str]) -> Small<'a> {
        Small {
            app,
            environment: "production",
            puma: "puma -q -t 2:2",
            load: "connections = 2\nduration = \"4s\"",
            paths,
            header: "",
            database: None,
        }
    }

    /// One thread and one client, so that nothing is waited for but what is planted.
    fn alone(app: &'a str, paths: &'a [&'a str]) -> Small<'a> {
        Small {
            puma: "puma -q -t 1:1",
            load: "connections = 1\nduration = \"3s\"",
            ..Small::new(app, paths)
        }
    }

    fn json(&self) -> Value {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let Small {
            puma,
            environment,
            load,
            header,
            ..
        } = self;
        let mut config = format!(
            "[target]\ncommand = \"{puma} -b tcp://127.0.0.1:{port} config.ru\"\n\
             url = \"http://127.0.0.1:{port}\"\nenv = {{ RACK_ENV = \"{environment}\" }}\n\
             [load]\n{load}\nwarmup = \"1s\"\n"
        );
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("it is written");
        };
        for (number, path) in self.paths.iter().enumerate() {
            write(
                &format!("{number}.hurl"),
                &format!("GET {{{{base_url}}}}{path}\n{header}\nHTTP 200\n"),
            );
            config += &format!("[[flow]]\nfile = \"{number}.hurl\"\nweight = 1\n");
        }
        write("hakaru.toml", &config);
        write("config.ru", self.app);
        json_of(folder.path(), self.database)
    }
}

fn json_of(folder: &Path, database: Option<&str>) -> Value {
    let mut hakaru = Command::new(env!("CARGO_BIN_EXE_hakaru"));
    hakaru
        .args(["run", "--json"])
        .current_dir(folder)
        .env_remove("DATABASE_URL");
    if let Some(url) = database {
        hakaru.env("DATABASE_URL", url);
    }
    let output = hakaru.output().expect("hakaru runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
}

fn found(json: &Value) -> impl Iterator<Item = &Value> {
    json["findings"].as_array().expect("findings").iter()
}

fn titles(json: &Value) -> Vec<String> {
    found(json)
        .map(|finding| format!("{} {}", finding["id"], finding["title"]))
        .collect()
}

#[track_caller]
fn check(json: &Value, id: &str, part: &str) {
    let told = |finding: &Value| finding["id"] == id && finding.to_string().contains(part);
    assert!(
        found(json).any(told),
        "no {id} with {part}: {:#?}",
        titles(json)
    );
}

/// Nothing else is to be fixed, but for hints.
#[track_caller]
fn check_no_other(json: &Value, planted: &[&str]) {
    for finding in found(json) {
        let id = finding["id"].as_str().expect("an id");
        let doubt = finding["remedy"]["safety"] == "none";
        assert!(
            doubt || finding["confidence"] == "low" || planted.contains(&id),
            "{finding:#}"
        );
    }
}

#[test]
fn work_that_is_known_by_name_is_found_with_its_line() {
    // Several at once would hand the GVL to each other with each line of the log, and wait for it most of the time.
    let json = Small::alone(WORK, &["/json", "/marshal", "/log"]).json();
    check(&json, "json-share", "config.ru:12");
    check(&json, "marshal-share", "config.ru:13");
    check(&json, "logging", "config.ru:14");
}

#[test]
fn garbage_collection_is_found_with_what_asks_for_it() {
    let json = Small::new(WORK, &["/collect"]).json();
    check(&json, "gc-share", "GC.start");
}

#[test]
fn a_framework_in_development_with_sessions_and_without_keep_alive() {
    let json = Small {
        environment: "development",
        ..Small::new(FRAMEWORK, &["/"])
    }
    .json();
    check(&json, "development-mode", "development");
    check(&json, "session-share", "session commit");
    check(&json, "keep-alive-off", "100%");
}

#[test]
fn text_that_is_not_compressed_and_text_that_is_compressed_in_the_app() {
    let text = Small::alone(TEXT, &["/plain", "/packed"]);
    let json = Small {
        header: "Accept-Encoding: gzip",
        ..text
    }
    .json();
    check(&json, "compression-missing", "GET /plain");
    check(&json, "compression-cpu", "GET /packed");
    check_no_other(&json, &["compression-missing", "compression-cpu"]);
    // Who is not asked to compress may well do it for others.
    let json = Small::alone(TEXT, &["/plain"]).json();
    check(&json, "compression-missing", "no flow offered");
    check_no_other(&json, &[]);
}

/// The only long one: memory must grow for 15 s before that is said.
#[test]
fn memory_that_only_grows_files_that_stay_open_and_a_program_that_is_waited_for() {
    let json = Small {
        puma: "ulimit -n 256 && exec puma -q -t 4:4",
        load: "rate = 10\nduration = \"18s\"",
        ..Small::new(KEPT, &["/keep", "/ask"])
    }
    .json();
    check(&json, "memory-growth", "grows by");
    check(&json, "wait", "config.ru:8");
    check(&json, "wait", "a subprocess");
    check(&json, "fd-limit", "of 256 files");
    check_no_other(&json, &["memory-growth", "wait", "fd-limit"]);
}

#[test]
fn more_workers_than_cores_wait_for_one() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let puma = format!("puma -q -w {} -t 1:1", 2 * cores);
    let load = format!("connections = {}\nduration = \"3s\"", 2 * cores);
    let json = Small {
        puma: &puma,
        load: &load,
        ..Small::new(BURN, &["/"])
    }
    .json();
    check(&json, "cpu-wait", &format!("-w {cores}"));
    // Where other programs take the cores it is them who are named.
    let others = found(&json).any(|finding| finding["id"] == "host-busy");
    if !others {
        check(&json, "cpu-saturated", "the app uses");
    }
    check_no_other(&json, &["cpu-wait", "cpu-saturated"]);
}

#[test]
fn settings_of_postgresql_that_cost_something() {
    let url = std::env::var("HAKARU_TEST_POSTGRES_URL")
        .expect("HAKARU_TEST_POSTGRES_URL is set; bin/test starts the servers that tests need");
    let json = Small {
        database: Some(&url),
        ..Small::alone(COMMITS, &["/write", "/write", "/write", "/write", "/sort"])
    }
    .json();
    check(&json, "database-settings", "synchronous_commit");
    check(&json, "database-settings", "temporary files");
    check_no_other(&json, &["database-settings"]);
}
