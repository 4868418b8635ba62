//! Worktrees and copies of the app's folder, removed at the end of a comparison, also after a
//! failure.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use app_process::{CommandLine, Spec};
use words::text;

use crate::failure;
use crate::git::{NO_HOOKS, git};
use crate::observer::Context;
use crate::settings::Settings;
use crate::undo::{PREFIX, Undo, Undoing};
use ending::Failure;

/// Limit on a build: a large one compiles much, a hanging one must not hang the experiment for
/// ever.
const BUILD_TIMEOUT: Duration = Duration::from_secs(1800);

/// What a copy leaves out: the history, and Hakaru's own runs.
const LEFT_OUT: [&str; 2] = [".git", ".hakaru"];

/// A copy of a folder, removed when dropped.
pub struct Copied {
    // In this order: git forgets the worktree before its folder goes.
    _worktree: Option<Undoing>,
    _folder: Undoing,
}

/// A worktree of the repository around the app's folder, and the app moved there.
pub(crate) fn worktree(
    settings: &mut Settings,
    reference: &str,
    build: Option<&str>,
    context: &Context,
) -> Result<Copied, Failure> {
    let project = settings.project.clone();
    let start = (settings.start.as_mut()).ok_or_else(|| {
        Failure::usage(format!(
            "git:{reference} needs a command that starts the app"
        ))
    })?;
    let directory = absolute(&start.directory)?;
    let top = git(&directory, &["rev-parse", "--show-toplevel"]).map_err(|why| {
        Failure::usage(format!(
            "{} is in no git repository: {why}",
            directory.display()
        ))
    })?;
    let commit = git(
        &directory,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("{reference}^{{commit}}"),
        ],
    )
    .map_err(|_| Failure::usage(format!("git knows no revision `{reference}` in {top}")))?;
    let below = directory
        .strip_prefix(&top)
        .unwrap_or(Path::new(""))
        .to_owned();
    let (folder, folder_undo) = temporary(&project, context)?;
    let tree = folder.join("tree");
    let undo = Undo::Worktree {
        repository: PathBuf::from(&top),
        tree: tree.clone(),
    };
    let noted = Undoing::note(&project, &undo, None, context);
    let worktree_undo = noted.map_err(Failure::failed)?;
    let path = tree.display().to_string();
    let add: [&str; 6] = ["worktree", "add", "--detach", "--force", &path, &commit];
    git(Path::new(&top), &[&NO_HOOKS[..], &add[..]].concat()).map_err(|why| {
        // Ctrl-C in a terminal ends git too.
        match context.is_stopped() {
            true => failure::interrupted(),
            false => Failure::failed(format!("git cannot make a worktree of {reference}: {why}")),
        }
    })?;
    start.directory = tree.join(below);
    start.remove_when_killed.push(folder.clone());
    fill(start, &tree, reference, build, context)?;
    Ok(Copied {
        _worktree: Some(worktree_undo),
        _folder: folder_undo,
    })
}

/// Builds what a new worktree lacks, in the app's folder there, or says what will be missing.
fn fill(
    start: &Spec,
    tree: &Path,
    reference: &str,
    build: Option<&str>,
    context: &Context,
) -> Result<(), Failure> {
    if let Some(line) = build {
        context.notice(text!("building {reference}: {line}", reference, line));
        let line = CommandLine::Shell(line.to_owned());
        return app_process::run_before(start, &line, BUILD_TIMEOUT, None, &context.stop)
            .map_err(|error| failure::of_build(error, reference));
    }
    if has_submodules(tree) {
        context.notice(text!(
            "{reference} has submodules, whose folders are empty in a worktree; --build 'git submodule update --init' fills them",
            reference
        ));
    }
    Ok(())
}

fn has_submodules(tree: &Path) -> bool {
    tree.join(".gitmodules").is_file()
}

/// Returns whether the files of two folders lie on one file system.
pub(crate) fn is_one_file_system(a: &Path, b: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    device(a) == device(b)
}

/// A copy of the app's folder, and the app moved there.
pub(crate) fn folder(settings: &mut Settings, context: &Context) -> Result<Copied, Failure> {
    let project = settings.project.clone();
    let start = (settings.start.as_mut())
        .ok_or_else(|| Failure::usage("a copy of the app needs a command that starts it"))?;
    let from = absolute(&start.directory)?;
    let (folder, undo) = temporary(&project, context)?;
    let tree = folder.join("tree");
    copy(&from, &tree, &context.stop).map_err(|error| match context.is_stopped() {
        true => failure::interrupted(),
        false => Failure::failed(format!("cannot copy {}: {error}", from.display())),
    })?;
    start.directory = tree;
    start.remove_when_killed.push(folder.clone());
    Ok(Copied {
        _worktree: None,
        _folder: undo,
    })
}

/// Returns where a folder lies in the surrounding repository, such as `apps/shop/`; empty at the
/// top, and where there is no repository.
pub(crate) fn below_top(folder: &Path) -> String {
    git(folder, &["rev-parse", "--show-prefix"]).unwrap_or_default()
}

/// Applies a patch in a folder, which lies at `below` in the repository of the original. The
/// patch's paths may begin at that folder, or at the top of a repository around the original.
pub(crate) fn apply(directory: &Path, patch: &Path, below: &str) -> Result<(), Failure> {
    const LEVELS_MAX: usize = 6;
    if !patch.is_file() {
        return Err(Failure::usage(format!(
            "there is no patch {}",
            patch.display()
        )));
    }
    let patch_text = patch.display().to_string();
    let mut levels: Vec<usize> = (1..=LEVELS_MAX).collect();
    // A file that the patch creates could be created anywhere, so the level is not to be guessed.
    if !below.is_empty() && begins_at_top(patch, below) {
        levels = vec![1 + below.matches('/').count()];
    }
    let mut first = String::new();
    for level in levels {
        let level = format!("-p{level}");
        match git(directory, &["apply", &level, "--check", &patch_text]) {
            Ok(_) => {
                let applied = git(directory, &["apply", &level, &patch_text]);
                return applied.map(|_| ()).map_err(Failure::usage);
            }
            Err(why) if first.is_empty() => first = why,
            Err(_) => {}
        }
    }
    Err(Failure::usage(format!(
        "{patch_text} does not apply: {first}; make it with `git diff` against the folder as it is"
    )))
}

/// Whether all paths of a patch begin at the top of a repository with a folder at `below`.
fn begins_at_top(patch: &Path, below: &str) -> bool {
    let bytes = fs::read(patch).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let heads = text.lines().filter_map(|line| {
        let path = (line.strip_prefix("+++ ")).or_else(|| line.strip_prefix("--- "))?;
        (path.trim_end() != "/dev/null").then_some(path)
    });
    let mut paths = heads.filter_map(|path| path.split_once('/')).peekable();
    paths.peek().is_some() && paths.all(|(_, path)| path.starts_with(below))
}

/// A private folder of a new name, recorded before creation.
fn temporary(project: &Path, context: &Context) -> Result<(PathBuf, Undoing), Failure> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: only the uniqueness of the number matters.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let name = format!("{PREFIX}variant-{}-{now:x}-{count}", std::process::id());
    let path = absolute(&std::env::temp_dir())?.join(name);
    let undo = Undoing::note(project, &Undo::Folder(path.clone()), None, context)
        .map_err(Failure::failed)?;
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&path)
        .map_err(|error| {
            Failure::failed(format!(
                "cannot make the folder {}: {error}; set TMPDIR to one that can be written",
                path.display()
            ))
        })?;
    Ok((path, undo))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        Failure::failed(format!(
            "cannot find the folder {}: {error}",
            path.display()
        ))
    })
}

/// Copies a folder until `stop` is raised: a folder may hold gigabytes.
fn copy(from: &Path, to: &Path, stop: &AtomicBool) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        // Relaxed: the flag carries no other data.
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&source, &target, stop)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        }
        // Sockets and pipes belong to processes that run, and mean nothing in a copy.
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "--- a/apps/x/one.txt\n+++ b/apps/x/one.txt\n@@ -1 +1 @@\n-old\n+new\n";

    #[test]
    fn a_patch_applies_wherever_its_paths_begin() {
        let folder = tempfile::tempdir().unwrap();
        let check = |text: &str, expected: &str| {
            fs::write(folder.path().join("one.txt"), "old\n").unwrap();
            let patch = folder.path().join("fix.diff");
            fs::write(&patch, text).unwrap();
            apply(folder.path(), &patch, "").unwrap();
            let changed = fs::read_to_string(folder.path().join("one.txt")).unwrap();
            assert_eq!(changed, expected);
        };
        check(PATCH, "new\n");
        check(&PATCH.replace("apps/x/", ""), "new\n");
        let wrong = folder.path().join("wrong.diff");
        fs::write(&wrong, PATCH.replace("old", "other")).unwrap();
        let failure = apply(folder.path(), &wrong, "").unwrap_err();
        assert_eq!(failure.cause, ending::Cause::Usage);
        assert!(
            failure.message.contains("does not apply"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn a_new_file_lands_where_the_repository_has_it() {
        const NEW: &str = "diff --git a/apps/x/two.txt b/apps/x/two.txt\nnew file mode 100644\n--- /dev/null\n+++ b/apps/x/two.txt\n@@ -0,0 +1 @@\n+new\n";
        let folder = tempfile::tempdir().unwrap();
        let app = folder.path().join("app");
        fs::create_dir(&app).unwrap();
        let patch = folder.path().join("fix.diff");
        let check = |text: &str, expected: &str| {
            fs::write(&patch, text).unwrap();
            apply(&app, &patch, "apps/x/").unwrap();
            assert_eq!(fs::read_to_string(app.join(expected)).unwrap(), "new\n");
        };
        check(NEW, "two.txt");
        assert!(!app.join("apps").exists());
        check(&NEW.replace("apps/x/two", "three"), "three.txt");
    }

    #[test]
    fn file_systems_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("a");
        fs::create_dir(&inside).unwrap();
        assert!(is_one_file_system(folder.path(), &inside));
        assert!(!is_one_file_system(folder.path(), Path::new("/proc")));
        fs::write(inside.join(".gitmodules"), "").unwrap();
        assert!(has_submodules(&inside) && !has_submodules(folder.path()));
    }

    #[test]
    fn a_copy_leaves_out_history_and_runs() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        fs::create_dir_all(from.join(".hakaru")).unwrap();
        fs::create_dir_all(from.join("lib")).unwrap();
        fs::write(from.join("lib/a.rb"), "1").unwrap();
        std::os::unix::fs::symlink("lib/a.rb", from.join("link")).unwrap();
        let to = folder.path().join("to");
        copy(&from, &to, &AtomicBool::new(false)).unwrap();
        assert_eq!(fs::read_to_string(to.join("link")).unwrap(), "1");
        assert!(!to.join(".hakaru").exists());
        let cut_off = copy(
            &from,
            &folder.path().join("cut off"),
            &AtomicBool::new(true),
        );
        assert_eq!(cut_off.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }
}
