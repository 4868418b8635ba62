//! `hakaru tune` against an exhaustive grid. The benchmark itself is `crates/bench/src/tune.rs`.

use super::program;
use crate::run::Outcome;

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    program::run_with("tune", arguments, &[])
}
