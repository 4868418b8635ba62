//! A load made of the log of another. The benchmark itself is `crates/bench/src/flows.rs`.

use super::program;
use crate::run::Outcome;
use crate::servers;

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    if !arguments.iter().any(|word| word == "mariadb") {
        return program::run_with("flows", arguments, &[]);
    }
    eprintln!("bench: starting a MariaDB for the chat");
    let server = servers::mariadb()?;
    program::run_with(
        "flows",
        arguments,
        &[("HAKARU_BENCH_MARIADB_URL", &server.url)],
    )
}
