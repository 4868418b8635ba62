//! `hakaru profile`: takes, shows, compares and exports profiles.

use profile_commands::Ended;
use profile_commands::flags::ProfileArgs;

use crate::exit::{Exit, Failure};

/// Does what the command line says.
pub(crate) fn profile(args: &ProfileArgs) -> Result<Exit, Failure> {
    Ok(match profile_commands::profile(args)? {
        Ended::Ok => Exit::Ok,
        Ended::TargetDied => Exit::TargetDied,
        Ended::Interrupted => Exit::Interrupted,
    })
}
