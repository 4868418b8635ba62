//! `hakaru agent`: the agent in an app started by somebody else.

use capture::{StandbyAgent, place_agent};
use words::text;

use crate::flags::AgentArgs;
use ending::{Cause, Ended, Failure};

/// Places the agent, prints the variables for the app on standard output, and directions
/// for use and removal on standard error.
///
/// # Errors
/// The folder cannot be used.
pub fn agent(args: &AgentArgs) -> Result<Ended, Failure> {
    let placed = place_agent(&args.folder, args.rings.as_deref()).map_err(|error| {
        let folder = args.folder.display();
        Failure::new(
            Cause::Usage,
            format!("the agent cannot be placed in {folder}: {error}"),
        )
    })?;
    for (name, value) in &placed.variables {
        console::data(&format!("{name}={value}\n"));
    }
    explain(&placed);
    Ok(Ended::Ok)
}

fn explain(placed: &StandbyAgent) {
    let file = placed.file.display().to_string();
    let rings = placed.rings.display().to_string();
    let folder = placed.folder.display().to_string();
    console::notice(text!(
        "The app loads the agent if it starts with these two variables, which are in {file} too:",
        file
    ));
    console::notice(format!("  systemd   EnvironmentFile=-{file}"));
    console::notice(format!("  shell     env $(cat {file}) bundle exec puma"));
    console::notice(format!(
        "  Procfile  web: env $(cat {file}) bundle exec puma"
    ));
    console::notice(text!(
        "An app with a RUBYOPT of its own gets that behind ours, on the same line of the file."
    ));
    console::notice(text!(
        "Nothing is recorded until `hakaru run --attach` reads {rings}, as the app's user or as root.",
        rings
    ));
    console::notice(text!(
        "To take it out: delete {file}, restart the app, then delete {folder}. A Ruby does not start while RUBYOPT names a file that is gone.",
        file,
        folder
    ));
}
