//! What `ALTER TABLE` cannot do: the steps of <https://sqlite.org/lang_altertable.html#otheralter>.
//!
//! New table, rows over, old table away, new name. Foreign keys are off, since `DROP TABLE` deletes
//! the rows first and would act on what refers to them; the old ways of `ALTER TABLE` are on, since
//! the new ones read every view and trigger while the table is away, and change what refers to it.
//! Indexes and triggers are dropped with the old table and recreated. Columns that are to go stay
//! until the end, so that a drop that nobody allowed holds back nothing else.

use super::Builder;
use crate::plan::Steps;
use crate::sqlite::diff::TableDiff;
use crate::sqlite::model::{Column, Table, quoted};
use crate::sqlite::{hazards, print};
use crate::{Hazard, ObjectKind, Verb};

impl Builder<'_> {
    /// Rebuilds a table; dependents are recreated, unless dropped later.
    pub(super) fn rebuild(&mut self, change: &TableDiff<'_>) {
        let name = &change.to.name.text;
        let new = self.unused_name(name);
        let kept: Vec<String> = change
            .dropped
            .iter()
            .map(|column| print::kept_column(column, change))
            .collect();
        let first = self.rebuild_step(name, print::table_as(change.to, &new, &kept));
        self.rebuild_step(name, "PRAGMA foreign_keys = OFF".to_owned());
        if let Some(counter) = counter(change, &new) {
            self.rebuild_step(name, counter);
        }
        let copy = self.rebuild_step(name, copy(change, &new));
        let is_lossy =
            |hazard: &Hazard| matches!(hazard, Hazard::LossyCast(_) | Hazard::DataLoss(_));
        let (lossy, others): (Vec<Hazard>, Vec<Hazard>) =
            hazards::of_copy(change).into_iter().partition(is_lossy);
        self.statements[first].hazards = lossy;
        self.statements[copy].hazards = others;
        self.rebuild_step(name, format!("DROP TABLE {}", quoted(name)));
        self.rebuild_step(name, "PRAGMA legacy_alter_table = ON".to_owned());
        let rename = format!("ALTER TABLE {} RENAME TO {}", quoted(&new), quoted(name));
        self.rebuild_step(name, rename);
        self.rebuild_step(name, "PRAGMA legacy_alter_table = OFF".to_owned());
        self.again_on(&change.to.name.key());
        if !self.statements[first].hazards.is_empty() {
            for step in &mut self.statements[first + 1..] {
                step.needs.push(first);
            }
            self.lossy.push((change.to.name.clone(), first));
        }
    }

    /// Appends the foreign key checks at the end of a plan with rebuilds: one for each rebuild
    /// possibly held back, so none goes unchecked.
    pub(super) fn check_foreign_keys(&mut self) {
        let mut rebuilt = self.rebuilt.iter();
        let sure = rebuilt.find(|name| self.lossy_rebuild(&name.to_ascii_lowercase()).is_none());
        let sure = sure.map(|name| (name.clone(), None));
        let lossy = self.lossy.iter();
        let lossy = lossy.map(|(name, first)| (name.text.clone(), Some(*first)));
        for (name, needed) in sure.into_iter().chain(lossy).collect::<Vec<_>>() {
            let check = self.rebuild_step(&name, "PRAGMA foreign_key_check".to_owned());
            self.statements[check].needs.extend(needed);
        }
    }

    fn rebuild_step(&mut self, name: &str, sql: String) -> usize {
        self.push(sql, Verb::Rebuild, ObjectKind::Table, name.to_owned())
    }

    fn unused_name(&self, name: &str) -> String {
        let mut new = format!("hakaru_new_{name}");
        while self.is_name_used(&new.to_ascii_lowercase()) {
            new.push('_');
        }
        new
    }
}

/// `AUTOINCREMENT` never gives a number twice, not even one whose row is gone. Before the copy,
/// which goes on from here.
fn counter(change: &TableDiff<'_>, new: &str) -> Option<String> {
    let counts = |table: &Table| {
        let key = table.primary_key.as_ref();
        key.is_some_and(|key| key.is_autoincrement)
    };
    let is_kept = counts(change.from) && counts(change.to);
    is_kept.then(|| {
        let text = |name: &str| format!("'{}'", name.replace('\'', "''"));
        // SQLite compares these names letter for letter, other than those of tables.
        let (new, old) = (text(new), text(&change.from.name.text));
        format!(
            "INSERT INTO sqlite_sequence (name, seq) SELECT {new}, seq FROM sqlite_sequence WHERE name = {old}"
        )
    })
}

/// Copies the rows of the old table, in the columns common to both.
fn copy(change: &TableDiff<'_>, new: &str) -> String {
    let kept = change.dropped.iter().copied();
    let columns: Vec<String> = change
        .to
        .columns
        .iter()
        .filter(|column| change.from.column(&column.name.key()).is_some())
        .chain(kept)
        .filter(|column| column.generated.is_none())
        .map(|column: &Column| quoted(&column.name.text))
        .chain(rowid(change))
        .collect();
    let columns = columns.join(", ");
    let insert = insertion(change.to);
    let old = quoted(&change.to.name.text);
    if columns.is_empty() {
        // Nothing is common: as many rows, of defaults.
        let first = change
            .to
            .columns
            .iter()
            .find(|column| column.generated.is_none());
        let name = first.map_or_else(String::new, |column| quoted(&column.name.text));
        return format!("{insert} {} ({name}) SELECT NULL FROM {old}", quoted(new));
    }
    format!(
        "{insert} {} ({columns}) SELECT {columns} FROM {old}",
        quoted(new)
    )
}

/// Returns the beginning of the statement copying the rows. A table may say that rows in conflict
/// with a key are skipped or replaced, and NULL as well: existing rows would be lost so.
fn insertion(to: &Table) -> &'static str {
    let keys = to.primary_key.iter().chain(&to.uniques);
    let mut of_keys = keys.map(|key| key.conflict.as_str());
    let mut of_columns = to
        .columns
        .iter()
        .filter_map(|column| column.not_null.as_deref());
    let is_said = |how: &str| !how.is_empty();
    match of_keys.any(is_said) || of_columns.any(is_said) {
        true => "INSERT OR ABORT INTO",
        false => "INSERT INTO",
    }
}

/// The rowid for copied rows, unless a column is an alias: full-text indexes and programs may refer
/// to rowids.
fn rowid(change: &TableDiff<'_>) -> Option<String> {
    let TableDiff { from, to, .. } = change;
    let has_rowid = !from.is_without_rowid && !to.is_without_rowid;
    let is_column = from.rowid_column().is_some() || to.rowid_column().is_some();
    if !has_rowid || is_column {
        return None;
    }
    let names = ["rowid", "_rowid_", "oid"];
    let is_free = |name: &&str| from.column(name).is_none() && to.column(name).is_none();
    names.into_iter().find(is_free).map(str::to_owned)
}
