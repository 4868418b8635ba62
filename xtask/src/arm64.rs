//! `cargo xtask arm64-tests`: tests of crates, cross-built for arm64 and run under `qemu-aarch64`.
//!
//! Emulation shows wrong layouts, atomics and system calls; times under it say nothing. Compiler
//! and C library are Debian 11's, as for a release: unpacked, not installed.

use crate::release::needs_std;
use crate::run::{Outcome, cargo, target_folder};
use crate::setup::compiler::MACHINES;
use crate::setup::old_roots;
use crate::tally::Tally;

const TARGET: &str = "aarch64-unknown-linux-gnu";
/// The crates with tests of layouts, shared memory, arithmetic and parsing.
///
/// Of `stats` and `schema` the library's own: simulations and generated schemas take minutes there.
const CRATES: [(&str, &[&str]); 3] = [("ring", &[]), ("stats", &["--lib"]), ("schema", &["--lib"])];

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let machine = MACHINES
        .into_iter()
        .find(|machine| machine.target == TARGET)
        .ok_or(format!("no compiler is known for {TARGET}"))?;
    let unknown = arguments
        .iter()
        .find(|name| !CRATES.iter().any(|(known, _)| known == name));
    if let Some(name) = unknown {
        return Err(format!(
            "arm64-tests takes ring, stats and schema, not {name:?}"
        ));
    }
    needs_std(TARGET)?;
    let folder = target_folder().join("arm64");
    let compiler = machine.compiler(&folder)?;
    let runner = old_roots::emulator(machine)?;
    let mut tally = Tally::default();
    for (name, parts) in CRATES {
        if !arguments.is_empty() && !arguments.iter().any(|wanted| wanted == name) {
            continue;
        }
        eprintln!("arm64-tests: {name}");
        let mut test = cargo(&["test", "--no-fail-fast", "--target", TARGET]);
        test.arg("--target-dir").arg(&folder);
        test.arg("--package")
            .arg(format!("hakaru-{name}"))
            .args(parts);
        compiler.name_in(&mut test, machine);
        test.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", &runner);
        tally.watch(&mut test);
    }
    tally.verdict()
}
