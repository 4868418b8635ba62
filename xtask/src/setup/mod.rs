//! What is missing on this machine, shown first, then installed.
//!
//! The order: look; say what will be installed or upgraded; ask on a terminal; install; look again.
//! A machine that has everything is left alone within a second.

mod apt;
mod install;
mod private_apt;
pub(crate) mod roots;
mod ruby;
mod ruby31;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use crate::run::{Outcome, can_ask, capture, find_program};
use crate::servers;
use roots::Root;
use ruby::{Found, Library};

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

/// What is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Debian packages but Ruby's.
    pub(crate) packages: Vec<String>,
    /// Ruby's Debian packages.
    pub(crate) ruby_packages: Vec<String>,
    /// Debian's packages of Node and Go, from the release that has the Ruby.
    pub(crate) tool_packages: Vec<String>,
    /// Gems for a Ruby that is not Debian's.
    pub(crate) gems: Vec<String>,
    /// The unpacked Ruby 3.1.
    pub(crate) ruby31: bool,
    /// Private roots with other database servers.
    pub(crate) roots: Vec<Root>,
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let (options, rest) = read_options(arguments, None)?;
    match rest.first() {
        Some(unknown) => Err(format!("setup knows no {unknown:?}")),
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

/// Installs what is missing for the purpose.
pub(crate) fn prepare(options: &Options) -> Outcome<()> {
    let missing = look(options);
    if missing == Missing::default() {
        return Ok(());
    }
    let plan = install::plan(&missing)?;
    eprintln!(
        "Missing on this machine for this task:\n{}",
        plan.describe()
    );
    if !options.yes && can_ask() && !confirmed()? {
        return Err("nothing was installed".to_owned());
    }
    plan.carry_out()?;
    let still = look(options);
    if still == Missing::default() {
        Ok(())
    } else {
        Err(still_missing(&still))
    }
}

/// The wrapper that runs its arguments on Ruby 3.1, when it is there.
pub(crate) fn ruby31() -> Option<PathBuf> {
    ruby31::is_there().then(ruby31::wrapper)
}

/// Whether there is a Go that builds pprof: `dev/viewers/go.mod` names tools, which 1.24 was the first to know.
fn has_go() -> bool {
    const MINOR_MIN: u32 = 24;
    // `go version go1.24.4 linux/amd64`
    let told = capture(Command::new("go").arg("version")).unwrap_or_default();
    let version = told.split_whitespace().nth(2).unwrap_or_default();
    let minor = version
        .strip_prefix("go1.")
        .and_then(|rest| rest.split('.').next());
    minor.and_then(|minor| minor.parse::<u32>().ok()) >= Some(MINOR_MIN)
}

fn look(options: &Options) -> Missing {
    let test = options.purpose == Purpose::Test;
    let libraries = libraries(options);
    let mut missing = missing_ruby(&ruby::find(&libraries), &libraries);
    if find_program("cc").is_none() {
        missing
            .packages
            .extend(["gcc", "libc6-dev"].map(str::to_owned));
    }
    if (test || options.mariadb)
        && (find_program("mariadbd").is_none() || find_program("mariadb").is_none())
    {
        missing
            .packages
            .extend(["mariadb-server-core", "mariadb-client-core"].map(str::to_owned));
    }
    if test && !servers::has_postgres() {
        missing.packages.push("postgresql".to_owned());
    }
    if test && find_program("chromium").is_none() {
        missing.packages.push("chromium".to_owned());
    }
    // The load generator is tested against servers that people run, the agent under valgrind.
    for (program, package) in [
        ("go", "golang-go"),
        ("nginx", "nginx"),
        ("valgrind", "valgrind"),
    ] {
        if test && find_program(program).is_none() {
            missing.packages.push(package.to_owned());
        }
    }
    if test && !crate::web::has_node() {
        missing.tool_packages = ["nodejs", "npm"].map(str::to_owned).to_vec();
    }
    if test && !has_go() {
        missing.tool_packages.push("golang-go".to_owned());
    }
    missing.ruby31 = test && !ruby31::is_there();
    if test {
        let lacking = roots::ALL.into_iter().filter(|root| !root.is_there());
        missing.roots = lacking.collect();
    }
    missing
}

/// The Ruby libraries that the task needs.
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

fn missing_ruby(found: &Found, wanted: &[Library]) -> Missing {
    let mut missing = Missing::default();
    match found {
        Found::Usable { .. } => {}
        Found::None | Found::TooOld { .. } => {
            missing.ruby_packages = ruby::packages(wanted);
        }
        Found::Lacks {
            libraries, debian, ..
        } => {
            let lacking = wanted
                .iter()
                .filter(|library| libraries.iter().any(|name| name == library.name));
            if *debian {
                missing.ruby_packages = lacking.map(|library| library.package.to_owned()).collect();
            } else {
                missing.gems = lacking.map(|library| library.gem.to_owned()).collect();
            }
        }
    }
    missing
}

fn still_missing(missing: &Missing) -> String {
    if let Found::TooOld { version } = ruby::find(&[]) {
        return format!(
            "the first ruby in PATH is still {version}; put /usr/bin before it in PATH"
        );
    }
    format!("after installing, this is still missing: {missing:?}")
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
    fn a_usable_ruby_is_left_alone_and_others_get_what_fits_them() {
        assert_eq!(
            missing_ruby(
                &Found::Usable {
                    version: "3.3.8".into()
                },
                &ruby::CHAT
            ),
            Missing::default()
        );
        assert_eq!(
            missing_ruby(&Found::None, &ruby::CHAT).ruby_packages[..2],
            ["ruby", "puma"]
        );
        let lacks = |debian| Found::Lacks {
            version: "3.4.0".into(),
            libraries: vec!["sinatra/base".into()],
            debian,
        };
        assert_eq!(
            missing_ruby(&lacks(true), &ruby::CHAT).ruby_packages,
            ["ruby-sinatra"]
        );
        assert_eq!(missing_ruby(&lacks(false), &ruby::CHAT).gems, ["sinatra"]);
    }
}
