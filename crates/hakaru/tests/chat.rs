//! The unpatched chat under load: each planted cause is found, by name, on each database.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

/// One at a time: each measures, and there may be but two cores.
static ALONE: Mutex<()> = Mutex::new(());

/// Long enough for 200 requests of the busiest routes on two shared cores.
const DURATION: &str = "15s";

/// A copy of the chat in a new folder, on a free port.
fn copy_of_chat(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/chat");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(&source)
        .arg(folder.join("chat"))
        .status()
        .expect("cp runs");
    assert!(copied.success());
    let chat = folder.join("chat");
    let _ = std::fs::remove_dir_all(chat.join(".hakaru"));
    for ending in ["db", "db-wal", "db-shm"] {
        let _ = std::fs::remove_file(chat.join(format!("chat.{ending}")));
    }
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let config = std::fs::read_to_string(chat.join("hakaru.toml")).expect("the chat's config");
    std::fs::write(
        chat.join("hakaru.toml"),
        config.replace("9292", &port.to_string()),
    )
    .expect("the config is written");
    chat
}

/// Runs the chat and returns the JSON.
fn run(database_url: Option<&str>) -> Value {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let chat = copy_of_chat(folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
    command
        .args(["run", "--json", "--duration", DURATION])
        .current_dir(&chat)
        .env("CHAT_SMALL", "1")
        .env_remove("DATABASE_URL");
    if let Some(url) = database_url {
        command.env("DATABASE_URL", url);
    }
    let output = command.output().expect("hakaru runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
}

fn findings<'a>(json: &'a Value, id: &str) -> Vec<&'a Value> {
    json["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["id"] == id)
        .collect()
}

fn titles(json: &Value) -> Vec<String> {
    let all = json["findings"].as_array().expect("findings");
    all.iter()
        .map(|finding| format!("{} {}", finding["id"], finding["title"]))
        .collect()
}

/// The cause is named with route, statement, count and the app's own line.
fn check_n_plus_one(json: &Value, route: &str) {
    let found = findings(json, "n-plus-one");
    let of_route: Vec<_> = found
        .iter()
        .filter(|finding| finding["route"] == route)
        .collect();
    assert!(
        !of_route.is_empty(),
        "no N+1 on {route}: {:#?}",
        titles(json)
    );
    for finding in of_route {
        let text = finding.to_string();
        assert!(text.contains("app.rb:"), "the line is named: {text}");
        assert!(text.contains("SELECT"), "the statement is named: {text}");
    }
}

fn check_missing_index(json: &Value, table_and_column: &str) {
    let found = findings(json, "missing-index");
    assert!(
        found
            .iter()
            .any(|finding| finding.to_string().contains(table_and_column)),
        "no missing index on {table_and_column}: {:#?}",
        titles(json)
    );
}

/// Asserts an unaccounted share below 5 %: on every route with enough requests, and over all
/// routes.
fn check_balance(json: &Value) {
    let (mut whole_of_all, mut unaccounted_of_all, mut requests_of_all) = (0.0, 0.0, 0.0);
    for route in json["routes"].as_array().expect("routes") {
        let requests = route["requests"].as_f64().expect("a count");
        let balance = route["balance_ms"].as_object().expect("a balance");
        let term = |name: &str| {
            balance[name]
                .as_f64()
                .unwrap_or_else(|| panic!("{name}: {route}"))
        };
        let whole: f64 = balance
            .keys()
            .filter(|name| *name != "receive")
            .map(|name| term(name))
            .sum();
        let unaccounted = term("unaccounted").abs();
        assert!(requests < 200.0 || unaccounted <= 0.05 * whole, "{route}");
        whole_of_all += requests * whole;
        unaccounted_of_all += requests * unaccounted;
        requests_of_all += requests;
    }
    assert!(requests_of_all >= 200.0, "{}", json["requests"]);
    assert!(
        unaccounted_of_all <= 0.05 * whole_of_all,
        "{unaccounted_of_all} of {whole_of_all}"
    );
}

fn check(json: &Value) {
    assert_eq!(json["checks_failed"], 0, "{}", json["failures"]);
    assert_eq!(json["errors"], 0, "{}", json["failures"]);
    assert!(json["score"].as_f64().is_some_and(|score| score > 0.0));
    for route in ["GET /message", "GET /history/:id", "GET /fetch"] {
        check_n_plus_one(json, route);
    }
    check_missing_index(json, "message (channel_id");
    check_missing_index(json, "image (name)");
    let threads = findings(json, "threads");
    assert!(
        threads
            .iter()
            .any(|finding| finding["title"].to_string().contains("threads are busy")),
        "busy threads are not found: {:#?}",
        titles(json)
    );
    for (id, text) in [
        ("answers-equal", "GET /icons/:file"),
        ("static-files", "12 static files"),
        ("large-bodies", "image.data"),
        ("several-updates", "POST /profile"),
        ("count-offset", "GET /history/:id"),
        ("wide-columns", "channel"),
        ("sleep", "GET /fetch sleeps"),
        ("sleep", "app.rb:"),
    ] {
        check_found(json, id, text);
    }
    check_balance(json);
    assert_eq!(json["agent"]["dropped"], 0);
}

fn check_found(json: &Value, id: &str, text: &str) {
    assert!(
        findings(json, id)
            .iter()
            .any(|finding| finding.to_string().contains(text)),
        "no {id} of {text}: {:#?}",
        titles(json)
    );
}

#[test]
fn what_was_planted_is_found_on_sqlite() {
    check(&run(None));
}

#[test]
fn what_was_planted_is_found_on_mariadb() {
    let url = std::env::var("HAKARU_TEST_MARIADB_URL")
        .expect("HAKARU_TEST_MARIADB_URL is set; bin/test starts the servers that tests need");
    let json = run(Some(&url));
    check_found(&json, "connection-per-request", "connections were made");
    check_found(&json, "prepared-statements", "0 closed");
    for id in ["connection-per-request", "prepared-statements"] {
        check_found(&json, id, "called from app.rb:");
        let found = findings(&json, id);
        let gain = found[0]["gain_share"].as_f64().expect("a gain");
        assert!(gain > 0.0, "{found:#?}");
    }
    check(&json);
}
