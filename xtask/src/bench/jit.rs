//! Runs the benchmark of Ruby's compilers: `crates/bench/src/jit.rs`, on the Rubies present.

use super::program;
use crate::rubies;
use crate::run::Outcome;

pub(super) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let mut arguments = arguments.to_vec();
    let programs = rubies::programs();
    if !arguments.iter().any(|word| word == "--ruby") && !programs.is_empty() {
        arguments.extend(["--ruby".to_owned(), programs.join(",")]);
    }
    program::run_with("jit", &arguments, &[])
}
