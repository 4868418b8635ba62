//! Builds the agent into a separate target folder: one `cargo build` builds the program with the
//! agent inside.

mod nested_build;

use std::fs;

/// Everything the agent is made of, from the workspace's root.
const SOURCES: [&str; 8] = [
    "crates/agent",
    "crates/ring/src",
    "crates/ring/Cargo.toml",
    "crates/sql-digest/src",
    "crates/sql-digest/Cargo.toml",
    "crates/capture/nested_build.rs",
    "ruby",
    "Cargo.lock",
];

fn main() {
    let out = nested_build::folder("OUT_DIR");
    let library = match nested_build::is_nested() {
        // A program for other hosts starts no app.
        true => {
            let none = out.join("no-agent");
            if let Err(error) = fs::write(&none, []) {
                println!("cargo::error=cannot write {}: {error}", none.display());
            }
            none
        }
        false => {
            let words = ["--package", "hakaru-agent"];
            let built = nested_build::build(&words, "agent", &out.join("agent"), &SOURCES);
            built.join("libhakaru_agent.so")
        }
    };
    if !library.exists() {
        println!("cargo::error=the agent did not build: see above");
    }
    println!(
        "cargo::rustc-env=HAKARU_AGENT_LIBRARY={}",
        library.display()
    );
}
