//! Temporary changes, undone even after an earlier Hakaru was killed.
//!
//! Each is written into the store before it is made, and struck out when it has been taken back.
//! Whoever next claims the folder takes back what is still written down: the claim shows that its
//! maker lives no more.

mod worktree;

use std::path::{Path, PathBuf};

use schema_db::scratch::{self, Index};
use store::{Store, StoreError, Undo as StoredUndo};
use words::{Text, text};

use crate::app_database;
use crate::observer::Context;

/// Prefix in the names of all temporary things, so nothing else is ever removed.
pub(crate) const PREFIX: &str = "hakaru-";

/// A change to take back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    /// A folder for temporary files.
    Folder(PathBuf),
    /// A git worktree.
    Worktree { repository: PathBuf, tree: PathBuf },
    /// A scratch database on the configured server, by name.
    ScratchDatabase(String),
    /// An index in the app's own database.
    Index(Index),
    /// A changed schema of the app's own database: the original schema.
    Schema(String),
}

impl Undo {
    /// Returns the kind and the object in the store's form; never a secret.
    fn stored(&self) -> (&'static str, String) {
        match self {
            Undo::Folder(path) => ("folder", path.display().to_string()),
            Undo::Worktree { repository, tree } => (
                "worktree",
                format!("{}\n{}", repository.display(), tree.display()),
            ),
            Undo::ScratchDatabase(name) => ("database", name.clone()),
            Undo::Index(index) => ("index", format!("{}\n{}", index.name, index.table)),
            Undo::Schema(text) => ("schema", text.clone()),
        }
    }

    /// Reads what the store kept, also of an older Hakaru; `None` for a kind of a newer one.
    fn read(stored: &StoredUndo) -> Option<Undo> {
        let what = &stored.what;
        let pair = || what.split_once('\n').unwrap_or((what, ""));
        Some(match stored.kind.as_str() {
            "folder" => Undo::Folder(what.into()),
            "worktree" => {
                let (repository, tree) = pair();
                Undo::Worktree {
                    repository: repository.into(),
                    tree: tree.into(),
                }
            }
            "database" => Undo::ScratchDatabase(what.clone()),
            "index" => {
                let (name, table) = pair();
                Undo::Index(Index {
                    name: name.to_owned(),
                    table: table.to_owned(),
                })
            }
            "schema" => Undo::Schema(what.clone()),
            _ => return None,
        })
    }

    /// Takes the change back; `address` is the database's.
    fn take_back(&self, address: Option<&str>) -> Result<(), String> {
        match self {
            Undo::Folder(path) => remove_folder(path),
            Undo::Worktree { repository, tree } => worktree::remove(repository, tree),
            Undo::ScratchDatabase(name) => {
                scratch::drop_copy(address.ok_or(NO_ADDRESS)?, name).map_err(|error| error.message)
            }
            Undo::Index(index) => app_database::drop_index(address.ok_or(NO_ADDRESS)?, index),
            Undo::Schema(text) => app_database::restore_schema(address.ok_or(NO_ADDRESS)?, text),
        }
    }
}

/// A recorded change, undone on drop.
pub(crate) struct Undoing {
    project: PathBuf,
    undo: StoredUndo,
    address: Option<String>,
    done: bool,
    context: Context,
}

impl Undoing {
    /// Writes the change down. `address` is the database's, for changes there.
    pub(crate) fn note(
        project: &Path,
        undo: &Undo,
        address: Option<&str>,
        context: &Context,
    ) -> Result<Undoing, StoreError> {
        let (kind, what) = undo.stored();
        Ok(Undoing {
            project: project.to_owned(),
            undo: Store::open(project)?.put_undo(kind, &what)?,
            address: address.map(str::to_owned),
            done: false,
            context: context.clone(),
        })
    }

    /// Deletes the record of a change, which is to stay from now on.
    pub(crate) fn keep(mut self) {
        self.done = true;
        if let Ok(store) = Store::open(&self.project) {
            let _ = store.strike_undo(&self.undo);
        }
    }
}

impl Drop for Undoing {
    fn drop(&mut self) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        match Store::open(&self.project) {
            Ok(store) => settle(&store, &self.undo, self.address.as_deref(), &self.context),
            // Written down all the same, or not writable any more: what can be done now is done.
            Err(_) => drop(take_back(&self.undo, self.address.as_deref())),
        }
    }
}

/// Takes back what an earlier Hakaru has left. The caller holds the claim of the folder.
pub(crate) fn pending(store: &Store, address: Option<&str>, context: &Context) {
    let undos = match store.undos() {
        Ok(undos) => undos,
        Err(error) => return context.notice(format!("hakaru: {error}")),
    };
    for undo in undos {
        context.notice(text!(
            "taking back what an interrupted hakaru has left: {what}",
            what = name(&undo)
        ));
        settle(store, &undo, address, context);
    }
}

fn settle(store: &Store, undo: &StoredUndo, address: Option<&str>, context: &Context) {
    match take_back(undo, address) {
        Ok(()) => {
            if let Err(error) = store.strike_undo(undo) {
                context.notice(format!("hakaru: {error}"));
            }
        }
        Err(why) => context.notice(text!(
            "hakaru: {what} could not be taken back: {why}; it is tried again at the next start",
            what = name(undo),
            why
        )),
    }
}

/// Returns the change in words: a schema is long, the others are names.
fn name(undo: &StoredUndo) -> Text {
    match Undo::read(undo) {
        Some(Undo::Schema(_)) => text!("a changed schema"),
        _ => text!(
            "{kind} {name}",
            kind = Text::named(&undo.kind),
            name = undo.what.replace('\n', " ")
        ),
    }
}

fn take_back(undo: &StoredUndo, address: Option<&str>) -> Result<(), String> {
    match Undo::read(undo) {
        Some(undo) => undo.take_back(address),
        None => Err(format!(
            "this hakaru does not know changes of kind `{}`",
            undo.kind
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_back_as_it_was_written() {
        let index = Index {
            name: "a".to_owned(),
            table: "b".to_owned(),
        };
        let all = [
            Undo::Folder("/tmp/hakaru-x".into()),
            Undo::Worktree {
                repository: "/a".into(),
                tree: "/b c".into(),
            },
            Undo::ScratchDatabase("hakaru_1".to_owned()),
            Undo::Index(index),
            Undo::Schema("CREATE TABLE a (\n  b int\n);".to_owned()),
        ];
        for undo in all {
            let (kind, what) = undo.stored();
            let stored = |kind: &str| StoredUndo {
                id: 1,
                kind: kind.to_owned(),
                what: what.clone(),
            };
            assert_eq!(Undo::read(&stored(kind)), Some(undo));
            assert_eq!(Undo::read(&stored("a kind of later")), None);
        }
    }

    #[test]
    fn only_folders_of_our_own_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        for name in ["hakaru-variant-1", "precious"] {
            std::fs::create_dir(of(name)).expect("a folder");
        }
        assert!(Undo::Folder(of("precious")).take_back(None).is_err());
        assert!(of("precious").is_dir());
        assert_eq!(Undo::Folder(of("hakaru-variant-1")).take_back(None), Ok(()));
        assert!(!of("hakaru-variant-1").exists());
        let scratch = Undo::ScratchDatabase("hakaru_1".to_owned());
        assert_eq!(scratch.take_back(None), Err(NO_ADDRESS.to_owned()));
    }
}
