//! `hakaru profile`: takes, shows, compares and exports profiles.

use profile_commands::flags::ProfileArgs;

use crate::exit::{Exit, Failure};

/// Does what the command line says.
pub(crate) fn profile(args: &ProfileArgs) -> Result<Exit, Failure> {
    Ok(profile_commands::profile(args)?.into())
}
