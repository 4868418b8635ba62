//! The schema engine's speed. The benchmark itself is `crates/bench/src/schema.rs`, built
//! optimised.

use crate::run::Outcome;
use crate::test::with_servers;

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let words = [
        "cargo",
        "run",
        "--release",
        "--quiet",
        "--package",
        "hakaru-bench",
        "--",
        "schema",
    ];
    let mut command: Vec<String> = words.map(str::to_owned).into();
    command.extend_from_slice(arguments);
    with_servers(&command)
}
