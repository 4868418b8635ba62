//! What findings advise: values that the server takes, that fit the machine, and that harm nobody
//! else.

use doctor::snapshot::Database;
use doctor::snapshot::DatabaseKind::{self, Postgres};
use doctor::{Found, Snapshot, diagnose};

use crate::healthy;

fn database(s: &mut Snapshot, kind: DatabaseKind) -> &mut Database {
    let mut databases = s.databases.iter_mut();
    databases.find(|db| db.kind == kind).expect("one")
}

fn set(s: &mut Snapshot, kind: DatabaseKind, pairs: &[(&str, &str)]) {
    for (name, value) in pairs {
        let values = &mut database(s, kind).values;
        values.insert((*name).to_owned(), (*value).to_owned());
    }
}

/// Returns the finding of a check on a healthy snapshot with a change.
fn found(id: &str, change: impl FnOnce(&mut Snapshot)) -> Option<Found> {
    let mut snapshot = healthy::snapshot();
    change(&mut snapshot);
    let mut verdicts = diagnose(&snapshot, &[]).into_iter();
    Some(verdicts.find(|verdict| verdict.check.id == id)?.found)
}

fn changes(found: &Found) -> String {
    let lines: Vec<String> = found.change.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn undos(found: &Found) -> String {
    let lines: Vec<String> = found.undo.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_slot_is_dropped_only_when_its_reader_is_gone_and_nothing_takes_that_back() {
    let slots = |s: &mut Snapshot| {
        let lists = &mut database(s, Postgres).lists;
        lists.insert(
            "idle replication slots".to_owned(),
            vec!["debezium holds 3 GB".to_owned()],
        );
    };
    let found = found("postgres.slots-idle", slots).expect("it");
    assert!(changes(&found).starts_with("start what reads"), "{found:?}");
    assert_eq!(undos(&found), "");
}
