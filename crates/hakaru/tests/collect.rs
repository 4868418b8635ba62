//! `hakaru collect` over a real `ssh` and `sshd`.

#[path = "../../remote/tests/sshd/mod.rs"]
#[expect(dead_code, reason = "the tests of the transport use more of it")]
mod sshd;

#[path = "support/nginx.rs"]
mod nginx;
#[path = "support/placed.rs"]
mod placed;
#[path = "support/small.rs"]
mod small;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nginx::{Nginx, free_port};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sshd::Hosts;

/// Two logs of two hosts, and a command with writes and rotations of both.
struct Project {
    hosts: Hosts,
}

fn ltsv(path: &str, seconds: &str, upstream: &str) -> String {
    format!("method:GET\turi:{path}\tstatus:200\tsize:10\treqtime:{seconds}\tapptime:{upstream}\n")
}

fn slow(table: &str) -> String {
    format!(
        "# Time: 2026-11-25T01:02:03.456789Z\n# User@Host: a[a] @ localhost []  Id:     8\n\
         # Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 900\nSELECT * FROM {table};\n"
    )
}

impl Project {
    fn new() -> Project {
        let mut hosts = Hosts::new();
        hosts.add("app1", "", "");
        hosts.add("db1", "HAKARU_CLOCK_SHIFT_MS=-300", "");
        let project = Project { hosts };
        project.write("access.log", &ltsv("/before", "9.0", "9.0"));
        project.write("slow.log", &slow("before"));
        project.write(
            "new.log",
            &(ltsv("/items/1", "0.300", "0.100") + &ltsv("/items/2", "0.100", "-")),
        );
        project.write("new-slow.log", &slow("within"));
        let script = "cat new.log >>access.log\nmv access.log access.log.1\ncat new.log >>access.log.1\n\
                      gzip access.log.1\ncat new.log >>access.log\ncat new-slow.log >>slow.log\n";
        project.write("bench.sh", script);
        project.configure("");
        project
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.hosts.path(name), text).expect("written");
    }

    fn configure(&self, more: &str) {
        let folder = self.hosts.path("");
        let folder = folder.display();
        self.write(
            "hakaru.toml",
            &format!(
                "[[host]]\nname = \"app1\"\nroles = [\"proxy\", \"app\"]\nlogs = \"{folder}access.log\"\n\
                 ssh_config = \"config\"\n\
                 [[host]]\nname = \"db1\"\nroles = \"database\"\nlogs = [\"{folder}slow.log\"]\nssh_config = \"config\"\n{more}"
            ),
        );
    }

    /// Runs [`Project::collect`] while the test's process, which is in all samples, uses the CPU.
    fn collect_while_busy(&self, arguments: &[&str]) -> Output {
        let folder = self.hosts.path("");
        let script = fs::read_to_string(folder.join("bench.sh")).expect("the command");
        let waiting = ">started\nwhile [ ! -e busy-enough ]; do :; done\n";
        self.write("bench.sh", &(script + waiting));
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| be_busy(&folder, &is_over));
            let output = self.collect(arguments);
            is_over.store(true, Ordering::Relaxed);
            output
        })
    }

    fn collect(&self, arguments: &[&str]) -> Output {
        Command::new(small::program())
            .arg("collect")
            .args(arguments)
            .args(["--", "sh", "bench.sh"])
            .current_dir(self.hosts.path(""))
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("hakaru runs")
    }
}

/// Uses the CPU for a few of the kernel's ticks, from the start of the command to the end.
fn be_busy(folder: &Path, is_over: &AtomicBool) {
    const TICKS: Duration = Duration::from_millis(100);
    let used = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    };
    let is_waiting = || !folder.join("started").exists();
    while is_waiting() && !is_over.load(Ordering::Relaxed) {}
    let begin = used();
    while used().saturating_sub(begin) < TICKS {}
    fs::write(folder.join("busy-enough"), "").expect("written");
}

fn json(output: &Output, code: i32) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn assert_empty(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn two_hosts_give_the_lines_of_the_window_and_what_was_used_and_keep_nothing() {
    let project = Project::new();
    let document = json(&project.collect_while_busy(&["--json"]), 0);
    assert_eq!(
        (&document["format"], &document["version"]),
        (&"hakaru-collect".into(), &1.into())
    );
    let routes = document["routes"].as_array().expect("routes");
    assert_eq!(routes.len(), 1, "{routes:?}");
    assert_eq!(
        (&routes[0]["route"], &routes[0]["requests"]),
        (&"GET /items/:id".into(), &6.into())
    );
    assert_eq!(
        (&routes[0]["time"]["sum_s"], &routes[0]["upstream"]["count"]),
        (&1.2.into(), &3.into())
    );
    let statements = document["statements"].as_array().expect("statements");
    assert_eq!(statements.len(), 1);
    assert!(
        statements[0]["digest"]
            .as_str()
            .expect("a text")
            .contains("within"),
        "{statements:?}"
    );
    for (host, offset) in document["hosts"]
        .as_array()
        .expect("hosts")
        .iter()
        .zip([0.0, -0.3])
    {
        assert_eq!(host["error"], Value::Null);
        assert!(
            host["usage"]["processes"]
                .as_array()
                .is_some_and(|all| !all.is_empty()),
            "{host}"
        );
        let clock = |key: &str| host["clock"][key].as_f64().expect("seconds");
        assert!(
            (clock("offset_s") - offset).abs() <= clock("bound_s") + 1e-9,
            "{host}"
        );
    }
    assert_empty(&project.hosts.tmp("app1"));
    assert_empty(&project.hosts.tmp("db1"));
}

#[test]
fn the_page_fits_the_terminal_and_names_what_hurts() {
    let project = Project::new();
    let output = project.collect(&[]);
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "HAKARU COLLECT",
        "app1 (proxy, app)",
        "GET /items/:id",
        "SELECT * FROM within",
        "db1 is off by",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let longest = page
        .lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0);
    assert!(longest <= 100, "{longest}: {page}");
}

#[test]
fn a_host_that_is_lost_and_a_log_that_is_missing_are_named_and_the_rest_is_there() {
    let mut project = Project::new();
    project.hosts.add("refused", "", "PubkeyAuthentication no");
    project.configure(
        "[[host]]\nname = \"refused\"\nssh_config = \"config\"\n\
         [[host]]\nname = \"again\"\nssh = \"app1\"\nlogs = \"/nowhere/access.log\"\nssh_config = \"config\"\n",
    );
    let output = project.collect(&["--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = json(&output, 1);
    assert!(said.contains("host refused: refuses the login"), "{said}");
    assert!(
        said.contains("host again: /nowhere/access.log: No such file"),
        "{said}"
    );
    assert_eq!(document["routes"][0]["requests"], 6);
    assert!(
        document["hosts"][2]["error"]
            .as_str()
            .expect("an error")
            .contains("refuses the login")
    );
}

#[test]
fn wrong_usage_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |toml: &str, part: &str| {
        fs::write(folder.path().join("hakaru.toml"), toml).expect("written");
        let mut hakaru = Command::new(small::program());
        hakaru
            .args(["collect", "--for", "1s"])
            .current_dir(folder.path());
        let output = hakaru.output().expect("hakaru runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{part:?}: {said}");
    };
    check("", "there are no hosts");
    check(
        "[[host]]\nname = \"a\"\n[[host]]\nname = \"a\"\n",
        "two hosts are named a",
    );
    check(
        "[[host]]\nname = \"a\"\nlog_format = \"$status\"\n",
        "host a: log_format",
    );
    check(
        "[[host]]\nname = \"a\"\nprogram = \"hakaru.toml\"\n",
        "is no program for Linux",
    );
}

/// An nginx as a proxy of a second server, over a new connection for each request.
fn proxy(folder: &Path, port: u16) -> Nginx {
    let app = free_port();
    let http = format!(
        "log_format ltsv \"method:$request_method\\turi:$request_uri\\tstatus:$status\"\n    \
           \"\\tsize:$body_bytes_sent\\treqtime:$request_time\\tapptime:$upstream_response_time\";\n  \
         server {{ listen 127.0.0.1:{port}; access_log {}/access.log ltsv;\n    \
           location / {{ proxy_pass http://127.0.0.1:{app}; }} }}\n  \
         server {{ listen 127.0.0.1:{app}; access_log off; location / {{ return 200 \"hello\"; }} }}",
        folder.display()
    );
    Nginx::start(folder, port, &http)
}

#[test]
fn an_nginx_that_opens_a_connection_for_each_request_is_named() {
    let mut hosts = Hosts::new();
    hosts.add("web", "", "");
    let folder = hosts.path("nginx");
    fs::create_dir(&folder).expect("a folder");
    let port = free_port();
    let server = proxy(&folder, port);
    let toml = format!(
        "[[host]]\nname = \"web\"\nroles = \"proxy\"\nlogs = \"{}/access.log\"\nssh_config = \"config\"\n",
        folder.display()
    );
    fs::write(hosts.path("hakaru.toml"), toml).expect("written");
    let hakaru = small::program().to_str().expect("a path in UTF-8");
    let url = format!("http://127.0.0.1:{port}/items/1");
    let output = Command::new(hakaru)
        .args([
            "collect", "--json", "--", hakaru, "load", &url, "--rate", "100", "-d", "2s",
        ])
        .current_dir(hosts.path(""))
        .output()
        .expect("hakaru runs");
    drop(server);
    let document = json(&output, 0);
    let route = &document["routes"][0];
    let requests = route["requests"].as_u64().expect("a count");
    assert_eq!(route["upstream"]["count"].as_u64(), Some(requests));
    let notes = document["notes"].as_array().expect("notes");
    let note = notes.iter().find(|note| note["kind"] == "not_kept");
    let note = note.unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!(
        (&note["host"], note["requests"].as_u64()),
        (&"web".into(), Some(requests))
    );
    assert!(
        note["connections_opened"].as_u64() >= Some(requests),
        "{note}"
    );
}

#[test]
fn an_interrupted_collection_gives_what_there_is_and_keeps_nothing() {
    let project = Project::new();
    let mut hakaru = Command::new(small::program())
        .args(["collect", "--json", "--for", "1h"])
        .current_dir(project.hosts.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hakaru runs");
    let mut said = BufReader::new(hakaru.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert!(line.contains("collecting on 2 hosts"), "{line}");
    let pid = Pid::from_child(&hakaru);
    kill_process(pid, Signal::INT).expect("interrupted");
    let output = hakaru.wait_with_output().expect("ended");
    let document = json(&output, 130);
    assert!(document["hosts"][1]["usage"].is_object());
    assert_empty(&project.hosts.tmp("app1"));
}

/// An app with a framework's name of its only route.
const ITEMS: &str = r#"
require "sqlite3"
module Sinatra; end
DB = SQLite3::Database.new(File.join(__dir__, "test.db"))
run ->(env) do
  env["sinatra.route"] = "GET /items/:id"
  DB.execute("SELECT #{rand(100)}")
  sleep 0.005
  [200, {}, ["an item"]]
end
"#;

#[test]
fn the_inside_of_a_running_app_is_added_up_by_route_and_by_statement() {
    let project = Project::new();
    let port = free_port();
    let folder = project.hosts.path("");
    let app = placed::Placed::start(small::program(), &folder, port, ITEMS);
    let get = format!(
        "require 'net/http'; 30.times {{ |i| Net::HTTP.get(URI(\"http://127.0.0.1:{port}/items/#{{i}}\")) }}"
    );
    project.write("get.rb", &get);
    project.write("bench.sh", "ruby get.rb\n");
    let configured = |rings: &Path| {
        project.write(
            "hakaru.toml",
            &format!(
                "[[host]]\nname = 'app1'\nroles = 'app'\nssh_config = 'config'\nrings = '{}'\n",
                rings.display()
            ),
        );
    };
    // Before the first reader, which must not see them.
    let warmed = Command::new("ruby").arg(folder.join("get.rb")).status();
    assert!(warmed.expect("ruby").success());
    configured(&app.rings);
    for _ in 0..2 {
        let document = json(&project.collect(&["--json"]), 0);
        let inside = &document["hosts"][0]["inside"];
        assert_eq!(
            (&inside["error"], &inside["requests"]),
            (&Value::Null, &30.into()),
            "{inside}"
        );
        let route = &inside["routes"][0];
        assert_eq!(
            (&route["route"], &route["requests"], &route["failed"]),
            (&"GET /items/:id".into(), &30.into(), &0.into())
        );
        let (all, sleep) = (
            route["time_s"].as_f64(),
            route["states_s"]["sleep"].as_f64(),
        );
        assert!(sleep > Some(0.14) && all > sleep, "{route}");
        let statement = &inside["statements"][0];
        assert_eq!(
            (&statement["digest"], &statement["calls"]),
            (&"SELECT ?".into(), &30.into())
        );
    }
    let page = project.collect(&[]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    for part in [
        "inside of the app on app1: 30 requests",
        "GET /items/:id",
        "sleep",
        "SELECT ?",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    configured(&folder.join("missing"));
    let output = project.collect(&["--json"]);
    let document = json(&output, 1);
    assert_eq!(
        document["hosts"][0]["inside"]["error"],
        "no agent has served a request there"
    );
}
