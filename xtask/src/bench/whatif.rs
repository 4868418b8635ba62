//! Benchmarks with the chat on MariaDB: how far `hakaru predict` is from what is measured, and
//! `hakaru try` to a verdict. They themselves are `crates/bench/src/{whatif,trying}.rs`.

use super::program;
use crate::run::Outcome;
use crate::servers;

/// Variable with the chat's database, where one runs already: filling a database takes longer than
/// a piece of the benchmark.
const VARIABLE: &str = "HAKARU_BENCH_MARIADB_URL";

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    with_mariadb("whatif", arguments, ("--app", "chat"))
}

pub(crate) fn run_try(arguments: &[String]) -> Outcome<()> {
    with_mariadb("try", arguments, ("--on", "mariadb"))
}

/// Starts a MariaDB unless the flag leaves out the parts in need of one.
fn with_mariadb(name: &str, arguments: &[String], (flag, part): (&str, &str)) -> Outcome<()> {
    let chosen = arguments.iter().skip_while(|word| *word != flag).nth(1);
    let needs_server = chosen.is_none_or(|chosen| chosen.contains(part));
    if !needs_server || std::env::var_os(VARIABLE).is_some() {
        return program::run_with(name, arguments, &[]);
    }
    eprintln!("bench: starting a MariaDB for the chat");
    let server = servers::mariadb()?;
    program::run_with(name, arguments, &[(VARIABLE, &server.url)])
}
