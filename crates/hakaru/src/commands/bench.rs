//! `hakaru bench`: is the Ruby, the code or the command faster, and how sure is the answer?

use microbench_commands::flags::BenchArgs;

use crate::exit::{Exit, Failure};

/// Measures and prints.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit, Failure> {
    Ok(microbench_commands::bench(args)?.into())
}
