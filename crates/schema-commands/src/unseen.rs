//! Objects outside every plan and export, by kind and name.

use std::collections::BTreeMap;

use figures::counted;
use schema::{Note, NoteKind};
use schema_db::{Database, Unseen};
use words::text;

use super::trouble::of_server;
use ending::{Ended, Failure};

/// First words of statements with an effect on the schema; others, such as `SET` and `DROP … IF
/// EXISTS`, leave nothing behind.
const MAKERS: [&str; 6] = [
    "create",
    "alter",
    "grant",
    "revoke",
    "security label",
    "set default role",
];

/// Letters shown of a statement, enough for a search.
const SHOWN_MAX: usize = 60;

/// Returns a server's objects outside the comparison.
pub(super) fn on(database: &mut dyn Database) -> Result<Vec<Unseen>, Failure> {
    database.unseen().map_err(|error| of_server(&error))
}

/// Statements of a text with an effect outside the comparison.
pub(super) fn in_notes(notes: &[Note]) -> Vec<Unseen> {
    let makes = |note: &&Note| {
        let start = note.text.trim_start().to_lowercase();
        note.kind == NoteKind::Opaque && MAKERS.iter().any(|word| start.starts_with(word))
    };
    let one = |note: &Note| {
        let text = schema::without_secret(note.text.trim_start());
        let first = text.lines().next().unwrap_or_default();
        let text: String = first.chars().take(SHOWN_MAX).collect();
        Unseen {
            kind: "statement".to_owned(),
            name: format!("{}:{}: {text}", note.source, note.line),
        }
    };
    notes.iter().filter(makes).map(one).collect()
}

/// Prints the number of objects of each kind, and the names.
pub(super) fn say(unseen: &[Unseen], allow: bool) {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for each in unseen {
        kinds.entry(&each.kind).or_default().push(&each.name);
    }
    for (kind, names) in &kinds {
        console::notice(text!(
            "not seen: {kind}, {count}: {names}",
            kind,
            count = names.len(),
            names = names.join(", ")
        ));
    }
    if !unseen.is_empty() && !allow {
        console::notice(text!(
            "{objects} neither compared nor written: see to them yourself, and say --allow-unseen to end with 0",
            objects = counted!(unseen.len() as u64, "object")
        ));
    }
}

/// The exit code of a successful command.
pub(super) fn exit(unseen: &[Unseen], allow: bool) -> Ended {
    match unseen.is_empty() || allow {
        true => Ended::Ok,
        false => Ended::Unseen,
    }
}
