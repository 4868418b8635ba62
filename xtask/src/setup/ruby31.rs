//! Ruby 3.1 with Puma 5.6 for the tests that need an old one: Debian 12's packages, unpacked into the
//! build folder. The system is not touched: apt gets its own lists, cache, sources and empty status.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::Source;
use super::private_apt::PrivateApt;
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
    let apt = PrivateApt::open(&folder, mirror, "bookworm")?;
    apt.unpack(&PACKAGES, &folder.join("root"))?;
    apt.close();
    fs::create_dir_all(folder.join("gems"))
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
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
