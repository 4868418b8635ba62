//! Setup: shows missing programs first, then unpacks each beside the machine's own.
//!
//! The order: look; list what would be fetched; ask on a terminal; fetch; look again. Nothing is
//! installed: packages of the machine's own Debian mirror are unpacked into the build folder
//! (Rubies) and the user's cache folder (everything else), by an ordinary user too. What the
//! machine has and is good enough is used as it is.

mod apt;
pub(crate) mod compiler;
pub(crate) mod matrix;
pub(crate) mod old_roots;
mod private_apt;
mod relocated;
pub(crate) mod roots;
mod ruby;
mod tools;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, can_ask, find_program, is_root, target_folder};
use crate::servers;
use apt::Source;
use private_apt::PrivateApt;
pub(crate) use relocated::{bind, write_script};
use roots::Root;
pub(crate) use roots::cache_folder;
use ruby::{Library, RUBY31, RUBY33};
use tools::Tool;

/// What the machine is prepared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Demo,
    Test,
}

/// Flags of `setup`, `demo` and `test`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) purpose: Purpose,
    /// Go on without asking.
    pub(crate) yes: bool,
    /// A MariaDB server is wanted.
    pub(crate) mariadb: bool,
}

/// A missing program or library to fetch.
enum Missing {
    Ruby(&'static ruby::Private, Vec<Library>),
    Root(&'static Root),
    Tool(&'static Tool),
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let (options, rest) = read_options(arguments, None)?;
    match rest.first() {
        Some(unknown) => Err(format!("setup has no option {unknown:?}")),
        None => prepare(&options),
    }
}

/// Takes our flags out of the arguments; what remains is the caller's.
pub(crate) fn read_options(
    arguments: &[String],
    purpose: Option<Purpose>,
) -> Outcome<(Options, Vec<String>)> {
    let (mut purpose, mut yes, mut mariadb, mut rest) = (purpose, false, false, Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--yes" | "-y" => yes = true,
            "--db" => match words.next().map(String::as_str) {
                Some("mariadb") => mariadb = true,
                Some("sqlite") => mariadb = false,
                other => return Err(format!("--db takes sqlite or mariadb, not {other:?}")),
            },
            "--for" => match words.next().map(String::as_str) {
                Some("demo") => purpose = Some(Purpose::Demo),
                Some("test" | "ci") => purpose = Some(Purpose::Test),
                other => return Err(format!("--for takes demo, test or ci, not {other:?}")),
            },
            _ => rest.push(word.clone()),
        }
    }
    let purpose = purpose.ok_or("setup needs --for demo, --for test or --for ci")?;
    Ok((
        Options {
            purpose,
            yes,
            mariadb,
        },
        rest,
    ))
}

/// What is missing for a purpose, listed and agreed to.
pub(crate) struct Wanted {
    options: Options,
    missing: Vec<Missing>,
    mirror: Option<Source>,
}

/// Fetches what is missing for the purpose.
pub(crate) fn prepare(options: &Options) -> Outcome<()> {
    consent(options)?.fetch()
}

/// Lists what is missing for the purpose, and asks on a terminal. Nothing is fetched.
pub(crate) fn consent(options: &Options) -> Outcome<Wanted> {
    let missing = look(options)?;
    let mut mirror = None;
    if !missing.is_empty() {
        mirror = Some(source(&missing)?);
        eprintln!(
            "Missing on this machine for this task. Nothing will be installed; this will be unpacked beside it:"
        );
        for one in &missing {
            eprintln!("  {} into {}", one.holds(), one.folder().display());
        }
        if !options.yes && can_ask() && !confirmed()? {
            return Err("nothing was fetched".to_owned());
        }
    }
    Ok(Wanted {
        options: options.clone(),
        missing,
        mirror,
    })
}

impl Wanted {
    /// Fetches and unpacks everything, and looks once more.
    pub(crate) fn fetch(&self) -> Outcome<()> {
        let Some(mirror) = &self.mirror else {
            return Ok(());
        };
        for one in &self.missing {
            eprintln!("setup: fetching {}", one.holds());
            one.install(mirror)?;
        }
        let still = look(&self.options)?;
        match still.as_slice() {
            [] => Ok(()),
            [one, ..] => Err(format!(
                "{} was unpacked into {}, and does not work there",
                one.holds(),
                one.folder().display()
            )),
        }
    }
}

/// Returns the wrapper which runs arguments on Ruby 3.1, when present.
pub(crate) fn ruby31() -> Option<PathBuf> {
    RUBY31.is_there(&ruby::OLD).then(|| RUBY31.wrapper())
}

/// Returns the folder with the programs chosen by setup, under usual names.
pub(crate) fn tools_folder() -> PathBuf {
    target_folder().join("tools/bin")
}

/// Executes the program again with [`tools_folder`] first in `PATH`, unless already so; returns
/// only on failure. All programs that we start inherit it.
pub(crate) fn enter() -> Outcome<()> {
    let folder = tools_folder();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if folders.first() == Some(&folder) {
        return Ok(());
    }
    folders.insert(0, folder);
    let path: OsString = std::env::join_paths(folders).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut again = Command::new(&program);
    again.args(std::env::args_os().skip(1)).env("PATH", path);
    let error = again.exec();
    Err(format!("cannot start {} again: {error}", program.display()))
}

/// Returns the folder with the unpacked package debootstrap, and the address of the machine's
/// Debian mirror.
pub(crate) fn fetch_debootstrap() -> Outcome<(PathBuf, String)> {
    let mirror = apt::mirror()?;
    let folder = target_folder().join("debootstrap");
    let _ = fs::remove_dir_all(&folder);
    let apt = PrivateApt::open(&folder.with_extension("apt"), &mirror, "bookworm")?;
    roots::make_skeleton(&folder)?;
    apt.unpack_with_dependencies(&["debootstrap"], &folder)?;
    apt.close();
    Ok((folder, mirror.uri))
}

impl Missing {
    fn holds(&self) -> &'static str {
        match self {
            Missing::Ruby(ruby, _) => ruby.holds,
            Missing::Root(root) => root.holds,
            Missing::Tool(tool) => tool.holds,
        }
    }

    fn folder(&self) -> PathBuf {
        match self {
            Missing::Ruby(ruby, _) => ruby
                .programs()
                .parent()
                .map(Path::to_owned)
                .unwrap_or_default(),
            Missing::Root(_) | Missing::Tool(_) => cache_folder(),
        }
    }

    fn install(&self, mirror: &Source) -> Outcome<()> {
        match self {
            Missing::Ruby(ruby, libraries) => ruby.install(libraries, mirror),
            Missing::Root(root) => root.install(mirror),
            Missing::Tool(tool) => tool.install(mirror),
        }
    }

    /// What a person would install instead.
    fn by_hand(&self) -> String {
        match self {
            Missing::Ruby(_, libraries) => {
                let gems: Vec<&str> = libraries.iter().map(|library| library.gem).collect();
                format!("Ruby 3.2 or later with the gems {}", gems.join(", "))
            }
            Missing::Root(root) => root.holds.to_owned(),
            Missing::Tool(tool) => tool.by_hand.to_owned(),
        }
    }
}

fn look(options: &Options) -> Outcome<Vec<Missing>> {
    let test = options.purpose == Purpose::Test;
    let folder = tools_folder();
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut missing = Vec::new();
    missing.extend(choose_ruby(&libraries(options))?);
    if (test || options.mariadb) && !servers::has_mariadb() {
        missing.push(Missing::Root(&roots::BOOKWORM_MARIADB));
    }
    if !test {
        return Ok(missing);
    }
    if !servers::has_postgres() {
        missing.push(Missing::Root(&roots::BOOKWORM_POSTGRES));
    }
    let others = [&roots::TRIXIE, &roots::SID].into_iter();
    missing.extend(others.filter(|root| !root.is_there()).map(Missing::Root));
    if !RUBY31.is_there(&ruby::OLD) {
        missing.push(Missing::Ruby(&RUBY31, ruby::OLD.to_vec()));
    }
    for tool in &tools::ALL {
        if !tool.is_there()? {
            missing.push(Missing::Tool(tool));
        }
    }
    Ok(missing)
}

/// Puts a usable Ruby into the folder of our programs, unless the first in `PATH` is one.
fn choose_ruby(libraries: &[Library]) -> Outcome<Option<Missing>> {
    let programs = match ruby::find(libraries) {
        Some(folder) if is_in_path(&folder) => return Ok(None),
        Some(folder) => folder,
        None if RUBY33.is_there(libraries) => RUBY33.programs(),
        None => return Ok(Some(Missing::Ruby(&RUBY33, libraries.to_vec()))),
    };
    for program in relocated::programs_in(&programs) {
        let name = program.file_name().unwrap_or_default();
        symlink(&program, tools_folder().join(name))
            .map_err(|error| format!("cannot link {}: {error}", program.display()))?;
    }
    Ok(None)
}

fn is_in_path(folder: &Path) -> bool {
    find_program("ruby").is_some_and(|found| found.parent() == Some(folder))
}

/// Returns the Ruby libraries needed by the task.
fn libraries(options: &Options) -> Vec<Library> {
    let test = options.purpose == Purpose::Test;
    let mut libraries = ruby::CHAT.to_vec();
    if test || options.mariadb {
        libraries.extend(ruby::MARIADB);
    }
    if test {
        libraries.extend(ruby::TESTS);
    }
    libraries
}

/// Returns the source of packages, or the packages to install by hand where no source is known.
fn source(missing: &[Missing]) -> Outcome<Source> {
    let mut needed = vec!["apt-get", "dpkg-deb", "tar"];
    if !is_root() && missing.iter().any(|one| matches!(one, Missing::Root(_))) {
        needed.push("unshare");
    }
    let lacking = needed.into_iter().find(|name| find_program(name).is_none());
    let mirror = match lacking {
        Some(name) => Err(format!(
            "this machine has no {name}, which unpacks packages of Debian"
        )),
        None => apt::mirror(),
    };
    mirror.map_err(|why| {
        let wanted: Vec<String> = missing.iter().map(Missing::by_hand).collect();
        format!(
            "{why}; install by hand, then try again: {}",
            wanted.join("; ")
        )
    })
}

fn confirmed() -> Outcome<bool> {
    eprint!("Go on? [Y/n] ");
    let mut answer = String::new();
    io::stderr()
        .flush()
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|error| error.to_string())?;
    Ok(matches!(
        answer.trim().to_lowercase().as_str(),
        "" | "y" | "yes"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_are_taken_and_the_rest_is_kept() {
        let (options, rest) = read_options(
            &words("--db mariadb --duration 5s --yes"),
            Some(Purpose::Demo),
        )
        .unwrap();
        assert_eq!(
            options,
            Options {
                purpose: Purpose::Demo,
                yes: true,
                mariadb: true
            }
        );
        assert_eq!(rest, ["--duration", "5s"]);
        assert!(read_options(&[], None).is_err());
        assert!(read_options(&words("--db oracle"), Some(Purpose::Demo)).is_err());
        assert_eq!(
            read_options(&words("--for ci"), None).unwrap().0.purpose,
            Purpose::Test
        );
    }

    #[test]
    fn a_demo_needs_no_libraries_of_the_tests() {
        let names = |text: &str| {
            let options = read_options(&words(text), None).unwrap().0;
            libraries(&options)
                .iter()
                .map(|library| library.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names("--for demo"), ["puma", "sinatra/base", "sqlite3"]);
        assert!(names("--for demo --db mariadb").contains(&"mysql2"));
        assert!(!names("--for demo --db mariadb").contains(&"rails"));
        assert!(names("--for test").contains(&"rails"));
    }

    #[test]
    fn who_has_no_debian_mirror_is_told_what_to_install() {
        let missing = [
            Missing::Root(&roots::BOOKWORM_MARIADB),
            Missing::Ruby(&RUBY33, ruby::CHAT.to_vec()),
            Missing::Tool(tools::named("node")),
        ];
        let told: Vec<String> = missing.iter().map(Missing::by_hand).collect();
        assert_eq!(
            told,
            [
                "MariaDB 10.11 from Debian 12 (23 MB)",
                "Ruby 3.2 or later with the gems puma, sinatra, sqlite3",
                "Node 20.19 or later with npm"
            ]
        );
    }
}
