//! The Rubies and Pumas of several Debian releases, unpacked beside each other for `cargo xtask
//! rubies`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt;
use super::private_apt::PrivateApt;
use super::roots::make_skeleton;
use super::ruby::{
    Library, MATRIX_LIBRARIES, MATRIX_RUBIES, Private, SUITES_LIBRARIES, SUITES_RUBY,
};
use crate::run::{Outcome, capture, write};

/// A Ruby of a release with the same release's Puma and drivers.
#[derive(Clone, Debug)]
pub(crate) struct Unpacked {
    /// `3.3.8`.
    pub(crate) ruby: String,
    pub(crate) puma: String,
    /// Script running the Ruby with the unpacked libraries.
    pub(crate) ruby_program: PathBuf,
    pub(crate) puma_program: PathBuf,
}

/// Unpacks what is not there yet. A release that the mirror does not give is named with the reason.
pub(crate) fn unpack() -> Outcome<Vec<Result<Unpacked, String>>> {
    let mirror = apt::mirror()?;
    let unpack_one = |private: &Private| {
        let libraries: &[Library] = &MATRIX_LIBRARIES;
        if !private.is_there(libraries) {
            eprintln!("setup: fetching {}", private.holds);
            private.install(libraries, &mirror)?;
        }
        of(private)
    };
    let named = |private: &Private| {
        unpack_one(private).map_err(|error| format!("{} ({error})", private.holds))
    };
    Ok(MATRIX_RUBIES.iter().map(named).collect())
}

fn of(private: &Private) -> Outcome<Unpacked> {
    let ruby_program = private.programs().join("ruby");
    let puma_program = private.programs().join("puma");
    let script = "print RUBY_VERSION, ' '; require 'puma/const'; print Puma::Const::PUMA_VERSION";
    let said = capture(
        Command::new(&ruby_program)
            .args(["-e", script])
            .env_remove("RUBYOPT"),
    )?;
    let (ruby, puma) = said
        .trim()
        .split_once(' ')
        .ok_or(format!("{} says {said:?}", ruby_program.display()))?;
    Ok(Unpacked {
        ruby: ruby.to_owned(),
        puma: puma.to_owned(),
        ruby_program,
        puma_program,
    })
}

/// Unpacks autoconf, needed by Ruby's own sources, and returns the folder.
pub(crate) fn build_tools(folder: &Path) -> Outcome<PathBuf> {
    unpack_once(folder, "bookworm", &["autoconf", "m4"])?;
    Ok(folder.to_owned())
}

/// Unpacks what Puma needs and is Ruby code alone; returns the folder for `RUBYLIB`.
pub(crate) fn pure_libraries(folder: &Path) -> Outcome<PathBuf> {
    unpack_once(folder, "sid", &["ruby-nio4r", "ruby-rack", "ruby-rackup"])?;
    let all = folder.join("all");
    let gems =
        capture(
            Command::new("find")
                .arg(folder)
                .args(["-path", "*/gems/*/lib", "-type", "d"]),
        )?;
    let vendored = folder.join("usr/lib/ruby/vendor_ruby");
    let sources = gems
        .lines()
        .map(PathBuf::from)
        .chain(std::iter::once(vendored));
    fs::create_dir_all(&all).map_err(|error| format!("cannot make {}: {error}", all.display()))?;
    for source in sources.filter(|source| source.is_dir()) {
        capture(Command::new("cp").arg("-r").arg(source.join(".")).arg(&all))?;
    }
    Ok(all)
}

/// Unpacks packages with dependencies, unless done already.
pub(crate) fn unpack_once(folder: &Path, suite: &str, packages: &[&str]) -> Outcome<()> {
    if folder.join(".whole").exists() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(folder);
    make_skeleton(folder)?;
    let apt = PrivateApt::open(&folder.with_extension("apt"), &apt::mirror()?, suite)?;
    apt.unpack_with_dependencies(packages, folder)?;
    apt.close();
    write(&folder.join(".whole"), "")
}

/// Unpacks the Ruby for other projects' tests; returns the script running the Ruby.
pub(crate) fn suites_ruby() -> Outcome<PathBuf> {
    if !SUITES_RUBY.is_there(&SUITES_LIBRARIES) {
        eprintln!("setup: fetching {}", SUITES_RUBY.holds);
        SUITES_RUBY.install(&SUITES_LIBRARIES, &apt::mirror()?)?;
    }
    Ok(SUITES_RUBY.programs().join("ruby"))
}

/// Returns the path of a file in the packages of the suites' Ruby.
pub(crate) fn suites_file(name: &str) -> Outcome<PathBuf> {
    let root = SUITES_RUBY.programs().with_file_name("debian");
    let found = capture(
        Command::new("find")
            .arg(root)
            .args(["-type", "f", "-name", name]),
    )?;
    let first = found.lines().next().map(PathBuf::from);
    first.ok_or(format!("no package of the suites' Ruby has {name}"))
}

/// Fetches the source of a package of the same release, unless present; returns the folder.
pub(crate) fn source(package: &str, folder: &Path) -> Outcome<PathBuf> {
    if folder.join(".whole").exists() {
        return Ok(folder.to_owned());
    }
    let _ = fs::remove_dir_all(folder);
    let apt = PrivateApt::open(&folder.with_extension("apt"), &apt::mirror()?, "trixie")?;
    let unpacked = apt.unpack_source(package, folder);
    apt.close();
    unpacked?;
    write(&folder.join(".whole"), "")?;
    Ok(folder.to_owned())
}
