//! `hakaru sweep`, `hakaru log --html` and the page of a run, with the real program on a real app.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Two threads with a wait of 20 ms: at most 100 requests per second, for any number of
/// connections.
const APP: &str = "run ->(_env) { sleep 0.02; [200, {}, ['ok']] }\n";

fn hakaru(folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("DATABASE_URL")
        .output()
        .expect("hakaru runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    output
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let url = format!("http://127.0.0.1:{port}");
    let bind = format!("tcp://127.0.0.1:{port}");
    let config = format!(
        "[target]\ncommand = \"puma -t 2:2 -b {bind} config.ru\"\nurl = \"{url}\"\n[load]\nrate = 5\n"
    );
    std::fs::write(folder.path().join("hakaru.toml"), config).expect("it is written");
    std::fs::write(folder.path().join("config.ru"), APP).expect("it is written");
    let git = |arguments: &[&str]| {
        let name = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
        let done = Command::new("git")
            .args(name)
            .args(arguments)
            .current_dir(folder.path())
            .output();
        assert!(done.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "config.ru"]);
    git(&["commit", "--quiet", "-m", "first"]);
    std::fs::write(folder.path().join("config.ru"), format!("# changed\n{APP}")).expect("written");
    folder
}

#[test]
fn a_sweep_ends_where_more_connections_bring_no_more() {
    let folder = project();
    let output = hakaru(
        folder.path(),
        &[
            "sweep",
            "-c",
            "1,2,4,8,16",
            "-d",
            "2s",
            "--warmup",
            "500ms",
            "--json",
            "--html",
            "curve.html",
        ],
    );
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing after it");
    assert_eq!(json["format"], "hakaru-sweep");
    assert_eq!(json["ended"], "saturated", "{json:#}");
    let steps = json["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 4, "16 connections are not tried: {json:#}");
    let rps = |step: usize| steps[step]["rps"].as_f64().expect("a rate");
    assert!(rps(1) > 1.5 * rps(0), "{json:#}");
    // Two threads of 20 ms; the config file's rate of 5 a second is not for a sweep.
    assert!((60.0..=101.0).contains(&rps(1)), "{json:#}");
    // Puma serves a connection several times before the next, so it is the few that wait for all.
    let p95 = |step: usize| {
        steps[step]["latency_ms"]["p95"]
            .as_f64()
            .expect("enough requests")
    };
    assert!(p95(3) > p95(1), "who waits longer is seen: {json:#}");
    assert!(steps[0]["memory_bytes"].as_u64() > Some(1 << 20));
    let page = std::fs::read_to_string(folder.path().join("curve.html")).expect("the page");
    assert!(page.contains("\"format\":\"hakaru-sweep\""));

    // Each step is a run of the journal.
    let log = hakaru(folder.path(), &["log", "--json", "--html", "log.html"]);
    let log: Value = serde_json::from_slice(&log.stdout).expect("JSON");
    let runs = log["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 4);
    let changes = runs[1]["changes"].to_string();
    assert!(changes.contains("connections"), "{changes}");
    let page = std::fs::read_to_string(folder.path().join("log.html")).expect("the page");
    assert!(page.contains("\"format\":\"hakaru-log\""));
    let alone = hakaru(folder.path(), &["log", "--html", "log.html"]);
    assert!(alone.stdout.is_empty());

    // And the run's own page says what it was made with.
    let run = hakaru(folder.path(), &["report", "--json"]);
    let run: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let commit = run["revision"]["commit"].as_str().expect("a commit");
    assert_eq!(commit.len(), 40, "{commit}");
    let dirty = run["revision"]["dirty"].to_string();
    assert!(dirty.contains("1 file changed"), "{dirty}");
    let busy = |second: &Value| second["threads_busy"].as_f64();
    let seconds = run["seconds"].as_array().expect("seconds");
    assert!(
        seconds.iter().filter_map(busy).any(|busy| busy > 1.0),
        "{seconds:?}"
    );
    assert!(
        seconds
            .iter()
            .any(|second| second["backlog"].as_u64() > Some(0)),
        "{seconds:?}"
    );
}
