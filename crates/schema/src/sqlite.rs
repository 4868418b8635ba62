//! SQLite: a hand-written lexer and parser, a model in a normal form, and executable plans.
//!
//! Flow: [`read()`] cuts texts into statements (`lexer`, `split`), parses those that define a
//! schema (`parser`) and folds each into a [`Schema`] (`read`); [`plan()`] applies former names
//! from comments (`renames`), compares table by table (`diff`) and arranges statements (`order`),
//! which `print` spells, rebuilding a table where `ALTER TABLE` is not sufficient
//! (`order::rebuild`).
//!
//! Expressions are compared as tokens (`expr`). Virtual tables are compared as a whole. Invariant:
//! nothing here evaluates SQL.

mod cursor;
mod diff;
mod expr;
mod finder;
mod hazards;
mod lexer;
mod model;
mod order;
mod outline;
mod parser;
mod print;
mod read;
mod renames;
mod split;
mod unsaid;

use std::collections::HashSet;

use crate::{Note, Object, ObjectKind, Plan, PlanError, PlanOptions, Server, Source, SyntaxError};
use expr::{rename_pieces, with_renamed};
use model::{Index, Name, Table, Whole, WholeKind};

/// The schema of one database.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    tables: Vec<Table>,
    indexes: Vec<Index>,
    index_keys: HashSet<String>,
    /// Views, triggers and virtual tables.
    wholes: Vec<Whole>,
    finder: finder::Finder,
}

/// Reads SQL texts.
///
/// # Errors
/// See [`crate::read()`].
pub fn read(sources: &[Source], _server: &Server) -> Result<(Schema, Vec<Note>), SyntaxError> {
    read::read(sources)
}

/// See [`crate::plan()`].
///
/// # Errors
/// See [`crate::plan()`].
pub fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    order::plan(from, to, options)
}

impl Schema {
    /// See [`crate::Schema::statements`].
    pub fn statements(&self) -> Vec<String> {
        let tables = self.tables.iter().map(print::table);
        let wholes = |kind| self.wholes.iter().filter(move |whole| whole.kind == kind);
        let texts = |kind| wholes(kind).map(|whole| whole.text.clone());
        tables
            .chain(texts(WholeKind::Virtual))
            .chain(self.indexes.iter().map(|index| index.text.clone()))
            .chain(texts(WholeKind::View))
            .chain(texts(WholeKind::Trigger))
            .collect()
    }

    /// See [`crate::Schema::adopt`].
    pub fn adopt(&mut self, _stored: &Schema) {}

    /// See [`crate::Schema::retain`].
    pub fn retain(&mut self, keep: &dyn Fn(&Object) -> bool) {
        self.forget_places();
        let kept = |kind: ObjectKind, name: &Name| {
            keep(&Object {
                kind,
                name: name.text.clone(),
            })
        };
        let owners = |table: &Name| kept(ObjectKind::Table, table);
        self.tables
            .retain(|table| kept(ObjectKind::Table, &table.name));
        self.indexes
            .retain(|index| owners(&index.table) && kept(ObjectKind::Index, &index.name));
        self.wholes.retain(|whole| {
            whole.table.as_ref().is_none_or(owners) && kept(whole.kind.object_kind(), &whole.name)
        });
        let keys = self.indexes.iter().map(|index| index.name.key());
        self.index_keys = keys.collect();
    }

    fn table(&self, key: &str) -> Option<&Table> {
        let place = *self.places().tables.get(key)?;
        self.tables.get(place)
    }

    fn index(&self, key: &str) -> Option<&Index> {
        let place = *self.places().indexes.get(key)?;
        self.indexes.get(place)
    }

    fn whole(&self, kind: WholeKind, key: &str) -> Option<&Whole> {
        let place = *self.places().wholes.get(&(kind, key.to_owned()))?;
        self.wholes.get(place)
    }

    fn remove_table(&mut self, key: &str) {
        self.forget_places();
        self.tables.retain(|table| table.name.key() != key);
        self.remove_whole(WholeKind::Virtual, key);
        let is_of = |table: &Name| table.key() == key;
        self.indexes.retain(|index| !is_of(&index.table));
        self.wholes
            .retain(|whole| !whole.table.as_ref().is_some_and(is_of));
        let keys = self.indexes.iter().map(|index| index.name.key());
        self.index_keys = keys.collect();
    }

    fn remove_whole(&mut self, kind: WholeKind, key: &str) {
        self.forget_places();
        self.wholes
            .retain(|whole| whole.kind != kind || whole.name.key() != key);
    }

    /// Renames a table like `ALTER TABLE … RENAME TO`, except in views and trigger bodies.
    fn rename_table(&mut self, key: &str, to: &Name) {
        self.forget_places();
        for table in &mut self.tables {
            if table.name.key() == key {
                table.name = to.clone();
            }
            let inline = table.columns.iter_mut();
            let inline = inline.flat_map(|column| &mut column.inline.foreign_keys);
            for foreign in table.foreign_keys.iter_mut().chain(inline) {
                if foreign.parent == key {
                    foreign.parent = to.key();
                }
            }
        }
        for index in &mut self.indexes {
            if index.table.key() == key {
                index.table = to.clone();
                index.text = with_renamed(&index.text, key, &to.text);
            }
        }
        for whole in &mut self.wholes {
            if whole.table.as_ref().is_some_and(|table| table.key() == key) {
                whole.table = Some(to.clone());
            }
        }
    }

    /// Renames a column like `ALTER TABLE … RENAME COLUMN`, except in views and trigger bodies.
    fn rename_column(&mut self, table: &str, key: &str, to: &Name) {
        self.forget_places();
        for each in &mut self.tables {
            let is_owner = each.name.key() == table;
            if is_owner {
                each.rename_column(key, to);
            }
            for foreign in &mut each.foreign_keys {
                foreign.rename_column(is_owner, table, key, &to.key());
            }
            let inline = each.columns.iter_mut();
            for foreign in inline.flat_map(|column| &mut column.inline.foreign_keys) {
                foreign.rename_column(is_owner, table, key, &to.key());
            }
        }
        let own = self.indexes.iter_mut();
        for index in own.filter(|index| index.table.key() == table) {
            index.rename_column(key, to);
        }
    }

    /// SQLite writes new names into views and triggers by itself.
    fn rename_in_wholes(&mut self, key: &str, to: &Name) {
        for whole in &mut self.wholes {
            rename_pieces(&mut whole.pieces, key, &to.text);
            whole.text = with_renamed(&whole.text, key, &to.text);
        }
    }

    /// Notes what an object, or the item of a table, was called before.
    fn set_old_name(&mut self, object: &str, item: Option<&str>, from: String) {
        if let Some(table) = self
            .tables
            .iter_mut()
            .find(|each| each.name.key() == object)
        {
            match item {
                None => table.renamed_from = Some(from),
                Some(item) => {
                    let mut columns = table.columns.iter_mut();
                    if let Some(column) = columns.find(|column| column.name.key() == item) {
                        column.renamed_from = Some(from);
                    }
                }
            }
        } else if let Some(index) = self
            .indexes
            .iter_mut()
            .find(|each| each.name.key() == object)
        {
            index.renamed_from = Some(from);
        } else if let Some(whole) = self
            .wholes
            .iter_mut()
            .find(|each| each.name.key() == object)
        {
            whole.renamed_from = Some(from);
        }
    }
}

#[cfg(test)]
mod tests;
