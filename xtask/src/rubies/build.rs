//! Rubies built from a folder of archives, and Pumas for any Ruby with headers.
//!
//! Everything is built below the build folder, and again only where an archive has another name.
//! Sources of extensions come from the folder, or from Debian's mirror where that has them. An
//! extension whose source is missing is left out: nio4r then runs as Ruby code (its own fall-back),
//! and without mysql2 the tests with that driver are not run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::place;
use crate::run::{Outcome, capture, find_program, write};
use crate::setup::{self, matrix};

/// A Ruby with the Pumas built for the Ruby.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) version: String,
    /// From the oldest to the newest.
    pub(super) pumas: Vec<Puma>,
    pub(super) has_mysql2: bool,
    jits: Vec<&'static str>,
}

/// A Puma for one Ruby.
#[derive(Clone, Debug)]
pub(super) struct Puma {
    pub(super) version: String,
    /// The script running Ruby with the libraries of a Puma.
    pub(super) ruby: PathBuf,
    pub(super) program: PathBuf,
}

/// Flags of configure and of make for both compilers, without the parts needed in no row.
const CONFIGURE: &str = "--disable-install-doc --enable-shared --enable-yjit --enable-zjit";

/// Build recipe; Debian's autoconf runs from `@TOOLS@`, the folder unpacked to, given the variables
/// set at the start.
const RECIPE: &str = r#"set -e
tools='@TOOLS@'
export PATH="$tools/usr/bin:$PATH" LD_LIBRARY_PATH="$tools/usr/lib/@ARCH@-linux-gnu"
export AC_MACRODIR="$tools/usr/share/autoconf" autom4te_perllibdir="$tools/usr/share/autoconf"
export AUTOM4TE="$tools/usr/bin/autom4te" AUTOM4TE_CFG="$tools/autom4te.cfg" M4="$tools/usr/bin/m4"
export trailer_m4="$tools/usr/share/autoconf/autoconf/trailer.m4"
sed "s|/usr/share/autoconf|$tools/usr/share/autoconf|g" "$tools/usr/share/autoconf/autom4te.cfg" > "$AUTOM4TE_CFG"
: > gems/bundled_gems
if [ ! -e configure ]; then
    cp "$tools"/usr/share/autoconf/build-aux/* tool/
    autoconf -o configure configure.ac
fi
./configure --prefix='@PREFIX@' --with-baseruby='@BASE@' @FLAGS@
make -j"$(nproc)"
make install
"#;

/// Archives of the Rubies in a folder, from the oldest to the newest.
pub(super) fn rubies(archives: &Path) -> Outcome<Vec<Archive>> {
    let mut rubies = named(archives, "ruby-")?;
    rubies.retain(Archive::is_version);
    match rubies.is_empty() {
        true => Err(format!("{} holds no ruby-*.tar.*", archives.display())),
        false => Ok(rubies),
    }
}

/// Sources of Pumas from the oldest to the newest: from the folder, and from Debian's releases.
pub(super) fn pumas(archives: Option<&Path>) -> Outcome<Vec<Source>> {
    let mut found = Vec::new();
    for (suite, _) in debian_pumas(archives) {
        let folder = place().join("src").join(format!("puma-of-{suite}"));
        let folder = matrix::source(suite, "puma", &folder)?;
        let version = puma_version(&folder)?;
        found.push(Source { version, folder });
    }
    for archive in archives.map_or(Ok(Vec::new()), |archives| named(archives, "puma-"))? {
        found.push(Source {
            folder: archive.unpack("puma-")?,
            version: archive.version,
        });
    }
    found.sort_by_key(|source| numbers(&source.version));
    found.dedup_by(|a, b| a.version == b.version);
    Ok(found)
}

/// Returns the versions of [`pumas`], by names alone.
pub(super) fn puma_versions(archives: Option<&Path>) -> Outcome<Vec<String>> {
    let own = archives.map_or(Ok(Vec::new()), |archives| named(archives, "puma-"))?;
    let of_debian = debian_pumas(archives).iter();
    let mut versions: Vec<String> = of_debian
        .map(|(_, version)| (*version).to_owned())
        .chain(own.into_iter().map(|archive| archive.version))
        .collect();
    versions.sort_by_key(|version| numbers(version));
    versions.dedup();
    Ok(versions)
}

/// Debian's releases whose Puma is built, with its version. The newest that the mirror gives stands
/// in for a folder's.
fn debian_pumas(archives: Option<&Path>) -> &'static [(&'static str, &'static str)] {
    const PUMAS: [(&str, &str); 2] = [("bookworm", "5.6.5"), ("trixie", "6.6.0")];
    match archives {
        Some(_) => &PUMAS[..1],
        None => &PUMAS,
    }
}

/// Reads `PUMA_VERSION = VERSION = "5.6.5"`.
fn puma_version(source: &Path) -> Outcome<String> {
    let path = source.join("lib/puma/const.rb");
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let line = text.lines().find(|line| line.contains("PUMA_VERSION ="));
    let version = line.and_then(|line| line.split('"').nth(1));
    version
        .map(str::to_owned)
        .ok_or(format!("{} names no version", path.display()))
}

/// An unpacked source.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) version: String,
    folder: PathBuf,
}

/// `ruby-4.0.5.tar.xz` in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Archive {
    path: PathBuf,
    pub(super) version: String,
}

impl Archive {
    /// Whether what follows the name is a number: `ruby-4.0.5`, not `ruby-sqlite3`.
    fn is_version(&self) -> bool {
        self.version.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Unpacks the source unless unpacked already; returns the folder.
    pub(super) fn unpack(&self, name: &str) -> Outcome<PathBuf> {
        let folder = place().join("src").join(format!("{name}{}", self.version));
        if folder.join(".whole").exists() {
            return Ok(folder);
        }
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let mut tar = Command::new("tar");
        tar.arg("-xf")
            .arg(&self.path)
            .args(["--strip-components", "1", "-C"])
            .arg(&folder);
        capture(&mut tar)?;
        write(&folder.join(".whole"), "")?;
        Ok(folder)
    }
}

/// Archives whose names begin so, by version.
fn named(folder: &Path, name: &str) -> Outcome<Vec<Archive>> {
    let entries = fs::read_dir(folder)
        .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let archive = |path: PathBuf| {
        let file = path.file_name()?.to_str()?.to_owned();
        let (version, _) = file.strip_prefix(name)?.split_once(".tar.")?;
        Some(Archive {
            version: version.to_owned(),
            path,
        })
    };
    let mut found: Vec<Archive> = entries
        .flatten()
        .filter_map(|entry| archive(entry.path()))
        .collect();
    found.sort_by_key(|archive| numbers(&archive.version));
    Ok(found)
}

/// The numbers of a version, for sorting.
pub(super) fn numbers(version: &str) -> Vec<u32> {
    version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// Builds a Ruby of an archive, with extensions and Pumas.
pub(super) fn of_archive(
    archive: &Archive,
    pumas: &[Source],
    archives: Option<&Path>,
) -> Outcome<Built> {
    let ruby = archive.built()?.join("bin/ruby");
    let extensions = Extensions::build(&ruby, archives, &archive.version)?;
    built(&ruby, &archive.version, pumas, &extensions)
}

/// Builds Pumas for a packaged Ruby with headers, and extensions where no package has any.
pub(super) fn of_packages(
    found: &matrix::Unpacked,
    pumas: &[Source],
    archives: Option<&Path>,
) -> Outcome<Built> {
    let (ruby, versions) = (found.programs.join("ruby"), &found.versions);
    let extensions = match versions.puma {
        Some(_) => Extensions::of_packages(),
        None => Extensions::build(&ruby, archives, &versions.ruby)?,
    };
    built(&ruby, &versions.ruby, pumas, &extensions)
}

fn built(ruby: &Path, version: &str, pumas: &[Source], extensions: &Extensions) -> Outcome<Built> {
    let pumas: Vec<Puma> = pumas
        .iter()
        .map(|puma| build_puma(puma, ruby, extensions, version))
        .collect::<Outcome<_>>()?;
    Ok(Built {
        version: version.to_owned(),
        pumas,
        has_mysql2: extensions.has_mysql2,
        jits: COMPILERS
            .into_iter()
            .filter(|(flag, name)| has_compiler(ruby, flag, name))
            .map(|(flag, _)| flag)
            .collect(),
    })
}

/// Ruby's flags of the compilers, and the compilers' names inside Ruby.
pub(super) const COMPILERS: [(&str, &str); 2] = [("--yjit", "YJIT"), ("--zjit", "ZJIT")];

/// Whether a Ruby of an archive is built with the compiler of a flag, by the version alone: ZJIT is
/// in Ruby 4.0 and later.
pub(super) fn may_know(version: &str, flag: &str) -> bool {
    flag != "--zjit" || numbers(version) >= vec![4]
}

/// A Ruby built without a compiler may warn and go on.
pub(super) fn has_compiler(ruby: &Path, flag: &str, name: &str) -> bool {
    let script =
        format!("exit(defined?(RubyVM::{name}) && RubyVM::{name}.enabled? ? true : false)");
    capture(Command::new(ruby).args(["--disable-gems", flag, "-e", &script])).is_ok()
}

impl Built {
    /// Returns whether Ruby has the compiler of the flag; the interpreter is always there.
    pub(super) fn knows(&self, flag: &str) -> bool {
        flag.is_empty() || self.jits.contains(&flag)
    }
}

/// Builds a Ruby unless there whole, with a notice first.
pub(super) fn once(prefix: &Path, name: &str, make: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    if prefix.join(".whole").exists() {
        return Ok(());
    }
    eprintln!("rubies: building {name}; 5 to 10 minutes on two cores");
    make()?;
    write(&prefix.join(".whole"), "")
}

/// Configures, builds and installs Ruby, with further flags of configure.
pub(super) fn make(source: &Path, prefix: &Path, flags: &str) -> Outcome<()> {
    let base = find_program("ruby")
        .ok_or("no ruby in PATH, which building Ruby needs; run cargo xtask setup --for test")?;
    let tools = matrix::build_tools(&place().join("build-tools"))?;
    let script = RECIPE
        .replace("@TOOLS@", &tools.display().to_string())
        .replace("@ARCH@", std::env::consts::ARCH)
        .replace("@PREFIX@", &prefix.display().to_string())
        .replace("@BASE@", &base.display().to_string())
        .replace("@FLAGS@", &format!("{CONFIGURE} {flags}"));
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(source)
        .env_remove("RUBYOPT");
    capture(&mut shell).map(|_| ()).map_err(|error| {
        let from = error
            .char_indices()
            .rev()
            .nth(1_500)
            .map_or(0, |(at, _)| at);
        format!("did not build: …{}", &error[from..])
    })
}

/// Folders of libraries beside Puma's own.
struct Extensions {
    folders: Vec<PathBuf>,
    env: &'static str,
    has_mysql2: bool,
}

impl Extensions {
    /// Debian's own extensions, which Debian's Ruby finds unaided.
    fn of_packages() -> Extensions {
        Extensions {
            folders: Vec::new(),
            env: "",
            has_mysql2: true,
        }
    }

    fn build(ruby: &Path, archives: Option<&Path>, version: &str) -> Outcome<Extensions> {
        let mut extensions = Extensions {
            folders: vec![matrix::pure_libraries(&place().join("pure"))?],
            env: "NIO4R_PURE=true",
            has_mysql2: false,
        };
        for (name, inside) in [
            ("nio4r-", "ext/nio4r"),
            ("sqlite3-", "ext/sqlite3"),
            ("mysql2-", "ext/mysql2"),
        ] {
            let Some(source) = extension_source(archives, name)? else {
                continue;
            };
            extensions
                .folders
                .insert(0, compile(ruby, &source, inside, version)?);
            extensions.folders.insert(0, source.join("lib"));
            match name {
                "nio4r-" => extensions.env = "",
                "mysql2-" => extensions.has_mysql2 = true,
                _ => {}
            }
        }
        Ok(extensions)
    }
}

/// The newest of the folder; of SQLite's driver Debian's mirror has the source too.
fn extension_source(archives: Option<&Path>, name: &str) -> Outcome<Option<PathBuf>> {
    let in_folder = archives.map_or(Ok(Vec::new()), |archives| named(archives, name))?;
    if let Some(archive) = in_folder.last() {
        return archive.unpack(name).map(Some);
    }
    if name != "sqlite3-" {
        return Ok(None);
    }
    let folder = place().join("src/sqlite3-of-sid");
    matrix::source("sid", "ruby-sqlite3", &folder).map(Some)
}

/// For `mkmf` in a packaged Ruby, whose C library may be newer than the machine's: keeps Ruby's
/// libraries from the compiler, which would run with Ruby's libraries.
const BEFORE: &str = "require 'rbconfig'
[RbConfig::CONFIG, RbConfig::MAKEFILE_CONFIG].each { |config| config['LIBPATHENV'] = '' }
";

/// Builds one extension for the Ruby; returns the folder for `require`.
fn compile(ruby: &Path, source: &Path, inside: &str, version: &str) -> Outcome<PathBuf> {
    let out = source.join(format!("for-{version}"));
    if out.join(".whole").exists() {
        return Ok(out);
    }
    let sqlite = matrix::sqlite(&place().join("sqlite"))?;
    let work = out.join("work");
    fs::create_dir_all(&work)
        .map_err(|error| format!("cannot make {}: {error}", work.display()))?;
    let before = work.join("before.rb");
    write(&before, BEFORE)?;
    let mut configure = Command::new(ruby);
    configure
        .args(["--disable-gems", "-r"])
        .arg(before)
        .arg(source.join(inside).join("extconf.rb"))
        // Only sqlite3 knows these: it would fetch SQLite's source otherwise.
        .arg("--enable-system-libraries")
        .arg(format!("--with-opt-dir={}", sqlite.display()))
        .arg("--with-ldflags=-Wl,--allow-shlib-undefined")
        // No row speaks TLS, and a machine may lack its headers.
        .envs([("DISABLE_SSL", "1"), ("PUMA_DISABLE_SSL", "1")])
        .env_remove("RUBYOPT")
        .current_dir(&work);
    capture(&mut configure)?;
    let mut make = Command::new("make");
    make.arg("install")
        .arg(format!("sitearchdir={}", out.display()));
    make.arg(format!("sitelibdir={}", out.display()))
        .current_dir(&work);
    capture(&mut make)?;
    write(&out.join(".whole"), "")?;
    Ok(out)
}

fn build_puma(puma: &Source, ruby: &Path, extensions: &Extensions, version: &str) -> Outcome<Puma> {
    let extension = compile(ruby, &puma.folder, "ext/puma_http11", version)?;
    let mut folders = vec![puma.folder.join("lib"), extension];
    folders.extend(extensions.folders.iter().cloned());
    // By flags, since a packaged Ruby's script sets RUBYLIB itself.
    let flags: String = folders
        .iter()
        .map(|folder| format!(" -I '{}'", folder.display()))
        .collect();
    let export = match extensions.env {
        "" => String::new(),
        pair => format!("export {pair}\n"),
    };
    let script = format!(
        "#!/bin/sh\n{export}exec '{}'{flags} \"$@\"\n",
        ruby.display()
    );
    let program = place().join(format!("with-puma-{}/{version}/ruby", puma.version));
    setup::write_script(&program, &script)?;
    Ok(Puma {
        version: puma.version.clone(),
        ruby: program,
        program: puma.folder.join("bin/puma"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_taken_by_name_and_sorted_by_version() {
        let folder = std::env::temp_dir().join(format!("hakaru-archives-{}", std::process::id()));
        for name in [
            "puma-10.0.0.tar.xz",
            "puma-8.0.2.tar.gz",
            "ruby-4.0.5.tar.xz",
            "README.md",
        ] {
            write(&folder.join(name), "").unwrap();
        }
        let versions: Vec<String> = named(&folder, "puma-")
            .unwrap()
            .into_iter()
            .map(|archive| archive.version)
            .collect();
        assert_eq!(versions, ["8.0.2", "10.0.0"]);
        assert_eq!(rubies(&folder).unwrap().len(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
