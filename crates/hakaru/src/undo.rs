//! Changes that are not meant to stay, taken back even when an earlier Hakaru was killed.
//!
//! Each is written into the store before it is made, and struck out when it has been taken back. Whoever next
//! claims the folder takes back what is still written down: the claim shows that its maker lives no more.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use store::{Store, StoreError, Undo};
use words::{Text, text};

use crate::compare::scratch;
use crate::talk;

/// A folder for temporary files: its path.
pub(crate) const FOLDER: &str = "folder";
/// A git worktree: the repository and the worktree, one a line.
pub(crate) const WORKTREE: &str = "worktree";
/// A scratch database on the configured server: its name.
pub(crate) const DATABASE: &str = "database";
/// An index in the app's own database: its name and its table, one a line.
pub(crate) const INDEX: &str = "index";
/// A changed schema of the app's own database: the schema as it was.
pub(crate) const SCHEMA: &str = "schema";

/// Beginning of the names of everything temporary, so that nothing else is ever removed.
pub(crate) const PREFIX: &str = "hakaru-";

/// A change that is written down, and taken back when this is dropped or [`Undoing::undo`] is called.
pub(crate) struct Undoing {
    project: PathBuf,
    undo: Undo,
    address: Option<String>,
    done: bool,
}

impl Undoing {
    /// Writes it down. `address` is the database's, for changes there.
    pub(crate) fn note(
        project: &Path,
        kind: &str,
        what: &str,
        address: Option<&str>,
    ) -> Result<Undoing, StoreError> {
        Ok(Undoing {
            project: project.to_owned(),
            undo: Store::open(project)?.put_undo(kind, what)?,
            address: address.map(str::to_owned),
            done: false,
        })
    }

    /// Strikes it out: the change is meant to stay now.
    pub(crate) fn keep(mut self) {
        self.done = true;
        if let Ok(store) = Store::open(&self.project) {
            let _ = store.strike_undo(&self.undo);
        }
    }

    fn undo(&mut self) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        match Store::open(&self.project) {
            Ok(store) => settle(&store, &self.undo, self.address.as_deref()),
            // Written down all the same, or not writable any more: what can be done now is done.
            Err(_) => drop(take_back(&self.undo, self.address.as_deref())),
        }
    }
}

impl Drop for Undoing {
    fn drop(&mut self) {
        self.undo();
    }
}

/// Takes back what an earlier Hakaru has left. The caller holds the claim of the folder.
pub(crate) fn pending(store: &Store, address: Option<&str>) {
    let undos = match store.undos() {
        Ok(undos) => undos,
        Err(error) => return talk::say(format!("hakaru: {error}")),
    };
    for undo in undos {
        talk::say(text!(
            "taking back what an interrupted hakaru has left: {what}",
            what = told(&undo)
        ));
        settle(store, &undo, address);
    }
}

fn settle(store: &Store, undo: &Undo, address: Option<&str>) {
    match take_back(undo, address) {
        Ok(()) => {
            if let Err(error) = store.strike_undo(undo) {
                talk::say(format!("hakaru: {error}"));
            }
        }
        Err(why) => talk::say(text!(
            "hakaru: {what} could not be taken back: {why}; it is tried again at the next start",
            what = told(undo),
            why
        )),
    }
}

/// A schema is long, the others are names.
fn told(undo: &Undo) -> Text {
    match undo.kind.as_str() {
        SCHEMA => text!("a changed schema"),
        kind => text!(
            "{kind} {name}",
            kind = Text::named(kind),
            name = undo.what.replace('\n', " ")
        ),
    }
}

fn take_back(undo: &Undo, address: Option<&str>) -> Result<(), String> {
    match undo.kind.as_str() {
        FOLDER => remove_folder(Path::new(&undo.what)),
        WORKTREE => {
            let (repository, tree) = undo.what.split_once('\n').unwrap_or_default();
            remove_worktree(Path::new(repository), Path::new(tree))
        }
        DATABASE => scratch::drop_database(address.ok_or(NO_ADDRESS)?, &undo.what),
        INDEX => scratch::take_index_back(address.ok_or(NO_ADDRESS)?, &undo.what),
        SCHEMA => scratch::take_schema_back(address.ok_or(NO_ADDRESS)?, &undo.what),
        other => Err(format!(
            "this hakaru does not know changes of kind `{other}`"
        )),
    }
}

const NO_ADDRESS: &str = "where the database is, is not known; set `database` under [target]";

fn remove_folder(path: &Path) -> Result<(), String> {
    let ours = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if !ours {
        return Err("it does not look like one of hakaru's".to_owned());
    }
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Also when the folder is gone already: then git only forgets it.
fn remove_worktree(repository: &Path, tree: &Path) -> Result<(), String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(repository)
            .stdin(Stdio::null())
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    let path = tree.display().to_string();
    if tree.exists() && !git(&["worktree", "remove", "--force", &path]) {
        std::fs::remove_dir_all(tree).map_err(|error| error.to_string())?;
    }
    if git(&["worktree", "prune"]) {
        Ok(())
    } else {
        Err("`git worktree prune` failed".to_owned())
    }
}
