//! What hosts say beside their logs, over a real `ssh` and `sshd`: counters of databases, journals,
//! and all of both stored with a run and drawn as HTML.

#[path = "../../remote/tests/sshd/mod.rs"]
#[expect(dead_code, reason = "the tests of the transport use more of it")]
mod sshd;

#[path = "support/nginx.rs"]
mod nginx;
#[path = "support/small.rs"]
mod small;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use mysql::prelude::Queryable;
use nginx::{Nginx, free_port};
use serde_json::Value;
use sshd::Hosts;

fn hakaru(hosts: &Hosts, arguments: &[&str]) -> Output {
    Command::new(small::program())
        .args(arguments)
        .current_dir(hosts.path(""))
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("hakaru runs")
}

fn json(output: &Output, code: i32) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn address(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set; run bin/test, which starts the servers"))
}

/// A folder for programs before all others on a host's path.
fn path_with(hosts: &Hosts, name: &str, script: &str) -> String {
    let folder = hosts.path("bin");
    fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join(name);
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let path = std::env::var("PATH").expect("a path");
    format!("PATH={}:{path}", folder.display())
}

fn configure(hosts: &Hosts, toml: &str) {
    fs::write(hosts.path("hakaru.toml"), toml).expect("written");
}

/// Collects from a host while `work` runs, from the beginning of the window to its end.
fn collect_during(hosts: &Hosts, work: impl FnOnce() + Send) -> Value {
    let (begun, over) = (hosts.path("begun"), hosts.path("over"));
    let script = format!(
        "touch {}; while [ ! -e {} ]; do :; done",
        begun.display(),
        over.display()
    );
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !begun.exists() {
                std::thread::yield_now();
            }
            work();
            fs::write(over, "").expect("written");
        });
        json(
            &hakaru(hosts, &["collect", "--json", "--", "sh", "-c", &script]),
            0,
        )
    })
}

/// A host with a database.
fn database_host(url: &str) -> Hosts {
    let mut hosts = Hosts::new();
    hosts.add("db1", "", "");
    configure(
        &hosts,
        &format!(
            "[[host]]\nname = \"db1\"\nroles = \"database\"\ndatabase = \"{url}\"\nssh_config = \"config\"\n"
        ),
    );
    hosts
}

/// Compares the count of the statement on a table.
fn check_counted(document: &Value, table: &str, calls: u64) {
    let database = &document["hosts"][0]["database"];
    let statements = database["statements"].as_array().expect("statements");
    let is_own = |one: &&Value| {
        let digest = one["digest"].as_str().unwrap_or_default();
        digest.contains(table) && digest.starts_with("SELECT")
    };
    let own = statements.iter().find(is_own);
    let own = own.unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!(own["calls"], calls, "{own}");
    assert!(own["time_s"].as_f64() > Some(0.0), "{own}");
    assert!(!document.to_string().contains("hakaru:hakaru"));
}

#[test]
fn mysql_counts_the_statements_of_the_window_alone() {
    let url = address("HAKARU_TEST_MYSQL_URL");
    let options = mysql::Opts::from_url(&url.replacen("mysql2:", "mysql:", 1)).expect("an address");
    let mut client = mysql::Conn::new(options).expect("connected");
    let size = "SELECT @@performance_schema_digests_size";
    let size: u64 = client.query_first(size).unwrap().expect("a size");
    let table = format!("counted_{}", std::process::id());
    let mut run = |sql: &str| client.query_drop(sql).expect("a statement");
    let empty = "TRUNCATE TABLE performance_schema.events_statements_summary_by_digest";
    run(empty);
    run(&format!("CREATE TABLE {table} (id INT)"));
    let select = |id: u32| format!("SELECT id FROM {table} WHERE id = {id}");
    (0..5).for_each(|id| run(&select(id)));
    let hosts = database_host(&url);
    let document = collect_during(&hosts, || (0..7).for_each(|id| run(&select(id))));
    check_counted(&document, &table, 7);
    let notes = &document["hosts"][0]["database"]["notes"];
    assert_eq!(notes.to_string(), "[]");
    run(&format!("DROP TABLE {table}"));

    (0..=size).for_each(|number| run(&format!("SELECT 1 AS column_{number}")));
    let document = json(&hakaru(&hosts, &["collect", "--json", "--", "true"]), 0);
    let notes = document["hosts"][0]["database"]["notes"].to_string();
    assert!(notes.contains("table of statements is full"), "{notes}");
    run(empty);
}

#[test]
fn postgres_counts_the_statements_of_the_window_alone() {
    let url = address("HAKARU_TEST_POSTGRES_URL");
    let mut admin = postgres::Client::connect(&url, postgres::NoTls).expect("connected");
    // The extension's views would be in the way of tests that compare whole schemas.
    let name = format!("counted_{}", std::process::id());
    admin
        .batch_execute(&format!("CREATE DATABASE {name}"))
        .expect("a database");
    let (server, _) = url.rsplit_once('/').expect("an address");
    let url = format!("{server}/{name}");
    let mut client = postgres::Client::connect(&url, postgres::NoTls).expect("connected");
    let mut run = |sql: &str| client.batch_execute(sql).expect("a statement");
    run("CREATE EXTENSION pg_stat_statements; CREATE TABLE counted (id int)");
    let select = |id: u32| format!("SELECT id FROM counted WHERE id = {id}");
    (0..5).for_each(|id| run(&select(id)));
    let hosts = database_host(&url);
    let document = collect_during(&hosts, || (0..7).for_each(|id| run(&select(id))));
    check_counted(&document, "counted", 7);
    drop(client);
    admin
        .batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"))
        .expect("dropped");
}

#[test]
fn a_server_that_counts_nothing_is_named_with_what_to_change() {
    let hosts = database_host(&address("HAKARU_TEST_MARIADB_URL"));
    let document = json(&hakaru(&hosts, &["collect", "--json", "--", "true"]), 0);
    let notes = document["hosts"][0]["database"]["notes"].to_string();
    assert!(notes.contains("performance_schema=ON"), "{notes}");
}

#[test]
fn a_database_that_refuses_is_named_without_its_password() {
    let mut hosts = Hosts::new();
    hosts.add("db1", "", "");
    let port = free_port();
    configure(
        &hosts,
        &format!(
            "[[host]]\nname = \"db1\"\ndatabase = \"mysql://me:hunter2@127.0.0.1:{port}/app\"\nssh_config = \"config\"\n"
        ),
    );
    let output = hakaru(&hosts, &["collect", "--", "true"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("host db1: database: "), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

/// A stand-in for `journalctl`: writes an entry of this instant, one of an hour ago, and the
/// arguments.
const JOURNALCTL: &str = r#"#!/bin/sh
echo "$@" >>"$TMPDIR/../../arguments"
now=$(date +%s%6N)
echo '{"__REALTIME_TIMESTAMP":"'$((now - 3600000000))'","PRIORITY":"3","MESSAGE":"old"}'
echo '{"__REALTIME_TIMESTAMP":"'$(cat "$TMPDIR/../../stamp")'","PRIORITY":"3","MESSAGE":"it failed"}'
echo '{"__REALTIME_TIMESTAMP":"'$(cat "$TMPDIR/../../stamp")'","PRIORITY":"6","MESSAGE":"hello"}'
"#;

/// Writes the instant of the journal's entry, and lines of a log whose clock is 5 s behind: 200 of
/// now, in whole seconds, and ten of a minute ago.
const COMMAND: &str = r#"date +%s%6N >stamp
awk -v now=$(($(date +%s) - 5)) 'BEGIN {
  for (i = 0; i < 210; i++) printf "time:%d.000\tmethod:GET\turi:/a\tstatus:200\treqtime:0.1\n", i < 200 ? now : now - 60
}' >>access.log"#;

#[test]
fn journals_and_logs_of_a_clock_that_is_off_are_moved_to_ours() {
    let mut hosts = Hosts::new();
    let path = path_with(&hosts, "journalctl", JOURNALCTL);
    // What the collector takes for the host's clock is 5 s behind, and so are the log's stamps; the
    // journal's own are of the true clock, so that they seem to come 5 s later.
    hosts.add("app1", &format!("HAKARU_CLOCK_SHIFT_MS=-5000 {path}"), "");
    let log = hosts.path("access.log");
    fs::write(&log, "").expect("written");
    configure(
        &hosts,
        &format!(
            "[[host]]\nname = \"app1\"\nunits = [\"app.service\"]\nlogs = \"{}\"\nssh_config = \"config\"\n",
            log.display()
        ),
    );
    let document = json(
        &hakaru(&hosts, &["collect", "--json", "--", "sh", "-c", COMMAND]),
        0,
    );
    let host = &document["hosts"][0];
    let unit = &host["units"][0];
    assert_eq!(
        (&unit["entries"], &unit["errors"]),
        (&2.into(), &1.into()),
        "{unit}"
    );
    assert_eq!(unit["messages"][0]["message"], "it failed");
    let at = unit["messages"][0]["at_s"].as_f64().expect("a time");
    assert!((4.0..15.0).contains(&at), "{unit}");
    let seconds = host["requests_by_second"].as_array().expect("seconds");
    let all: u64 = seconds.iter().filter_map(Value::as_u64).sum();
    assert_eq!(all, 210, "{seconds:?}");
    // By the log's own clock all would have ended before the window.
    let note = document["notes"].as_array().expect("notes").iter();
    let note = note.clone().find(|note| note["kind"] == "buffered");
    assert_eq!(note.expect("a note")["early"], 10, "{document:#}");
    let arguments = fs::read_to_string(hosts.path("arguments")).expect("arguments");
    assert!(arguments.contains("--unit app.service"), "{arguments}");
}

#[test]
fn a_journal_that_may_not_be_read_is_named() {
    let mut hosts = Hosts::new();
    let hint = "#!/bin/sh\necho 'Hint: You are currently not seeing messages from other users and the system.' >&2\n";
    let path = path_with(&hosts, "journalctl", hint);
    hosts.add("app1", &path, "");
    configure(
        &hosts,
        "[[host]]\nname = \"app1\"\nunits = \"app.service\"\nssh_config = \"config\"\n",
    );
    let output = hakaru(&hosts, &["collect", "--", "true"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("host app1: app.service: its journal may be read by root"),
        "{said}"
    );
}

#[test]
fn a_collection_is_also_a_page_for_a_browser() {
    let mut hosts = Hosts::new();
    hosts.add("app1", "", "");
    configure(
        &hosts,
        "[[host]]\nname = \"app1\"\nssh_config = \"config\"\n",
    );
    let output = hakaru(&hosts, &["collect", "--html", "page.html", "--", "true"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("HAKARU COLLECT"));
    let page = fs::read_to_string(hosts.path("page.html")).expect("a page");
    assert!(page.contains("\"format\":\"hakaru-collect\""));
    let output = hakaru(
        &hosts,
        &["collect", "--html", "nowhere/page.html", "--for", "1h"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn what_hosts_recorded_is_stored_with_the_run_and_on_its_pages() {
    let mut hosts = Hosts::new();
    hosts.add("web", "", "");
    let folder = hosts.path("nginx");
    fs::create_dir(&folder).expect("a folder");
    let port = free_port();
    let http = format!(
        "log_format ltsv \"time:$msec\\tmethod:$request_method\\turi:$request_uri\\tstatus:$status\\treqtime:$request_time\";\n  \
         server {{ listen 127.0.0.1:{port}; access_log {}/access.log ltsv; location / {{ return 200 \"hello\"; }} }}",
        folder.display()
    );
    let server = Nginx::start(&folder, port, &http);
    configure(
        &hosts,
        &format!(
            "[target]\nurl = \"http://127.0.0.1:{port}/\"\n[load]\nrate = 50\nconnections = 2\nwarmup = \"1s\"\nduration = \"2s\"\n\
             [[host]]\nname = \"web\"\nroles = \"proxy\"\nlogs = \"{}/access.log\"\nssh_config = \"config\"\n",
            folder.display()
        ),
    );
    let run = json(&hakaru(&hosts, &["run", "--json"]), 0);
    drop(server);
    let measured = &run["hosts"]["routes"][0]["requests"];
    assert!(measured.as_u64() >= Some(90), "{:#}", run["hosts"]);
    let stored = json(&hakaru(&hosts, &["report", "LAST", "--json"]), 0);
    assert_eq!(stored["hosts"], run["hosts"]);
    let page = hakaru(&hosts, &["report", "LAST"]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("HAKARU COLLECT"), "{page}");
    let written = hakaru(&hosts, &["report", "LAST", "--html", "run.html"]);
    assert_eq!(written.status.code(), Some(0), "{written:?}");
    let html = fs::read_to_string(hosts.path("run.html")).expect("a page");
    assert!(html.contains("\"format\":\"hakaru-collect\""));
}
