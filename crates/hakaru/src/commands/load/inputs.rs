//! The files of a load: on the local host's disk, or sent along with an order.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{MemfdFlags, memfd_create};

use crate::exit::{Exit, Failure};

/// Files by path.
type Files = BTreeMap<String, Vec<u8>>;

/// Source of a load's files, and the value of `{{run}}`.
pub(crate) struct Inputs {
    from: From,
    pub(super) run_token: String,
}

enum From {
    Disk,
    /// The disk, with a copy of every file read for generators elsewhere.
    Keeping(RefCell<Files>),
    Order(Files),
}

impl Inputs {
    /// Returns inputs on disk.
    pub(crate) fn of_disk() -> Inputs {
        Inputs::now(From::Disk)
    }

    /// Returns inputs on disk, with a record of every file read.
    pub(crate) fn keeping() -> Inputs {
        Inputs::now(From::Keeping(RefCell::default()))
    }

    /// Returns the inputs of an order; nothing is read from disk.
    pub(crate) fn of_order(files: Files, run_token: String) -> Inputs {
        let from = From::Order(files);
        Inputs { from, run_token }
    }

    fn now(from: From) -> Inputs {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let run_token = scenario::run_token(now.unwrap_or_default().as_millis() as u64);
        Inputs { from, run_token }
    }

    /// Returns what is in a file.
    pub(super) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let key = path.to_string_lossy();
        match &self.from {
            From::Disk => fs::read(path),
            From::Keeping(files) => {
                let bytes = fs::read(path)?;
                files.borrow_mut().insert(key.into_owned(), bytes.clone());
                Ok(bytes)
            }
            From::Order(files) => files
                .get(key.as_ref())
                .cloned()
                .ok_or_else(|| io::Error::new(ErrorKind::NotFound, "it was not brought along")),
        }
    }

    /// Returns a path under which another crate can open the file.
    ///
    /// # Errors
    /// [`Exit::Usage`] when the file cannot be read.
    pub(super) fn as_path(&self, path: &Path) -> Result<PathBuf, Failure> {
        let named = |error: io::Error| {
            let path = path.display();
            Failure::new(Exit::Usage, format!("cannot read {path}: {error}"))
        };
        match &self.from {
            From::Disk => Ok(path.to_owned()),
            From::Keeping(_) => self.read(path).map(|_| path.to_owned()).map_err(named),
            From::Order(_) => (self.read(path).and_then(|bytes| unnamed(&bytes))).map_err(named),
        }
    }

    /// Returns every file read so far.
    pub(super) fn kept(self) -> Files {
        match self.from {
            From::Disk => Files::new(),
            From::Keeping(files) => files.into_inner(),
            From::Order(files) => files,
        }
    }
}

/// Returns the path of an unnamed file in memory, removed with the process, however the process
/// ends.
fn unnamed(bytes: &[u8]) -> io::Result<PathBuf> {
    let mut file = File::from(memfd_create("hakaru", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // Open for as long as the process runs: the path is read again whenever it is needed.
    let _ = file.into_raw_fd();
    Ok(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_here_is_read_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.hurl");
        fs::write(&path, "GET /").expect("written");
        let near = Inputs::keeping();
        assert_eq!(near.read(&path).expect("a file"), b"GET /");
        let run = near.run_token.clone();
        let far = Inputs::of_order(near.kept(), run);
        fs::remove_file(&path).expect("removed");
        assert_eq!(far.read(&path).expect("brought along"), b"GET /");
        let copy = far.as_path(&path).expect("brought along");
        assert_eq!(fs::read(copy).expect("in memory"), b"GET /");
        assert!(far.read(Path::new("/etc/passwd")).is_err());
    }
}
