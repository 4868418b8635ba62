//! State of the project at the start of a run, for the journal: commit and uncommitted changes.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, SystemTime};

/// Limit of a call of git: a repository on a slow disk may need seconds; a run must not hang for
/// the journal.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Endings of files changing an app's behaviour.
const SOURCES: [&str; 14] = [
    "rb", "ru", "rake", "erb", "haml", "slim", "jbuilder", "yml", "yaml", "sql", "lock", "js",
    "ts", "go",
];

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
    let new = new_sources(project);
    if dirty.is_empty() && new.is_empty() {
        return Revision {
            commit,
            ..Revision::default()
        };
    }
    let changed = git(project, &["diff", "--no-ext-diff", "HEAD"]).unwrap_or_default();
    let count = match new.len() {
        0 => None,
        1 => Some("1 new file".to_owned()),
        count => Some(format!("{count} new files")),
    };
    let dirty = Some(dirty).filter(|dirty| !dirty.is_empty());
    let dirty: Vec<String> = dirty.into_iter().chain(count).collect();
    Revision {
        commit,
        dirty: dirty.join(", "),
        dirty_hash: hash(&(changed, new)),
    }
}

/// Returns the app's source files unknown to git, each with length and time of the last change: a
/// run with a new initializer is no repetition of the one before. Other files, such as pages and
/// dumps, come and go without a change of the app.
fn new_sources(project: &Path) -> Vec<(String, u64, Option<SystemTime>)> {
    let others = ["ls-files", "--others", "--exclude-standard", "-z"];
    let names = git(project, &others).unwrap_or_default();
    let is_source = |name: &&str| {
        let ending = Path::new(name).extension().and_then(|it| it.to_str());
        ending.is_some_and(|ending| SOURCES.contains(&ending))
    };
    let sources = names.split('\0').filter(is_source);
    let found = sources.filter_map(|name| {
        let found = std::fs::metadata(project.join(name)).ok()?;
        Some((name.to_owned(), found.len(), found.modified().ok()))
    });
    found.collect()
}

/// Hash for comparisons within one store; no other program reads the value.
fn hash(value: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_source_file_is_a_change_and_a_page_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path();
        let author = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let commit = ["commit", "-q", "--allow-empty", "-m", "one"];
        git(project, &["init", "-q"]).unwrap();
        git(project, &[&author[..], &commit[..]].concat()).unwrap();
        let clean = of(project);
        assert!(!clean.commit.is_empty() && clean.dirty.is_empty());
        std::fs::write(project.join("page.html"), "x").unwrap();
        assert_eq!(of(project), clean);
        std::fs::write(project.join("new.rb"), "x").unwrap();
        let dirty = of(project);
        assert_eq!(dirty.dirty, "1 new file");
        assert!(!dirty.dirty_hash.is_empty());
        assert_eq!(of(project), dirty, "nothing has changed since");
        std::fs::write(project.join("new.rb"), "longer").unwrap();
        assert_ne!(of(project).dirty_hash, dirty.dirty_hash);
    }
}
