//! `cargo xtask macos-check`: crates without need of Linux compile for macOS. Nothing is linked or
//! run.
//!
//! C code of dependencies (SQLite, ring) is not compiled: a script that leaves empty objects stands
//! for the compiler, which is enough for `cargo check`. So only the interfaces are shown to fit.

use std::fs;

use crate::release::needs_std;
use crate::run::{Outcome, cargo, run, target_folder};
use crate::setup::write_script;

const TARGET: &str = "aarch64-apple-darwin";

/// What `load`, `logs`, `schema`, comparisons and pages are made of.
const CRATES: [&str; 37] = [
    "breakdown",
    "comparison",
    "console",
    "database",
    "database-client",
    "doctor",
    "ending",
    "figures",
    "findings",
    "flows",
    "generators",
    "kubernetes",
    "load",
    "load-hosts",
    "load-report",
    "logs",
    "microbench",
    "otlp",
    "rails-schema",
    "recording",
    "report",
    "routes",
    "scenario",
    "schema",
    "schema-commands",
    "schema-db",
    "schema-lint",
    "secrets",
    "sql-digest",
    "sqldef",
    "stacks",
    "stats",
    "store",
    "whatif",
    "words",
    "remote",
    "xpath",
];

/// The other crates, with the reason for Linux only.
const LINUX_ONLY: [(&str, &str); 16] = [
    (
        "agent",
        "GVL events and signals by glibc's and Linux' interfaces",
    ),
    ("app-process", "child subreaper, parent-death signal, /proc"),
    ("bench", "measures all of the others"),
    ("capture", "carries the agent, reads /proc"),
    ("chromium", "the browser of tests, by pipes"),
    ("collect", "reads /proc"),
    ("collector", "is collect as a program"),
    ("experiment", "starts apps by app-process"),
    ("guard", "looks at connections in /proc"),
    ("hakaru", "the program, of all crates"),
    ("logs-report", "shows figures of collect"),
    ("microbench-commands", "reads counters by capture"),
    ("probe", "reads /proc"),
    ("profile-commands", "starts programs by experiment"),
    ("ring", "shared memory that is there at once (MAP_POPULATE)"),
    ("starter", "looks at connections by guard"),
];

/// Leaves each wanted object empty.
const COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
    -o) : > "$2"; shift ;;
    -o?*) : > "${1#-o}" ;;
    esac
    shift
done
"#;
const ARCHIVER: &str =
    "#!/bin/sh\nfor word; do case \"$word\" in *.a) : > \"$word\" ;; esac; done\n";

pub(crate) fn task() -> Outcome<()> {
    needs_std(TARGET)?;
    let folder = target_folder().join("macos");
    let (compiler, archiver) = (folder.join("cc"), folder.join("ar"));
    // Its presence keeps build scripts from asking Apple's own tools for it.
    let kit = folder.join("MacOSX.sdk");
    write_script(&compiler, COMPILER)?;
    write_script(&archiver, ARCHIVER)?;
    fs::create_dir_all(&kit).map_err(|error| format!("cannot make {}: {error}", kit.display()))?;
    let mut check = cargo(&["check", "--target", TARGET, "--target-dir"]);
    check.arg(&folder);
    for name in CRATES {
        check.arg("--package").arg(format!("hakaru-{name}"));
    }
    check
        .env("CC_aarch64_apple_darwin", &compiler)
        .env("AR_aarch64_apple_darwin", &archiver)
        .env("SDKROOT", &kit)
        .env("MACOSX_DEPLOYMENT_TARGET", "11.0");
    run(&mut check)?;
    println!(
        "{} crates compile for {TARGET}; nothing was run",
        CRATES.len()
    );
    for (name, why) in LINUX_ONLY {
        println!("Linux only: {name} ({why})");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    #[test]
    fn each_crate_is_checked_or_named_with_the_reason() {
        let folders = fs::read_dir(root().join("crates")).unwrap();
        let mut found: Vec<String> = folders
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let others = LINUX_ONLY.iter().map(|(name, _)| *name);
        let mut named: Vec<&str> = CRATES.into_iter().chain(others).collect();
        found.sort();
        named.sort_unstable();
        assert_eq!(named, found);
    }
}
