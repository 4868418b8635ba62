//! `hakaru logs` on logs of a real nginx, and on input other than logs.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};

#[path = "support/nginx.rs"]
mod nginx;

use nginx::{Nginx, free_port};
use serde_json::Value;

fn logs(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .arg("logs")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("hakaru runs")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = logs(folder, &[arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// An nginx with logs in three formats, and fixed responses.
fn nginx(folder: &Path, port: u16) -> Nginx {
    let http = format!(
        "log_format ltsv \"time:$time_iso8601\\tmethod:$request_method\\turi:$request_uri\\tstatus:$status\"\n    \
           \"\\tsize:$body_bytes_sent\\treqtime:$request_time\\tapptime:$upstream_response_time\";\n  \
         log_format own '$msec $connection \"$request\" $status $body_bytes_sent $request_time';\n  \
         log_format json escape=json '{{\"uri\":\"$request_uri\",\"method\":\"$request_method\",\"status\":$status,\
           \"body_bytes\":$body_bytes_sent,\"response_time\":$request_time,\"agent\":\"$http_user_agent\"}}';\n  \
         access_log {0}/ltsv.log ltsv; access_log {0}/own.log own; access_log {0}/json.log json;\n  \
         access_log {0}/combined.log combined;\n  \
         server {{ listen 127.0.0.1:{port}; location / {{ return 200 \"hello\"; }} location /gone {{ return 404; }} }}",
        folder.display()
    );
    Nginx::start(folder, port, &http)
}

fn get(port: u16, path: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("nginx");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: a\r\nUser-Agent: q\"uote\\\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("a request");
    stream.read_to_end(&mut Vec::new()).expect("a response");
}

fn counts(document: &Value) -> Vec<(String, u64, u64)> {
    let routes = document["routes"].as_array().expect("routes");
    let mut counts: Vec<_> = routes
        .iter()
        .map(|row| {
            let number = |value: &Value| value.as_u64().expect("a count");
            let bytes = number(&row["bytes"]["sum"]);
            (
                row["route"].as_str().expect("a name").to_owned(),
                number(&row["requests"]),
                bytes,
            )
        })
        .collect();
    counts.sort();
    counts
}

#[test]
fn what_nginx_writes_gives_the_same_figures_in_each_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let port = free_port();
    let server = nginx(folder, port);
    for number in 0..12 {
        get(port, &format!("/items/{number}?a=b%20c"));
    }
    get(port, "/gone");
    drop(server);
    let format = "$msec $connection \"$request\" $status $body_bytes_sent $request_time";
    let all = [
        json(folder, &["ltsv.log"]),
        json(folder, &["json.log"]),
        json(folder, &["combined.log"]),
        json(folder, &["own.log", "--format", format]),
    ];
    let error_page = all[0]["routes"].as_array().expect("routes").iter();
    let error_bytes = error_page
        .filter(|row| row["route"] == "GET /gone")
        .find_map(|row| row["bytes"]["sum"].as_u64())
        .expect("the error's page");
    for document in &all {
        let expected = [
            ("GET /gone".to_owned(), 1, error_bytes),
            ("GET /items/:id".to_owned(), 12, 60),
        ];
        assert_eq!(counts(document), expected);
        assert_eq!(document["unread"]["lines"], 0);
    }
    let times = |document: &Value| document["routes"][0]["time"]["count"].as_u64();
    assert_eq!(
        all.each_ref().map(times),
        [Some(12), Some(12), Some(0), Some(12)]
    );
    let text = logs(folder, &["combined.log"]);
    let page = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(page.contains("the log holds no times"), "{page}");
}

#[test]
fn files_of_several_days_are_one_log_packed_or_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let line = "method:GET\turi:/a/1\tstatus:200\treqtime:0.100\n";
    fs::write(folder.join("new.log"), line).expect("a log");
    fs::write(folder.join("old.log"), line.repeat(3)).expect("a log");
    let packed = Command::new("gzip")
        .arg("old.log")
        .current_dir(folder)
        .status();
    assert!(packed.expect("gzip").success());
    let both = json(folder, &["old.log.gz", "new.log"]);
    assert_eq!(both["routes"][0]["requests"], 4);
    assert_eq!(both["routes"][0]["time"]["p50_s"], 0.1);
}

#[test]
fn bad_input_is_named_and_ends_with_its_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let check = |arguments: &[&str], code: i32, part: &str| {
        let output = logs(folder, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(part), "{part:?}: {said}");
    };
    check(&["absent.log"], 1, "absent.log cannot be read");
    fs::write(folder.join("prose.log"), "hello\nworld\n").expect("a file");
    check(
        &["prose.log"],
        2,
        "prose.log: neither an access log nor a slow log",
    );
    fs::write(folder.join("empty.log"), "").expect("a file");
    check(&["empty.log"], 2, "empty.log: there is no line to read");
    check(&["prose.log", "--format", "$status"], 2, "names no request");
    check(&["prose.log", "-m", "("], 2, "--match `(`");
    let line = "method:GET\turi:/\tstatus:200\n";
    fs::write(folder.join("half.log"), format!("{line}broken\x1b[31m\n")).expect("a file");
    check(
        &["half.log"],
        0,
        "1 line could not be read and are in no figure; the first, line 2: broken",
    );
    let escaped = logs(folder, &["half.log"]);
    assert!(
        !escaped.stderr.contains(&0x1b),
        "escape sequences of a log reach the terminal"
    );
    let slow = "# Time: x\n# User@Host: a\n# Query_time: 0.5  Lock_time: 0 Rows_sent: 1  Rows_examined: 500\nSELECT 1;\n";
    fs::write(folder.join("slow.log"), slow).expect("a file");
    check(&["half.log", "slow.log"], 2, "another kind of log");
    check(&["slow.log"], 0, "");
    check(&["empty.log", "slow.log", "empty.log"], 0, "");
}
