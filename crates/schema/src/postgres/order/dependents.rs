//! Drops objects blocking a column change, to be recreated later.

use std::collections::HashSet;

use super::{Builder, Part};
use crate::ObjectKind;
use crate::postgres::diff::TableChange;
use crate::postgres::hazards::{self, Cast};
use crate::postgres::model::{Constraint, ConstraintKind, Index, IndexItem, Meta, Sql, Table};
use crate::postgres::name::{Name, always_quote};
use crate::postgres::split;

impl<'a> Builder<'a> {
    /// Drops dependents of columns with changed types, where blocking the change or recreated
    /// anyway.
    pub(super) fn drop_dependents(&mut self, change: &'a TableChange<'a>) {
        let (from, to, retyped) = (change.from, change.to, &change.retyped);
        let dropped = change.remade();
        if retyped.is_empty() && dropped.is_empty() {
            return;
        }
        let mentions = |text: &str| {
            split::names(text)
                .iter()
                .any(|name| retyped.contains(&name.as_str()) || dropped.contains(&name.as_str()))
        };
        let is_hard = |name: &str| {
            dropped.contains(&name)
                || matches!(
                    (from.columns.get(name), to.columns.get(name)),
                    (Some(before), Some(column)) if retyped.contains(&name)
                        && hazards::cast(&before.data_type, &column.data_type) == Cast::Explicit
                )
        };
        self.clear_hooks(from, &mentions);
        self.clear_statistics(&from.name, &dropped);
        for index in from.indexes.values() {
            if self.is_gone(&Part::Index(from.name.clone(), index.name.clone())) {
                continue;
            }
            let wanted = to.indexes.get(&index.name);
            let stored = self.sides.stored_table(&to.name);
            let stored = stored.and_then(|stored| stored.indexes.get(&index.name));
            let is_kept = wanted
                .is_some_and(|wanted| self.sides.is_same_index(index, wanted, stored, &to.name));
            let plain = Index {
                meta: Meta::default(),
                ..index.clone()
            };
            let text = self.printer.index(&plain, &from.name, false);
            let names = split::names(&text);
            let is_reworded = index.parent.is_none()
                && expressions(&index.items)
                    .chain(index.predicate.as_ref())
                    .any(|expression| self.is_reworded(from, to, expression));
            let is_hit = is_reworded || names.iter().any(|name| is_hard(name));
            if is_hit || (!is_kept && mentions(&text)) {
                self.drop_index(&from.name, &index.name);
                self.gone
                    .insert(Part::Index(from.name.clone(), index.name.clone()));
            }
        }
        for constraint in from.constraints.values() {
            let part = Part::Constraint(from.name.clone(), constraint.name.clone());
            let goes = goes_with_column(constraint, &dropped)
                || self.blocks(from, to, constraint, &is_hard);
            if !self.is_gone(&part) && goes {
                self.drop_references(&from.name, constraint);
                self.drop_constraint(&from.name, constraint);
                self.gone
                    .insert(Part::Constraint(from.name.clone(), constraint.name.clone()));
            }
        }
        self.clear_foreign(&from.name, &is_hard);
    }

    /// Drops checks, and indexes by conditions or expressions, comparing a column with typed
    /// values.
    pub(super) fn clear_expressions(&mut self, from: &'a Table, mentions: &dyn Fn(&str) -> bool) {
        for index in from.indexes.values() {
            let part = Part::Index(from.name.clone(), index.name.clone());
            let mut expressions = expressions(&index.items).chain(index.predicate.as_ref());
            if expressions.any(|expression| mentions(&expression.0)) && self.gone.insert(part) {
                self.drop_index(&from.name, &index.name);
            }
        }
        for constraint in from.constraints.values() {
            let part = Part::Constraint(from.name.clone(), constraint.name.clone());
            if let ConstraintKind::Check(check) = &constraint.kind
                && mentions(&check.0)
                && self.gone.insert(part)
            {
                self.drop_constraint(&from.name, constraint);
            }
        }
    }

    /// Triggers, policies and rules whose text `mentions` a column.
    pub(super) fn clear_hooks(&mut self, from: &'a Table, mentions: &dyn Fn(&str) -> bool) {
        self.clear_kept(ObjectKind::Rule, &from.name, mentions);
        for trigger in from.triggers.values() {
            if self.is_gone(&Part::Trigger(from.name.clone(), trigger.name.clone())) {
                continue;
            }
            let when = trigger.when.as_ref().is_some_and(|when| mentions(&when.0));
            let mut columns = trigger.events.iter().flat_map(|(_, columns)| columns);
            if when || columns.any(|name| mentions(&always_quote(name))) {
                self.drop_trigger(&from.name, &trigger.name);
                self.gone
                    .insert(Part::Trigger(from.name.clone(), trigger.name.clone()));
            }
        }
        for policy in from.policies.values() {
            let is_gone = self.is_gone(&Part::Policy(from.name.clone(), policy.name.clone()));
            let mut expressions = policy.using.iter().chain(&policy.check);
            if !is_gone && expressions.any(|expression| mentions(&expression.0)) {
                self.drop_policy(&from.name, &policy.name);
                self.gone
                    .insert(Part::Policy(from.name.clone(), policy.name.clone()));
            }
        }
    }

    /// Drops policies reading a changing column of another table. Table and column are given by
    /// name.
    pub(super) fn clear_foreign_policies(&mut self, changing: &[(&str, &str)]) {
        for table in self.from.tables.values() {
            for policy in table.policies.values() {
                let expressions = policy.using.iter().chain(&policy.check);
                let names: HashSet<String> = expressions
                    .flat_map(|expression| split::names(&expression.0))
                    .collect();
                let is_hit = changing.iter().any(|(other, column)| {
                    *other != table.name.name && names.contains(*other) && names.contains(*column)
                });
                let part = Part::Policy(table.name.clone(), policy.name.clone());
                if is_hit && self.gone.insert(part) {
                    self.drop_policy(&table.name, &policy.name);
                }
            }
        }
    }

    pub(super) fn blocks(
        &self,
        from: &Table,
        to: &Table,
        constraint: &Constraint,
        is_hard: &dyn Fn(&str) -> bool,
    ) -> bool {
        match &constraint.kind {
            ConstraintKind::Check(check) => {
                let is_kept = to.constraints.get(&constraint.name).is_some_and(|wanted| {
                    self.sides.same.constraint(constraint, wanted, &from.name)
                });
                let names = split::names(&check.0);
                names.iter().any(|name| is_hard(name))
                    || self.is_reworded(from, to, check)
                    || (!is_kept
                        && names
                            .iter()
                            .any(|name| self.sides.is_retyped_in(from, to, name)))
            }
            ConstraintKind::Foreign(foreign) => foreign.columns.iter().any(|name| is_hard(name)),
            ConstraintKind::Exclude(exclude) => {
                let items = exclude.items.iter().map(|(item, _)| item);
                let mut columns = items.clone().filter_map(|item| item.column.as_deref());
                let mut expressions = expressions(items).chain(exclude.predicate.as_ref());
                columns.any(is_hard) || expressions.any(|each| self.is_reworded(from, to, each))
            }
            ConstraintKind::Primary(_) | ConstraintKind::Unique(_) => false,
        }
    }

    /// Whether the server would deparse a new copy of the expression differently, because a
    /// referenced column's type changes. An existing one keeps the casts of the old types, so only
    /// a recreated one equals the definition on a new server. All rows are read in either case.
    fn is_reworded(&self, from: &Table, to: &Table, expression: &Sql) -> bool {
        if self.printer.is_sqldef() {
            return false;
        }
        split::names(&expression.0).iter().any(|name| {
            matches!((from.columns.get(name), to.columns.get(name)), (Some(before), Some(column))
                if before.data_type.name != column.data_type.name)
        })
    }

    /// Drops foreign keys of other tables to columns whose new type is not comparable.
    pub(super) fn clear_foreign(&mut self, table: &Name, is_hard: &dyn Fn(&str) -> bool) {
        let from = self.from;
        for other in from.tables.values().filter(|other| other.name != *table) {
            for constraint in other.constraints.values() {
                if let ConstraintKind::Foreign(foreign) = &constraint.kind
                    && foreign.table == *table
                    && foreign.table_columns.iter().any(|name| is_hard(name))
                    && self.gone.insert(Part::Constraint(
                        other.name.clone(),
                        constraint.name.clone(),
                    ))
                {
                    self.drop_constraint(&other.name, constraint);
                }
            }
        }
    }
}

/// Whether the server drops the constraint silently together with one of the columns.
fn goes_with_column(constraint: &Constraint, dropped: &[&str]) -> bool {
    let is_dropped = |name: &String| dropped.contains(&name.as_str());
    match &constraint.kind {
        ConstraintKind::Primary(keys) | ConstraintKind::Unique(keys) => {
            keys.columns.iter().chain(&keys.include).any(is_dropped)
        }
        ConstraintKind::Exclude(exclude) => exclude.include.iter().any(is_dropped),
        ConstraintKind::Check(_) | ConstraintKind::Foreign(_) => false,
    }
}

/// What indexes keep in order beside plain columns.
fn expressions<'i>(
    items: impl IntoIterator<Item = &'i IndexItem>,
) -> impl Iterator<Item = &'i Sql> {
    let items = items.into_iter().filter(|item| item.column.is_none());
    items.map(|item| &item.expression)
}

#[cfg(test)]
mod tests {
    use crate::postgres::tests::read;
    use crate::{ObjectKind, PlanOptions};

    #[test]
    fn a_key_on_a_recreated_column_comes_again() {
        let schema = |kind: &str| {
            read(&format!(
                "CREATE TABLE t (a {kind}, b int GENERATED ALWAYS AS (a * 2) STORED UNIQUE, c int, \
                     CONSTRAINT k UNIQUE (c) INCLUDE (b)); \
                 CREATE TABLE u (b int REFERENCES t (b));"
            ))
        };
        let (from, to) = (schema("int"), schema("bigint"));
        let plan = crate::postgres::plan(&from, &to, &PlanOptions::default()).unwrap();
        let steps = plan.statements.iter();
        let steps = steps.filter(|each| each.object.kind == ObjectKind::Constraint);
        let steps: Vec<String> = steps
            .map(|each| format!("{} {}", each.verb.word(), each.object.name))
            .collect();
        let expected = [
            "drop u.u_b_fkey",
            "drop t.t_b_key",
            "drop t.k",
            "add t.t_b_key",
            "add t.k",
            "add u.u_b_fkey",
        ];
        assert_eq!(steps, expected);
    }
}
