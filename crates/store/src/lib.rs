//! Runs on disk: one SQLite file a project, `.hakaru/hakaru.db`.
//!
//! A run is a row with its summary, and chunks of facts that are committed as they come: a run that
//! is killed leaves everything up to its last chunk, and is listed as incomplete. Blobs are in the
//! format of `recording::format`. One run at a time may be written in a project: [`RunClaim`] holds
//! a lock file for as long, which the kernel releases however the process ends.
//!
//! Nothing is deleted or renamed here but runs that are named ([`Store::remove`]) or given up
//! ([`RunWriter::discard`]), also not when the file turns out to be damaged.
//!
//! Start reading at [`Store`], then [`RunWriter`].

mod bench;
mod claim;
mod database;
mod error;
mod hosts;
mod journal;
mod profile;
mod prune;
mod read;
pub mod revision;
mod trial;
mod undo;
mod write;

use std::path::{Path, PathBuf};

use recording::Recording;

pub use bench::StoredBench;
pub use claim::RunClaim;
pub use error::StoreError;
pub use journal::JournalEntry;
pub use profile::StoredProfile;
pub use prune::{Old, Removed};
pub use trial::Trial;
pub use undo::Undo;
pub use write::RunWriter;

/// Name of the private folder inside the project.
pub const FOLDER: &str = ".hakaru";

/// The runs of one project.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    database: rusqlite::Connection,
}

/// Names a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRef {
    /// The newest run with measurements and not part of another command; else the newest.
    Last,
    /// The run with the given number, from 1.
    Number(i64),
}

/// What the list of runs says about one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// Number of the run.
    pub number: i64,
    /// Wall-clock time of the start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// Whether the run was finished; otherwise cut off, or still in progress.
    pub complete: bool,
    /// The app's command line, or the address of an app already running.
    pub target: String,
    /// Requests recorded, warm-up included.
    pub requests: u64,
    /// The command with the run as a part, such as `sweep`; empty for an independent run.
    pub part_of: String,
}

/// A run as read back.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// The run's entry in the list.
    pub entry: RunEntry,
    /// Facts of the run. What is missing in them is named in `troubles`.
    pub recording: Recording,
}

impl std::fmt::Display for RunRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunRef::Last => f.write_str("LAST"),
            RunRef::Number(number) => write!(f, "{number}"),
        }
    }
}

impl std::str::FromStr for RunRef {
    type Err = String;

    /// `LAST` in any case, or a number.
    fn from_str(text: &str) -> Result<RunRef, String> {
        if text.eq_ignore_ascii_case("last") {
            return Ok(RunRef::Last);
        }
        match text.parse() {
            Ok(number) if number > 0 => Ok(RunRef::Number(number)),
            _ => Err(format!(
                "{text:?} names no run; use the number that a run's page ends with, or LAST"
            )),
        }
    }
}

impl Store {
    /// Where the database of a project is.
    pub fn path_in(project: &Path) -> PathBuf {
        project.join(FOLDER).join("hakaru.db")
    }

    /// Opens the database of a project, which must be there: looking must not make one.
    ///
    /// # Errors
    /// As [`Store::open`]; [`StoreError::NoRun`] without a database.
    pub fn open_existing(project: &Path) -> Result<Store, StoreError> {
        let path = Store::path_in(project);
        match path.exists() {
            true => Store::open(project),
            false => Err(StoreError::NoRun {
                wanted: RunRef::Last,
                path,
            }),
        }
    }

    /// Returns the path of the database.
    pub fn path(&self) -> PathBuf {
        self.folder.join("hakaru.db")
    }
}

#[cfg(test)]
mod tests;
