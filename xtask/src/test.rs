//! Everything CI checks, in one run with one verdict.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::run::{Outcome, cargo, root, run, show};
use crate::servers::{self, Server};
use crate::setup::{self, Purpose};
use crate::tidy;

/// Passed and failed tests, and steps that failed without being tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    troubles: Vec<String>,
}

struct Servers {
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
    setup::prepare(&options)?;
    let mut tally = Tally::default();
    // The quick ones first: who forgot to format should not wait for the tests.
    tally.step("tidy", tidy::task());
    tally.step(
        "cargo fmt --check",
        run(&mut cargo(&["fmt", "--all", "--check"])),
    );
    tally.step("the page is what web/ gives", crate::web::check());
    eprintln!("test: starting MariaDB, MySQL and PostgreSQL");
    match Servers::start() {
        Ok(servers) => {
            test_workspace(&servers, &mut tally);
            test_app(&servers, &mut tally);
        }
        Err(message) => tally.troubles.push(format!("no test was run: {message}")),
    }
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    tally.step("clippy", run(&mut cargo(&clippy)));
    tally.verdict()
}

/// Writes the expected outputs of snapshot tests anew.
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
    let options = setup::Options {
        purpose: Purpose::Test,
        yes: false,
        mariadb: true,
    };
    setup::prepare(&options)?;
    let servers = Servers::start()?;
    let mut command = Command::new(program);
    servers.name_in(command.args(rest));
    run(&mut command)
}

/// The long run of what every test run tries with few pairs.
pub(crate) fn schema_pairs(arguments: &[String]) -> Outcome<()> {
    let seeds = match arguments {
        [] => "500",
        [seeds] => seeds,
        _ => return Err("schema-pairs takes one number, or two with .. between".to_owned()),
    };
    let variable = format!("HAKARU_SCHEMA_PAIRS={seeds}");
    let words = [
        "env",
        &variable,
        "cargo",
        "test",
        "--package",
        "hakaru-schema-db",
        "--test",
        "schema",
        "random_pairs",
        "--no-fail-fast",
        "--",
        "--nocapture",
    ];
    with_servers(&words.map(str::to_owned))
}

fn test_workspace(servers: &Servers, tally: &mut Tally) {
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
    servers.name_in(&mut command);
    if let Some(wrapper) = setup::ruby31() {
        command.env("HAKARU_RUBY31", wrapper);
    }
    tally.watch(&mut command);
}

/// The example app's own tests, on every database it can use.
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

    /// Tells a command where they are.
    fn name_in(&self, command: &mut Command) {
        for (name, server) in [
            ("HAKARU_TEST_MARIADB_URL", &self.mariadb),
            ("HAKARU_TEST_MARIADB118_URL", &self.mariadb118),
            ("HAKARU_TEST_MYSQL_URL", &self.mysql),
            ("HAKARU_TEST_POSTGRES_URL", &self.postgres),
            ("HAKARU_TEST_POSTGRES18_URL", &self.postgres18),
        ] {
            command.env(name, &server.url);
        }
    }
}

fn started(starting: thread::ScopedJoinHandle<'_, Outcome<Server>>) -> Outcome<Server> {
    let broken = |_| Err("the thread that started a server panicked".to_owned());
    starting.join().unwrap_or_else(broken)
}

impl Tally {
    fn step(&mut self, name: &str, outcome: Outcome<()>) {
        match outcome {
            Ok(()) => eprintln!("test: {name}: ok"),
            Err(message) => self.troubles.push(format!("{name}: {message}")),
        }
    }

    /// Runs a test program, shows what it prints and counts its results.
    fn watch(&mut self, command: &mut Command) {
        let before = self.clone();
        if let Err(message) = self.follow(command) {
            self.troubles.push(message);
        } else if self.passed == before.passed && self.failed == before.failed {
            self.troubles
                .push(format!("`{}` ran no test", show(command)));
        }
    }

    fn follow(&mut self, command: &mut Command) -> Outcome<()> {
        let shown = show(command);
        let trouble = |error: io::Error| format!("`{shown}`: {error}");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(trouble)?;
        let output = child.stdout.take().map(BufReader::new);
        for line in output
            .into_iter()
            .flat_map(BufRead::lines)
            .map_while(Result::ok)
        {
            println!("{line}");
            if let Some((passed, failed)) = cargo_result(&line).or_else(|| minitest_result(&line)) {
                self.passed += passed;
                self.failed += failed;
            }
        }
        let status = child.wait().map_err(trouble)?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{shown}` ended with {status}"))
        }
    }

    fn verdict(&self) -> Outcome<()> {
        let _ = io::stdout().flush();
        self.troubles
            .iter()
            .for_each(|trouble| eprintln!("test: {trouble}"));
        // A step that is no test, or a test program that crashed, counts as one failure.
        let failed = self.failed.max(self.troubles.len() as u64);
        println!("{} passed, {failed} failed", self.passed);
        if failed == 0 {
            Ok(())
        } else {
            Err("something failed, see above".to_owned())
        }
    }
}

/// Reads `test result: ok. 3 passed; 1 failed; 0 ignored; …`.
fn cargo_result(line: &str) -> Option<(u64, u64)> {
    let counts = line.strip_prefix("test result: ")?;
    let (_, counts) = counts.split_once(". ")?;
    let count = |name: &str| {
        counts
            .split(';')
            .find_map(|part| part.trim().strip_suffix(name)?.trim().parse().ok())
    };
    Some((count("passed")?, count("failed")?))
}

/// Reads `17 runs, 90 assertions, 1 failures, 0 errors, 0 skips`.
fn minitest_result(line: &str) -> Option<(u64, u64)> {
    let count = |name: &str| {
        line.split(',')
            .find_map(|part| part.trim().strip_suffix(name)?.trim().parse::<u64>().ok())
    };
    let (runs, failures, errors, skips) = (
        count("runs")?,
        count("failures")?,
        count("errors")?,
        count("skips")?,
    );
    let failed = failures + errors + skips;
    Some((runs.saturating_sub(failed), failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let line = "test result: FAILED. 20 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.5s";
        assert_eq!(cargo_result(line), Some((20, 2)));
        assert_eq!(cargo_result("test x ... ok"), None);
        assert_eq!(
            minitest_result("17 runs, 90 assertions, 1 failures, 1 errors, 1 skips"),
            Some((14, 3))
        );
        assert_eq!(minitest_result("runs, of course"), None);
    }

    fn watched(script: &str) -> Tally {
        let mut tally = Tally::default();
        tally.watch(Command::new("/bin/sh").args(["-c", script]));
        tally
    }

    #[test]
    fn a_crash_and_an_empty_run_are_failures() {
        let line = "test result: ok. 2 passed; 0 failed; 0 ignored";
        assert!(watched(&format!("echo '{line}'")).verdict().is_ok());
        assert!(
            watched(&format!("echo '{line}'; exit 1"))
                .verdict()
                .is_err()
        );
        assert!(watched("true").verdict().is_err());
    }
}
