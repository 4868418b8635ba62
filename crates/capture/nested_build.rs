//! A cargo build inside of a build script, into a separate target folder. (Artifact dependencies,
//! which would do this, are not stable in cargo.)

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in nested builds, which have nothing inside of them.
const NESTED: &str = "HAKARU_NESTED_BUILD";

/// Returns a folder named by cargo in a variable.
pub(super) fn folder(variable: &str) -> PathBuf {
    PathBuf::from(env::var_os(variable).unwrap_or_default())
}

/// Whether the build is inside of another one.
pub(super) fn is_nested() -> bool {
    env::var_os(NESTED).is_some()
}

/// Builds what the words choose, and returns the folder with the results. Cargo runs the script
/// again when one of the sources, as named from the workspace's root, changes.
pub(super) fn build(words: &[&str], profile: &str, target_dir: &Path, sources: &[&str]) -> PathBuf {
    let root = folder("CARGO_MANIFEST_DIR").join("../..");
    for source in sources {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let target = env::var("TARGET").unwrap_or_default();
    let mut build = Command::new(folder("CARGO"));
    build
        .arg("build")
        .args(words)
        .args(["--profile", profile, "--target", &target])
        .arg("--target-dir")
        .arg(target_dir)
        .current_dir(&root);
    // Flags and settings meant for the outer build (coverage, wrappers) are not this one's.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = text.starts_with("CARGO_") && text != "CARGO_HOME";
        if inherited || text.starts_with("RUSTFLAGS") || text.starts_with("RUSTC_") {
            build.env_remove(&name);
        }
    }
    // The linker is: one for another machine, or for an older C library, is this one's too.
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        build.env(linker_variable(&target), linker);
    }
    build.env(NESTED, "1");
    if !build.status().is_ok_and(|status| status.success()) {
        println!(
            "cargo::error=`cargo build {}` failed: see above",
            words.join(" ")
        );
    }
    target_dir.join(target).join(profile)
}

/// The variable in which cargo takes the linker for a target.
fn linker_variable(target: &str) -> String {
    let name = target.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{name}_LINKER")
}
