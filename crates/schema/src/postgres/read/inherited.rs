//! What tables say of inherited columns.

use crate::ObjectKind;
use crate::postgres::kept::Key;
use crate::postgres::model::{Schema, Table};
use crate::postgres::name::quote;

/// Kinds of settings inherited by a new column, and the words before the value.
const INHERITED: [(ObjectKind, &str); 2] = [
    (ObjectKind::ColumnStorage, " SET STORAGE "),
    (ObjectKind::ColumnCompression, " SET COMPRESSION "),
];

/// Removes storage and compression of inherited columns equal to the parents'. The
/// others get a statement back to the parent's.
pub(super) fn settle_storage(schema: &mut Schema) {
    let mut settled: Vec<(Key, Option<String>)> = Vec::new();
    for (key, kept) in schema.kept.iter() {
        let Some(&(kind, words)) = INHERITED.iter().find(|(kind, _)| *kind == key.0) else {
            continue;
        };
        let child = kept.on.as_ref().and_then(|on| schema.tables.get(on));
        let Some((child, (head, value))) = child.zip(kept.sql.rsplit_once(words)) else {
            continue;
        };
        let before = format!("{}.", child.name.quoted());
        let column = kept.name.strip_prefix(&before).unwrap_or_default();
        let mut parents = ancestors(schema, child).into_iter();
        let inherited = parents.find_map(|parent| said_of(parent, column, kind));
        let Some(inherited) = inherited else { continue };
        let is_same = value.eq_ignore_ascii_case(&inherited);
        let undo = (!is_same).then(|| format!("{head}{words}{inherited}"));
        settled.push((key.clone(), undo));
    }
    for (key, undo) in settled {
        if undo.is_none() {
            drop(schema.kept.remove(&key));
        } else if let Some(kept) = schema.kept.get_mut(&key) {
            kept.undo = undo;
        }
    }
}

/// All ancestors of a table, nearest first.
fn ancestors<'s>(schema: &'s Schema, table: &'s Table) -> Vec<&'s Table> {
    let mut found: Vec<&Table> = vec![table];
    let mut at = 0;
    while let Some(table) = found.get(at).copied() {
        at += 1;
        for parent in table
            .inherits
            .iter()
            .filter_map(|name| schema.tables.get(name))
        {
            if !found.iter().any(|known| known.name == parent.name) {
                found.push(parent);
            }
        }
    }
    found.split_off(1)
}

/// What the definition of a table says of one of the columns. Settings of tables between are made
/// when all tables are there, so that nothing inherits them.
fn said_of(table: &Table, column: &str, kind: ObjectKind) -> Option<String> {
    let mut columns = table.columns.values();
    let found = columns.find(|found| quote(&found.name) == column)?;
    let (said, usual) = match kind {
        ObjectKind::ColumnStorage => (&found.storage, found.usual_storage()),
        _ => (&found.compression, "default"),
    };
    Some(said.as_deref().unwrap_or(usual).to_owned())
}
