//! Debians on which a release must run: the oldest and the newest, of packages unpacked beside each
//! other. A user namespace is enough to enter one, so that no rights are needed and nothing is
//! changed outside of it.
//!
//! A foreign machine's programs run under `qemu-aarch64`, which is brought into the root. It does
//! not run what they start, so there the package is unpacked, not installed.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt;
use super::compiler::Machine;
use super::private_apt::PrivateApt;
use super::roots::{cache_folder, make_accounts, make_skeleton};
use crate::run::{Outcome, capture, target_folder, write};

/// The oldest one has glibc 2.31, the newest 2.41.
const SUITES: [&str; 2] = ["bullseye", "trixie"];
/// What installs a package and what the program needs.
const PACKAGES: [&str; 8] = [
    "dpkg",
    "diffutils",
    "tar",
    "dash",
    "coreutils",
    "sed",
    "libc-bin",
    "libgcc-s1",
];
/// Version of the unpacked contents; a change replaces old roots.
const RECIPE: u32 = 1;
const QEMU: &str = "usr/bin/qemu-aarch64-static";

/// A copy of a Debian, removed on drop.
#[derive(Debug)]
pub(crate) struct OldRoot {
    suite: &'static str,
    machine: Machine,
    folder: PathBuf,
}

/// Makes a copy of each Debian for a machine; what is not there yet is fetched.
pub(crate) fn of(machine: Machine) -> Outcome<Vec<OldRoot>> {
    SUITES
        .into_iter()
        .map(|suite| {
            let base = base(suite, machine)?;
            let name = format!("root-{suite}-{}-{}", machine.debian, std::process::id());
            let root = OldRoot {
                suite,
                machine,
                folder: target_folder().join("release-check").join(name),
            };
            let _ = fs::remove_dir_all(&root.folder);
            capture(Command::new("cp").arg("-a").arg(base).arg(&root.folder))?;
            Ok(root)
        })
        .collect()
}

/// Returns the command for running programs of a foreign machine outside of a root, with the oldest
/// Debian's C library. Unpacks the Debian unless there.
pub(crate) fn emulator(machine: Machine) -> Outcome<String> {
    let root = base(SUITES[0], machine)?;
    let qemu = root.join(QEMU);
    Ok(format!("{} -L {}", qemu.display(), root.display()))
}

impl OldRoot {
    /// For people.
    pub(crate) fn name(&self) -> String {
        format!("Debian {} {}", self.suite, self.machine.debian)
    }

    /// Installs a package, or unpacks a foreign machine's.
    pub(crate) fn install(&self, package: &Path) -> Outcome<()> {
        if is_foreign(self.machine) {
            let mut unpack = Command::new("dpkg-deb");
            return capture(unpack.arg("-x").arg(package).arg(&self.folder)).map(|_| ());
        }
        let inside = self.bring(package)?;
        // The root's own packages were unpacked, not installed: its dpkg knows of none of them.
        self.enter(&["dpkg", "--force-depends", "-i", &inside])
            .map(|_| ())
    }

    /// Copies a file into the root and returns the path inside.
    pub(crate) fn bring(&self, file: &Path) -> Outcome<String> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let place = self.folder.join("tmp").join(name.as_ref());
        fs::copy(file, &place)
            .map_err(|error| format!("cannot copy {} there: {error}", file.display()))?;
        Ok(format!("/tmp/{name}"))
    }

    /// Runs a program with the root as `/` and returns the output.
    pub(crate) fn enter(&self, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "chroot"]);
        command.arg(&self.folder);
        if is_foreign(self.machine) {
            command.arg(format!("/{QEMU}"));
        }
        command.args(words).env_clear();
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        capture(&mut command)
    }

    /// Returns the path of the C library's dynamic loader.
    pub(crate) fn loader(&self) -> &'static str {
        match self.machine.debian {
            "arm64" => "/lib/ld-linux-aarch64.so.1",
            _ => "/lib64/ld-linux-x86-64.so.2",
        }
    }
}

impl Drop for OldRoot {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_foreign(machine: Machine) -> bool {
    !machine.target.starts_with(ARCH)
}

/// Unpacks a Debian, unless present.
fn base(suite: &str, machine: Machine) -> Outcome<PathBuf> {
    let folder = cache_folder().join(format!("release-{suite}-{}-{RECIPE}", machine.debian));
    if folder.is_dir() {
        return Ok(folder);
    }
    eprintln!(
        "setup: unpacking a Debian {suite} for {} into {}; nothing is installed",
        machine.debian,
        folder.display()
    );
    let part = folder.with_extension(format!("{}.part", std::process::id()));
    let outcome = make(suite, machine, &part);
    let _ = fs::remove_dir_all(part.with_extension("apt"));
    let moved = outcome.and_then(|()| {
        fs::rename(&part, &folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))
    });
    let _ = fs::remove_dir_all(&part);
    moved.map(|()| folder)
}

fn make(suite: &str, machine: Machine, part: &Path) -> Outcome<()> {
    let mirror = apt::mirror()?;
    let lists = part.with_extension("apt");
    make_skeleton(part)?;
    let apt = PrivateApt::open_for(&lists, &mirror, suite, machine.debian)?;
    apt.unpack_with_dependencies(&PACKAGES, part)?;
    apt.close();
    if is_foreign(machine) {
        let apt = PrivateApt::open(&lists, &mirror, "bookworm")?;
        apt.unpack_with_dependencies(&["qemu-user-static"], part)?;
        apt.close();
    }
    make_accounts(part)?;
    for file in ["status", "available", "info/.keep", "updates/.keep"] {
        write(&part.join("var/lib/dpkg").join(file), "")?;
    }
    Ok(())
}
