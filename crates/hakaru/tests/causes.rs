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
  when "/log" then 60.times { |i| LOG.info("line #{i}") }
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

fn run(app: &str, environment: &str, paths: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let mut config = format!(
        "[target]\ncommand = \"puma -q -t 2:2 -b tcp://127.0.0.1:{port} config.ru\"\n\
         url = \"http://127.0.0.1:{port}\"\nenv = {{ RACK_ENV = \"{environment}\" }}\n\
         [load]\nconnections = 2\nduration = \"4s\"\nwarmup = \"1s\"\n"
    );
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    };
    for (number, path) in paths.iter().enumerate() {
        write(
            &format!("{number}.hurl"),
            &format!("GET {{{{base_url}}}}{path}\nHTTP 200\n"),
        );
        config += &format!("[[flow]]\nfile = \"{number}.hurl\"\nweight = 1\n");
    }
    write("hakaru.toml", &config);
    write("config.ru", app);
    json_of(folder.path())
}

fn json_of(folder: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["run", "--json"])
        .current_dir(folder)
        .env_remove("DATABASE_URL")
        .output()
        .expect("hakaru runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
}

#[track_caller]
fn check(json: &Value, id: &str, part: &str) {
    let all = json["findings"].as_array().expect("findings");
    let found = all.iter().find(|finding| finding["id"] == id);
    let told = found.map(Value::to_string).unwrap_or_default();
    let titles: Vec<_> = all
        .iter()
        .map(|finding| finding["title"].to_string())
        .collect();
    assert!(
        told.contains(part),
        "no {id} with {part}: {told} {titles:#?}"
    );
}

#[test]
fn work_that_is_known_by_name_is_found_with_its_line() {
    let json = run(WORK, "production", &["/json", "/marshal", "/log"]);
    check(&json, "json-share", "config.ru:12");
    check(&json, "marshal-share", "config.ru:13");
    check(&json, "logging", "config.ru:14");
}

#[test]
fn garbage_collection_is_found_with_what_asks_for_it() {
    let json = run(WORK, "production", &["/collect"]);
    check(&json, "gc-share", "GC.start");
}

#[test]
fn a_framework_in_development_with_sessions_and_without_keep_alive() {
    let json = run(FRAMEWORK, "development", &["/"]);
    check(&json, "development-mode", "development");
    check(&json, "session-share", "session commit");
    check(&json, "keep-alive-off", "100%");
}
