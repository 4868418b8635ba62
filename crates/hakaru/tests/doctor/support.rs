//! Runs the real program and reads the findings.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// The program without the test environment's own variables.
pub fn program() -> Command {
    cleared(Command::new(env!("CARGO_BIN_EXE_hakaru")))
}

pub fn cleared(mut command: Command) -> Command {
    for name in [
        "COLUMNS",
        "DATABASE_URL",
        "LC_ALL",
        "LANG",
        "RUBYOPT",
        "MALLOC_ARENA_MAX",
        "WEB_CONCURRENCY",
        "RAILS_MAX_THREADS",
    ] {
        command.env_remove(name);
    }
    command
}

pub fn ended(command: &mut Command) -> Output {
    let output = command.output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

pub fn document(command: &mut Command) -> Value {
    let output = ended(command);
    serde_json::from_slice(&output.stdout).expect("a document")
}

/// Names of what was found, with the level.
pub fn found(document: &Value) -> Vec<(String, String)> {
    let findings = document["findings"].as_array().expect("findings");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let pair = |finding: &Value| (text(&finding["id"]), text(&finding["level"]));
    findings.iter().map(pair).collect()
}

pub fn assert_found(document: &Value, id: &str) {
    let found = found(document);
    assert!(
        found.iter().any(|(other, _)| other == id),
        "{id}: {found:?}"
    );
}

/// Facts only, in an empty folder.
pub fn doctor(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program();
    command
        .args(["doctor", "--json", "--measure", "no"])
        .args(arguments)
        .current_dir(folder);
    command
}
