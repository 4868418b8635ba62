//! One load over several generators, on the command line: processes of the same host against a real
//! server.

#[path = "support/server.rs"]
mod server;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use server::serve;

fn hakaru(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Starts a generator with a start signal on standard input.
fn generator(folder: &Path, url: &str, part: &str, more: &[&str]) -> Child {
    let result = format!("{}.result", part.replace('/', "of"));
    let mut command = hakaru(folder);
    command
        .args([
            "load",
            url,
            "--part",
            part,
            "--result",
            &result,
            "--start-at",
            "-",
        ])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("the program runs")
}

/// Waits until all generators are ready, starts the load, and waits for all ends.
fn run_all(mut generators: Vec<Child>) -> Vec<Output> {
    let mut outs: Vec<_> = (generators.iter_mut())
        .map(|child| BufReader::new(child.stdout.take().expect("piped")))
        .collect();
    for out in &mut outs {
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        assert_eq!(line, "hakaru-load-ready\n");
    }
    let inputs: Vec<_> = (generators.iter_mut())
        .map(|child| {
            let mut input = child.stdin.take().expect("piped");
            input.write_all(b"go\n").expect("it listens");
            input
        })
        .collect();
    let ends = generators
        .into_iter()
        .zip(outs)
        .map(|(mut child, mut out)| {
            std::io::copy(&mut out, &mut std::io::sink()).expect("its output");
            let mut stderr = Vec::new();
            std::io::Read::read_to_end(&mut child.stderr.take().expect("piped"), &mut stderr)
                .expect("its errors");
            Output {
                status: child.wait().expect("it ends"),
                stdout: Vec::new(),
                stderr,
            }
        });
    let ends = ends.collect();
    drop(inputs);
    ends
}

fn merge(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = hakaru(folder);
    command.args(["load", "merge"]).args(arguments);
    command.output().expect("the program runs")
}

#[test]
fn three_generators_send_one_plan_and_are_judged_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("200 OK"));
    let flags = [
        "--rate",
        "50..250/2s",
        "--expect",
        "errors = 0",
        "--expect",
        "requests = 300",
    ];
    let parts = ["0/3", "1/3", "2/3"];
    let started = parts.map(|part| generator(folder.path(), &url, part, &flags));
    for end in run_all(started.into()) {
        assert_eq!(end.status.code(), Some(0), "{}", text(&end.stderr));
    }
    let files = ["0of3.result", "1of3.result", "2of3.result"];
    let output = merge(folder.path(), &files);
    let page = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{page}{}",
        text(&output.stderr)
    );
    // What lies under the ramp's line, whoever sent it.
    assert!(page.contains("300 requests"), "{page}");
    assert!(page.contains("held    requests = 300   came 300"), "{page}");
    assert!(page.contains("late p99"), "{page}");

    let output = merge(
        folder.path(),
        &["2of3.result", "1of3.result", "0of3.result", "--json"],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(json["requests"], 300);
    assert_eq!(json["latency_ms"]["count"], 300);
    let lines = json["generators"].as_array().expect("a list");
    let sent: Vec<&serde_json::Value> = lines.iter().map(|line| &line["requests"]).collect();
    assert_eq!(sent, [100, 100, 100]);
    assert_eq!(lines[2]["name"], "2of3.result");
    assert!(
        lines
            .iter()
            .all(|line| line["started_after_ms"].is_number())
    );
}

#[test]
fn what_was_expected_is_missed_by_all_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("200 OK"));
    // Each alone has fewer requests than that.
    let flags = ["--rate", "100", "-d", "500ms", "--expect", "requests > 60"];
    let parts = ["0/2", "1/2"];
    let started = parts.map(|part| generator(folder.path(), &url, part, &flags));
    for end in run_all(started.into()) {
        assert_eq!(end.status.code(), Some(0), "{}", text(&end.stderr));
    }
    let output = merge(folder.path(), &["0of2.result", "1of2.result"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
}

#[test]
fn a_generator_that_is_missing_or_cut_off_fails_the_run_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("200 OK"));
    let flags = ["-c", "2", "-d", "100ms"];
    let parts = ["0/2", "1/2"];
    let started = parts.map(|part| generator(folder.path(), &url, part, &flags));
    run_all(started.into());
    let check = |files: &[&str], code: i32, part: &str| {
        let output = merge(folder.path(), files);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(part), "{told}");
    };
    check(&["0of2.result"], 1, "generator 1/2 left no result");
    let whole = std::fs::read_to_string(folder.path().join("1of2.result")).expect("a result");
    let cut = &whole[..whole.len() - 100];
    std::fs::write(folder.path().join("1of2.result"), cut).expect("a file");
    check(&["0of2.result", "1of2.result"], 1, "1of2.result holds");
    check(
        &["0of2.result", "0of2.result"],
        2,
        "are both of generator 0/2",
    );
    check(&["0of2.result", "none"], 2, "cannot read none");
}

#[test]
fn a_generator_whose_starter_is_gone_ends_without_a_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("200 OK"));
    let mut one = generator(folder.path(), &url, "0/2", &["-d", "1h"]);
    drop(one.stdin.take());
    let end = one.wait_with_output().expect("it ends");
    assert_eq!(end.status.code(), Some(130), "{}", text(&end.stderr));
}

#[test]
fn parts_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("200 OK"));
    let check = |arguments: &[&str], part: &str| {
        let mut command = hakaru(folder.path());
        let output = command.args(["load", &url]).args(arguments).output();
        let output = output.expect("the program runs");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(part), "{told}");
    };
    check(&["--part", "3/3", "--result", "r"], "is no part of a load");
    check(&["--part", "0/3"], "--result");
    check(
        &["--part", "0/3", "--result", "r", "-c", "2"],
        "2 connections are too few for 3 generators",
    );
    check(
        &["--result", "-", "--json"],
        "--result - takes standard output",
    );
}
