//! What the agent costs. The benchmark itself is `crates/bench/src/agent.rs`, built optimised.

use crate::run::{Outcome, cargo, run};

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    run(&mut cargo(&[
        "build",
        "--release",
        "--package",
        "hakaru-agent",
        "--example",
        "floor",
    ]))?;
    let mut command = cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "hakaru-bench",
        "--",
        "agent",
    ]);
    run(command.args(arguments))
}
