//! Benchmarks with runs of the program.

use crate::run::{Outcome, cargo, run, target_folder};

/// Builds the program optimised and runs a benchmark of the program.
pub(crate) fn run_with(name: &str, arguments: &[String], env: &[(&str, &str)]) -> Outcome<()> {
    run(&mut cargo(&["build", "--release", "--package", "hakaru"]))?;
    let mut command = cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "hakaru-bench",
        "--",
        name,
    ]);
    command
        .args(arguments)
        .env(
            "HAKARU_BENCH_PROGRAM",
            target_folder().join("release/hakaru"),
        )
        .env("HAKARU_BENCH_KEPT", target_folder().join("bench"))
        .envs(env.iter().copied());
    run(&mut command)
}
