//! `hakaru load --on` over a real `ssh` and `sshd`.

#[path = "support/small.rs"]
mod small;
#[path = "../../remote/tests/sshd/mod.rs"]
#[expect(dead_code, reason = "the tests of the transport use more of it")]
mod sshd;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sshd::Hosts;

/// A server with a channel of the requested paths.
fn serve() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    let (paths, came) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let paths: Sender<String> = paths.clone();
            thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a second handle");
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if let Some(path) = line.strip_prefix("GET ") {
                        let _ = paths.send(path.replace(" HTTP/1.1", ""));
                    }
                    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
                    if line.is_empty() && writer.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, came)
}

/// Two hosts, the second with a shifted clock, and a third without access.
struct Project {
    hosts: Hosts,
}

impl Project {
    fn new() -> Project {
        let mut hosts = Hosts::new();
        hosts.add("load1", "", "");
        hosts.add("load2", "HAKARU_CLOCK_SHIFT_MS=-300", "");
        hosts.add("refused", "", "PubkeyAuthentication no");
        let project = Project { hosts };
        let tables = ["load1", "load2", "refused"]
            .map(|name| format!("[[host]]\nname = \"{name}\"\nssh_config = \"config\"\n"));
        project.write(
            "hakaru.toml",
            &format!(
                "[target]\nhost_ok = [\"load1\", \"load2\", \"refused\"]\n{}",
                tables.concat()
            ),
        );
        project
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.hosts.path(name), text).expect("written");
    }

    fn load(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(small::program());
        command
            .arg("load")
            .args(arguments)
            .current_dir(self.hosts.path(""))
            .env("LC_ALL", "C.UTF-8")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.load(arguments).output().expect("hakaru runs")
    }

    fn assert_nothing_is_left(&self) {
        for host in ["load1", "load2"] {
            let tmp = self.hosts.tmp(host);
            let left: Vec<_> = fs::read_dir(&tmp).expect("a folder").collect();
            assert!(left.is_empty(), "{left:?}");
            // A process that ends is there until whoever started it has noticed.
            while !generators(&tmp).is_empty() {
                thread::yield_now();
            }
        }
    }
}

/// Process ids of generators by their temporary folder.
fn generators(tmp: &Path) -> Vec<Pid> {
    let variable = format!("TMPDIR={}", tmp.display());
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let is_one = |folder: &Path| {
        let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
        let environment = read("environ");
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|one| one == variable.as_bytes()) && read("comm").starts_with(b"hakaru")
    };
    let pid = |folder: &Path| Pid::from_raw(folder.file_name()?.to_str()?.parse().ok()?);
    let found = processes.map(|entry| entry.path());
    found
        .filter(|folder| is_one(folder))
        .filter_map(|folder| pid(&folder))
        .collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", said(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn end(child: Child) -> Output {
    child.wait_with_output().expect("ended")
}

#[test]
fn two_hosts_send_one_plan_start_together_and_keep_nothing() {
    let project = Project::new();
    let url = format!("http://{}/", serve().0);
    let flags = ["--rate", "50..250/2s", "--expect", "requests = 300"];
    let on = ["--on", "load1,load2", "--json"];
    let output = project.run(&[&[url.as_str()], &flags[..], &on[..]].concat());
    let document = json(&output, 0);
    assert_eq!(document["requests"], 300);
    assert_eq!(document["expectations"][0]["held"], true);
    let lines = document["generators"].as_array().expect("a list");
    let names: Vec<&Value> = lines.iter().map(|line| &line["name"]).collect();
    assert_eq!(names, ["load1", "load2"]);
    let number = |line: &Value, key: &str| line[key].as_f64().expect(key);
    assert!(
        lines.iter().all(|line| line["requests"] == 150),
        "{lines:?}"
    );
    let bound: f64 = lines
        .iter()
        .map(|line| number(line, "clock_bound_ms"))
        .sum();
    for line in lines {
        // A clock that is off by 300 ms moves neither the start nor what is said of it.
        assert!(number(line, "started_after_ms") <= 2.0 * bound, "{lines:?}");
    }
    project.assert_nothing_is_left();
}

#[test]
fn flows_and_feeds_come_along_and_each_row_has_one_user() {
    let project = Project::new();
    let (address, paths) = serve();
    project.write(
        "one.hurl",
        "GET /{{user_name}}/{{run}}\nX-Token: {{token}}\nHTTP 200\n",
    );
    project.write("users.csv", "name\na\nb\nc\nd\n");
    let hosts = fs::read_to_string(project.hosts.path("hakaru.toml")).expect("hosts");
    project.write(
        "hakaru.toml",
        &format!("{hosts}[variables]\ntoken = \"secret\"\n"),
    );
    let url = format!("http://{address}");
    let output = project.run(&[
        &url,
        "--flow",
        "one.hurl",
        "--csv",
        "user=users.csv",
        "-c",
        "4",
        "-d",
        "1s",
        "--on",
        "load1,load2",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let mut users: BTreeMap<String, u64> = BTreeMap::new();
    let mut runs: BTreeMap<String, u64> = BTreeMap::new();
    for path in paths.try_iter() {
        let mut parts = path.split('/').skip(1).map(str::to_owned);
        let (user, run) = (parts.next().expect("a user"), parts.next().expect("a run"));
        *users.entry(user).or_default() += 1;
        *runs.entry(run).or_default() += 1;
    }
    let names: Vec<&String> = users.keys().collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert_eq!(runs.len(), 1, "{runs:?}");
    project.assert_nothing_is_left();
}

#[test]
fn a_generator_that_is_lost_fails_the_run_by_name_and_ends_the_others() {
    let project = Project::new();
    let (address, paths) = serve();
    let url = format!("http://{address}/");
    let child = project
        .load(&[
            &url,
            "--rate",
            "100",
            "-d",
            "10m",
            "--on",
            "load1,load2",
            "-H",
            "X-Token: secret",
        ])
        .spawn()
        .expect("hakaru runs");
    paths.recv().expect("a request");
    let pids = generators(&project.hosts.tmp("load2"));
    assert!(!pids.is_empty());
    for pid in pids {
        let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).expect("words");
        let words = String::from_utf8_lossy(&words);
        assert!(!words.contains("secret"), "{words}");
        kill_process(pid, Signal::KILL).expect("killed");
    }
    let output = end(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("generator 1/2: host load2: "),
        "{}",
        said(&output)
    );
    assert!(output.stdout.is_empty());
    project.assert_nothing_is_left();
}

#[test]
fn an_interrupted_load_shows_what_all_measured_until_then() {
    let project = Project::new();
    let (address, paths) = serve();
    let url = format!("http://{address}/");
    let flags = [
        "--rate",
        "100",
        "-d",
        "10m",
        "--json",
        "--on",
        "load1,load2",
    ];
    let child = project
        .load(&[&[url.as_str()], &flags[..]].concat())
        .spawn()
        .expect("hakaru runs");
    paths.recv().expect("a request");
    kill_process(Pid::from_child(&child), Signal::INT).expect("interrupted");
    let document = json(&end(child), 130);
    assert_eq!(document["stopped"], true);
    assert_eq!(document["generators"].as_array().map(Vec::len), Some(2));
    project.assert_nothing_is_left();
}

#[test]
fn a_near_side_that_is_killed_leaves_no_generator() {
    let project = Project::new();
    let (address, paths) = serve();
    let url = format!("http://{address}/");
    let mut child = project
        .load(&[&url, "--rate", "100", "-d", "10m", "--on", "load1,load2"])
        .spawn()
        .expect("hakaru runs");
    paths.recv().expect("a request");
    child.kill().expect("killed");
    child.wait().expect("ended");
    project.assert_nothing_is_left();
}

#[test]
fn a_host_that_cannot_be_used_is_named_and_nothing_is_sent() {
    let project = Project::new();
    let (address, paths) = serve();
    let url = format!("http://{address}/");
    let output = project.run(&[&url, "-d", "1s", "--on", "load1,refused"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("host refused: refuses the login"),
        "{}",
        said(&output)
    );
    assert!(paths.try_recv().is_err());
    project.assert_nothing_is_left();
}

#[test]
fn wrong_usage_is_named() {
    let project = Project::new();
    let check = |flags: &[&str], part: &str| {
        let output = project.run(&[&["http://127.0.0.1:1/"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(part), "{part:?}: {}", said(&output));
    };
    check(&["--on", "load1,load1"], "names load1 twice");
    check(&["--on", "load1,,load2"], "is no host");
    check(
        &["--on", "load1,load2", "-c", "1"],
        "too few for 2 generators",
    );
    check(&["--on", "load1", "--part", "0/2"], "cannot be used with");
}

#[test]
fn to_be_a_generator_is_no_consent_to_be_loaded() {
    let (address, came) = serve();
    let project = Project::new();
    let tables = "[[host]]\nname = \"load1\"\nssh_config = \"config\"\n";
    project.write("hakaru.toml", tables);
    let port = address.port();
    // Each generator's own host, by either name.
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{port}/");
        let load = [&url, "--rate", "50", "-d", "200ms", "--on", "load1"];
        let output = project.run(&load);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("load1 is not this machine"));
        assert!(said(&output).contains("--host-ok load1"));
    }
    assert!(came.try_recv().is_err(), "a request was sent");
    let url = format!("http://127.0.0.1:{port}/");
    let load = [
        &url,
        "--rate",
        "50",
        "-d",
        "200ms",
        "--on",
        "load1",
        "--host-ok",
        "load1",
    ];
    let output = project.run(&load);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    // Another machine as the target needs what it always needs.
    let load = [
        "http://203.0.113.1/",
        "--rate",
        "50",
        "-d",
        "200ms",
        "--on",
        "load1",
    ];
    let output = project.run(&load);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("--host-ok 203.0.113.1"));
    project.assert_nothing_is_left();
}
