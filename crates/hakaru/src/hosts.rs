//! Hosts reached over SSH: sessions on all at once.

use std::io;
use std::path::Path;
use std::time::Duration;

pub(crate) use remote::PATIENCE;
use remote::{Program, Session};

use crate::exit::{Exit, Failure};
use crate::settings::config::host::Host;

/// Interval of looking at Ctrl-C and other ends of a wait for hosts.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// What a host does for Hakaru.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Collector,
    Generator,
}

impl Part {
    fn words(self) -> [&'static str; 1] {
        match self {
            Part::Collector => ["collector"],
            Part::Generator => ["generator"],
        }
    }

    /// Returns the smallest program at hand for the part.
    fn program(self) -> io::Result<Program> {
        let small = match self {
            Part::Collector => collector::program()?,
            Part::Generator => None,
        };
        match small {
            Some(bytes) => Program::of(bytes, "the collector inside of this program"),
            None => Program::own(),
        }
    }
}

/// Starts a part on each host; paths are relative to the config file's folder.
///
/// # Errors
/// [`Exit::Usage`] when a host's own program cannot be read; [`Exit::Failed`] when this one cannot.
pub(crate) fn open(
    hosts: &[Host],
    folder: &Path,
    part: Part,
) -> Result<Vec<Result<Session, String>>, Failure> {
    let own = part.program().map_err(|error| {
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
    let opened = remote::open_all(&remotes, &part.words(), PATIENCE);
    Ok(opened
        .into_iter()
        .map(|session| session.map_err(|error| error.to_string()))
        .collect())
}
