//! Is there a Ruby that the apps run on, and which packages bring one?

use std::process::Command;

use super::apt::{Offer, major_minor};
use crate::run::{capture, find_program};

/// The GVL can be watched from 3.2 on.
pub(crate) const VERSION_MIN: (u32, u32) = (3, 2);

/// A library that an app or a test needs.
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
    library("puma", "puma", "puma"),
    library("sinatra/base", "sinatra", "ruby-sinatra"),
    library("sqlite3", "sqlite3", "ruby-sqlite3"),
];
/// What it needs more on MariaDB.
pub(crate) const MARIADB: [Library; 1] = [library("mysql2", "mysql2", "ruby-mysql2")];
/// What the tests need more than both.
pub(crate) const TESTS: [Library; 6] = [
    library("pg", "pg", "ruby-pg"),
    library("minitest", "minitest", "ruby-minitest"),
    library("rails", "rails", "ruby-rails"),
    library("unicorn", "unicorn", "unicorn"),
    library("stackprof", "stackprof", "ruby-stackprof"),
    library(
        "websocket/driver",
        "websocket-driver",
        "ruby-websocket-driver",
    ),
];

/// What the first Ruby in `PATH` can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is none.
    None,
    /// Its version is below [`VERSION_MIN`].
    TooOld { version: String },
    /// New enough, but these libraries are missing.
    Lacks {
        version: String,
        libraries: Vec<String>,
        debian: bool,
    },
    /// Everything is there.
    Usable { version: String },
}

/// Where Debian's packages bring a new enough Ruby from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A plain install takes it.
    Plain,
    /// It must be asked for by the name of its suite.
    Suite(String),
    /// No configured suite has one.
    Nowhere,
}

/// Looks for a Ruby with the libraries.
pub(crate) fn find(libraries: &[Library]) -> Found {
    let Some(path) = find_program("ruby") else {
        return Found::None;
    };
    let script = "puts RUBY_VERSION, Gem.ruby; ARGV.each { |name| begin; require name; rescue LoadError; puts name; end }";
    let mut ruby = Command::new(path);
    ruby.args(["-e", script])
        .args(libraries.iter().map(|library| library.name))
        .env_remove("RUBYOPT");
    capture(&mut ruby).map_or(Found::None, |text| judge(&text))
}

/// Packages that bring Ruby and the libraries.
pub(crate) fn packages(libraries: &[Library]) -> Vec<String> {
    let packages = libraries.iter().map(|library| library.package);
    std::iter::once("ruby")
        .chain(packages)
        .map(str::to_owned)
        .collect()
}

/// The gems that some of those packages bring.
pub(crate) fn gems_of(packages: &[String]) -> Vec<&'static str> {
    let known = CHAT.iter().chain(&MARIADB).chain(&TESTS);
    known
        .filter(|library| packages.iter().any(|package| package == library.package))
        .map(|library| library.gem)
        .collect()
}

/// `offers` is what apt knows about the package `ruby`.
pub(crate) fn origin(offers: &[Offer]) -> Origin {
    let new_enough =
        |offer: &&Offer| major_minor(&offer.version).is_some_and(|version| version >= VERSION_MIN);
    let highest = offers.iter().map(|offer| offer.priority).max();
    // A Ruby of a newer release, once installed, is the candidate, but what it needs more would still
    // come from the older one, where its libraries do not fit.
    if offers
        .iter()
        .filter(|offer| offer.candidate && Some(offer.priority) == highest)
        .any(|offer| new_enough(&offer))
    {
        return Origin::Plain;
    }
    let suite = offers
        .iter()
        .filter(new_enough)
        .find_map(|offer| offer.suites.first());
    suite.map_or(Origin::Nowhere, |suite| Origin::Suite(suite.clone()))
}

fn judge(output: &str) -> Found {
    let mut lines = output.lines().map(str::to_owned);
    let (Some(version), Some(path)) = (lines.next(), lines.next()) else {
        return Found::None;
    };
    let libraries: Vec<String> = lines.collect();
    if major_minor(&version).is_none_or(|numbers| numbers < VERSION_MIN) {
        Found::TooOld { version }
    } else if libraries.is_empty() {
        Found::Usable { version }
    } else {
        // A Ruby of Debian gets packages; one that somebody built or manages gets gems.
        Found::Lacks {
            version,
            libraries,
            debian: path.starts_with("/usr/bin/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ruby_is_judged_by_version_and_libraries() {
        assert_eq!(judge(""), Found::None);
        assert_eq!(
            judge("3.1.2\n/usr/bin/ruby3.1\n"),
            Found::TooOld {
                version: "3.1.2".into()
            }
        );
        assert_eq!(
            judge("3.3.8\n/usr/bin/ruby3.3\n"),
            Found::Usable {
                version: "3.3.8".into()
            }
        );
        let lacks = |debian| Found::Lacks {
            version: "3.4.1".into(),
            libraries: vec!["pg".into()],
            debian,
        };
        assert_eq!(judge("3.4.1\n/home/me/.rbenv/ruby\npg\n"), lacks(false));
        assert_eq!(judge("3.4.1\n/usr/bin/ruby3.4\npg\n"), lacks(true));
    }

    fn check(offers: &[(&str, &str, bool, i32)], expected: Origin) {
        let offer = |(version, suite, candidate, priority): &(&str, &str, bool, i32)| Offer {
            version: (*version).into(),
            suites: vec![(*suite).into()],
            candidate: *candidate,
            priority: *priority,
        };
        assert_eq!(
            origin(&offers.iter().map(offer).collect::<Vec<_>>()),
            expected
        );
    }

    #[test]
    fn a_new_enough_ruby_is_looked_for_in_the_configured_suites() {
        let trixie = || Origin::Suite("trixie".into());
        check(&[("1:3.1", "bookworm", true, 500)], Origin::Nowhere);
        let mut both = [
            ("1:3.3+b1", "trixie", false, 100),
            ("1:3.1", "bookworm", true, 500),
        ];
        check(&both, trixie());
        (both[0].2, both[1].2) = (true, false);
        check(&both, trixie());
        both[0].3 = 500;
        check(&both, Origin::Plain);
        check(&[], Origin::Nowhere);
    }
}
