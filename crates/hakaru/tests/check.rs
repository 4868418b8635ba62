//! `hakaru check` on the command line.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A server with the number of the response in each body, and a connection closed unannounced after
/// every second one.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    std::thread::spawn(move || {
        let mut count = 0;
        for stream in listener.incoming().flatten() {
            let mut writer = stream.try_clone().expect("a second handle");
            let lines = BufReader::new(stream).lines().map_while(Result::ok);
            for _ in lines.filter(String::is_empty).take(2) {
                count += 1;
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: s=secret\r\nContent-Length: 11\r\n\r\n{{\"n\": {count:>4}}}"
                );
                let _ = writer.write_all(answer.as_bytes());
            }
        }
    });
    address
}

/// Runs a flow; exit code, standard output, standard error.
fn check(flow: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.hurl"), flow).expect("a file");
    let url = format!("http://{}", serve());
    let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
    command.args(["check", "a.hurl", "--url", &url]).args(more);
    let output = command
        .current_dir(folder.path())
        .output()
        .expect("the program runs");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

const GOOD: &str = "GET /a\nHTTP 200\n[Captures]\nn: jsonpath \"$.n\"\n\nGET /b/{{n}}\nHTTP 200\n\n\
                    GET /c\nHTTP 200\n[Asserts]\njsonpath \"$.n\" == 3\n";

#[test]
fn every_exchange_is_shown() {
    let (code, out, err) = check(GOOD, &[]);
    assert_eq!(code, Some(0), "{out}{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    assert!(lines[1].contains("GET /b/1   (a.hurl:6)"), "{out}");
    assert!(
        lines.iter().all(|line| line.starts_with("ok      200 ")),
        "{out}"
    );
    assert!(err.contains("3 requests, 0 failed"), "{err}");
}

#[test]
fn every_failed_check_is_shown_and_no_secret() {
    let flow = "GET /a\nX-Word: {{word}}\nHTTP 201\nX-Missing: 1\n[Captures]\nn: jsonpath \"$.m\"\n[Asserts]\n\
                jsonpath \"$.n\" == 1\njsonpath \"$.n\" == 2\nbody contains \"x\"\n\nGET /b\n";
    let (code, out, err) = check(flow, &["--variable", "word=w"]);
    assert_eq!(code, Some(4), "{out}{err}");
    for part in [
        "FAILED  200",
        "- expected status 201, came 200",
        "- expected header X-Missing: 1, came none",
        "line 6: nothing to capture as `n`",
        "line 9: jsonpath",
        "line 10: body",
        "> X-Word: w",
        "< Set-Cookie: [redacted]",
    ] {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    assert!(
        !out.contains("line 8") && !out.contains("/b") && !out.contains("secret"),
        "{out}"
    );
}

#[test]
fn as_json_and_from_nowhere() {
    let (code, out, _) = check(GOOD, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("one document");
    assert_eq!((code, &json["requests"]), (Some(0), &serde_json::json!(3)));
    let (code, out, _) = check(GOOD, &["--connect-to", "127.0.0.1:1"]);
    assert_eq!(code, Some(4));
    assert!(
        out.contains("connect failed\n        - no connection: "),
        "{out}"
    );
    let (code, _, err) = check("GET /{{nothing}}\n", &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("`nothing` has no value here"), "{err}");
}

/// A server whose bodies hold escape sequences and marks for the direction of writing.
fn serve_escapes() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    std::thread::spawn(move || {
        let body = "\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}txet\u{9b}31m";
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a second handle");
                let lines = BufReader::new(stream).lines().map_while(Result::ok);
                for _ in lines.filter(String::is_empty) {
                    let _ = writer.write_all(answer.as_bytes());
                }
            });
        }
    });
    address
}

#[test]
fn nothing_of_a_server_steers_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let flow = "GET /a\nHTTP 200\n[Asserts]\nbody == \"text\"\n";
    std::fs::write(folder.path().join("a.hurl"), flow).expect("a file");
    let url = format!("http://{}", serve_escapes());
    let commands: [&[&str]; 3] = [
        &["check", "a.hurl", "--url", &url, "--verbose"],
        &["load", &url, "--flow", "a.hurl", "-c", "1", "-d", "200ms"],
        &[
            "load",
            &url,
            "--flow",
            "a.hurl",
            "-c",
            "1",
            "-d",
            "200ms",
            "--keep-bodies",
        ],
    ];
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
        let output = command
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("the program runs");
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert!(shown.contains("body"), "{arguments:?}: {shown}");
        let steers = |letter: char| {
            letter.is_control() && letter != '\n' || matches!(letter, '\u{202a}'..='\u{202e}')
        };
        assert!(!shown.contains(steers), "{arguments:?}: {shown:?}");
    }
}

/// A server of one connection: reports each request, and answers once for each message.
fn serve_held() -> (SocketAddr, Receiver<()>, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    let (came, arrivals) = channel();
    let (answer, answers) = channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let mut writer = stream.try_clone().expect("a second handle");
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        for _ in lines.filter(String::is_empty) {
            let _ = came.send(());
            if answers.recv().is_err() {
                return;
            }
            let _ = writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    (address, arrivals, answer)
}

/// Starts a check of so many requests.
fn start(address: SocketAddr, requests: usize, more: &[&str]) -> (TempDir, Child) {
    let folder = tempfile::tempdir().expect("a folder");
    let flow = "GET /a\nHTTP 200\n\n".repeat(requests);
    std::fs::write(folder.path().join("a.hurl"), flow).expect("a file");
    let child = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["check", "a.hurl", "--url", &format!("http://{address}")])
        .args(more)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    (folder, child)
}

#[test]
fn ctrl_c_shows_what_was_judged_so_far() {
    let (address, arrivals, answer) = serve_held();
    let (_folder, child) = start(address, 3, &["--json"]);
    answer.send(()).expect("a server");
    for _ in 0..2 {
        let came = arrivals.recv_timeout(Duration::from_secs(30));
        came.expect("a request");
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("interrupted");
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(json["ended_early"], "interrupted");
    assert_eq!(json["requests"], 1, "{json}");
    assert_eq!(json["exchanges"][0]["status"], 200, "{json}");
}

#[test]
fn no_request_is_sent_when_nobody_reads_on() {
    let (address, arrivals, answer) = serve_held();
    // Children of other tests have the pipe too until they run their program, for some requests.
    const REQUESTS: usize = 500;
    let (_folder, mut child) = start(address, REQUESTS, &[]);
    answer.send(()).expect("a server");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut line).expect("a line");
    assert!(line.contains("GET /a"), "{line}");
    drop(out);
    let mut count = 1;
    while arrivals.recv().is_ok() && count < REQUESTS {
        count += 1;
        let _ = answer.send(());
    }
    drop(answer);
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert!(count < REQUESTS);
}
