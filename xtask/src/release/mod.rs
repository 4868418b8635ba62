//! `cargo xtask release`: what a person gets who does not build: an archive, a Debian package, a
//! `Dockerfile`, the list of what is inside, and checksums, in `target/release-files/`.
//!
//! 1. The C compiler of Debian 11 is unpacked beside the project, not installed; it links for that
//!    Debian's C library.
//! 2. Cargo builds the program with the agent inside, for each machine asked for.
//! 3. The program of this machine writes its own completion scripts and man pages, which are the
//!    same for every machine.
//! 4. `--check` demands what [`check`] lists of the program, the agent inside it, the archive and
//!    the package.
//!
//! Files carry the time of the commit, so that the same commit gives the same archives.

mod build;
mod check;
mod deb;
mod elf;
mod pack;
mod sbom;

pub(crate) use build::needs_std;

use std::path::PathBuf;

use crate::run::{Outcome, target_folder};
use crate::setup::compiler::{MACHINES, Machine};

const USAGE: &str = "release takes: [--target x86_64-unknown-linux-gnu|aarch64-unknown-linux-gnu]… \
    [--debug] [--check]; without a target it is this machine's";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Options {
    machines: Vec<Machine>,
    /// Build without optimisation, for trying the task.
    debug: bool,
    /// Check the built files.
    check: bool,
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let options = read(arguments)?;
    let folder = folder();
    let mut files = Vec::new();
    for machine in &options.machines {
        let built = build::build(*machine, options.debug)?;
        let made = pack::pack(&built, &folder)?;
        if options.check {
            check::check(&built, &made)?;
        }
        files.extend(made.all());
    }
    // Those of other machines, made before, lie in the same folder.
    pack::sums(&folder)?;
    for file in &files {
        println!("{}", file.display());
    }
    println!("{}", folder.join(pack::SUMS).display());
    Ok(())
}

/// Where the files for people lie.
fn folder() -> PathBuf {
    target_folder().join("release-files")
}

fn read(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options {
        machines: Vec::new(),
        debug: false,
        check: false,
    };
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--debug" => options.debug = true,
            "--check" => options.check = true,
            "--target" => {
                let name = words.next().unwrap_or_default();
                let known = MACHINES.into_iter().find(|machine| machine.target == name);
                options.machines.push(known.ok_or(USAGE)?);
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    if options.machines.is_empty() {
        options.machines.push(build::this_machine()?);
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn targets_are_read_and_unknown_ones_refused() {
        let read_one = |text: &str| read(&words(text));
        let both = read_one(
            "--target aarch64-unknown-linux-gnu --check --target x86_64-unknown-linux-gnu",
        );
        let both = both.unwrap();
        assert_eq!(both.machines, [MACHINES[1], MACHINES[0]]);
        assert!(both.check && !both.debug);
        assert!(read_one("--target riscv64gc-unknown-linux-gnu").is_err());
        assert!(read_one("--quick").is_err());
    }
}
