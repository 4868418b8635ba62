//! `hakaru schema`: compares two schemas and brings a server to the wanted one.

mod project;

use std::process::ExitCode;

use crate::cli::SchemaArgs;
use crate::exit::Exit;
use crate::output;

/// Runs the command; docs/exit-codes.md has the exit codes.
pub(crate) fn run(mut args: SchemaArgs) -> ExitCode {
    let configured = project::configure(&mut args.command);
    let ended = configured.and_then(|()| Ok(schema_commands::run(&args.command)?));
    match ended {
        Ok(ended) => Exit::from(ended).into(),
        Err(failure) => {
            output::notice(format!("hakaru: {}", failure.message));
            match failure.exit {
                // 2 is the code for a difference.
                Exit::Usage => Exit::Failed.into(),
                exit => exit.into(),
            }
        }
    }
}
