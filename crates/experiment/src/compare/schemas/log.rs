//! The journal mode of a SQLite file, tried on a copy of the app's folder.

use schema_db::Database;

use super::{Changing, Label, Place, Schemas, Sides, What};
use crate::observer::Context;
use ending::Failure;

/// The mode with a write-ahead log.
const LOG: &str = "wal";

impl Schemas {
    /// B finds the SQLite file with a write-ahead log, A with the journal mode `present`.
    ///
    /// # Errors
    /// The file cannot be copied: the mode of the app's own file is not changed for a trial.
    pub fn of_log(sides: &mut Sides, present: &str, context: &Context) -> Result<Schemas, Failure> {
        let place = match sides.a.settings.start.is_some() {
            true => Place::in_folder(sides, context)?.ok(),
            false => None,
        };
        let place = place.ok_or_else(|| Failure::usage(by_hand(present)))?;
        Ok(Schemas {
            changing: Some(Changing {
                what: What::Log {
                    present: present.to_owned(),
                },
                address: place.address,
                original: place.original,
                is_in_place: false,
                undo: place.undo,
                _copied: place.copied,
            }),
        })
    }
}

fn by_hand(present: &str) -> String {
    format!(
        "the app's SQLite file is not in a folder that can be copied, and the mode of the app's own file is not \
         changed for a trial; by hand: stop the app, `sqlite3 FILE 'PRAGMA journal_mode = {LOG}'`, `hakaru run` again, \
         and `hakaru log` shows both runs beside the noise of this host; `PRAGMA journal_mode = {present}` takes it back"
    )
}

/// Brings a file to the journal mode of one side. No app has the file open.
pub(super) fn reach(
    database: &mut dyn Database,
    present: &str,
    label: Label,
) -> Result<(), String> {
    let wanted = match label {
        Label::A => present,
        Label::B => LOG,
    };
    let rows = database.query(&format!("PRAGMA journal_mode = {wanted}"));
    let rows = rows.map_err(|error| error.message)?;
    let mode = rows.into_iter().flatten().flatten().next();
    let mode = mode.unwrap_or_default();
    match mode.eq_ignore_ascii_case(wanted) {
        true => Ok(()),
        false => Err(format!("the file stays in journal_mode {mode}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_stored_in_the_file_for_each_side() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let open = || schema_db::scratch::open(&format!("sqlite:{}", path.display()));
        let mode = || {
            let rows = open().expect("a file").query("PRAGMA journal_mode");
            let rows = rows.unwrap_or_else(|error| panic!("{}", error.message));
            rows.into_iter().flatten().flatten().next()
        };
        let create = "CREATE TABLE t (a INTEGER)";
        open().expect("a file").execute(create).expect("a table");
        for (label, expected) in [
            (Label::A, "delete"),
            (Label::B, "wal"),
            (Label::A, "delete"),
        ] {
            let mut database = open().expect("a file");
            reach(database.as_mut(), "delete", label).expect("the mode");
            drop(database);
            assert_eq!(mode().as_deref(), Some(expected));
        }
        let why = by_hand("delete");
        assert!(why.contains("journal_mode = wal") && why.contains("journal_mode = delete"));
    }
}
