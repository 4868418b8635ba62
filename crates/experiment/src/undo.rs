//! Temporary changes, undone even after an earlier Hakaru was killed.
//!
//! Each is written into the store before it is made, and struck out when it has been taken back.
//! Whoever next claims the folder takes back what is still written down: the claim shows that its
//! maker lives no more.

mod place;
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
    /// A changed schema of the app's own database: the original schema, and the one tried.
    Schema { before: String, made: String },
}

/// Whether the maker of a change takes the change back, or whoever comes after a killed one: then
/// others may have changed the database since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Maker,
    Successor,
}

/// Why a change was not taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NotDone {
    /// The next start tries again.
    Now(String),
    /// No start can know any more what would have to be taken back.
    Ever(String),
}

impl From<String> for NotDone {
    fn from(why: String) -> NotDone {
        NotDone::Now(why)
    }
}

impl Undo {
    /// Returns the store's form of a change of the database at `place`; never a secret.
    fn stored(&self, place: String) -> StoredUndo {
        let (kind, what) = match self {
            Undo::Folder(path) => ("folder", path.display().to_string()),
            Undo::Worktree { repository, tree } => (
                "worktree",
                format!("{}\n{}", repository.display(), tree.display()),
            ),
            Undo::ScratchDatabase(name) => ("database", name.clone()),
            Undo::Index(index) => ("index", format!("{}\n{}", index.name, index.table)),
            Undo::Schema { before, .. } => ("schema", before.clone()),
        };
        let made = match self {
            Undo::Schema { made, .. } => made.clone(),
            _ => String::new(),
        };
        StoredUndo {
            id: 0,
            kind: kind.to_owned(),
            what,
            place,
            made,
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
            "schema" => Undo::Schema {
                before: what.clone(),
                made: stored.made.clone(),
            },
            _ => return None,
        })
    }

    /// Takes the change back; `address` is the database's by the present settings.
    fn take_back(&self, place: &str, address: Option<&str>, by: By) -> Result<(), NotDone> {
        let at = || place::address(place, address);
        match self {
            Undo::Folder(path) => remove_folder(path)?,
            Undo::Worktree { repository, tree } => worktree::remove(repository, tree)?,
            Undo::ScratchDatabase(name) => {
                if let Some(address) = at()? {
                    scratch::drop_copy(&address, name).map_err(|error| error.message)?;
                }
            }
            Undo::Index(_) | Undo::Schema { .. } if place.is_empty() => {
                return Err(NotDone::Ever(NO_PLACE.to_owned()));
            }
            Undo::Index(index) => {
                if let Some(address) = at()? {
                    app_database::drop_index(&address, index)?;
                }
            }
            Undo::Schema { before, made } => {
                if let Some(address) = at()? {
                    let made = (by == By::Successor).then_some(made.as_str());
                    if !app_database::restore_schema(&address, before, made)? {
                        return Err(NotDone::Ever(CHANGED_SINCE.to_owned()));
                    }
                }
            }
        }
        Ok(())
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
        let place = address.and_then(|address| scratch::place_of(address).ok());
        let stored = undo.stored(place.unwrap_or_default());
        Ok(Undoing {
            project: project.to_owned(),
            undo: Store::open(project)?.put_undo(stored)?,
            address: address.map(str::to_owned),
            done: false,
            context: context.clone(),
        })
    }

    /// Deletes the record of a change, which is to stay from now on.
    ///
    /// # Errors
    /// The record cannot be deleted. Then the change is taken back at once: the next start would.
    pub(crate) fn keep(mut self) -> Result<(), StoreError> {
        Store::open(&self.project)?.strike_undo(&self.undo)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Undoing {
    fn drop(&mut self) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        let address = self.address.as_deref();
        match Store::open(&self.project) {
            Ok(store) => settle(&store, &self.undo, address, By::Maker, &self.context),
            // Written down all the same, or not writable any more: what can be done now is done.
            Err(_) => drop(take_back(&self.undo, address, By::Maker)),
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
        settle(store, &undo, address, By::Successor, context);
    }
}

fn settle(store: &Store, undo: &StoredUndo, address: Option<&str>, by: By, context: &Context) {
    match take_back(undo, address, by) {
        Ok(()) => {}
        Err(NotDone::Now(why)) => {
            return context.notice(text!(
                "hakaru: {what} could not be taken back: {why}; it is tried again at the next start",
                what = name(undo),
                why
            ));
        }
        Err(NotDone::Ever(why)) => context.notice(text!(
            "hakaru: {what} is left as it is: {why}",
            what = name(undo),
            why
        )),
    }
    if let Err(error) = store.strike_undo(undo) {
        context.notice(format!("hakaru: {error}"));
    }
}

/// Returns the change in words: a schema is long, the others are names.
fn name(undo: &StoredUndo) -> Text {
    match Undo::read(undo) {
        Some(Undo::Schema { .. }) => text!("a changed schema"),
        _ => text!(
            "{kind} {name}",
            kind = Text::named(&undo.kind),
            name = undo.what.replace('\n', " ")
        ),
    }
}

fn take_back(undo: &StoredUndo, address: Option<&str>, by: By) -> Result<(), NotDone> {
    match Undo::read(undo) {
        Some(known) => known.take_back(&undo.place, address, by),
        None => Err(NotDone::Now(format!(
            "this hakaru does not know changes of kind `{}`",
            undo.kind
        ))),
    }
}

const NO_PLACE: &str =
    "an older hakaru did not record in which database it was made; drop it there by hand";

const CHANGED_SINCE: &str = "the database has neither the schema of before nor the one tried, so it was changed since, \
    or the change was cut off; drop by hand what was tried";

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
            Undo::Schema {
                before: "CREATE TABLE a (\n  b int\n);".to_owned(),
                made: "CREATE TABLE a (\n  b int,\n  c int\n);".to_owned(),
            },
        ];
        for undo in all {
            let stored = undo.stored("sqlite:/a.db".to_owned());
            assert_eq!(stored.place, "sqlite:/a.db");
            let later = StoredUndo {
                kind: "a kind of later".to_owned(),
                ..stored.clone()
            };
            assert_eq!(Undo::read(&stored), Some(undo));
            assert_eq!(Undo::read(&later), None);
        }
    }

    #[test]
    fn only_folders_of_our_own_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        for name in ["hakaru-variant-1", "precious"] {
            std::fs::create_dir(of(name)).expect("a folder");
        }
        let take_back = |undo: Undo| undo.take_back("", None, By::Successor);
        assert!(take_back(Undo::Folder(of("precious"))).is_err());
        assert!(of("precious").is_dir());
        assert_eq!(take_back(Undo::Folder(of("hakaru-variant-1"))), Ok(()));
        assert!(!of("hakaru-variant-1").exists());
        let scratch = take_back(Undo::ScratchDatabase("hakaru_1".to_owned()));
        assert!(matches!(scratch, Err(NotDone::Now(_))), "{scratch:?}");
    }

    /// A file with a table and an index.
    fn indexed(path: &Path) -> String {
        let address = format!("sqlite:{}", path.display());
        let mut database = scratch::open(&address).expect("a database");
        for sql in ["CREATE TABLE t (a INTEGER)", "CREATE INDEX t_a ON t (a)"] {
            database.execute(sql).expect("it is made");
        }
        address
    }

    #[test]
    fn an_index_is_dropped_where_it_was_made_and_not_where_the_settings_lead() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ours, theirs) = (folder.path().join("a.db"), folder.path().join("b.db"));
        let (ours, theirs) = (indexed(&ours), indexed(&theirs));
        let index = Index {
            name: "t_a".to_owned(),
            table: "t".to_owned(),
        };
        let has_index = |address: &str| {
            let mut database = scratch::open(address).expect("a database");
            index.is_there(database.as_mut()).expect("it is asked")
        };
        let undo = Undo::Index(index.clone());
        let without_place = undo.take_back("", Some(&theirs), By::Successor);
        assert!(matches!(without_place, Err(NotDone::Ever(_))));
        assert!(has_index(&theirs), "nobody knows whose that is");
        assert_eq!(undo.take_back(&ours, Some(&theirs), By::Successor), Ok(()));
        assert!(!has_index(&ours) && has_index(&theirs));
    }

    #[test]
    fn a_change_that_cannot_be_kept_is_taken_back() {
        let project = tempfile::tempdir().expect("a folder");
        let folder = project.path().join("hakaru-variant-1");
        let context = Context {
            observer: std::sync::Arc::new(Silent),
            stop: std::sync::Arc::default(),
        };
        let noted = || {
            std::fs::create_dir(&folder).expect("a folder");
            let undo = Undo::Folder(folder.clone());
            Undoing::note(project.path(), &undo, None, &context).expect("it is recorded")
        };
        noted().keep().expect("it is kept");
        assert!(folder.is_dir());
        std::fs::remove_dir(&folder).expect("it is removed");
        let undoing = noted();
        let store = Store::path_in(project.path());
        std::fs::write(&store, "no database").expect("it is damaged");
        assert!(undoing.keep().is_err());
        assert!(!folder.exists());
    }

    struct Silent;

    impl crate::observer::Observer for Silent {
        fn notice(&self, _line: Text) {}
    }

    #[test]
    fn a_schema_changed_since_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let address = format!("sqlite:{}", folder.path().join("a.db").display());
        let execute = |sql: &str| {
            let mut database = scratch::open(&address).expect("a database");
            database.execute(sql).expect("it is done");
        };
        let undo = Undo::Schema {
            before: "CREATE TABLE t (a INTEGER);".to_owned(),
            made: "CREATE TABLE t (a INTEGER);\nCREATE INDEX t_a ON t (a);".to_owned(),
        };
        execute("CREATE TABLE t (a INTEGER)");
        execute("CREATE INDEX t_a ON t (a)");
        assert_eq!(undo.take_back(&address, None, By::Successor), Ok(()));
        execute("CREATE INDEX t_a ON t (a)");
        execute("CREATE TABLE precious (a INTEGER)");
        let left = undo.take_back(&address, None, By::Successor);
        assert_eq!(left, Err(NotDone::Ever(CHANGED_SINCE.to_owned())));
        execute("INSERT INTO precious VALUES (1)");
    }
}
