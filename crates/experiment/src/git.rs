//! Calls of the user's git on the repository around a folder, and on no other.

use std::path::Path;
use std::process::{Command, Stdio};

/// Variables leading git to another repository, index or folder than the working directory's; git
/// sets these variables for hooks, such as `pre-commit` and `pre-push`.
const ELSEWHERE: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
];

/// Setting without which a new worktree runs the repository's `post-checkout` hook, which may
/// change the user's databases.
pub(crate) const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

/// Returns the output of git, or the first line of an error. The ceiling keeps a copy from being
/// taken for part of a repository around it.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = command(folder, arguments)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let line = words.lines().find(|line| !line.trim().is_empty());
    Err(line.unwrap_or("it said nothing").to_owned())
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    if arguments.first() == Some(&"apply")
        && let Some(parent) = folder.parent()
    {
        command.env("GIT_CEILING_DIRECTORIES", parent);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs git with the name of an author, and without the machine's own settings.
    fn by_author(folder: &Path, arguments: &[&str]) -> String {
        let author = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        git(folder, &[&author[..], arguments].concat()).expect("git")
    }

    #[test]
    fn a_new_worktree_runs_no_hook_of_the_user() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("a folder");
        let repository = folder.path().join("shop");
        std::fs::create_dir(&repository).expect("a folder");
        by_author(&repository, &["init", "-q"]);
        by_author(&repository, &["commit", "-q", "--allow-empty", "-m", "one"]);
        let (hook, ran) = (
            repository.join(".git/hooks/post-checkout"),
            folder.path().join("ran"),
        );
        std::fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
        std::fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).expect("a hook");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let tree = folder.path().join("tree").display().to_string();
        let add: [&str; 5] = ["worktree", "add", "--detach", &tree, "HEAD"];
        git(&repository, &[&NO_HOOKS[..], &add[..]].concat()).expect("a worktree");
        assert!(Path::new(&tree).join(".git").is_file());
        assert!(!ran.exists(), "the hook ran");
    }

    #[test]
    fn variables_of_a_hook_do_not_reach_git() {
        let command = command(Path::new("/"), &["status"]);
        let is_removed = |name: &str| {
            let mut changed = command.get_envs();
            changed.any(|(known, value)| known == name && value.is_none())
        };
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            assert!(is_removed(name), "{name}");
        }
    }
}
