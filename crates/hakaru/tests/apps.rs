//! The example apps under load: what was planted is the first finding, and nothing else is found.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

/// One at a time: each measures, and there may be but two cores.
static ALONE: Mutex<()> = Mutex::new(());

/// A copy of an app in a folder of its own, its configuration on a free port.
fn copy_of(app: &str, port_of_app: &str, config: &str, folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../apps")
        .join(app);
    let copied = Command::new("cp")
        .arg("-r")
        .args([&source, &folder.join(app)])
        .status();
    assert!(copied.expect("cp runs").success());
    let project = folder.join(app);
    let _ = std::fs::remove_dir_all(project.join(".hakaru"));
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let config = project.join(config);
    let text = std::fs::read_to_string(&config).expect("the app's configuration");
    assert!(text.contains(port_of_app));
    std::fs::write(&config, text.replace(port_of_app, &port.to_string()))
        .expect("the configuration is written");
    project
}

fn run(app: &str, port: &str, config: &str, duration: &str) -> Value {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = copy_of(app, port, config, folder.path());
    let output = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["run", "--json", "--config", config, "--duration", duration])
        .current_dir(&project)
        .env_remove("DATABASE_URL")
        .output()
        .expect("hakaru runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing after it");
    assert_eq!(json["errors"], 0, "{}", json["failures"]);
    assert_eq!(json["checks_failed"], 0, "{}", json["failures"]);
    json
}

/// What is to be fixed, without doubts about the numbers of a busy host.
fn to_fix(json: &Value) -> Vec<&Value> {
    const DOUBTS: [&str; 7] = [
        "host-busy",
        "generator-busy",
        "generator-late",
        "few-samples",
        "warming-up",
        "drifting",
        "agent-missing",
    ];
    let all = json["findings"].as_array().expect("findings");
    all.iter()
        .filter(|finding| !DOUBTS.contains(&finding["id"].as_str().expect("an id")))
        .collect()
}

fn check_only(json: &Value, planted: &[&str]) {
    let found = to_fix(json);
    let first = found.first().unwrap_or_else(|| panic!("nothing is found"));
    assert!(
        planted.contains(&first["id"].as_str().expect("an id")),
        "{found:#?}"
    );
    for finding in &found {
        let id = finding["id"].as_str().expect("an id");
        assert!(
            planted.contains(&id) || finding["confidence"] == "low",
            "{finding:#}"
        );
    }
}

/// The threads that the advice names.
fn recommended(json: &Value) -> u32 {
    let found = to_fix(json);
    let threads = found
        .iter()
        .find(|finding| finding["id"] == "threads")
        .unwrap_or_else(|| panic!("no advice on threads: {found:#?}"));
    let text = threads["remedy"].to_string();
    let (_, rest) = text.split_once("-t ").expect("an exact remedy");
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    number.parse().expect("a number of threads")
}

fn three_servers(config: &str) -> u32 {
    let json = run("three-servers", "9292", config, "8s");
    // What it waits for is a timer, and what it computes is all that one GVL can take.
    check_only(&json, &["threads", "sleep", "workers"]);
    recommended(&json)
}

#[test]
fn a_server_that_only_waits_wants_many_threads() {
    assert!(three_servers("io.toml") >= 10);
}

#[test]
fn a_server_that_only_computes_wants_one_thread() {
    assert_eq!(three_servers("cpu.toml"), 1);
}

#[test]
fn a_server_that_does_both_wants_three_or_four_threads() {
    let threads = three_servers("mixed.toml");
    assert!((3..=4).contains(&threads), "{threads}");
}

#[test]
fn the_go_servers_answer_as_the_flows_demand() {
    let json = run("three-servers", "9292", "go-mixed.toml", "2s");
    assert!(json["requests"].as_u64().expect("a count") > 0);
}

#[test]
fn waits_for_a_service_a_pool_and_a_lock_are_found() {
    let json = run("fetcher", "9393", "hakaru.toml", "10s");
    check_only(&json, &["slow-http", "pool-wait", "lock-wait"]);
    let found = to_fix(&json);
    for (id, route, line) in [
        ("slow-http", "GET /price", "lib/fetcher.rb:"),
        ("pool-wait", "GET /stock", "lib/pool.rb:"),
        ("lock-wait", "GET /audit", "lib/fetcher.rb:"),
    ] {
        let named = |finding: &&&Value| {
            let route_named = finding["route"]
                .as_str()
                .is_some_and(|name| name.starts_with(route));
            finding["id"] == id && route_named && finding["title"].to_string().contains(line)
        };
        assert!(found.iter().find(named).is_some(), "no {id}: {found:#?}");
    }
}

#[test]
fn what_was_planted_in_a_rails_app_is_found() {
    let json = run("blog", "3000", "hakaru.toml", "15s");
    check_only(&json, &["n-plus-one", "missing-index"]);
    let found = to_fix(&json);
    let text = |id: &str| {
        found
            .iter()
            .find(|finding| finding["id"] == id)
            .unwrap_or_else(|| panic!("no {id}: {found:#?}"))
            .to_string()
    };
    assert!(text("n-plus-one").contains("app/views/posts/_post.html.erb:3"));
    assert!(text("missing-index").contains("comments (post_id"));
    let rows = json["sql"].as_array().expect("statements");
    assert!(
        rows.iter().any(|row| row["rows"].as_u64() > Some(0)),
        "rows of prepared statements are counted: {rows:#?}"
    );
}
