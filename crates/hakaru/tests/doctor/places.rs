//! Without planted faults there is no alarm, and unreadable facts are no error: namespaces,
//! ordinary users, large and dead servers, an unreadable `/proc`. `cargo xtask doctor-roots` does
//! the same in other roots.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{WaitId, WaitIdOptions};
use serde_json::Value;

use crate::support::{cleared, doctor, document, found, program};

/// Asserts the absence of findings, except findings caused by other tests on the machine and on the
/// shared servers.
fn assert_no_alarm(document: &Value) {
    const OTHERS: [&str; 4] = [
        "cpu.pressure",
        "disk.pressure",
        "memory.pressure",
        "memory.short",
    ];
    /// Findings from counters since a server's start.
    const COUNTED: [&str; 12] = [
        "mysql.deadlocks",
        "mysql.joins-without-index",
        "mysql.redo-log-small",
        "mysql.row-lock-waits",
        "mysql.sort-merges",
        "mysql.statements-leak",
        "mysql.statements-without-index",
        "mysql.table-cache",
        "mysql.temporary-tables-on-disk",
        "postgres.checkpoints-requested",
        "postgres.deadlocks",
        "postgres.spills",
    ];
    let by_others = |id: &String| OTHERS.contains(&id.as_str()) || COUNTED.contains(&id.as_str());
    let graver: Vec<_> = found(document)
        .into_iter()
        .filter(|(id, level)| level != "low" && !by_others(id))
        .collect();
    assert!(graver.is_empty(), "{graver:?}");
}

fn names_of_unseen(document: &Value) -> Vec<String> {
    let unseen = document["unseen"].as_array().expect("a list");
    let name = |one: &Value| one["what"].as_str().expect("a name").to_owned();
    unseen.iter().map(name).collect()
}

/// The program under `unshare` as root of a new user namespace, after a line for the shell.
fn inside(flags: &[&str], line: &str) -> Command {
    let mut command = cleared(Command::new("unshare"));
    command
        .args(["--user", "--map-root-user"])
        .args(flags)
        .args(["sh", "-c", &format!("{line} exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_hakaru"))
        .args(["doctor", "--json", "--measure", "no"]);
    command
}

#[test]
fn a_network_and_process_namespace_raises_no_alarm() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["--net", "--pid", "--fork", "--mount-proc"];
    let document = document(inside(&flags, "").current_dir(folder.path()));
    assert_no_alarm(&document);
}

#[test]
fn an_empty_proc_is_listed_and_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "mount -t tmpfs none /proc && mount -t tmpfs none /sys &&";
    let document = document(inside(&["--mount"], line).current_dir(folder.path()));
    assert_no_alarm(&document);
    let unseen = names_of_unseen(&document);
    for what in ["the processor", "mitigations of the processor"] {
        assert!(unseen.iter().any(|name| name == what), "{what}: {unseen:?}");
    }
}

/// Of process 1, which is root's, an ordinary user may see neither files nor environment. Root sees
/// both.
#[test]
fn what_needs_root_is_listed_for_an_ordinary_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let is_root = rustix::process::geteuid().is_root();
    let mut command = match is_root {
        true => {
            let copy = folder.path().join("hakaru");
            std::fs::copy(env!("CARGO_BIN_EXE_hakaru"), &copy).expect("a copy");
            let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(folder.path(), everyone).expect("rights");
            let mut command = cleared(Command::new("setpriv"));
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(copy);
            command
        }
        false => program(),
    };
    command
        .args([
            "doctor",
            "--json",
            "--measure",
            "no",
            "--pid",
            "1",
            "--only",
            "limits",
        ])
        .current_dir(folder.path());
    let document = document(&mut command);
    let unseen = names_of_unseen(&document);
    for what in ["open files of the process", "environment of the process"] {
        assert!(unseen.iter().any(|name| name == what), "{what}: {unseen:?}");
    }
    assert_no_alarm(&document);
}

#[test]
fn a_dead_and_a_silent_database_are_listed_within_seconds() {
    let folder = tempfile::tempdir().expect("a folder");
    // Accepts by the kernel's queue and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent_port = silent.local_addr().expect("an address").port();
    let dead = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let dead_port = dead.local_addr().expect("an address").port();
    drop(dead);
    for scheme in ["mysql2", "postgres"] {
        for port in [dead_port, silent_port] {
            let url = format!("{scheme}://me:secret@127.0.0.1:{port}/app");
            let begin = Instant::now();
            let arguments = ["--only", "database", "--database", url.as_str()];
            let document = document(&mut doctor(folder.path(), &arguments));
            assert_eq!(names_of_unseen(&document), ["a database"], "{url}");
            assert!(!document.to_string().contains("secret"), "{url}");
            let took = begin.elapsed();
            assert!(took < Duration::from_secs(4), "{url}: {took:?}");
        }
    }
}

/// Ticks of CPU used by a process.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let mut fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    fields
        .nth(11)
        .and_then(|user| user.parse().ok())
        .unwrap_or(0)
}

#[test]
fn ctrl_c_ends_it_while_it_measures() {
    /// More than reading all facts takes, less than measuring does.
    const MEASURING: u64 = 30;
    /// Most ticks of CPU after the signal, for the measurement under way, of a debug build.
    const ENDING: u64 = 100;
    let folder = tempfile::tempdir().expect("a folder");
    // A shell starts what runs in its background with the signal ignored, and so is all that is
    // started from there.
    let mut child = cleared(Command::new("env"))
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_hakaru")])
        .args(["doctor", "--only", "cpu"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    while ticks(child.id()) < MEASURING {
        let ended = child.try_wait().expect("its state");
        assert!(ended.is_none(), "it ended before it was interrupted");
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::Pid(pid), ended).expect("an end");
    let used = ticks(child.id());
    let status = child.wait().expect("an end");
    assert!(used < MEASURING + ENDING, "{used} ticks");
    assert!(!status.success(), "{status}");
}

const TABLES: &str = "
  tables = (1..1000).map { |n| \"CREATE TABLE doctor_many.t#{n} (id BIGINT PRIMARY KEY, a INT, b VARCHAR(20))\" }
  indexes = (1..1000).map { |n| \"CREATE INDEX i#{n} ON doctor_many.t#{n} (a, b)\" }
  (tables + indexes).each { |sql| run.(sql) }
";

/// Makes or drops 1,000 tables with an index each, by Ruby's drivers.
fn tables(url: &str, script: &str) {
    let connect = match url.starts_with("mysql") {
        true => {
            "require 'mysql2'; c = Mysql2::Client.new(host: u.host, port: u.port, username: u.user, password: u.password)
             run = ->(sql) { c.query(sql) }; schema = 'DATABASE'; cascade = ''"
        }
        false => {
            "require 'pg'; c = PG.connect(ENV['DATABASE_URL'])
             c.exec('SET client_min_messages = warning; SET synchronous_commit = off')
             run = ->(sql) { c.exec(sql) }; schema = 'SCHEMA'; cascade = ' CASCADE'"
        }
    };
    let whole = format!(
        "u = URI(ENV['DATABASE_URL']); {connect}
         run.(\"DROP #{{schema}} IF EXISTS doctor_many#{{cascade}}\")\n{script}"
    );
    let output = Command::new("ruby")
        .args(["-ruri", "-e", &whole])
        .env("DATABASE_URL", url)
        .output()
        .expect("a Ruby");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_server_with_a_thousand_tables_raises_no_alarm() {
    /// A second is asked of an idle machine; here five servers are asked at once, beside other
    /// tests.
    const SECONDS_MAX: f64 = 5.0;
    let check = |variable: &str| {
        let url = std::env::var(variable)
            .unwrap_or_else(|_| panic!("{variable} is not set; run with cargo xtask with-servers"));
        let folder = tempfile::tempdir().expect("a folder");
        tables(
            &url,
            &format!("run.(\"CREATE #{{schema}} doctor_many\")\n{TABLES}"),
        );
        let arguments = ["--only", "database", "--database", url.as_str()];
        let document = document(&mut doctor(folder.path(), &arguments));
        tables(&url, "");
        assert_eq!(document["unseen"], serde_json::json!([]), "{variable}");
        assert_no_alarm(&document);
        let seconds = document["seconds"].as_f64().expect("a time");
        assert!(seconds <= SECONDS_MAX, "{variable}: {seconds} s");
    };
    std::thread::scope(|scope| {
        for variable in [
            "HAKARU_TEST_MARIADB_URL",
            "HAKARU_TEST_MARIADB118_URL",
            "HAKARU_TEST_MYSQL_URL",
            "HAKARU_TEST_POSTGRES_URL",
            "HAKARU_TEST_POSTGRES18_URL",
        ] {
            scope.spawn(move || check(variable));
        }
    });
}
