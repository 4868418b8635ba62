//! State of the project at the start of a run, for the journal: commit and uncommitted changes.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// Limit of a call of git: a repository on a slow disk may need seconds; a run must not hang for
/// the journal.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The state of the project's repository; all empty where there is none, or no git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// Full hash of the commit.
    pub commit: String,
    /// Summary of uncommitted changes, as by `git diff --shortstat`.
    pub dirty: String,
    /// Hash of the uncommitted changes; empty without any.
    pub dirty_hash: String,
}

/// Returns the revision of the folder's repository.
pub fn of(project: &Path) -> Revision {
    let Some(commit) = git(project, &["rev-parse", "HEAD"]) else {
        return Revision::default();
    };
    let dirty = git(project, &["diff", "--shortstat", "HEAD"]).unwrap_or_default();
    let dirty_hash = match dirty.as_str() {
        "" => String::new(),
        _ => hash(&git(project, &["diff", "HEAD"]).unwrap_or_default()),
    };
    Revision {
        commit,
        dirty,
        dirty_hash,
    }
}

/// Hash for comparisons within one store; no other program reads the value.
fn hash(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || sender.send(command.output()));
    let output = receiver.recv_timeout(GIT_TIMEOUT).ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.trim().to_owned())
}
