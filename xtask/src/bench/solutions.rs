//! What the chat's solutions give. The benchmark itself is `crates/bench/src/solutions.rs`.

use super::program;
use crate::run::Outcome;
use crate::servers;

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    eprintln!("bench: starting a MariaDB for the chat");
    let server = servers::mariadb()?;
    program::run_with(
        "solutions",
        arguments,
        &[("HAKARU_BENCH_MARIADB_URL", &server.url)],
    )
}
