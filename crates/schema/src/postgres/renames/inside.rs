//! Renaming a column inside the owning table, and in privileges.

use super::Work;
use crate::postgres::model::{ConstraintKind, IndexItem, Sql, Table, Target};
use crate::postgres::name::{Name, quote};
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

/// Renames a column in the list of what `SET NULL` or `SET DEFAULT` sets.
pub(super) fn rename_in_action(action: &mut Option<String>, old: &str, new: &str) {
    let parts = action.as_ref().and_then(|action| action.split_once('('));
    if let Some((words, columns)) = parts {
        let columns = split::with_renamed(columns, old, &quote(new));
        *action = Some(format!("{words}({columns}"));
    }
}

/// Puts one name in the place of another.
pub(super) fn replace(sql: &mut Sql, old: &str, new: &str) {
    sql.0 = split::with_renamed(&sql.0, old, &quote(new));
}

/// What others may do with a table, view or column stays under the new name. sqldef grants it
/// again.
impl Work<'_> {
    pub(super) fn rename_granted(&mut self, old: &Name, new: &Name) {
        for (target, holder) in self.granted_on(old) {
            let renamed = Target {
                name: new.clone(),
                ..target.clone()
            };
            let key = (target, holder.clone());
            self.schema.grants.rename(&key, (renamed, holder));
        }
    }

    pub(super) fn rename_granted_column(&mut self, table: &Name, old: &str, new: &str) {
        for key in self.granted_on(table) {
            let Some(grant) = self.schema.grants.get_mut(&key) else {
                continue;
            };
            for (mut privilege, can_pass) in std::mem::take(&mut grant.privileges) {
                if privilege.column.as_deref() == Some(old) {
                    privilege.column = Some(new.to_owned());
                }
                grant.privileges.insert(privilege, can_pass);
            }
        }
    }

    /// Keys of the privileges on a relation.
    fn granted_on(&self, name: &Name) -> Vec<(Target, String)> {
        if self.printer.is_sqldef() {
            return Vec::new();
        }
        let keys = self.schema.grants.keys();
        let own = keys.filter(|(target, _)| target.kind == "TABLE" && target.name == *name);
        own.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::postgres::tests::read;

    #[test]
    fn a_foreign_key_that_sets_a_renamed_column_stays() {
        let keyed = |column: &str, comment: &str| {
            read(&format!(
                "CREATE TABLE p (a int, b int, PRIMARY KEY (a, b)); \
                 CREATE TABLE t (x int, {column} int,{comment} \
                     CONSTRAINT k FOREIGN KEY (x, {column}) REFERENCES p (a, b) ON DELETE SET NULL ({column}));"
            ))
        };
        let (from, to) = (keyed("y", ""), keyed("z", " -- @renamed from=y\n"));
        let plan = crate::postgres::plan(&from, &to, &PlanOptions::default()).unwrap();
        let texts = plan.statements.iter().map(|each| each.sql.as_str());
        let expected = ["ALTER TABLE public.t RENAME COLUMN y TO z"];
        assert_eq!(texts.collect::<Vec<_>>(), expected);
    }
}
