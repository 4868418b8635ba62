//! Removal of one worktree, by path: the user's other worktrees stay registered, also those whose
//! disk is away.

use std::fs;
use std::path::{Path, PathBuf};

use super::PREFIX;
use crate::git::git;

/// Removes a worktree; for a folder gone already, only git's entry.
pub(super) fn remove(repository: &Path, tree: &Path) -> Result<(), String> {
    let parent = tree.parent().and_then(Path::file_name);
    if !parent.is_some_and(|name| name.to_string_lossy().starts_with(PREFIX)) {
        return Err("it does not look like one of hakaru's".to_owned());
    }
    let path = tree.display().to_string();
    // Twice: a worktree whose making was cut off is still locked.
    let removed = git(
        repository,
        &["worktree", "remove", "--force", "--force", &path],
    );
    if removed.is_ok() {
        return Ok(());
    }
    match fs::remove_dir_all(tree) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error.to_string());
        }
        _ => {}
    }
    // A repository that is gone has no entries.
    if !repository.exists() {
        return Ok(());
    }
    match entry(repository, tree)? {
        Some(entry) => fs::remove_dir_all(entry).map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

/// Returns the folder in which git keeps the facts of the worktree; `None` where git knows none at
/// the path.
fn entry(repository: &Path, tree: &Path) -> Result<Option<PathBuf>, String> {
    let common = git(repository, &["rev-parse", "--git-common-dir"])?;
    let all = match fs::read_dir(repository.join(common).join("worktrees")) {
        Ok(all) => all,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let file = tree.join(".git");
    let is_of_tree = |entry: &PathBuf| {
        let known = fs::read_to_string(entry.join("gitdir"));
        known.is_ok_and(|path| Path::new(path.trim_end()) == file)
    };
    let mut entries = all.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(entries.find(is_of_tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with a commit, and a folder for worktrees.
    fn repository() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path").join("shop");
        fs::create_dir(&path).expect("a folder");
        let author = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let commit = ["commit", "-q", "--allow-empty", "-m", "one"];
        git(&path, &["init", "-q"]).expect("a repository");
        git(&path, &[&author[..], &commit[..]].concat()).expect("a commit");
        (folder, path)
    }

    fn add(repository: &Path, name: &str) -> PathBuf {
        let parent = repository.parent().expect("a folder").join(name);
        fs::create_dir(&parent).expect("a folder");
        let tree = parent.join("tree");
        let path = tree.display().to_string();
        git(repository, &["worktree", "add", "--detach", &path]).expect("a worktree");
        tree
    }

    fn known(repository: &Path) -> String {
        git(repository, &["worktree", "list", "--porcelain"]).expect("a list")
    }

    #[test]
    fn worktrees_of_the_user_stay_registered_while_their_disk_is_away() {
        let (_folder, repository) = repository();
        let theirs = add(&repository, "disk");
        let ours = add(&repository, "hakaru-variant-1");
        let gone = add(&repository, "hakaru-variant-2");
        let away = theirs.with_file_name("away");
        fs::rename(&theirs, &away).expect("it is unmounted");
        fs::remove_dir_all(gone.parent().expect("a folder")).expect("it is removed");
        for tree in [&ours, &gone] {
            assert_eq!(remove(&repository, tree), Ok(()));
            assert_eq!(remove(&repository, tree), Ok(()), "once more");
        }
        assert!(!ours.exists());
        let known = known(&repository);
        assert!(!known.contains("hakaru-variant"), "{known}");
        assert!(known.contains(&theirs.display().to_string()), "{known}");
        fs::rename(&away, &theirs).expect("it is back");
        git(&theirs, &["status"]).expect("it is a worktree again");
    }

    #[test]
    fn only_worktrees_of_our_own_are_removed() {
        let (_folder, repository) = repository();
        let theirs = add(&repository, "disk");
        assert!(remove(&repository, &theirs).is_err());
        assert!(theirs.is_dir());
    }
}
