//! Ruby 3.1 with Puma 5.6 for the tests that need an old one: Debian 12's packages, unpacked into the
//! build folder. The system is not touched: apt gets its own lists, cache, sources and empty status.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::{Source, source_text};
use crate::run::{Outcome, capture, target_folder, write};

const PACKAGES: [&str; 7] = [
    "ruby3.1",
    "libruby3.1",
    "ruby-rubygems",
    "rubygems-integration",
    "puma",
    "ruby-nio4r",
    "ruby-rack",
];

/// The wrapper: `ruby31 puma config.ru` runs Puma on Ruby 3.1.
pub(crate) fn wrapper() -> PathBuf {
    folder().join("ruby31")
}

pub(crate) fn is_there() -> bool {
    let version = capture(Command::new(wrapper()).args(["puma", "--version"]));
    version.is_ok_and(|text| text.contains("5.6"))
}

/// Fetches and unpacks it, without root's rights.
pub(crate) fn install(mirror: &Source) -> Outcome<()> {
    let folder = folder();
    let _ = fs::remove_dir_all(&folder);
    for made in [
        "lists/partial",
        "cache/archives/partial",
        "none",
        "debs",
        "gems",
    ] {
        fs::create_dir_all(folder.join(made))
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    }
    write(
        &folder.join("bookworm.sources.d/bookworm.sources"),
        &source_text(mirror, "bookworm"),
    )?;
    capture(private_apt(&folder).arg("update"))?;
    capture(
        private_apt(&folder)
            .arg("download")
            .args(PACKAGES)
            .current_dir(folder.join("debs")),
    )?;
    let debs = fs::read_dir(folder.join("debs"))
        .map_err(|error| format!("cannot read the packages: {error}"))?;
    for deb in debs.flatten() {
        capture(
            Command::new("dpkg-deb")
                .arg("-x")
                .arg(deb.path())
                .arg(folder.join("root")),
        )?;
    }
    let _ = fs::remove_dir_all(folder.join("lists"));
    write_programs(&folder)?;
    if is_there() {
        Ok(())
    } else {
        Err(format!(
            "Ruby 3.1 does not run; see {}",
            wrapper().display()
        ))
    }
}

fn folder() -> PathBuf {
    target_folder().join("ruby31")
}

fn private_apt(folder: &Path) -> Command {
    let mut apt = Command::new("apt-get");
    let place = |name: &str, path: &str| format!("{name}={}", folder.join(path).display());
    let options = [
        "Dir::Etc::sourcelist=/dev/null".to_owned(),
        place("Dir::Etc::sourceparts", "bookworm.sources.d"),
        "Dir::Etc::preferences=/dev/null".to_owned(),
        place("Dir::Etc::preferencesparts", "none"),
        place("Dir::State::lists", "lists"),
        "Dir::State::status=/dev/null".to_owned(),
        place("Dir::Cache", "cache"),
        // Root's apt would change to a user who may not enter the build folder.
        "APT::Sandbox::User=root".to_owned(),
    ];
    apt.arg("-q");
    options.iter().for_each(|option| {
        apt.args(["-o", option]);
    });
    apt
}

fn write_programs(folder: &Path) -> Outcome<()> {
    let script = WRAPPER
        .replace("@FOLDER@", &folder.display().to_string())
        .replace("@ARCH@", ARCH);
    let ruby = "#!/bin/sh\nexec \"$HAKARU_RUBY31_ROOT/usr/bin/ruby3.1\" \"$@\"\n";
    let puma = "#!/bin/sh\nexec ruby \"$HAKARU_RUBY31_ROOT/usr/bin/puma\" \"$@\"\n";
    for (path, text) in [
        ("ruby31", script.as_str()),
        ("bin/ruby", ruby),
        ("bin/puma", puma),
    ] {
        write(&folder.join(path), text)?;
        capture(Command::new("chmod").arg("755").arg(folder.join(path)))?;
    }
    Ok(())
}

/// Debian's Ruby looks for its library in `/usr` alone; these variables say where it is instead.
const WRAPPER: &str = r#"#!/bin/sh
# Runs its arguments with Ruby 3.1 and Puma 5.6 first in PATH.
export HAKARU_RUBY31_ROOT='@FOLDER@/root'
lib=$HAKARU_RUBY31_ROOT/usr/lib
arch=@ARCH@-linux-gnu
export LD_LIBRARY_PATH="$lib/$arch"
export RUBYLIB="$lib/ruby/vendor_ruby:$lib/$arch/ruby/vendor_ruby/3.1.0:$lib/ruby/vendor_ruby/3.1.0:$lib/ruby/3.1.0:$lib/$arch/ruby/3.1.0"
export GEM_HOME='@FOLDER@/gems'
export GEM_PATH="$HAKARU_RUBY31_ROOT/usr/share/rubygems-integration/all:$lib/$arch/rubygems-integration/3.1.0"
export PATH='@FOLDER@/bin':"$PATH"
exec "$@"
"#;
