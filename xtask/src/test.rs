//! Everything CI checks, in one run with one verdict.

mod arrivals;
mod examples;
mod programs;
mod schedule;
mod timed;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

use crate::fresh_debian::{Files, differences, files};
use crate::run::{Outcome, cargo, root, run};
use crate::servers::{self, Server};
use crate::setup::{self, Purpose, Wanted};
use crate::tally::Tally;
use crate::tidy;
use programs::Program;
use timed::timed;

/// The throw-away servers of the tests.
pub(crate) struct Servers {
    mariadb: Server,
    mariadb118: Server,
    mysql: Server,
    postgres: Server,
    postgres18: Server,
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let (options, rest) = setup::read_options(arguments, Some(Purpose::Test))?;
    if let Some(unknown) = rest.first() {
        return Err(format!("test knows no {unknown:?}"));
    }
    let before = machine();
    let wanted = setup::consent(&options)?;
    let mut tally = Tally::default();
    // The quick ones first: who forgot to format should not wait for the tests.
    tally.step("tidy", tidy::task());
    tally.step(
        "cargo fmt --check",
        run(&mut cargo(&["fmt", "--all", "--check"])),
    );
    test_workspace(&wanted, &mut tally);
    tally.step("examples in comments", test_examples());
    let changed = differences(&before, &machine());
    let unchanged = match changed.as_slice() {
        [] => Ok(()),
        changed => Err(format!("changed: {}", changed.join(", "))),
    };
    tally.step("this machine's packages and /etc are as before", unchanged);
    tally.verdict()
}

/// Returns the state of `/etc` and of the list of installed packages.
fn machine() -> Files {
    let mut machine = files(Path::new("/etc"));
    machine.extend(files(Path::new("/var/lib/dpkg")));
    machine
}

/// What cargo does while tests run: build, then check.
struct Cargo {
    built: Outcome<()>,
    clippy: Outcome<()>,
}

impl Cargo {
    fn run(built: Sender<Program>) -> Cargo {
        Cargo {
            built: programs::build(built),
            clippy: clippy(),
        }
    }
}

fn clippy() -> Outcome<()> {
    let words = ["clippy", "--workspace", "--all-targets", "--"];
    let command = cargo(&[&words[..], &["-D", "warnings"]].concat());
    let begin = Instant::now();
    let ended = timed(&command, programs::NICE)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo clippy: {error}"))?;
    timed::print("clippy", begin, &String::from_utf8_lossy(&ended.stdout));
    match ended.status.success() {
        true => Ok(()),
        false => Err("see above".to_owned()),
    }
}

/// Runs the examples of the packages with examples.
fn test_examples() -> Outcome<()> {
    let packages = examples::packages(&tidy::repository_files()?);
    if packages.is_empty() {
        return Ok(());
    }
    let mut command = cargo(&["test", "--doc", "--quiet"]);
    for package in &packages {
        command.args(["--package", package]);
    }
    run(&mut command)
}

/// Rewrites the expected outputs of snapshot tests.
pub(crate) fn bless() -> Outcome<()> {
    run(cargo(&["test", "--workspace"]).env("HAKARU_BLESS", "1"))?;
    eprintln!("bless: done; read `git diff` before you commit");
    Ok(())
}

/// Runs a command while the servers are there, such as one crate's tests.
pub(crate) fn with_servers(arguments: &[String]) -> Outcome<()> {
    let (program, rest) = arguments
        .split_first()
        .ok_or("with-servers needs a command, such as `cargo test -p hakaru-schema-db`")?;
    let servers = start_servers()?;
    let mut command = Command::new(program);
    servers.name_in(command.args(rest));
    command.envs(setup::ruby31().map(|wrapper| ("HAKARU_RUBY31", wrapper)));
    run(&mut command)
}

/// Starts the servers for another task.
pub(crate) fn start_servers() -> Outcome<Servers> {
    let options = setup::Options {
        purpose: Purpose::Test,
        yes: false,
        mariadb: true,
    };
    setup::prepare(&options)?;
    Servers::start()
}

/// The long run of what every test run tries with few pairs. It continues where the last one was
/// stopped, unless seeds are named.
pub(crate) fn schema_pairs(arguments: &[String]) -> Outcome<()> {
    let mut seeds = "2000";
    let mut variables: Vec<String> = Vec::new();
    let folder = root().join("target/schema-pairs");
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--again" => {
                let _ = fs::remove_dir_all(&folder);
            }
            "--minutes" => {
                let minutes = words.next().and_then(|minutes| minutes.parse::<u64>().ok());
                let minutes = minutes.ok_or("--minutes takes a number")?;
                variables.push(format!("HAKARU_SCHEMA_PAIRS_SECONDS={}", minutes * 60));
            }
            word if word.starts_with(|letter: char| letter.is_ascii_digit()) => seeds = word,
            unknown => return Err(format!("schema-pairs knows no {unknown:?}")),
        }
    }
    variables.push(format!("HAKARU_SCHEMA_PAIRS={seeds}"));
    if !seeds.contains("..") {
        fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let folder = folder.display();
        variables.push(format!("HAKARU_SCHEMA_PAIRS_FOLDER={folder}"));
    }
    let test = ["cargo", "test", "--package", "hakaru-schema-db"];
    let pairs = ["--test", "schema", "random_pairs", "--no-fail-fast"];
    let shown = ["--", "--nocapture"];
    let words = test.iter().chain(&pairs).chain(&shown);
    let words = words.map(|word| (*word).to_owned());
    let command: Vec<String> = ["env".to_owned()]
        .into_iter()
        .chain(variables)
        .chain(words)
        .collect();
    with_servers(&command)
}

/// Runs the tests of whole schemas and pairs over another folder than our own corpus.
pub(crate) fn corpus(arguments: &[String]) -> Outcome<()> {
    let [folder] = arguments else {
        return Err(
            "corpus takes a folder, laid out as crates/schema/fixtures/corpus is".to_owned(),
        );
    };
    let folder = Path::new(folder)
        .canonicalize()
        .map_err(|error| format!("cannot find the folder {folder}: {error}"))?;
    let variable = format!("HAKARU_SCHEMA_CORPUS={}", folder.display());
    let packages = ["hakaru-schema", "hakaru-schema-db"];
    let words = [
        "env",
        &variable,
        "cargo",
        "test",
        "--no-fail-fast",
        "--quiet",
    ];
    let packages = packages.iter().flat_map(|package| ["--package", package]);
    let words: Vec<String> = words
        .into_iter()
        .chain(packages)
        .map(str::to_owned)
        .collect();
    with_servers(&words)
}

/// Builds and checks the workspace, and meanwhile fetches what is missing, starts the servers and
/// runs the tests that judge no time. When nothing else runs any more, the others follow.
fn test_workspace(wanted: &Wanted, tally: &mut Tally) {
    let (sender, arriving) = mpsc::channel();
    thread::scope(|scope| {
        let cargo = scope.spawn(|| Cargo::run(sender));
        let servers = wanted.fetch().and_then(|()| {
            eprintln!("test: starting MariaDB, MySQL and PostgreSQL");
            Servers::start()
        });
        let servers = servers.map_err(|message| {
            tally.troubles.push(format!("no test was run: {message}"));
        });
        let name = |command: &mut Command| {
            servers.iter().for_each(|servers| servers.name_in(command));
            command.envs(setup::ruby31().map(|wrapper| ("HAKARU_RUBY31", wrapper)));
        };
        tally.step("the page is what web/ gives", crate::web::check());
        let early = servers.as_ref().ok().map(|servers| {
            test_app(servers, tally);
            schedule::side_by_side(arriving, &name)
        });
        let ended = cargo.join();
        let is_built = matches!(&ended, Ok(cargo) if cargo.built.is_ok());
        match ended {
            Ok(Cargo { built, clippy }) => {
                tally.step("the build", built);
                tally.step("clippy", clippy);
            }
            Err(_) => tally
                .troubles
                .push("the build's thread panicked".to_owned()),
        }
        if let Some((mut done, waiting)) = early {
            // After a failed build nobody wants to wait for the rest.
            if is_built {
                done.run(waiting, &name);
            }
            done.print_times();
            done.count(tally, &name);
        }
    });
}

/// Runs the example app's own tests, on every supported database.
fn test_app(servers: &Servers, tally: &mut Tally) {
    let test = "test/app_test.rb";
    let folder = root().join("apps/chat");
    if !Path::new(&folder).join(test).exists() {
        tally
            .troubles
            .push(format!("apps/chat/{test} does not exist"));
        return;
    }
    for (name, url) in [
        ("SQLite", None),
        ("MariaDB", Some(&servers.mariadb.url)),
        ("PostgreSQL", Some(&servers.postgres.url)),
    ] {
        eprintln!("test: the chat on {name}");
        let mut command = Command::new("ruby");
        command
            .arg(test)
            .current_dir(&folder)
            .env_remove("DATABASE_URL");
        if let Some(url) = url {
            command.env("DATABASE_URL", url);
        }
        tally.watch(&mut command);
    }
}

impl Servers {
    /// All at once: making an empty database is mostly waiting for the disk.
    fn start() -> Outcome<Self> {
        thread::scope(|scope| {
            let mariadb = scope.spawn(servers::mariadb);
            let mariadb118 = scope.spawn(servers::mariadb118);
            let mysql = scope.spawn(servers::mysql);
            let postgres = scope.spawn(servers::postgres);
            let postgres18 = scope.spawn(servers::postgres18);
            Ok(Self {
                mariadb: started(mariadb)?,
                mariadb118: started(mariadb118)?,
                mysql: started(mysql)?,
                postgres: started(postgres)?,
                postgres18: started(postgres18)?,
            })
        })
    }

    /// Sets the servers' addresses in a command's environment.
    pub(crate) fn name_in(&self, command: &mut Command) {
        for (name, server) in [
            ("HAKARU_TEST_MARIADB_URL", &self.mariadb),
            ("HAKARU_TEST_MARIADB118_URL", &self.mariadb118),
            ("HAKARU_TEST_MYSQL_URL", &self.mysql),
            ("HAKARU_TEST_POSTGRES_URL", &self.postgres),
            ("HAKARU_TEST_POSTGRES18_URL", &self.postgres18),
        ] {
            command.env(name, &server.url);
            command.env(name.replace("_URL", "_DUMP"), &server.dump);
        }
    }
}

fn started(starting: thread::ScopedJoinHandle<'_, Outcome<Server>>) -> Outcome<Server> {
    let broken = |_| Err("the thread that started a server panicked".to_owned());
    starting.join().unwrap_or_else(broken)
}
