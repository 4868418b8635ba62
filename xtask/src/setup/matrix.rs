//! The Rubies and Pumas of several Debian releases, unpacked beside each other for `cargo xtask
//! rubies`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt;
use super::private_apt::PrivateApt;
use super::roots::make_skeleton;
use super::ruby::{MATRIX_RUBIES, OfMatrix, SUITES_RUBIES};
use crate::run::{Outcome, capture, write};

/// Versions of a release's Ruby and servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Versions {
    /// `3.3.8`.
    pub(crate) ruby: String,
    /// Versions of the servers; `None` where the release has no such server for the Ruby.
    pub(crate) puma: Option<String>,
    pub(crate) unicorn: Option<String>,
    /// Whether extensions can be built for the Ruby.
    pub(crate) has_headers: bool,
}

/// A Ruby of a release with the same release's servers and drivers.
#[derive(Clone, Debug)]
pub(crate) struct Unpacked {
    pub(crate) versions: Versions,
    /// Folder of the scripts `ruby`, `puma` and `unicorn` with the unpacked libraries.
    pub(crate) programs: PathBuf,
}

/// Unpacks what is wanted by major and minor number, and not there yet. A release that the mirror
/// does not give is named with the reason.
pub(crate) fn unpack(is_wanted: &dyn Fn(&str) -> bool) -> Outcome<Vec<Result<Unpacked, String>>> {
    let mirror = apt::mirror()?;
    let unpack_one = |one: &OfMatrix| {
        if !one.ruby.is_there(one.libraries) {
            eprintln!("setup: fetching {}", one.ruby.holds);
            one.ruby.install(one.libraries, &mirror)?;
        }
        of(one)
    };
    let named =
        |one: &OfMatrix| unpack_one(one).map_err(|error| format!("{} ({error})", one.ruby.holds));
    let wanted = MATRIX_RUBIES
        .iter()
        .filter(|one| is_wanted(one.ruby.version()));
    Ok(wanted.map(named).collect())
}

/// Prints the versions of Ruby, Puma and Unicorn, and where the headers are.
const VERSIONS: &str = "
    %w[puma/const unicorn].each { |name| begin; require name; rescue LoadError; end }
    puts RUBY_VERSION, defined?(Puma::Const) && Puma::Const::PUMA_VERSION,
      defined?(Unicorn::Const) && Unicorn::Const::UNICORN_VERSION,
      File.exist?(File.join(RbConfig::CONFIG['rubyhdrdir'], 'ruby.h'))";

fn of(one: &OfMatrix) -> Outcome<Unpacked> {
    let programs = one.ruby.programs();
    let mut ruby = Command::new(programs.join("ruby"));
    let said = capture(
        ruby.args(["-rrbconfig", "-e", VERSIONS])
            .env_remove("RUBYOPT"),
    )?;
    let lines: Vec<&str> = said.lines().collect();
    let [ruby, puma, unicorn, headers] = lines[..] else {
        return Err(format!("{}/ruby says {said:?}", programs.display()));
    };
    let server = |version: &str| (!version.is_empty()).then(|| version.to_owned());
    Ok(Unpacked {
        versions: Versions {
            ruby: ruby.to_owned(),
            puma: server(puma),
            unicorn: server(unicorn),
            has_headers: headers == "true",
        },
        programs,
    })
}

/// Versions of Ruby, Puma and Unicorn in the releases of [`MATRIX_RUBIES`], observed on 2026-11-26:
/// a stable release keeps them.
const OBSERVED: [[&str; 3]; MATRIX_RUBIES.len()] = [
    ["3.1.2", "5.6.5", ""],
    ["3.3.8", "6.6.0", "6.1.0"],
    ["3.3.8", "8.0.2", ""],
    ["3.4.11", "", ""],
];

/// Returns the versions of all releases, of which nothing is fetched: as unpacked, or as observed
/// before.
pub(crate) fn versions() -> Vec<Versions> {
    let releases = MATRIX_RUBIES.iter().zip(OBSERVED);
    let of_release = |(one, observed): (&OfMatrix, [&str; 3])| {
        let unpacked = one.ruby.is_there(one.libraries).then(|| of(one).ok());
        let unpacked = unpacked.flatten().map(|unpacked| unpacked.versions);
        unpacked.unwrap_or_else(|| as_observed(one, observed))
    };
    releases.map(of_release).collect()
}

fn as_observed(one: &OfMatrix, [ruby, puma, unicorn]: [&str; 3]) -> Versions {
    let server = |version: &str| (!version.is_empty()).then(|| version.to_owned());
    Versions {
        ruby: ruby.to_owned(),
        puma: server(puma),
        unicorn: server(unicorn),
        has_headers: one.ruby.has_headers(),
    }
}

/// Unpacks autoconf, needed by Ruby's own sources, and returns the folder.
pub(crate) fn build_tools(folder: &Path) -> Outcome<PathBuf> {
    unpack_once(folder, "bookworm", &["autoconf", "m4"])?;
    Ok(folder.to_owned())
}

/// Unpacks SQLite for the build of the driver; returns the folder with `include` and `lib`, with
/// nothing but SQLite in both: the headers of another C library would be taken too.
pub(crate) fn sqlite(folder: &Path) -> Outcome<PathBuf> {
    let packages = folder.join("packages");
    unpack_once(&packages, "bookworm", &["libsqlite3-dev"])?;
    let (include, lib) = (folder.join("include"), folder.join("lib"));
    for made in [&include, &lib] {
        fs::create_dir_all(made)
            .map_err(|error| format!("cannot make {}: {error}", made.display()))?;
    }
    let libraries = packages.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    for (from, to) in [
        (packages.join("usr/include/sqlite3.h"), &include),
        (libraries.join("libsqlite3.so"), &lib),
        (libraries.join("libsqlite3.so.0"), &lib),
    ] {
        capture(Command::new("cp").arg("-L").arg(from).arg(to))?;
    }
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

/// Unpacks a release's Ruby for other projects' tests; returns the script running the Ruby.
pub(crate) fn suites_ruby(suite: &str) -> Outcome<PathBuf> {
    let one = of_suites(suite)?;
    if !one.ruby.is_there(one.libraries) {
        eprintln!("setup: fetching {}", one.ruby.holds);
        one.ruby.install(one.libraries, &apt::mirror()?)?;
    }
    Ok(one.ruby.programs().join("ruby"))
}

fn of_suites(suite: &str) -> Outcome<&'static OfMatrix> {
    static RUBIES: [OfMatrix; SUITES_RUBIES.len()] = SUITES_RUBIES;
    let found = RUBIES.iter().find(|one| one.ruby.suite() == suite);
    found.ok_or(format!("no Ruby of {suite} is for other projects' tests"))
}

/// Returns the path of a file in the packages of a release's Ruby for other projects' tests.
pub(crate) fn suites_file(suite: &str, name: &str) -> Outcome<PathBuf> {
    let root = of_suites(suite)?.ruby.programs().with_file_name("debian");
    let found = capture(
        Command::new("find")
            .arg(root)
            .args(["-type", "f", "-name", name]),
    )?;
    let first = found.lines().next().map(PathBuf::from);
    first.ok_or(format!("no package of the suites' Ruby has {name}"))
}

/// Fetches the source of a release's package, unless present; returns the folder.
pub(crate) fn source(suite: &str, package: &str, folder: &Path) -> Outcome<PathBuf> {
    if folder.join(".whole").exists() {
        return Ok(folder.to_owned());
    }
    let _ = fs::remove_dir_all(folder);
    let apt = PrivateApt::open(&folder.with_extension("apt"), &apt::mirror()?, suite)?;
    let unpacked = apt.unpack_source(package, folder);
    apt.close();
    unpacked?;
    write(&folder.join(".whole"), "")?;
    Ok(folder.to_owned())
}
