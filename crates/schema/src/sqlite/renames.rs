//! Which old names apply, and in which order SQLite can give the new ones.

use std::borrow::Cow;

use super::Schema;
use super::expr::{Pieces, rename_pieces, with_renamed};
use super::model::{Column, ForeignKey, Index, Name, Table};
use crate::rename::still_there;
use crate::{ObjectKind, PlanError};

/// A renamed table or column.
#[derive(Clone, Debug)]
pub(super) struct Rename {
    /// For a column: the table, under the new name.
    pub(super) table: Option<Name>,
    pub(super) from: Name,
    pub(super) to: Name,
}

/// Applies renames to the first schema, which is copied only for that, and returns the list.
///
/// A comment stays in the file after the rename was executed: where the new name exists already, it
/// means nothing.
pub(super) fn apply(from: &mut Cow<'_, Schema>, to: &Schema) -> Result<Vec<Rename>, PlanError> {
    let mut renames = Vec::new();
    for table in &to.tables {
        let Some(old) = &table.renamed_from else {
            continue;
        };
        let old = old.to_ascii_lowercase();
        if from.table(&table.name.key()).is_some() {
            continue;
        }
        let Some(before) = from.table(&old) else {
            continue;
        };
        if to.table(&old).is_some() {
            return Err(still_there(ObjectKind::Table, &old, &table.name.text));
        }
        renames.push(Rename {
            table: None,
            from: before.name.clone(),
            to: table.name.clone(),
        });
        from.to_mut().rename_table(&old, &table.name);
    }
    for table in &to.tables {
        for rename in columns(from, table)? {
            from.to_mut()
                .rename_column(&table.name.key(), &rename.from.key(), &rename.to);
            renames.push(rename);
        }
    }
    Ok(renames)
}

fn columns(from: &Schema, to: &Table) -> Result<Vec<Rename>, PlanError> {
    let Some(before) = from.table(&to.name.key()) else {
        return Ok(Vec::new());
    };
    let mut renames = Vec::new();
    for column in &to.columns {
        let Some(old) = &column.renamed_from else {
            continue;
        };
        let old = old.to_ascii_lowercase();
        if before.column(&column.name.key()).is_some() {
            continue;
        }
        let Some(column_before) = before.column(&old) else {
            continue;
        };
        if to.column(&old).is_some() {
            return Err(still_there(ObjectKind::Column, &old, &column.name.text));
        }
        renames.push(Rename {
            table: Some(to.name.clone()),
            from: column_before.name.clone(),
            to: column.name.clone(),
        });
    }
    Ok(renames)
}

impl Table {
    pub(super) fn rename_column(&mut self, key: &str, to: &Name) {
        let all = |pieces: &mut Pieces| rename_pieces(pieces, key, &to.text);
        for column in &mut self.columns {
            if column.name.is(key) {
                column.name = to.clone();
            }
            column.definition = with_renamed(&column.definition, key, &to.text);
            if let Some(generated) = &mut column.generated {
                all(&mut generated.expression);
                generated.text = with_renamed(&generated.text, key, &to.text);
            }
            for check in &mut column.inline.checks {
                all(&mut check.expression);
            }
        }
        for constraint in &mut self.constraint_texts {
            *constraint = with_renamed(constraint, key, &to.text);
        }
        let keys = self.primary_key.iter_mut().chain(&mut self.uniques);
        keys.flat_map(|each| &mut each.columns).for_each(all);
        for check in &mut self.checks {
            all(&mut check.expression);
            check.text = with_renamed(&check.text, key, &to.text);
        }
    }

    /// Removes a column with all constraints written at the column.
    pub(super) fn remove_column(&mut self, key: &str) {
        let Some(at) = self.columns.iter().position(|column| column.name.is(key)) else {
            return;
        };
        let Column { inline, .. } = self.columns.remove(at);
        for check in &inline.checks {
            remove_one(&mut self.checks, check);
        }
        for foreign in &inline.foreign_keys {
            remove_one(&mut self.foreign_keys, foreign);
        }
    }
}

/// Removes one of what may be there several times.
pub(super) fn remove_one<T: PartialEq>(list: &mut Vec<T>, one: &T) {
    if let Some(at) = list.iter().position(|each| each == one) {
        list.remove(at);
    }
}

impl Index {
    pub(super) fn rename_column(&mut self, key: &str, to: &Name) {
        for column in &mut self.columns {
            rename_pieces(&mut column.pieces, key, &to.text);
            match &mut column.column {
                Some(name) if name.is(key) => *name = to.clone(),
                Some(_) => {}
                None => column.text = with_renamed(&column.text, key, &to.text),
            }
        }
        if let Some((pieces, text)) = &mut self.condition {
            rename_pieces(pieces, key, &to.text);
            *text = with_renamed(text, key, &to.text);
        }
        self.text = with_renamed(&self.text, key, &to.text);
    }
}

impl ForeignKey {
    pub(super) fn rename_column(&mut self, is_owner: bool, table: &str, key: &str, to: &str) {
        let own = self.columns.iter_mut().filter(|_| is_owner);
        let is_parent = self.parent == table;
        let parents = self.parent_columns.iter_mut().filter(|_| is_parent);
        for column in own.chain(parents).filter(|column| *column == key) {
            to.clone_into(column);
        }
    }
}
