//! The load generator beside peers. The benchmark itself is `crates/bench/src/load.rs`; it runs the
//! optimised program as people do.

use crate::run::{Outcome, cargo, run};

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let build = ["build", "--release", "--quiet", "--package", "hakaru"];
    run(&mut cargo(&build))?;
    let bench = [
        "run",
        "--release",
        "--quiet",
        "--package",
        "hakaru-bench",
        "--",
        "load",
    ];
    run(cargo(&bench).args(arguments))
}
