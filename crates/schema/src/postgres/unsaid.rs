//! What an outline such as `schema.rb` cannot say of tables stays unchanged.

use super::model::{Column, Schema, Table};
use crate::ObjectKind;

impl Schema {
    /// See [`crate::Schema::take_unsaid`].
    pub(crate) fn take_unsaid(&mut self, from: &Schema) {
        for table in self.tables.values_mut() {
            let old = table.meta.renamed_from.as_ref();
            let renamed = old.map(|old| super::name::Name::new(table.name.schema.clone(), old));
            let before = from.tables.get(&table.name);
            let before = before.or_else(|| from.tables.get(&renamed?));
            if let Some(before) = before {
                take(table, before);
            }
        }
        // Where the rows of a table lie.
        for (name, part) in from.tables.iter() {
            let parent = part.partition_of.as_ref().map(|(parent, _)| parent);
            if parent.is_some_and(|parent| self.tables.contains(parent))
                && !self.tables.contains(name)
            {
                self.tables.insert(name.clone(), part.clone());
            }
        }
        let spaces = from.kept.iter();
        for (key, kept) in spaces.filter(|(key, _)| key.0 == ObjectKind::Tablespace) {
            if !self.kept.contains(key) {
                self.kept.insert(key.clone(), kept.clone());
            }
        }
        if let Some(stored) = &mut self.stored {
            stored.take_unsaid(from);
        }
    }
}

fn take(table: &mut Table, before: &Table) {
    table.unlogged |= before.unlogged;
    let options = before.options.iter();
    for (name, value) in options {
        let known = table.options.entry(name.clone());
        known.or_insert_with(|| value.clone());
    }
    if table.inherits.is_empty() {
        table.inherits.clone_from(&before.inherits);
    }
    fill(&mut table.partition_by, &before.partition_by);
    fill(&mut table.partition_of, &before.partition_of);
    fill(&mut table.access_method, &before.access_method);
    fill(&mut table.rls, &before.rls);
    fill(&mut table.force_rls, &before.force_rls);
    fill(&mut table.replica_identity, &before.replica_identity);
    for column in table.columns.values_mut() {
        let old = column.meta.renamed_from.as_ref().unwrap_or(&column.name);
        let known = before.columns.get(old);
        if let Some(known) = known.or_else(|| before.columns.get(&column.name)) {
            take_column(column, known);
        }
    }
    for index in table.indexes.values_mut() {
        if let Some(known) = before.indexes.get(&index.name) {
            let options = known.options.clone();
            index.options = match index.options.is_empty() {
                true => options,
                false => std::mem::take(&mut index.options),
            };
        }
    }
}

fn take_column(column: &mut Column, before: &Column) {
    fill(&mut column.storage, &before.storage);
    fill(&mut column.compression, &before.compression);
    fill(&mut column.statistics, &before.statistics);
    // Either numbers the rows; a file says only that they are.
    if before.identity.is_some() && column.data_type.is_serial {
        column.identity.clone_from(&before.identity);
        column.data_type.is_serial = false;
        column.serial = None;
        column.default.clone_from(&before.default);
    }
}

fn fill<T: Clone>(wanted: &mut Option<T>, before: &Option<T>) {
    if wanted.is_none() {
        wanted.clone_from(before);
    }
}
