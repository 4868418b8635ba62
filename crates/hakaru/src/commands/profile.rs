//! `hakaru profile` and `hakaru agent`: what is placed inside of other programs.

use profile_commands::flags::{AgentArgs, ProfileArgs};

use crate::exit::{Exit, Failure};

/// Does what the command line says.
pub(crate) fn profile(args: &ProfileArgs) -> Result<Exit, Failure> {
    Ok(profile_commands::profile(args)?.into())
}

/// Places the agent for an app started by somebody else.
pub(crate) fn agent(args: &AgentArgs) -> Result<Exit, Failure> {
    Ok(profile_commands::agent(args)?.into())
}
