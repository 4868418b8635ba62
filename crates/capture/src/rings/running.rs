//! The rings of an app started by somebody else, with the agent standing by.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ring::{Reading, StandbyError, is_plain, never_through_links};

/// Variable with the folder of the rings of an agent on standby.
pub(crate) const VARIABLE: &str = "HAKARU_STANDBY";

/// A reader of rings whose folder may come, go and come back.
pub(super) struct Running {
    folder: PathBuf,
    reading: Option<Reading>,
    error: Option<StandbyError>,
    /// Whether the rings were read at least once.
    was_read: bool,
}

impl Running {
    pub(super) fn new(folder: &Path) -> Running {
        let mut running = Running {
            folder: folder.to_owned(),
            reading: None,
            error: None,
            was_read: false,
        };
        running.keep_up();
        running
    }

    /// Gives the agents the sign; returns the folder to read, if there is one now.
    pub(super) fn keep_up(&mut self) -> Option<PathBuf> {
        if self.reading.as_ref().is_some_and(|one| !one.is_in_place()) {
            self.reading = None;
        }
        if self.reading.is_none() {
            match Reading::begin(&self.folder) {
                Ok(reading) => {
                    self.reading = Some(reading);
                    self.was_read = true;
                }
                Err(error) => self.error = Some(error),
            }
        }
        let reading = self.reading.as_ref()?;
        reading.renew();
        Some(reading.folder())
    }

    /// Takes the sign away; rings already open can still be read.
    pub(super) fn leave(&mut self) {
        self.reading = None;
    }

    /// Why nothing was ever read.
    pub(super) fn unread(&self) -> Option<&StandbyError> {
        self.error.as_ref().filter(|_| !self.was_read)
    }
}

/// Returns the text of a small file, never through a link: the folder may be another user's.
pub(super) fn sentences(path: &Path) -> Option<String> {
    const BYTES_MAX: u64 = 64 << 10;
    let mut options = OpenOptions::new();
    let file = never_through_links(options.read(true)).open(path).ok()?;
    if !is_plain(&file.metadata().ok()?) {
        return None;
    }
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the folders of the rings of agents on standby in the processes, each once; without
/// processes, in all of the host. Other users' processes are left out.
pub fn standby_folders(pids: &[u32]) -> Vec<PathBuf> {
    let all = match pids {
        [] => every_process(),
        pids => pids.to_vec(),
    };
    let environments = all.into_iter().filter_map(|pid| {
        // Another user's, or just ended.
        fs::read(format!("/proc/{pid}/environ")).ok()
    });
    let mut folders: Vec<PathBuf> = environments
        .filter_map(|environment| folder_in(&environment))
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

fn every_process() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns the folder named by an environment; none where a run of Hakaru's own named another.
fn folder_in(environment: &[u8]) -> Option<PathBuf> {
    let value = |name: &str| {
        environment
            .split(|byte| *byte == 0)
            .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    };
    match (value("HAKARU_RING_DIR"), value(VARIABLE)) {
        (None, Some(folder)) => Some(PathBuf::from(OsStr::from_bytes(folder))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_names_the_folder_unless_a_run_does() {
        let folder = |text: &[u8]| folder_in(text);
        let named = b"A=1\0HAKARU_STANDBY=/dev/shm/hakaru-app\0B=2\0";
        assert_eq!(folder(named), Some(PathBuf::from("/dev/shm/hakaru-app")));
        let of_a_run = b"HAKARU_RING_DIR=/dev/shm/x\0HAKARU_STANDBY=/dev/shm/y\0";
        assert_eq!(folder(of_a_run), None);
        assert_eq!(folder(b"HAKARU_STANDBYE=/x\0\0"), None);
    }
}
