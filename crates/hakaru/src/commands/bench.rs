//! `hakaru bench`: is the Ruby, the code or the command faster, and how sure is the answer?

use microbench_commands::flags::BenchArgs;
use microbench_commands::{Cause, Ended};

use crate::exit::{Exit, Failure};

/// Measures and prints.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit, Failure> {
    Ok(match microbench_commands::bench(args)? {
        Ended::Ok => Exit::Ok,
        Ended::Failed => Exit::Failed,
        Ended::Undecided => Exit::Undecided,
        Ended::Interrupted => Exit::Interrupted,
    })
}

impl From<microbench_commands::Failure> for Failure {
    fn from(failure: microbench_commands::Failure) -> Failure {
        let exit = match failure.cause {
            Cause::Failed => Exit::Failed,
            Cause::Usage => Exit::Usage,
            Cause::NotKept => Exit::NotKept,
        };
        Failure::new(exit, failure.message)
    }
}
