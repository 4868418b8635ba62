//! Checks of the app, the app's stores and the target of a load: `guard` with the settings, and a
//! question on the terminal.

use experiment::Settings;
use guard::{Allowed, Context, Refusal};

use crate::exit::{Exit, Failure};
use crate::output;

/// Fails unless the app and the app's stores are on the local machine or allowed by name.
///
/// # Errors
/// [`Exit::Usage`], with the hosts and the key that allows them.
pub(crate) fn check(settings: &Settings) -> Result<(), Failure> {
    target(&settings.endpoint.host, &settings.allowed)?;
    let Some(spec) = &settings.start else {
        return Ok(());
    };
    let before = settings.before.as_ref().map(|(line, _)| line.to_string());
    let commands: Vec<String> = [Some(spec.command.to_string()), before.clone()]
        .into_iter()
        .flatten()
        .collect();
    let context = Context {
        directory: &spec.directory,
        env: &spec.env,
        commands: &commands,
        database: settings.database.as_deref(),
    };
    Ok(guard::stores(
        &context,
        before.as_deref(),
        &settings.allowed,
    )?)
}

/// Fails unless load may be sent to the host: the local machine, an allowed host, or a yes on a
/// terminal.
///
/// # Errors
/// [`Exit::Usage`], with the host and the flag that allows it.
pub(crate) fn target(host: &str, allowed: &Allowed) -> Result<(), Failure> {
    Ok(guard::target(host, allowed, output::confirm)?)
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::new(Exit::Usage, refusal)
    }
}
