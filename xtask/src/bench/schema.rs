//! Speed of the schema engine, and changes of tables in use. The benchmarks themselves are
//! `crates/bench/src/schema.rs` and `crates/bench/src/online.rs`, built optimised.

use crate::run::Outcome;
use crate::test::with_servers;

/// Runs the benchmark of the given name with servers available.
pub(crate) fn run_bench(name: &str, arguments: &[String]) -> Outcome<()> {
    let words = [
        "cargo",
        "run",
        "--release",
        "--quiet",
        "--package",
        "hakaru-bench",
        "--",
        name,
    ];
    let mut command: Vec<String> = words.map(str::to_owned).into();
    command.extend_from_slice(arguments);
    with_servers(&command)
}
