//! Tasks of the repository: `cargo xtask` lists all.
//!
//! One door for people and for CI: `bin/test`, `bin/demo` and `.ci/run` call this. Standard library
//! only, so that it is built in seconds on a fresh machine, before anything is installed.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal of a developer"
)]

mod arguments;
mod arm64;
mod bench;
mod demo;
mod doctor_roots;
mod experiment;
mod foreign;
mod fresh_debian;
mod hosts;
mod hurl_parity;
mod kubernetes;
mod macos;
mod marked;
mod picture;
mod release;
mod rubies;
mod run;
mod servers;
mod setup;
mod tally;
mod test;
mod tidy;
mod valgrind;
mod web;

use std::process::ExitCode;

use run::Outcome;

const USAGE: &str = "usage: cargo xtask TASK

  setup --for demo|test|ci [--db mariadb] [--yes]
             list and unpack what is missing; ask first on a terminal; installs nothing
  test [--yes]   everything CI checks: setup, servers, all tests, app tests, the page, tidy, fmt, clippy
  ci             the same, without questions
  with-servers COMMAND…
             runs a command with the test servers and their addresses in its environment
  schema-pairs [SEEDS] [--minutes N] [--again]
             random pairs of schemas on every test server: as many as said (2000), or those of the seeds A..B;
             goes on where the last run was stopped, unless it is to begin again
  corpus FOLDER  the tests of whole schemas and of pairs over that folder of schemas, such as real projects'
  tidy           rules that no compiler checks
  bless          write the expected outputs of snapshot tests anew; read the diff before you commit
  picture PAGE   the README's picture, of a page that `hakaru report --html` wrote; needs Chromium
  release [--target TRIPLE]… [--check]
             an archive, a Debian package, the list of parts and checksums in target/release-files; tried on old Debians
  web            builds the HTML page from web/ (needs Node 20.19) into crates/report/assets
  bench [NAME]   benchmarks against which claims are checked; without a name lists them
  experiment [NAME]
             published experience, repeated; writes its figures into docs/experiments/
  fresh-debian [--as user|root] [demo|setup|test|COMMAND…]
             a command in a clone on a minimal Debian 12, which must stay as it was; needs root
  doctor-roots   `hakaru doctor` in several roots, namespaces and as several users must raise no alarm; needs root
  rubies [FOLDER] [--only NAME|TEXT] [--list] [--boots N] [--write]
             the tests of the agent on Debian's Rubies and Pumas, and on those of a folder of archives
  foreign-suites [NAME] [--write]
             other projects' own tests, of Debian's sources, with the agent and the sampler inside and without
  arm64-tests [CRATE]…
             tests of ring, stats and schema, cross-built for arm64 and run under qemu
  macos-check    the crates that need no Linux must compile for macOS; nothing is run
  hurl-parity [--seed N] [--only TEXT] [--examples N]
             small flows, generated, in real `hurl` (built into target/) and in `hakaru check`: where they differ
  hosts [--seconds N] [--rate N] [--program FILE] [--only TEXT]
             `hakaru run` over a proxy, two app hosts and a database in namespaces, with four planted causes; needs root
  kubernetes [--pods N] [--rate N] [--seconds N] [--nodes N] [--program FILE] [--only TEXT] [-- COMMAND…]
             `hakaru load --kubernetes` against a real control plane on loopback, built from Go modules into target/
  demo [--db mariadb] [--yes] [command and flags of `hakaru`]
             the chat app under load, and its page; `demo try 3` tries finding 3 of it";

fn main() -> ExitCode {
    if let Err(message) = setup::enter() {
        return finish(Err(message));
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    let outcome = match task {
        "setup" => setup::task(rest),
        "test" => test::task(rest),
        "ci" => test::task(&["--yes".to_owned()]),
        "tidy" => tidy::task(),
        "valgrind" => valgrind::task(),
        "bless" => test::bless(),
        "with-servers" => test::with_servers(rest),
        "schema-pairs" => test::schema_pairs(rest),
        "corpus" => test::corpus(rest),
        "web" => web::task(),
        "release" => release::task(rest),
        "picture" => picture::task(rest),
        "bench" => bench::task(rest),
        "experiment" => experiment::task(rest),
        "fresh-debian" => fresh_debian::task(rest),
        "doctor-roots" => doctor_roots::task(rest),
        "foreign-suites" => foreign::task(rest),
        "rubies" => rubies::task(rest),
        "arm64-tests" => arm64::task(rest),
        "macos-check" => macos::task(),
        "hurl-parity" => hurl_parity::task(rest),
        "hosts" => hosts::task(rest),
        "kubernetes" => kubernetes::task(rest),
        "demo" => demo::task(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        unknown => Err(format!("no task is called {unknown:?}\n\n{USAGE}")),
    };
    finish(outcome)
}

fn finish(outcome: Outcome<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
