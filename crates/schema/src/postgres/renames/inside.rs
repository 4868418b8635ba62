//! Renaming a column inside the owning table.

use crate::postgres::model::{ConstraintKind, IndexItem, Sql, Table};
use crate::postgres::name::quote;
use crate::postgres::split;

/// Renames a column wherever the owning table mentions the old name, except in foreign keys.
pub(super) fn rename_in_table(table: &mut Table, old: &str, new: &str) {
    if let Some(column) = table.columns.rename(&old.to_owned(), new.to_owned()) {
        new.clone_into(&mut column.name);
    }
    for column in table.columns.values_mut() {
        if let Some(generated) = &mut column.generated {
            replace(&mut generated.expression, old, new);
        }
    }
    for constraint in table.constraints.values_mut() {
        match &mut constraint.kind {
            ConstraintKind::Primary(keys) | ConstraintKind::Unique(keys) => {
                rename_in(&mut keys.columns, old, new);
                rename_in(&mut keys.include, old, new);
            }
            ConstraintKind::Check(check) => replace(check, old, new),
            ConstraintKind::Exclude(exclude) => {
                rename_in(&mut exclude.include, old, new);
                rename_in_items(exclude.items.iter_mut().map(|(item, _)| item), old, new);
                if let Some(predicate) = &mut exclude.predicate {
                    replace(predicate, old, new);
                }
            }
            // Here and in the other table by whoever calls.
            ConstraintKind::Foreign(_) => {}
        }
    }
    for index in table.indexes.values_mut() {
        rename_in(&mut index.include, old, new);
        rename_in_items(&mut index.items, old, new);
        if let Some(predicate) = &mut index.predicate {
            replace(predicate, old, new);
        }
    }
    for policy in table.policies.values_mut() {
        for expression in policy.using.iter_mut().chain(policy.check.iter_mut()) {
            replace(expression, old, new);
        }
    }
    for trigger in table.triggers.values_mut() {
        for (_, columns) in &mut trigger.events {
            rename_in(columns, old, new);
        }
        if let Some(when) = &mut trigger.when {
            replace(when, old, new);
        }
    }
}

fn rename_in_items<'i>(items: impl IntoIterator<Item = &'i mut IndexItem>, old: &str, new: &str) {
    for item in items {
        match &mut item.column {
            Some(column) if column == old => new.clone_into(column),
            Some(_) => {}
            None => replace(&mut item.expression, old, new),
        }
    }
}

pub(super) fn rename_in(names: &mut [String], old: &str, new: &str) {
    for name in names.iter_mut().filter(|name| *name == old) {
        new.clone_into(name);
    }
}

/// Puts one name in the place of another.
pub(super) fn replace(sql: &mut Sql, old: &str, new: &str) {
    sql.0 = split::with_renamed(&sql.0, old, &quote(new));
}
