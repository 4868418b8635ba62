//! One run at a time in a project.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use recording::Meta;

use crate::{RunWriter, Store, StoreError};

/// The right to write a run, held until dropped. A lock (`flock`) on `.hakaru/run.lock`, which the
/// kernel releases when the process ends in whatever way; children of the app do not inherit it,
/// since the file is closed when they are executed. The file itself stays, and means nothing
/// without the lock.
#[derive(Debug)]
pub struct RunClaim {
    _lock: File,
    /// The command with the run as a part; empty for an independent run.
    pub(crate) part_of: &'static str,
}

impl RunClaim {
    /// Returns the claim for a run within another command, such as one step of `sweep`.
    #[must_use]
    pub fn part_of(self, command: &'static str) -> RunClaim {
        RunClaim {
            part_of: command,
            ..self
        }
    }
}

impl Store {
    /// Claims the right to write a run in the project, before anything is started.
    pub fn claim(&self) -> Result<RunClaim, StoreError> {
        let path = self.lock_path();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|error| StoreError::io("open", &path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let (pid, since_unix_ms) = holder(&mut file);
                return Err(StoreError::Busy { pid, since_unix_ms });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path, error)),
        }
        // Only for the other's message. On a full disk the lock holds all the same.
        let _ = write_holder(&mut file);
        Ok(RunClaim {
            _lock: file,
            part_of: "",
        })
    }

    fn lock_path(&self) -> PathBuf {
        self.folder.join("run.lock")
    }

    /// Begins a run under a new claim; for callers with `meta` known before the start of anything.
    pub fn begin_run(self, meta: &Meta) -> Result<RunWriter, StoreError> {
        let claim = self.claim()?;
        self.begin_claimed(claim, meta)
    }

    /// Returns the process writing a run in the project now, by the pid in the lock file. The lock
    /// itself is not tried: whoever does that keeps a run from beginning.
    pub(crate) fn writing_process(&self) -> Option<u32> {
        let mut file = File::open(self.lock_path()).ok()?;
        let (pid, _) = holder(&mut file);
        let alive = std::path::Path::new(&format!("/proc/{pid}")).exists();
        (pid != 0 && alive && pid != std::process::id()).then_some(pid)
    }
}

fn write_holder(file: &mut File) -> std::io::Result<()> {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis());
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{} {since}\n", std::process::id()).as_bytes())
}

/// Returns the present or last process with the lock, 0 when unknown, and the time of locking,
/// milliseconds since 1970.
fn holder(file: &mut File) -> (u32, i64) {
    let mut text = String::new();
    // Bounded, since the file could be anything; what cannot be read stays unknown.
    let _ = file.take(64).read_to_string(&mut text);
    let mut words = text.split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse::<i64>().ok());
    let pid = number().and_then(|pid| u32::try_from(pid).ok());
    (pid.unwrap_or(0), number().unwrap_or(0))
}
