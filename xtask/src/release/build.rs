//! Builds the program for one machine with the C compiler of an old Debian.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, capture, cargo, root, run, target_folder};
use crate::setup::compiler::{Compiler, MACHINES, Machine};

/// A built program.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) machine: Machine,
    pub(super) program: PathBuf,
    pub(super) version: String,
    /// When the commit was made, in seconds since 1970.
    pub(super) time_s: String,
    pub(super) compiler: Compiler,
}

/// Returns the local machine.
pub(super) fn this_machine() -> Outcome<Machine> {
    MACHINES
        .into_iter()
        .find(|machine| machine.target.starts_with(ARCH))
        .ok_or(format!("no files are made on {ARCH}: name a --target"))
}

pub(super) fn build(machine: Machine, debug: bool) -> Outcome<Built> {
    needs_std(machine.target)?;
    let tools = target_folder().join("release-tools");
    let compiler = machine.compiler(&tools)?;
    let profile = if debug { "dev" } else { "release" };
    let mut build = cargo(&["build", "--locked", "--package", "hakaru"]);
    build.args(["--profile", profile, "--target", machine.target]);
    // A folder of its own: another linker would make cargo build everything again in the usual one.
    let folder = target_folder().join("release-build");
    build.arg("--target-dir").arg(&folder);
    compiler.name_in(&mut build, machine);
    run(&mut build)?;
    let kind = if debug { "debug" } else { "release" };
    Ok(Built {
        machine,
        program: folder.join(machine.target).join(kind).join("hakaru"),
        version: version()?,
        time_s: commit_time()?,
        compiler,
    })
}

/// Says what to do where Rust's own library for the machine is not there.
pub(crate) fn needs_std(target: &str) -> Outcome<()> {
    let place = ["--print", "target-libdir", "--target", target];
    let folder = capture(Command::new("rustc").args(place).current_dir(root()))?;
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    Err(format!(
        "Rust's standard library for {target} is not here: `rustup target add {target}` fetches it"
    ))
}

fn version() -> Outcome<String> {
    let id = capture(&mut cargo(&["pkgid", "--package", "hakaru"]))?;
    let version = id.trim().rsplit(['#', '@']).next().unwrap_or_default();
    Ok(version.to_owned())
}

fn commit_time() -> Outcome<String> {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(root());
    Ok(capture(&mut git)?.trim().to_owned())
}
