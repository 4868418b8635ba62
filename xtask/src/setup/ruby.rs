//! Ruby for the apps and the tests: an installed one, or one unpacked into the build folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::{Source, major_minor};
use super::relocated::{Relocated, programs_in, write_script};
use crate::run::{Outcome, capture, find_program_outside, is_program, target_folder};

/// The GVL can be watched from 3.2 on.
const VERSION_MIN: (u32, u32) = (3, 2);

/// A library needed by an app or a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// What is required.
    pub(crate) name: &'static str,
    pub(crate) gem: &'static str,
    /// Debian's package.
    pub(crate) package: &'static str,
}

const fn library(name: &'static str, gem: &'static str, package: &'static str) -> Library {
    Library { name, gem, package }
}

/// What the chat app needs on SQLite.
pub(crate) const CHAT: [Library; 3] = [
    PUMA,
    library("sinatra/base", "sinatra", "ruby-sinatra"),
    library("sqlite3", "sqlite3", "ruby-sqlite3"),
];
/// Further libraries for MariaDB.
pub(crate) const MARIADB: [Library; 1] = [library("mysql2", "mysql2", "ruby-mysql2")];
/// What the tests need more than both.
pub(crate) const TESTS: [Library; 11] = [
    library("pg", "pg", "ruby-pg"),
    library("minitest", "minitest", "ruby-minitest"),
    library("rails", "rails", "ruby-rails"),
    library("sequel", "sequel", "ruby-sequel"),
    library("bcrypt", "bcrypt", "ruby-bcrypt"),
    library("dalli", "dalli", "ruby-dalli"),
    library("redis", "redis", "ruby-redis"),
    library("unicorn", "unicorn", "unicorn"),
    library("stackprof", "stackprof", "ruby-stackprof"),
    library("ruby-prof", "ruby-prof", "ruby-prof"),
    library(
        "websocket/driver",
        "websocket-driver",
        "ruby-websocket-driver",
    ),
];

/// A Ruby unpacked into the build folder.
pub(super) struct Private {
    suite: &'static str,
    version: &'static str,
    /// Folder of the Ruby, below the build folder.
    name: &'static str,
    /// Description for people: contents, and amount to fetch.
    pub(super) holds: &'static str,
    /// Further packages, such as the headers.
    more: &'static [&'static str],
}

/// Ruby for machines without a suitable one.
pub(super) const RUBY33: Private = Private {
    suite: "trixie",
    version: "3.3",
    name: "ruby33",
    holds: "Ruby 3.3 with its libraries from Debian 13 (40 MB)",
    more: &[],
};

/// Ruby of the tests in need of an old one.
pub(super) const RUBY31: Private = Private {
    suite: "bookworm",
    version: "3.1",
    name: "ruby31",
    holds: "Ruby 3.1 and Puma 5.6 from Debian 12 (15 MB)",
    more: &[],
};

const PUMA: Library = library("puma", "puma", "puma");
/// Libraries for the rows of `cargo xtask rubies`: a server, and the drivers watched by the agent.
const WITH_PUMA: [Library; 3] = [
    PUMA,
    library("sqlite3", "sqlite3", "ruby-sqlite3"),
    library("mysql2", "mysql2", "ruby-mysql2"),
];
const WITH_BOTH: [Library; 4] = [
    WITH_PUMA[0],
    WITH_PUMA[1],
    WITH_PUMA[2],
    library("unicorn", "unicorn", "unicorn"),
];

/// A packaged Ruby of `cargo xtask rubies`, unpacked apart from the Rubies of the tests, so the
/// machine's own Ruby does not change the rows.
pub(super) struct OfMatrix {
    pub(super) ruby: Private,
    pub(super) libraries: &'static [Library],
}

pub(super) const MATRIX_RUBIES: [OfMatrix; 4] = [
    OfMatrix {
        ruby: Private {
            suite: "bookworm",
            version: "3.1",
            name: "rubies/debian-12",
            holds: "Ruby 3.1 and Puma 5.6 from Debian 12 (20 MB)",
            more: &[],
        },
        libraries: &WITH_PUMA,
    },
    OfMatrix {
        ruby: Private {
            suite: "trixie",
            version: "3.3",
            name: "rubies/debian-13",
            holds: "Ruby 3.3, Puma 6.6 and Unicorn 6.1 from Debian 13 (35 MB)",
            more: &["ruby3.3-dev"],
        },
        libraries: &WITH_BOTH,
    },
    OfMatrix {
        ruby: Private {
            suite: "sid",
            version: "3.3",
            name: "rubies/debian-sid",
            holds: "Ruby 3.3 and Puma 8.0 from Debian sid (30 MB)",
            more: &[],
        },
        libraries: &WITH_PUMA,
    },
    // Its servers and drivers are built for it: no release has them.
    OfMatrix {
        ruby: Private {
            suite: "sid experimental",
            version: "3.4",
            name: "rubies/debian-experimental",
            holds: "Ruby 3.4 from Debian experimental (30 MB)",
            more: &["ruby3.4-dev", "libsqlite3-0"],
        },
        libraries: &[],
    },
];

/// What other projects' own tests need beside themselves (`cargo xtask foreign-suites`).
const SUITES_LIBRARIES: [Library; 12] = [
    library("pg", "pg", "ruby-pg"),
    PUMA,
    library("rack", "rack", "ruby-rack"),
    library("rack/test", "rack-test", "ruby-rack-test"),
    library("sinatra/base", "sinatra", "ruby-sinatra"),
    library("sqlite3", "sqlite3", "ruby-sqlite3"),
    library("minitest", "minitest", "ruby-minitest"),
    library(
        "minitest/global_expectations",
        "minitest-global_expectations",
        "ruby-minitest-global-expectations",
    ),
    library("rails", "rails", "ruby-rails"),
    library("mocha", "mocha", "ruby-mocha"),
    library(
        "minitest/stub_const",
        "minitest-stub-const",
        "ruby-minitest-stub-const",
    ),
    library("capybara", "capybara", "ruby-capybara"),
];

/// Rubies for the suites of other projects, by release: a mirror gives the sources of some releases
/// only.
pub(super) const SUITES_RUBIES: [OfMatrix; 2] = [
    OfMatrix {
        ruby: Private {
            suite: "trixie",
            version: "3.3",
            name: "rubies/suites",
            holds: "Ruby 3.3 with what other projects' tests need from Debian 13 (50 MB)",
            more: &[],
        },
        libraries: &SUITES_LIBRARIES,
    },
    OfMatrix {
        ruby: Private {
            suite: "sid",
            version: "3.3",
            name: "rubies/suites-sid",
            holds: "Ruby 3.3 with what other projects' tests need from Debian sid (50 MB)",
            more: &[],
        },
        libraries: &SUITES_LIBRARIES,
    },
];

/// Returns the folder with the programs of an installed Ruby, new enough and with all libraries.
///
/// The first in `PATH` comes first, then what version managers installed, the newest first: their
/// own programs are
/// not always in the `PATH` of a script.
pub(super) fn find(libraries: &[Library]) -> Option<PathBuf> {
    let in_path = find_program_outside(&super::tools_folder(), "ruby");
    let first = in_path.and_then(|path| Some(path.parent()?.to_owned()));
    let mut managed: Vec<PathBuf> = managed_folders()
        .iter()
        .flat_map(fs::read_dir)
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|folder| is_program(&folder.join("ruby")))
        .collect();
    managed.sort_by_key(|folder| std::cmp::Reverse(version_in(folder)));
    first
        .into_iter()
        .chain(managed)
        .find(|folder| is_usable(&folder.join("ruby"), libraries))
}

/// Returns the folders in which rbenv, asdf, mise, ruby-install and chruby keep one folder a
/// version.
fn managed_folders() -> Vec<PathBuf> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let home = |path: &str| variable("HOME").map(|home| home.join(path));
    let below = |name: &str, path: &str| variable(name).map(|folder| folder.join(path));
    [
        below("RBENV_ROOT", "versions").or_else(|| home(".rbenv/versions")),
        below("ASDF_DATA_DIR", "installs/ruby").or_else(|| home(".asdf/installs/ruby")),
        below("MISE_DATA_DIR", "installs/ruby").or_else(|| home(".local/share/mise/installs/ruby")),
        home(".rubies"),
        Some(PathBuf::from("/opt/rubies")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the version in `…/3.3.5/bin` and `…/ruby-3.3.5/bin`.
fn version_in(folder: &Path) -> Option<(u32, u32)> {
    let name = folder.parent()?.file_name()?.to_str()?;
    major_minor(name.trim_start_matches("ruby-"))
}

fn is_usable(ruby: &Path, libraries: &[Library]) -> bool {
    let script = "puts RUBY_VERSION; ARGV.each { |name| require name }";
    let mut command = Command::new(ruby);
    command
        .args(["-e", script])
        .args(libraries.iter().map(|library| library.name))
        .env_remove("RUBYOPT");
    capture(&mut command).is_ok_and(|text| {
        let version = text.lines().next().and_then(major_minor);
        version.is_some_and(|version| version >= VERSION_MIN)
    })
}

impl Private {
    pub(super) fn suite(&self) -> &'static str {
        self.suite
    }

    /// Major and minor number.
    pub(super) fn version(&self) -> &'static str {
        self.version
    }

    /// Whether the headers are unpacked too.
    pub(super) fn has_headers(&self) -> bool {
        self.more.iter().any(|package| package.ends_with("-dev"))
    }

    /// The wrapper: `ruby31 puma config.ru` runs Puma on Ruby 3.1.
    pub(super) fn wrapper(&self) -> PathBuf {
        self.folder().join(self.name)
    }

    /// Returns the folder with the programs of the Ruby.
    pub(super) fn programs(&self) -> PathBuf {
        self.folder().join("bin")
    }

    pub(super) fn is_there(&self, libraries: &[Library]) -> bool {
        let program = match libraries.contains(&PUMA) {
            true => "puma",
            false => "ruby",
        };
        self.relocated(libraries).is_there()
            && capture(Command::new(self.wrapper()).args([program, "--version"])).is_ok()
    }

    pub(super) fn install(&self, libraries: &[Library], mirror: &Source) -> Outcome<()> {
        let relocated = self.relocated(libraries);
        relocated.install(mirror)?;
        self.write_programs(&relocated)?;
        if self.is_there(libraries) {
            return Ok(());
        }
        Err(format!(
            "the unpacked Ruby {} does not run; see {}",
            self.version,
            self.wrapper().display()
        ))
    }

    fn folder(&self) -> PathBuf {
        target_folder().join(self.name)
    }

    fn relocated(&self, libraries: &[Library]) -> Relocated {
        let (package, program) = match self.version {
            "3.1" => ("ruby3.1", "usr/bin/ruby3.1"),
            "3.4" => ("ruby3.4", "usr/bin/ruby3.4"),
            _ => ("ruby3.3", "usr/bin/ruby3.3"),
        };
        let mut packages = vec![package, "bundler", "libc6-dbg"];
        packages.extend(libraries.iter().map(|library| library.package));
        packages.extend(self.more);
        Relocated {
            suite: self.suite,
            packages,
            programs: vec![program],
            folder: self.folder(),
        }
    }

    /// Writes `bin/ruby`, Ruby programs such as `puma`, and a wrapper with the folder first in
    /// `PATH`.
    fn write_programs(&self, relocated: &Relocated) -> Outcome<()> {
        let folder = self.folder().display().to_string();
        let filled = |text: &str| {
            text.replace("@FOLDER@", &folder)
                .replace("@LIBRARIES@", &relocated.libraries().display().to_string())
                .replace("@VERSION@", self.version)
        };
        write_script(&self.programs().join("ruby"), &filled(RUBY))?;
        write_script(&self.wrapper(), &filled(WRAPPER))?;
        for program in programs_in(&relocated.root().join("usr/bin")) {
            let start = fs::read(&program).unwrap_or_default();
            let line = start
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            let (true, Some(name)) = (is_ruby_script(&line), program.file_name()) else {
                continue;
            };
            let script = format!("#!{folder}/bin/ruby\nload '{}'\n", program.display());
            write_script(&self.programs().join(name), &script)?;
        }
        fs::create_dir_all(self.folder().join("gems"))
            .map_err(|error| format!("cannot make {folder}/gems: {error}"))
    }
}

/// Returns whether a script's first line names Ruby as the interpreter.
fn is_ruby_script(line: &str) -> bool {
    let Some(command) = line.strip_prefix("#!") else {
        return false;
    };
    let programs = command
        .split_whitespace()
        .map(|word| word.rsplit('/').next());
    programs
        .flatten()
        .any(|name| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "ruby")
}

/// Script of the unpacked Ruby: Debian's Ruby and database driver look for files in `/usr` alone,
/// unless variables name other folders.
const RUBY: &str = r#"#!/bin/sh
# Runs the unpacked Ruby.
lib='@FOLDER@/debian/usr/lib' arch='@LIBRARIES@'
export RUBYLIB="$lib/ruby/vendor_ruby:$arch/ruby/vendor_ruby/@VERSION@.0:$lib/ruby/vendor_ruby/@VERSION@.0:$lib/ruby/@VERSION@.0:$arch/ruby/@VERSION@.0"
export GEM_HOME='@FOLDER@/gems'
share='@FOLDER@/debian/usr/share/rubygems-integration'
export GEM_PATH="$GEM_HOME:$share/all:$share/@VERSION@.0:$arch/rubygems-integration/@VERSION@.0:$lib/ruby/gems/@VERSION@.0"
export MARIADB_PLUGIN_DIR="$arch/libmariadb3/plugin"
exec "@FOLDER@/debian/usr/bin/ruby@VERSION@" "$@"
"#;

const WRAPPER: &str = r#"#!/bin/sh
# Runs its arguments with the unpacked Ruby @VERSION@ first in PATH.
PATH='@FOLDER@/bin':"$PATH" exec "$@"
"#;

/// Libraries of [`RUBY31`].
pub(super) const OLD: [Library; 1] = [PUMA];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ruby_scripts_are_known_by_their_first_line() {
        for line in [
            "#!/usr/bin/ruby",
            "#!/usr/bin/env ruby",
            "#! /usr/bin/ruby3.3 -w",
        ] {
            assert!(is_ruby_script(line), "{line}");
        }
        for line in [
            "#!/bin/sh",
            "#!/usr/bin/perl -w ruby-like",
            "ruby",
            "\u{7f}ELF",
        ] {
            assert!(!is_ruby_script(line), "{line}");
        }
    }

    #[test]
    fn folders_of_version_managers_carry_the_version() {
        let version = |folder: &str| version_in(Path::new(folder));
        assert_eq!(version("/h/.rbenv/versions/3.3.5/bin"), Some((3, 3)));
        assert_eq!(version("/opt/rubies/ruby-3.10.1/bin"), Some((3, 10)));
        assert_eq!(version("/h/.rbenv/versions/truffleruby/bin"), None);
    }

    #[test]
    fn a_ruby_without_the_libraries_or_too_old_does_not_do() {
        let folder = env::temp_dir().join(format!("hakaru-rubies-{}", std::process::id()));
        let fake = |name: &str, text: &str| {
            let path = folder.join(name);
            write_script(&path, &format!("#!/bin/sh\n{text}\n")).unwrap();
            path
        };
        assert!(is_usable(&fake("new", "echo 3.4.1"), &CHAT));
        assert!(!is_usable(&fake("old", "echo 3.1.2"), &CHAT));
        assert!(!is_usable(&fake("lacks", "echo 3.4.1; exit 1"), &CHAT));
        fs::remove_dir_all(folder).unwrap();
    }
}
