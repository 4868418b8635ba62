//! Hosts reached over SSH: sessions on all at once.

use std::path::Path;
use std::time::Duration;

pub(crate) use remote::PATIENCE;
use remote::{Program, Session};

use crate::exit::{Exit, Failure};
use crate::settings::config::host::Host;

/// Interval of looking at Ctrl-C and other ends of a wait for hosts.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// Starts the program with `words` on each host; paths are relative to the config file's folder.
///
/// # Errors
/// [`Exit::Usage`] when a host's own program cannot be read; [`Exit::Failed`] when this one cannot.
pub(crate) fn open(
    hosts: &[Host],
    folder: &Path,
    words: &[&str],
) -> Result<Vec<Result<Session, String>>, Failure> {
    let own = Program::own().map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("this program's own file cannot be read: {error}"),
        )
    })?;
    let programs = hosts.iter().map(|host| host.program(folder, &own));
    let programs: Vec<Program> = programs.collect::<Result<_, _>>()?;
    let remotes: Vec<_> = (hosts.iter().zip(programs))
        .map(|(host, program)| (host.remote(folder), program))
        .collect();
    let opened = remote::open_all(&remotes, words, PATIENCE);
    Ok(opened
        .into_iter()
        .map(|session| session.map_err(|error| error.to_string()))
        .collect())
}
