//! C compiler of an old Debian, used to link releases: a linked program needs no newer C library
//! than the old Debian's. It compiles for this machine and for arm64.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt;
use super::relocated::{Relocated, write_script};
use super::roots::cache_folder;
use crate::run::Outcome;

/// What programs are linked for: Debian 11 has glibc 2.31.
const SUITE: &str = "bullseye";

/// A machine as a target of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Rust's name of the target.
    pub(crate) target: &'static str,
    /// Debian's.
    pub(crate) debian: &'static str,
    /// What begins the names of GNU's programs.
    gnu: &'static str,
    packages: &'static [&'static str],
    programs: &'static [&'static str],
}

pub(crate) const MACHINES: [Machine; 2] = [
    Machine {
        target: "x86_64-unknown-linux-gnu",
        debian: "amd64",
        gnu: "x86_64-linux-gnu",
        packages: &["gcc", "libc6-dev"],
        programs: &[
            "usr/bin/x86_64-linux-gnu-gcc-10",
            "usr/bin/x86_64-linux-gnu-as",
            "usr/bin/x86_64-linux-gnu-ld.bfd",
            "usr/bin/x86_64-linux-gnu-ar",
            "usr/bin/x86_64-linux-gnu-objdump",
            "usr/lib/gcc/x86_64-linux-gnu/10/cc1",
            "usr/lib/gcc/x86_64-linux-gnu/10/collect2",
        ],
    },
    Machine {
        target: "aarch64-unknown-linux-gnu",
        debian: "arm64",
        gnu: "aarch64-linux-gnu",
        packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
        programs: &[
            "usr/bin/aarch64-linux-gnu-gcc-10",
            "usr/bin/aarch64-linux-gnu-as",
            "usr/bin/aarch64-linux-gnu-ld.bfd",
            "usr/bin/aarch64-linux-gnu-ar",
            "usr/bin/aarch64-linux-gnu-objdump",
            "usr/lib/gcc-cross/aarch64-linux-gnu/10/cc1",
            "usr/lib/gcc-cross/aarch64-linux-gnu/10/collect2",
        ],
    },
];

/// The programs of a compiler.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    /// Compiles and links.
    pub(crate) cc: PathBuf,
    pub(crate) ar: PathBuf,
    pub(crate) objdump: PathBuf,
}

impl Compiler {
    /// Makes cargo compile C code and link with the given programs for a machine.
    pub(crate) fn name_in(&self, cargo: &mut Command, machine: Machine) {
        let name = machine.target.replace('-', "_");
        let linker = format!("CARGO_TARGET_{}_LINKER", name.to_uppercase());
        cargo
            .env(linker, &self.cc)
            .env(format!("CC_{name}"), &self.cc)
            .env(format!("AR_{name}"), &self.ar);
    }
}

impl Machine {
    /// Unpacks the compiler unless present, and writes a script calling the compiler into a folder.
    pub(crate) fn compiler(&self, folder: &Path) -> Outcome<Compiler> {
        let relocated = Relocated {
            suite: SUITE,
            packages: self.packages.to_vec(),
            programs: self.programs.to_vec(),
            folder: cache_folder().join(format!("gcc-{SUITE}-{}", self.debian)),
        };
        if !relocated.is_there() {
            eprintln!(
                "setup: unpacking the C compiler of Debian 11 for {} into {}; nothing is installed",
                self.debian,
                relocated.folder.display()
            );
            relocated.install(&apt::mirror()?)?;
        }
        let root = relocated.root();
        let named = |name: &str| root.join(format!("usr/bin/{}-{name}", self.gnu));
        let script = folder.join(format!("{}-cc", self.gnu));
        write_script(&script, &cc(&root, self.gnu))?;
        Ok(Compiler {
            cc: script,
            ar: named("ar"),
            objdump: named("objdump"),
        })
    }
}

/// Returns the script of the compiler: GCC looks for headers, libraries, assembler and linker in
/// `/usr`, unless given other paths.
fn cc(root: &Path, gnu: &str) -> String {
    let root = root.display();
    format!(
        "#!/bin/sh\nexec '{root}/usr/bin/{gnu}-gcc-10' '--sysroot={root}' '-B{root}/usr/bin/{gnu}-' \"$@\"\n"
    )
}
