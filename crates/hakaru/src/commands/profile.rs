//! `hakaru profile`: takes, shows, compares and exports profiles.

use profile_commands::flags::ProfileArgs;
use profile_commands::{Cause, Ended};

use crate::exit::{Exit, Failure};

/// Does what the command line says.
pub(crate) fn profile(args: &ProfileArgs) -> Result<Exit, Failure> {
    Ok(match profile_commands::profile(args)? {
        Ended::Ok => Exit::Ok,
        Ended::TargetDied => Exit::TargetDied,
        Ended::Interrupted => Exit::Interrupted,
    })
}

impl From<profile_commands::Failure> for Failure {
    fn from(failure: profile_commands::Failure) -> Failure {
        let exit = match failure.cause {
            Cause::Failed => Exit::Failed,
            Cause::Usage => Exit::Usage,
            Cause::TargetFailed => Exit::TargetFailed,
            Cause::NotKept => Exit::NotKept,
        };
        Failure::new(exit, failure.message)
    }
}
