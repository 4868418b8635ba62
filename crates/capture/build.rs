//! Builds the agent into a target folder of its own, so that one `cargo build` makes the program
//! with the agent inside. (Artifact dependencies, which would do this, are not stable in cargo.)

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Everything the agent is made of, from the workspace's root.
const SOURCES: [&str; 7] = [
    "crates/agent",
    "crates/ring/src",
    "crates/ring/Cargo.toml",
    "crates/sql-digest/src",
    "crates/sql-digest/Cargo.toml",
    "ruby",
    "Cargo.lock",
];

fn main() {
    let variable = |name: &str| PathBuf::from(env::var_os(name).unwrap_or_default());
    let root = variable("CARGO_MANIFEST_DIR").join("../..");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let folder = variable("OUT_DIR").join("agent");
    let mut build = Command::new(variable("CARGO"));
    build
        .args(["build", "--package", "hakaru-agent", "--profile", "agent"])
        .arg("--target-dir")
        .arg(&folder)
        .current_dir(&root);
    // Flags and settings meant for the outer build (coverage, wrappers, another target) are not the
    // agent's.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = text.starts_with("CARGO_") && text != "CARGO_HOME";
        if inherited || text.starts_with("RUSTFLAGS") || text.starts_with("RUSTC_") {
            build.env_remove(&name);
        }
    }
    let built = build.status().is_ok_and(|status| status.success());
    let library = folder.join("agent/libhakaru_agent.so");
    if !built || !library.exists() {
        println!("cargo::error=the agent did not build: see above");
    }
    println!(
        "cargo::rustc-env=HAKARU_AGENT_LIBRARY={}",
        library.display()
    );
}
