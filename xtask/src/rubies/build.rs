//! Rubies and Pumas built from a folder of archives.
//!
//! Everything is built below the build folder, and again only where an archive has another name.
//! Extensions whose archive is
//! missing are left out: nio4r then runs as Ruby code (its own fall-back), and without mysql2 the
//! tests with that driver are not run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::place;
use crate::run::{Outcome, capture, find_program, write};
use crate::setup::{self, matrix};

/// A Ruby built here.
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

/// Builds what the folder holds. What cannot be built is named with the reason.
pub(super) fn all(archives: &Path) -> Outcome<Vec<Result<Built, String>>> {
    let rubies = named(archives, "ruby-")?;
    if rubies.is_empty() {
        return Err(format!("{} holds no ruby-*.tar.*", archives.display()));
    }
    let built = |archive: &Archive| {
        build(archive, archives).map_err(|error| format!("Ruby {} ({error})", archive.version))
    };
    Ok(rubies
        .iter()
        .filter(|ruby| ruby.is_version())
        .map(built)
        .collect())
}

/// `ruby-4.0.5.tar.xz` in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Archive {
    path: PathBuf,
    version: String,
}

impl Archive {
    /// Whether what follows the name is a number: `ruby-4.0.5`, not `ruby-sqlite3`.
    fn is_version(&self) -> bool {
        self.version.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Unpacks the source unless unpacked already; returns the folder.
    fn unpack(&self, name: &str) -> Outcome<PathBuf> {
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

fn numbers(version: &str) -> Vec<u32> {
    version
        .split('.')
        .map(|part| part.parse().unwrap_or(0))
        .collect()
}

fn build(archive: &Archive, archives: &Path) -> Outcome<Built> {
    let prefix = place().join(format!("ruby-{}", archive.version));
    let ruby = prefix.join("bin/ruby");
    if !prefix.join(".whole").exists() {
        eprintln!(
            "rubies: building Ruby {}; 5 to 10 minutes on two cores",
            archive.version
        );
        make(&archive.unpack("ruby-")?, &prefix)?;
        write(&prefix.join(".whole"), "")?;
    }
    let extensions = Extensions::build(&ruby, archives, &archive.version)?;
    let pumas = named(archives, "puma-")?;
    let pumas: Vec<Puma> = pumas
        .iter()
        .map(|puma| build_puma(puma, &ruby, &extensions, &archive.version))
        .collect::<Outcome<_>>()?;
    let jits = ["--yjit", "--zjit"].into_iter().filter(|flag| {
        capture(Command::new(&ruby).args(["--disable-gems", flag, "-e", "exit 0"])).is_ok()
    });
    Ok(Built {
        version: archive.version.clone(),
        pumas,
        has_mysql2: extensions
            .folders
            .iter()
            .any(|folder| folder.join("mysql2").is_dir()),
        jits: jits.collect(),
    })
}

impl Built {
    /// Returns whether Ruby has the compiler of the flag; the interpreter is always there.
    pub(super) fn knows(&self, flag: &str) -> bool {
        flag.is_empty() || self.jits.contains(&flag)
    }
}

/// Configures, builds and installs Ruby.
fn make(source: &Path, prefix: &Path) -> Outcome<()> {
    let base = find_program("ruby")
        .ok_or("no ruby in PATH, which building Ruby needs; run cargo xtask setup --for test")?;
    let tools = matrix::build_tools(&place().join("build-tools"))?;
    let script = RECIPE
        .replace("@TOOLS@", &tools.display().to_string())
        .replace("@ARCH@", std::env::consts::ARCH)
        .replace("@PREFIX@", &prefix.display().to_string())
        .replace("@BASE@", &base.display().to_string())
        .replace("@FLAGS@", CONFIGURE);
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

/// Folders for `RUBYLIB` beside Puma's own.
struct Extensions {
    folders: Vec<PathBuf>,
    env: &'static str,
}

impl Extensions {
    fn build(ruby: &Path, archives: &Path, version: &str) -> Outcome<Extensions> {
        let mut folders = vec![matrix::pure_libraries(&place().join("pure"))?];
        let mut env = "NIO4R_PURE=true";
        for (name, inside) in [
            ("nio4r-", "ext/nio4r"),
            ("sqlite3-", "ext/sqlite3"),
            ("mysql2-", "ext/mysql2"),
        ] {
            let Some(archive) = named(archives, name)?.pop() else {
                continue;
            };
            let source = archive.unpack(name)?;
            folders.insert(0, compile(ruby, &source, inside, version)?);
            folders.insert(0, source.join("lib"));
            if name == "nio4r-" {
                env = "";
            }
        }
        Ok(Extensions { folders, env })
    }
}

/// Builds one extension for the Ruby; returns the folder for `require`.
fn compile(ruby: &Path, source: &Path, inside: &str, version: &str) -> Outcome<PathBuf> {
    let out = source.join(format!("for-{version}"));
    if out.join(".whole").exists() {
        return Ok(out);
    }
    let work = out.join("work");
    fs::create_dir_all(&work)
        .map_err(|error| format!("cannot make {}: {error}", work.display()))?;
    let mut configure = Command::new(ruby);
    configure
        .arg("--disable-gems")
        .arg(source.join(inside).join("extconf.rb"))
        // Only sqlite3 knows it, and would fetch SQLite's source otherwise.
        .arg("--enable-system-libraries")
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

fn build_puma(
    puma: &Archive,
    ruby: &Path,
    extensions: &Extensions,
    version: &str,
) -> Outcome<Puma> {
    let source = puma.unpack("puma-")?;
    let extension = compile(ruby, &source, "ext/puma_http11", version)?;
    let mut folders = vec![source.join("lib"), extension];
    folders.extend(extensions.folders.iter().cloned());
    let libraries = std::env::join_paths(folders).map_err(|error| error.to_string())?;
    let script = format!(
        "#!/bin/sh\nexport RUBYLIB='{}' {}\nexec '{}' \"$@\"\n",
        libraries.display(),
        extensions.env,
        ruby.display()
    );
    let program = place().join(format!("with-puma-{}/{version}/ruby", puma.version));
    setup::write_script(&program, &script)?;
    Ok(Puma {
        version: puma.version.clone(),
        ruby: program,
        program: source.join("bin/puma"),
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
        assert!(named(&folder, "ruby-").unwrap()[0].is_version());
        fs::remove_dir_all(folder).unwrap();
    }
}
