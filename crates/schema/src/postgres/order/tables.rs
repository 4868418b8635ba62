//! Tables as a whole.

use std::collections::HashMap;

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::diff::TableChange;
use crate::postgres::hazards;
use crate::postgres::model::{Constraint, ConstraintKind, Table};
use crate::postgres::name::Name;
use crate::postgres::print::option_list;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    /// Drops a table to be recreated, unless dropped together with the partitioned parent.
    pub(super) fn drop_remade(&mut self, from: &Table) -> usize {
        let parent = from.partition_of.as_ref().map(|(parent, _)| parent);
        let mut remade = self.remade.iter();
        let went = remade.find(|(name, _)| Some(name) == parent);
        let at = match went.map(|(_, at)| *at) {
            Some(at) => at,
            None => self.drop_table(from),
        };
        self.remade.push((from.name.clone(), at));
        at
    }

    pub(super) fn create_table(&mut self, to: &'a Table) {
        let shown = self.shown(&to.name);
        let is_echoed = self.printer.is_sqldef()
            && !to.reshaped
            && to
                .constraints
                .values()
                .all(|each| each.meta.source.is_some() || self.can_be_inline(to, each));
        let source = to.meta.source.clone().filter(|_| is_echoed);
        let is_attached = to.partition_of.is_some()
            && to
                .meta
                .source
                .as_deref()
                .is_some_and(|source| !source.to_lowercase().contains("partition of"));
        let (sql, is_from_model) = match source {
            Some(source) if !is_attached => (source, false),
            _ => {
                let takes = |constraint: &Constraint| self.can_be_inline(to, constraint);
                (self.printer.table(to, &takes), true)
            }
        };
        let inline: Vec<String> = to
            .constraints
            .iter()
            .filter(|(_, each)| {
                let is_own = is_from_model || each.meta.source.is_none();
                is_own && self.can_be_inline(to, each)
            })
            .map(|(name, _)| name.clone())
            .collect();
        self.push(sql, Verb::Create, ObjectKind::Table, shown.clone());
        self.created.insert(to.name.clone());
        if is_from_model {
            for column in to.columns.values() {
                self.column_details(&to.name, None, column);
            }
        } else {
            for constraint in to.constraints.values().filter(|each| !is_late(each)) {
                if let Some(source) = &constraint.meta.source {
                    let name = self.shown_part(&to.name, &constraint.name);
                    self.push(source.clone(), Verb::Add, ObjectKind::Constraint, name);
                }
            }
        }
        for name in inline {
            self.made.insert(Part::Constraint(to.name.clone(), name));
        }
    }

    /// Whether `CREATE TABLE` can include a constraint: a referenced table must exist, with the
    /// key.
    fn can_be_inline(&self, table: &Table, constraint: &Constraint) -> bool {
        let ConstraintKind::Foreign(foreign) = &constraint.kind else {
            return true;
        };
        if constraint.not_valid {
            return false;
        }
        if foreign.table == table.name {
            return true;
        }
        // An exported table says the same whether the other one is exported with it or not, so that
        // it is not told twice.
        let is_new = self.printer.is_sqldef() && self.created.contains(&foreign.table);
        let is_there = is_new || self.from.tables.contains(&foreign.table);
        let has_key = self.to.tables.get(&foreign.table).is_some_and(|parent| {
            parent.constraints.values().any(|each| {
                each.keys()
                    .is_some_and(|keys| same_set(&keys.columns, &foreign.table_columns))
            })
        });
        is_there && has_key
    }

    pub(super) fn alter_table(&mut self, change: &'a TableChange<'a>) {
        let (from, to) = (change.from, change.to);
        let left = self.leave_parents(from, to);
        self.leave_identity(from, to);
        self.table_settings(from, to);
        self.columns(change);
        self.table_constraints(from, to);
        self.join_parents(from, to, left);
    }

    fn table_settings(&mut self, from: &Table, to: &Table) {
        let rewrite = || Hazard::Rewrite(format!("table {} is written anew", to.name.name));
        let mut actions: Vec<(String, Vec<Hazard>)> = Vec::new();
        if from.unlogged != to.unlogged {
            let word = if to.unlogged { "UNLOGGED" } else { "LOGGED" };
            let mut hazards = vec![hazards::ACCESS_EXCLUSIVE, rewrite()];
            if to.unlogged && !self.printer.is_sqldef() {
                let lost = format!("the rows of {}, when the server crashes", to.name.name);
                hazards.insert(0, Hazard::DataLoss(lost));
            }
            actions.push((format!("SET {word}"), hazards));
        }
        let mut changed = to.options.clone();
        changed.retain(|name, value| from.options.get(name) != Some(value));
        if !changed.is_empty() {
            actions.push((
                format!("SET ({})", option_list(&changed)),
                vec![hazards::SHARE_UPDATE_EXCLUSIVE],
            ));
        }
        let gone: Vec<&str> = from
            .options
            .keys()
            .filter(|name| !to.options.contains_key(*name))
            .map(String::as_str)
            .collect();
        if !gone.is_empty() {
            actions.push((
                format!("RESET ({})", gone.join(", ")),
                vec![hazards::SHARE_UPDATE_EXCLUSIVE],
            ));
        }
        if from.access_method != to.access_method {
            let method = to.access_method.as_deref().unwrap_or("heap");
            actions.push((
                format!("SET ACCESS METHOD {method}"),
                vec![hazards::ACCESS_EXCLUSIVE, rewrite()],
            ));
        }
        for (action, hazards) in actions {
            let sql = self.alter(&to.name, &action);
            let shown = self.shown(&to.name);
            self.push_with(sql, Verb::Alter, ObjectKind::Table, shown, hazards);
        }
    }

    /// Detaches all partitions with changed bounds of a table, before one is attached or made: the
    /// new bounds of one may overlap the former ones of another.
    pub(super) fn leave_bounds(&mut self, parent: &Name) {
        if self.detached.contains_key(parent) {
            return;
        }
        let (from, to) = (self.from, self.to);
        let is_part = |table: &Table| {
            let of = table.partition_of.as_ref();
            of.is_some_and(|(of, _)| of == parent)
        };
        let mut detached = HashMap::new();
        for table in to.tables.values().filter(|table| is_part(table)) {
            let before = from.tables.get(&table.name).filter(|table| is_part(table));
            let moves = before.is_some_and(|before| {
                !self.sides.is_same_partition(before, table) && !self.sides.is_remade(before, table)
            });
            if moves {
                detached.insert(table.name.clone(), self.detach(parent, &table.name));
            }
        }
        self.detached.insert(parent.clone(), detached);
    }

    fn detach(&mut self, parent: &Name, name: &Name) -> usize {
        let action = format!("DETACH PARTITION {}", self.printer.name(name));
        let (sql, shown) = (self.alter(parent, &action), self.shown(name));
        let lock = vec![hazards::ACCESS_EXCLUSIVE];
        self.push_with(sql, Verb::Detach, ObjectKind::Partition, shown, lock)
    }

    /// Detaches a table from former parents before the columns change. Returns the positions of the
    /// statements.
    fn leave_parents(&mut self, from: &Table, to: &Table) -> Vec<usize> {
        let mut left = Vec::new();
        let parents = from.inherits.iter();
        for parent in parents.filter(|parent| !to.inherits.contains(parent)) {
            let action = format!("NO INHERIT {}", self.printer.name(parent));
            let (sql, shown) = (self.alter(&to.name, &action), self.shown(&to.name));
            let lock = vec![hazards::ACCESS_EXCLUSIVE];
            left.push(self.push_with(sql, Verb::Alter, ObjectKind::Table, shown, lock));
        }
        if let Some((parent, _)) = &from.partition_of
            && !self.sides.is_same_partition(from, to)
        {
            let others = self.detached.get(parent);
            let done = others.and_then(|others| others.get(&to.name).copied());
            left.push(done.unwrap_or_else(|| self.detach(parent, &to.name)));
        }
        left
    }

    /// Attaches a table to new parents, once all required columns and constraints exist.
    fn join_parents(&mut self, from: &Table, to: &Table, left: Vec<usize>) {
        let shown = self.shown(&to.name);
        let joined = to.inherits.iter();
        for parent in joined.filter(|parent| !from.inherits.contains(parent)) {
            let action = format!("INHERIT {}", self.printer.name(parent));
            let sql = self.alter(&to.name, &action);
            let lock = vec![hazards::ACCESS_EXCLUSIVE];
            self.push_with(sql, Verb::Alter, ObjectKind::Table, shown.clone(), lock);
        }
        if let Some((parent, bound)) = &to.partition_of
            && !self.sides.is_same_partition(from, to)
        {
            let name = self.printer.name(&to.name);
            let sql = self.alter(parent, &format!("ATTACH PARTITION {name} {}", bound.0));
            let reason = format!("every row of {} must be within {}", to.name.name, bound.0);
            let hazards = vec![
                hazards::SHARE_UPDATE_EXCLUSIVE,
                Hazard::MayFail {
                    reason,
                    query: None,
                },
            ];
            let at = self.push_with(sql, Verb::Attach, ObjectKind::Partition, shown, hazards);
            self.statements[at].needs = left;
        }
    }

    pub(super) fn drop_table(&mut self, from: &Table) -> usize {
        let sql = format!("DROP TABLE {}", self.printer.name(&from.name));
        let shown = self.shown(&from.name);
        let hazards = vec![
            Hazard::DataLoss(format!("the rows of {}", from.name.name)),
            hazards::ACCESS_EXCLUSIVE,
        ];
        self.push_drop(sql, ObjectKind::Table, shown, hazards)
    }
}

/// Whether a constraint is added only after all tables and indexes.
pub(super) fn is_late(constraint: &Constraint) -> bool {
    matches!(
        constraint.kind,
        ConstraintKind::Foreign(_) | ConstraintKind::Exclude(_)
    )
}

pub(super) fn same_set(one: &[String], other: &[String]) -> bool {
    one.len() == other.len() && one.iter().all(|name| other.contains(name))
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::postgres::tests::read;

    /// Compares the statements between partitions of one table, each given by name and bounds.
    fn check(from: &[(&str, &str)], to: &[(&str, &str)], expected: &[&str]) {
        let schema = |partitions: &[(&str, &str)]| {
            let made = partitions.iter().map(|(name, bounds)| {
                format!("CREATE TABLE {name} PARTITION OF t FOR VALUES {bounds};")
            });
            let made: String = made.collect();
            read(&format!(
                "CREATE TABLE t (a int) PARTITION BY RANGE (a); {made}"
            ))
        };
        let (from, to) = (schema(from), schema(to));
        let plan = crate::postgres::plan(&from, &to, &PlanOptions::default()).unwrap();
        let steps = plan.statements.iter();
        let steps = steps.map(|each| format!("{} {}", each.verb.word(), each.object.name));
        assert_eq!(steps.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn partitions_leave_before_others_take_their_bounds() {
        let (low, high) = ("FROM (1) TO (10)", "FROM (10) TO (30)");
        let from = [("p", low), ("q", high)];
        check(
            &from,
            &[("p", "FROM (1) TO (20)"), ("q", "FROM (20) TO (30)")],
            &["detach p", "detach q", "attach p", "attach q"],
        );
        check(
            &from,
            &[
                ("n", "FROM (10) TO (20)"),
                ("p", low),
                ("q", "FROM (20) TO (30)"),
            ],
            &["detach q", "create n", "attach q"],
        );
        check(&from, &from, &[]);
    }
}
