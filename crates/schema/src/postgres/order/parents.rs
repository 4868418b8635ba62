//! Tables detached from parents, or attached to others: inherited parts become the table's own.

use crate::postgres::model::{Constraint, ConstraintKind, Index, Meta, Schema, Table};
use crate::postgres::name::{self, Name};

/// Tables on both sides whose parents are not the same.
pub(super) fn changed(from: &Schema, to: &Schema) -> Vec<Name> {
    let both = to
        .tables
        .values()
        .filter_map(|table| Some((from.tables.get(&table.name)?, table)));
    let changed = both.filter(|(one, other)| parents(one) != parents(other));
    changed.map(|(_, table)| table.name.clone()).collect()
}

fn parents(table: &Table) -> Vec<&Name> {
    let partition = table.partition_of.as_ref().map(|(parent, _)| parent);
    table.inherits.iter().chain(partition).collect()
}

/// The schema with the tables as if nothing were inherited from parents. `before` is the existing
/// schema, for tables to be attached as partitions: matching indexes there become parts of the
/// parent's, and the others are created with the partition.
pub(super) fn filled(schema: &Schema, names: &[Name], before: Option<&Schema>) -> Schema {
    let mut filled = schema.clone();
    for name in names {
        let Some(table) = schema.tables.get(name) else {
            continue;
        };
        let mut whole = whole(schema, table);
        if let Some((parent, _)) = &table.partition_of
            && let Some(parent) = schema.tables.get(parent)
        {
            match before.map(|before| before.tables.get(name)) {
                None => take_indexes(&mut whole, parent),
                Some(before) => keep_indexes(&mut whole, parent, before),
            }
        }
        if let Some(place) = filled.tables.get_mut(name) {
            *place = whole;
        }
    }
    let stored = schema.stored.as_ref();
    filled.stored = stored.map(|stored| Box::new(self::filled(stored, names, before)));
    filled
}

fn whole(schema: &Schema, table: &Table) -> Table {
    let mut whole = Table {
        reshaped: true,
        ..table.clone()
    };
    whole.columns = Default::default();
    for parent in parents(table) {
        let Some(parent) = schema.tables.get(parent) else {
            continue;
        };
        let parent = self::whole(schema, parent);
        let is_partition = table.partition_of.is_some();
        for (name, column) in parent.columns.iter() {
            let mut column = column.clone();
            column.meta = Meta::default();
            column.serial = None;
            column.identity = column.identity.filter(|_| is_partition);
            whole.columns.insert(name.clone(), column);
        }
        take_constraints(&mut whole, &parent, is_partition);
    }
    for (name, column) in table.columns.iter() {
        whole.columns.insert(name.clone(), column.clone());
    }
    whole
}

fn take_constraints(table: &mut Table, parent: &Table, is_partition: bool) {
    for constraint in parent.constraints.values() {
        let own = match &constraint.kind {
            ConstraintKind::Check(_) if !constraint.no_inherit => Some(constraint.name.clone()),
            ConstraintKind::Foreign(_) if is_partition => Some(constraint.name.clone()),
            ConstraintKind::Primary(_) if is_partition => {
                let has_one = table.primary().is_some();
                (!has_one).then(|| name::made(&table.name.name, None, "pkey", |_| false))
            }
            ConstraintKind::Unique(keys) if is_partition => {
                let columns = keys.columns.join("_");
                Some(name::made(&table.name.name, Some(&columns), "key", |_| {
                    false
                }))
            }
            _ => None,
        };
        let Some(own) = own.filter(|own| !table.constraints.contains(own)) else {
            continue;
        };
        let constraint = Constraint {
            name: own.clone(),
            meta: Meta::default(),
            ..constraint.clone()
        };
        table.constraints.insert(own, constraint);
    }
}

/// Takes over a parent's indexes under generated names, except where an own index was attached.
fn take_indexes(table: &mut Table, parent: &Table) {
    for index in parent.indexes.values() {
        let is_it = |own: &&mut Index| own.parent.as_ref().is_some_and(|of| of.name == index.name);
        let names: Vec<String> = table.indexes.keys().cloned().collect();
        let attached = names
            .iter()
            .find(|name| table.indexes.get_mut(*name).as_ref().is_some_and(is_it));
        if let Some(own) = attached.and_then(|name| table.indexes.get_mut(name)) {
            own.parent = None;
            continue;
        }
        let columns = index.items.iter();
        let columns = columns.map(|item| item.column.as_deref().unwrap_or("expr"));
        let columns: Vec<&str> = columns
            .chain(index.include.iter().map(String::as_str))
            .collect();
        let columns = columns.join("_");
        let made = name::made(&table.name.name, Some(&columns), "idx", |made| {
            table.indexes.contains(made)
        });
        let index = Index {
            name: made.clone(),
            is_named: false,
            only: false,
            parent: None,
            meta: Meta::default(),
            ..index.clone()
        };
        table.indexes.insert(made, index);
    }
}

/// Keeps existing indexes matching the parent's.
fn keep_indexes(table: &mut Table, parent: &Table, before: Option<&Table>) {
    let own = before
        .into_iter()
        .flat_map(|before| before.indexes.values());
    for index in own {
        let mut wanted = parent.indexes.values();
        if !table.indexes.contains(&index.name) && wanted.any(|wanted| is_alike(index, wanted)) {
            table.indexes.insert(index.name.clone(), index.clone());
        }
    }
}

fn is_alike(one: &Index, other: &Index) -> bool {
    let items = |index: &Index| -> Vec<(Option<String>, String, bool)> {
        let items = index.items.iter();
        items
            .map(|item| {
                (
                    item.column.clone(),
                    item.expression.0.clone(),
                    item.descending,
                )
            })
            .collect()
    };
    one.unique == other.unique
        && one.method == other.method
        && one.predicate == other.predicate
        && one.include == other.include
        && items(one) == items(other)
}
