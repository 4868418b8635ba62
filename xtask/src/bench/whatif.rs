//! How far `hakaru predict` is from what is measured. The benchmark itself is `crates/bench/src/whatif.rs`.

use super::program;
use crate::run::Outcome;
use crate::servers;

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    eprintln!("bench: starting a MariaDB for the chat");
    let server = servers::mariadb()?;
    program::run_with(
        "whatif",
        arguments,
        &[("HAKARU_BENCH_MARIADB_URL", &server.url)],
    )
}
