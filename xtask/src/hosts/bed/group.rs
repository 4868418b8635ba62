//! Control groups of hosts, of either version.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::run::{Outcome, write};

/// Longest wait for the processes of a group to be gone.
const PATIENCE: Duration = Duration::from_secs(5);
const PERIOD_US: u64 = 100_000;
const PREFIX: &str = "hakaru-hosts-";

/// A group for each host.
pub(super) struct Groups {
    folder: PathBuf,
    is_legacy: bool,
    names: Vec<String>,
}

/// Returns a number without an equal in other programs: process ids are small in namespaces.
pub(in crate::hosts) fn stamp() -> u128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos())
}

impl Groups {
    /// Makes the groups, and removes empty ones of killed programs.
    pub(super) fn new(names: &[&str]) -> Outcome<Groups> {
        let mounted = Path::new("/sys/fs/cgroup");
        let legacy = mounted.join("cpu");
        let is_legacy = legacy.join("cgroup.procs").is_file();
        let tree = match is_legacy {
            true => legacy,
            false => {
                // Without it the groups have no limits; it is on where systemd runs.
                let _ = fs::write(mounted.join("cgroup.subtree_control"), "+cpu");
                mounted.to_owned()
            }
        };
        remove_old(&tree);
        let folder = tree.join(format!("{PREFIX}{}", stamp()));
        let groups = Groups {
            is_legacy,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            folder,
        };
        let make = |folder: &Path| {
            fs::create_dir(folder).map_err(|error| {
                format!(
                    "cannot make the control group {}: {error}",
                    folder.display()
                )
            })
        };
        make(&groups.folder)?;
        if !is_legacy {
            let _ = fs::write(groups.folder.join("cgroup.subtree_control"), "+cpu");
        }
        for name in names {
            make(&groups.folder.join(name))?;
        }
        Ok(groups)
    }

    /// Returns the folders of a host's groups, divided by blanks.
    pub(super) fn folders(&self, host: &str) -> String {
        self.folder.join(host).display().to_string()
    }

    /// Limits a host to some cores, or not at all.
    pub(super) fn limit(&self, host: &str, cores: Option<f64>) -> Outcome<()> {
        let folder = self.folder.join(host);
        let quota = cores.map(|cores| (cores * PERIOD_US as f64) as u64);
        match self.is_legacy {
            true => {
                let quota = quota.map_or("-1".to_owned(), |quota| quota.to_string());
                write(&folder.join("cpu.cfs_period_us"), &PERIOD_US.to_string())?;
                write(&folder.join("cpu.cfs_quota_us"), &quota)
            }
            false => {
                let quota = quota.map_or("max".to_owned(), |quota| quota.to_string());
                write(&folder.join("cpu.max"), &format!("{quota} {PERIOD_US}"))
            }
        }
    }

    /// Removes the groups once all processes are gone.
    pub(super) fn remove(&self) {
        let deadline = Instant::now() + PATIENCE;
        for name in &self.names {
            while fs::remove_dir(self.folder.join(name)).is_err() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes old groups; a group with processes cannot be removed.
fn remove_old(tree: &Path) {
    let entries = fs::read_dir(tree).into_iter().flatten().flatten();
    let old = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for group in old {
        for host in fs::read_dir(group.path()).into_iter().flatten().flatten() {
            let _ = fs::remove_dir(host.path());
        }
        let _ = fs::remove_dir(group.path());
    }
}
