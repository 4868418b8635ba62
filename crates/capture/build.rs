//! Builds the agent into a separate target folder: one `cargo build` builds the program with the
//! agent inside. (Artifact dependencies, which would do this, are not stable in cargo.)

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
    let target = env::var("TARGET").unwrap_or_default();
    let mut build = Command::new(variable("CARGO"));
    build
        .args(["build", "--package", "hakaru-agent", "--profile", "agent"])
        .args(["--target", &target])
        .arg("--target-dir")
        .arg(&folder)
        .current_dir(&root);
    // Flags and settings meant for the outer build (coverage, wrappers) are not the agent's.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = text.starts_with("CARGO_") && text != "CARGO_HOME";
        if inherited || text.starts_with("RUSTFLAGS") || text.starts_with("RUSTC_") {
            build.env_remove(&name);
        }
    }
    // The linker is: one for another machine, or for an older C library, is the agent's too.
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        build.env(linker_variable(&target), linker);
    }
    let built = build.status().is_ok_and(|status| status.success());
    let library = folder.join(&target).join("agent/libhakaru_agent.so");
    if !built || !library.exists() {
        println!("cargo::error=the agent did not build: see above");
    }
    println!(
        "cargo::rustc-env=HAKARU_AGENT_LIBRARY={}",
        library.display()
    );
}

/// The variable in which cargo takes the linker for a target.
fn linker_variable(target: &str) -> String {
    let name = target.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{name}_LINKER")
}
