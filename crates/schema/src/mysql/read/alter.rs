//! `ALTER TABLE` actions applied to the model of a table, as by a server.

use crate::mysql::model::{Check, Column, Name, Options, Partition, Partitioning, Table};
use crate::mysql::parser::alter::{Action, Place};
use crate::mysql::parser::{Item, VERSIONING};

impl Name {
    /// Columns and indexes are found whatever the case.
    pub(in crate::mysql) fn is(&self, other: &Name) -> bool {
        let is_ascii = || self.text.is_ascii() && other.text.is_ascii();
        self.text.eq_ignore_ascii_case(&other.text)
            || (!is_ascii() && self.text.to_lowercase() == other.text.to_lowercase())
    }
}

/// Applies one action; the error names the missing part.
pub(super) fn fold(table: &mut Table, action: Action) -> Result<(), String> {
    match action {
        Action::Add(Item::Column(column, more), place) => {
            let at = position(table, place)?.unwrap_or(table.columns.len());
            table.columns.insert(at, *column);
            more.into_iter().for_each(|item| table.add(item));
        }
        Action::Add(item, _) => table.add(item),
        Action::Change(old, column, more, place) => change(table, &old, *column, more, place)?,
        Action::Default(name, value) => column(table, &name)?.default = value,
        Action::DropColumn(name) => {
            column(table, &name)?;
            table.columns.retain(|column| !column.name.is(&name));
            for index in &mut table.indexes {
                index.parts.retain(|part| !part.is_of(&name));
            }
            table.indexes.retain(|index| !index.parts.is_empty());
        }
        Action::RenameColumn(old, new) => {
            column(table, &old)?;
            table.rename_column(&old, &new);
        }
        Action::VisibleColumn(name, is_visible) => {
            column(table, &name)?.is_invisible = !is_visible;
        }
        Action::Options(options) => table.options.take(options),
        Action::Convert(options) => {
            for column in &mut table.columns {
                column.data_type.charset = None;
                column.data_type.collation = None;
            }
            table.options.take(options);
        }
        Action::Nothing => {}
        other => named(table, other),
    }
    Ok(())
}

/// Changes of indexes, constraints, partitions and options: what is not there needs no change.
fn named(table: &mut Table, action: Action) {
    match action {
        Action::DropIndex(name) => table.indexes.retain(|index| !index.name.is(&name)),
        Action::DropPrimary => table.indexes.retain(|index| !index.is_primary()),
        Action::DropForeignKey(name) => {
            let is_it = |known: &Option<Name>| known.as_ref().is_some_and(|known| known.is(&name));
            table.foreign_keys.retain(|key| !is_it(&key.name));
        }
        Action::DropConstraint(name) => {
            let is_it = |known: &Option<Name>| known.as_ref().is_some_and(|known| known.is(&name));
            table.foreign_keys.retain(|key| !is_it(&key.name));
            table.checks.retain(|check| !is_it(&check.name));
            table.indexes.retain(|index| !index.name.is(&name));
        }
        Action::RenameTable(name) => {
            table.name = name;
            table.is_moved = true;
        }
        Action::RenameIndex(old, new) => {
            for index in table.indexes.iter_mut().filter(|index| index.name.is(&old)) {
                index.name = new.clone();
            }
        }
        Action::Visible(name, is_visible) => {
            for index in table
                .indexes
                .iter_mut()
                .filter(|index| index.name.is(&name))
            {
                index.is_invisible = !is_visible;
            }
        }
        Action::Partition(partitioning) => table.partitioning = Some(partitioning),
        Action::Unpartition => table.partitioning = None,
        Action::Enforced(name, is_enforced) => {
            let is_it =
                |check: &&mut Check| check.name.as_ref().is_some_and(|known| known.is(&name));
            if let Some(check) = table.checks.iter_mut().find(is_it) {
                check.is_enforced = is_enforced;
            }
        }
        Action::Unversion => table.options.others.retain(|(word, _)| word != VERSIONING),
        Action::DropPeriod(name) => {
            let begin = format!("PERIOD FOR {}", name.text).to_lowercase();
            let is_it =
                |period: &String| period.replace('`', "").to_lowercase().starts_with(&begin);
            table.periods.retain(|period| !is_it(period));
        }
        other => {
            if let Some(partitioning) = &mut table.partitioning {
                repartitioned(partitioning, other);
            }
        }
    }
}

/// Changes of some partitions.
fn repartitioned(partitioning: &mut Partitioning, action: Action) {
    match action {
        Action::AddPartitions(more) => partitioning.partitions.extend(more),
        Action::DropPartitions(names) => {
            let is_gone = |name: &Name| names.iter().any(|gone| gone.is(name));
            partitioning
                .partitions
                .retain(|partition| !is_gone(&partition.name));
        }
        Action::Reorganize(names, new) => {
            reorganize(&mut partitioning.partitions, &names, new);
        }
        Action::Resize(more) => partitioning.resize(more),
        _ => {}
    }
}

/// New ones come where the first of the old ones was.
fn reorganize(partitions: &mut Vec<Partition>, names: &[Name], new: Vec<Partition>) {
    let is_gone = |partition: &Partition| names.iter().any(|name| name.is(&partition.name));
    let first = partitions.iter().position(is_gone);
    partitions.retain(|partition| !is_gone(partition));
    let place = first.unwrap_or(partitions.len());
    partitions.splice(place..place, new);
}

fn column<'t>(table: &'t mut Table, name: &Name) -> Result<&'t mut Column, String> {
    let owner = table.name.text.clone();
    let mut columns = table.columns.iter_mut();
    let found = columns.find(|column| column.name.is(name));
    found.ok_or_else(|| format!("table {owner} has no column {}", name.text))
}

fn position(table: &Table, place: Option<Place>) -> Result<Option<usize>, String> {
    match place {
        None => Ok(None),
        Some(Place::First) => Ok(Some(0)),
        Some(Place::After(name)) => {
            let found = table
                .columns
                .iter()
                .position(|column| column.name.is(&name));
            let missing = || format!("table {} has no column {}", table.name.text, name.text);
            found.map(|at| Some(at + 1)).ok_or_else(missing)
        }
    }
}

fn change(
    table: &mut Table,
    old: &Name,
    new: Column,
    more: Vec<Item>,
    place: Option<Place>,
) -> Result<(), String> {
    column(table, old)?;
    if !old.is(&new.name) {
        table.rename_column(old, &new.name);
    }
    let known = table
        .columns
        .iter()
        .position(|column| column.name.is(&new.name));
    let Some(known) = known else {
        return Ok(());
    };
    table.columns.remove(known);
    let at = position(table, place)?.unwrap_or(known);
    table.columns.insert(at, new);
    more.into_iter().for_each(|item| table.add(item));
    Ok(())
}

impl Options {
    fn take(&mut self, other: Options) {
        if other.charset.is_some() || other.collation.is_some() {
            self.charset = other.charset;
            self.collation = other.collation;
        }
        self.engine = other.engine.or(self.engine.take());
        self.comment = other.comment.or(self.comment.take());
        self.row_format = other.row_format.or(self.row_format.take());
        self.auto_increment = other.auto_increment.or(self.auto_increment.take());
        for (word, value) in other.others {
            self.others.retain(|(known, _)| *known != word);
            self.others.push((word, value));
        }
    }
}

impl Table {
    /// Renames a column like `RENAME COLUMN`, except in expressions.
    pub(in crate::mysql) fn rename_column(&mut self, old: &Name, new: &Name) {
        for column in self.columns.iter_mut().filter(|column| column.name.is(old)) {
            column.name = new.clone();
        }
        for index in &mut self.indexes {
            for part in index.parts.iter_mut().filter(|part| part.is_of(old)) {
                part.key = crate::mysql::model::Key::Column(new.clone());
            }
        }
        let own = self.name.clone();
        for key in &mut self.foreign_keys {
            key.columns
                .iter_mut()
                .filter(|column| column.is(old))
                .for_each(|column| *column = new.clone());
            if key.table.is(&own) {
                key.references
                    .iter_mut()
                    .filter(|column| column.is(old))
                    .for_each(|column| *column = new.clone());
            }
        }
    }
}
