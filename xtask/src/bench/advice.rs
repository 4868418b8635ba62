//! Advice against the truth, on the apps with planted causes. The benchmark itself is
//! `crates/bench/src/advice.rs`.

use super::program;
use crate::run::Outcome;
use crate::servers;

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    eprintln!("bench: starting MariaDB and PostgreSQL for the apps");
    let (mariadb, postgres) = (servers::mariadb()?, servers::postgres()?);
    program::run_with(
        "advice",
        arguments,
        &[
            ("HAKARU_BENCH_MARIADB_URL", &mariadb.url),
            ("HAKARU_BENCH_POSTGRES_URL", &postgres.url),
        ],
    )
}
