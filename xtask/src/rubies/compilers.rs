//! Debian's Rubies with YJIT, which Debian builds without: built from Debian's own sources, for
//! Debian's compiled libraries, and Rails with them.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::{self, Archive};
use super::place;
use crate::run::{Outcome, find_program};
use crate::setup::{self, matrix};

/// Major and minor number, release, package of the source, and the name of Ruby's library, by which
/// Debian's compiled libraries find theirs.
const SOURCES: [(&str, &str, &str, &str); 2] = [
    ("3.3", "sid", "ruby3.3", "ruby-3.3"),
    ("3.4", "sid experimental", "ruby3.4", "ruby-3.4"),
];

/// Builds the Rubies of [`SOURCES`] and of the archives, unless there already. Where the mirror
/// does not give a source, Debian's package without YJIT stands in for it; what cannot be had is
/// named.
pub(crate) fn prepare(archives: Option<&Path>) -> Outcome<()> {
    for (version, suite, package, library) in SOURCES {
        let Err(error) = of_source(suite, package, library) else {
            continue;
        };
        eprintln!("rubies: no {package} with YJIT ({error})");
        for packaged in matrix::unpack(&|known| known == version)? {
            if let Err(name) = packaged {
                eprintln!("rubies: cannot be had: {name}");
            }
        }
    }
    let archives = archives.map_or(Ok(Vec::new()), build::rubies)?;
    archives.iter().try_for_each(|one| one.built().map(|_| ()))
}

/// Returns the folder of a Ruby of Debian's source.
fn of_source(suite: &str, package: &str, library: &str) -> Outcome<PathBuf> {
    let prefix = place().join(format!("ruby-of-{package}"));
    build::once(&prefix, package, || {
        let source = matrix::source(suite, package, &place().join("src").join(package))?;
        build::make(&source, &prefix, &format!("--with-soname={library}"))
    })?;
    Ok(prefix)
}

/// Whether the Ruby in `PATH` has YJIT.
pub(crate) fn ruby_has_yjit() -> bool {
    let (flag, name) = build::COMPILERS[0];
    build::has_compiler(Path::new("ruby"), flag, name)
}

/// Returns a folder with the programs of the Ruby in `PATH` (`puma`, `bundle` …) run by the same
/// version with YJIT; builds the Ruby first. Only Debian's Ruby 3.3, unpacked by `setup`, has one.
pub(crate) fn programs_with_yjit() -> Outcome<PathBuf> {
    let (_, suite, package, library) = SOURCES[0];
    let ruby = find_program("ruby").and_then(|ruby| fs::canonicalize(ruby).ok());
    let ruby = ruby.ok_or("no ruby in PATH; run cargo xtask setup --for test")?;
    let script = fs::read_to_string(&ruby).unwrap_or_default();
    let interpreter = script
        .split('"')
        .find(|word| word.ends_with(&format!("/bin/{package}")))
        .ok_or(format!(
            "{} is not Debian's Ruby 3.3 unpacked by setup",
            ruby.display()
        ))?;
    let root = Path::new(interpreter).ancestors().nth(3);
    let root = root.ok_or(format!("{interpreter} is in no unpacked Debian"))?;
    let own = bound(&of_source(suite, package, library)?, root)?;
    let from = ruby.parent().unwrap_or(&ruby);
    let to = place().join("programs-with-yjit");
    let entries =
        fs::read_dir(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    for program in entries.flatten().map(|entry| entry.path()) {
        let (Ok(text), Some(name)) = (fs::read_to_string(&program), program.file_name()) else {
            continue;
        };
        let text = text
            .replace(interpreter, &own.display().to_string())
            .replace(&from.display().to_string(), &to.display().to_string());
        setup::write_script(&to.join(name), &text)?;
    }
    Ok(to)
}

/// Returns the Ruby of a folder as a program bound to the C library and the libraries unpacked
/// below `root`, as needed by compiled libraries from there.
fn bound(prefix: &Path, root: &Path) -> Outcome<PathBuf> {
    let program = prefix.join("bin/ruby-bound");
    fs::copy(prefix.join("bin/ruby"), &program)
        .map_err(|error| format!("cannot write {}: {error}", program.display()))?;
    let own = format!("{}:", prefix.join("lib").display());
    setup::bind(root, root, &program, &own)?;
    Ok(program)
}

impl Archive {
    /// Returns the folder of the archive's Ruby, built unless there.
    pub(super) fn built(&self) -> Outcome<PathBuf> {
        let prefix = place().join(format!("ruby-{}", self.version));
        build::once(&prefix, &format!("Ruby {}", self.version), || {
            build::make(&self.unpack("ruby-")?, &prefix, "")
        })?;
        Ok(prefix)
    }
}
