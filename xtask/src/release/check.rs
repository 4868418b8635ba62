//! Checks of a release before publication:
//!
//! 1. Neither the program nor the agent inside it needs a newer glibc than [`GLIBC_MAX`]; both are
//!    for the same machine.
//! 2. The checksums' files are whole: the archive is unpacked and its program is the one that runs.
//! 3. On a Debian 11 and a Debian 13 of packages unpacked for it, entered by an ordinary user,
//!    `dpkg` installs the package, and the program prints its version and a page of its manual, and
//!    writes the agent's library for that Debian to load.
//!
//! For arm64 the Debians are arm64's, and `qemu-aarch64` runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::Built;
use super::elf::{GLIBC_MAX, glibc, shared_object_inside};
use super::pack::Made;
use crate::run::{Outcome, capture, target_folder};
use crate::setup::old_roots::{self, OldRoot};

pub(super) fn check(built: &Built, made: &Made) -> Outcome<()> {
    let folder = target_folder()
        .join("release-check")
        .join(built.machine.target);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut untar = Command::new("tar");
    untar.args(["--strip-components", "1", "-C"]).arg(&folder);
    capture(untar.arg("-xf").arg(&made.archive))?;
    let program = folder.join("hakaru");
    let agent = agent(&program, &folder)?;
    for (name, file) in [("the program", &program), ("the agent", &agent)] {
        needs_no_newer(built, name, file)?;
    }
    for root in old_roots::of(built.machine)? {
        runs_there(built, made, &agent, &root)?;
    }
    Ok(())
}

/// Extracts the agent from the program into a file.
fn agent(program: &Path, folder: &Path) -> Outcome<PathBuf> {
    let bytes =
        fs::read(program).map_err(|error| format!("cannot read {}: {error}", program.display()))?;
    let inside = shared_object_inside(&bytes)
        .ok_or("the program holds no agent for the machine it is itself made for")?;
    let agent = folder.join("agent.so");
    fs::write(&agent, inside)
        .map_err(|error| format!("cannot write {}: {error}", agent.display()))?;
    Ok(agent)
}

fn needs_no_newer(built: &Built, name: &str, file: &Path) -> Outcome<()> {
    let headers = capture(Command::new(&built.compiler.objdump).arg("-p").arg(file))?;
    let (major, minor) =
        glibc(&headers).ok_or(format!("{} names no version of glibc", file.display()))?;
    let target = built.machine.target;
    eprintln!("release: {target}: {name} needs glibc {major}.{minor}");
    if (major, minor) <= GLIBC_MAX {
        return Ok(());
    }
    Err(format!(
        "{name} needs glibc {major}.{minor}; {}.{} is the newest allowed",
        GLIBC_MAX.0, GLIBC_MAX.1
    ))
}

/// Installs the package in a root and runs the program there.
fn runs_there(built: &Built, made: &Made, agent: &Path, root: &OldRoot) -> Outcome<()> {
    root.install(&made.package)?;
    let agent = root.bring(agent)?;
    let name = root.name();
    let version = root.enter(&["/usr/bin/hakaru", "--version"])?;
    if version.trim() != format!("hakaru {}", built.version) {
        return Err(format!("on {name} the program says it is {version:?}"));
    }
    let page = root.enter(&["/usr/bin/hakaru", "help", "config"])?;
    if !page.contains("hakaru.toml") {
        return Err(format!("on {name} `hakaru help config` shows no page"));
    }
    // The loader names every library and every version it lacks; Ruby's own functions are looked up
    // by the agent itself, in the Ruby it is in.
    let libraries = root.enter(&[root.loader(), "--list", &agent])?;
    if libraries.contains("not found") {
        return Err(format!("on {name} the agent cannot be loaded: {libraries}"));
    }
    eprintln!("release: {name}: installed, runs, and the agent's libraries are there");
    Ok(())
}
