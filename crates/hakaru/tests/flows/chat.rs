//! The chat behind nginx under its own load, and under the load made of nginx's log.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::nginx::{Nginx, free_port};
use crate::support::{check, copy_of, read, replace_in};

/// Puts an nginx before the chat, with a log of cookies and bodies.
fn behind_nginx(project: &Path) {
    let (front, back) = (free_port(), free_port());
    let folder = project.display();
    let http = format!(
        "client_body_buffer_size 2m; keepalive_requests 1000000;\n  \
         log_format whole \"time:$msec\\tmethod:$request_method\\turi:$request_uri\\tstatus:$status\\tsize:$body_bytes_sent\"\n    \
           \"\\treqtime:$request_time\\tcookie:$http_cookie\\tcontent_type:$content_type\\tbody:$request_body\";\n  \
         access_log {folder}/access.log whole;\n  \
         server {{ listen 127.0.0.1:{front}; location / {{ proxy_pass http://127.0.0.1:{back}; proxy_set_header Host $http_host; }} }}"
    );
    Nginx::configure(project, &http);
    // nginx answers 502 until Puma listens, which would be the first thing it is asked.
    let command = format!(
        "puma -t 5:5 -b tcp://127.0.0.1:{back} config.ru & \
         until bash -c 'exec 3<>/dev/tcp/127.0.0.1/{back}' 2>/dev/null; do sleep 0.1; done; exec nginx -c {folder}/nginx.conf"
    );
    let changes = [
        (
            "puma -t 5:5 -b tcp://127.0.0.1:9292 config.ru",
            command.as_str(),
        ),
        (
            "http://127.0.0.1:9292",
            &format!("http://127.0.0.1:{front}"),
        ),
    ];
    replace_in(&project.join("hakaru.toml"), &changes);
}

fn run(project: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["run", "--json", "--warmup", "0s", "--no-ask-again"])
        .args(arguments)
        .current_dir(project)
        .env("CHAT_SMALL", "1")
        .env_remove("DATABASE_URL")
        .output()
        .expect("hakaru runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The share of each route in a log.
fn shares(project: &Path, log: &str) -> BTreeMap<String, f64> {
    let printed = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["logs", log, "--json"])
        .current_dir(project)
        .output()
        .expect("hakaru runs");
    let logs: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    let rows = logs["routes"].as_array().expect("routes");
    let count = |row: &Value| row["requests"].as_f64().expect("a count");
    let all: f64 = rows.iter().map(count).sum();
    let share = |row: &Value| {
        (
            row["route"].as_str().expect("a name").to_owned(),
            count(row) / all,
        )
    };
    rows.iter().map(share).collect()
}

#[test]
fn the_log_of_a_load_gives_the_load_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = copy_of("chat", folder.path());
    behind_nginx(&project);
    run(&project, &["--duration", "12s"]);
    std::fs::rename(project.join("access.log"), project.join("first.log")).expect("a log");

    let printed = check(&project, &["flows", "from", "first.log", "--writes"], 0);
    let config = read(&project, "hakaru-first.toml");
    // The 20 users of the chat's own load, each of whom waited for responses.
    assert!(config.contains("connections = 20\n"), "{config}");
    assert!(!config.contains("\nrate"), "{config}");
    assert!(!printed.contains("could not be read"), "{printed}");
    let gitignore = read(&project, "flows/first/.gitignore");
    assert!(gitignore.contains("*.csv"), "{gitignore}");

    let second = run(&project, &["--config", "hakaru-first.toml"]);
    assert_eq!(second["errors"], 0, "{}", second["failures"]);
    let (before, after) = (
        shares(&project, "first.log"),
        shares(&project, "access.log"),
    );
    let names = before.keys().chain(after.keys());
    let share = |of: &BTreeMap<String, f64>, name| of.get(name).copied().unwrap_or(0.0);
    for name in names {
        let (before, after) = (share(&before, name), share(&after, name));
        assert!(
            (before - after).abs() <= 0.02,
            "{name}: {before} and {after}"
        );
    }
    // Pages for those who are logged in: the cookies are those of the log.
    let findings = second["findings"].to_string();
    assert!(
        findings.contains("n-plus-one") && findings.contains("app.rb:"),
        "{findings}"
    );
}
