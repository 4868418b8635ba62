//! Dropped objects, users before the objects used.

use std::collections::HashSet;

use super::tables::is_late;
use super::views::behind_used;
use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::hazards;
use crate::postgres::kept::Stage;
use crate::postgres::listed::Listed;
use crate::postgres::model::{ConstraintKind, Table, Trigger};
use crate::postgres::name::Name;
use crate::{Hazard, ObjectKind, Statement, Verb};

impl<'a> Builder<'a> {
    pub(super) fn drops(&mut self) {
        self.dropped_kept(Stage::Late);
        self.dropped_parts();
        self.dropped_functions_on_relations();
        self.dropped_views();
        self.dropped_constraints();
        self.dropped_tables();
        self.dropped_indexes();
        self.dropped_columns();
        self.dropped_sequences();
        self.dropped_programs();
        self.dropped_kept(Stage::Early);
        self.dropped_namespaces();
    }

    fn dropped_parts(&mut self) {
        let (from, to) = (self.from, self.to);
        let none = Listed::default();
        for table in from.tables.values() {
            let wanted = to.tables.get(&table.name).map(|wanted| &wanted.triggers);
            // sqldef says so also of triggers that go with their table.
            let wanted = wanted.or(self.printer.is_sqldef().then_some(&none));
            if let Some(wanted) = wanted.filter(|_| !self.created.contains(&table.name)) {
                self.dropped_triggers(&table.name, &table.triggers, wanted);
            }
            let Some(wanted) = self.staying(table) else {
                continue;
            };
            for policy in table.policies.values() {
                let part = Part::Policy(table.name.clone(), policy.name.clone());
                if !wanted.policies.contains(&policy.name) && !self.is_gone(&part) {
                    self.drop_policy(&table.name, &policy.name);
                }
            }
            for (had, wants, words) in [
                (&table.force_rls, &wanted.force_rls, "NO FORCE"),
                (&table.rls, &wanted.rls, "DISABLE"),
            ] {
                if had.is_some() && wants.is_none() {
                    let sql = self.alter(&table.name, &format!("{words} ROW LEVEL SECURITY"));
                    let shown = self.shown(&table.name);
                    let hazard = Hazard::Drop(format!("row level security of {shown}"));
                    self.push_drop(
                        sql,
                        ObjectKind::RowSecurity,
                        shown,
                        vec![hazard, hazards::ACCESS_EXCLUSIVE],
                    );
                }
            }
        }
        for view in from.views.values() {
            if let Some(wanted) = to.views.get(&view.name) {
                self.dropped_triggers(&view.name, &view.triggers, &wanted.triggers);
            }
        }
        for (on, triggers) in from.foreign_triggers.iter() {
            let stays = to.kept.contains(&(ObjectKind::ForeignTable, on.quoted()));
            if stays && !self.is_foreign_fresh(on) {
                let wanted = to.foreign_triggers.get(on).unwrap_or(&none);
                self.dropped_triggers(on, triggers, wanted);
            }
        }
    }

    fn dropped_triggers(
        &mut self,
        on: &Name,
        had: &Listed<String, Trigger>,
        wanted: &Listed<String, Trigger>,
    ) {
        for trigger in had.values() {
            let part = Part::Trigger(on.clone(), trigger.name.clone());
            if !wanted.contains(&trigger.name) && !self.is_gone(&part) {
                self.drop_trigger(on, &trigger.name);
            }
        }
    }

    /// The wanted table, unless the existing one is dropped or recreated.
    fn staying(&self, table: &Table) -> Option<&'a Table> {
        let wanted = self.to.tables.get(&table.name)?;
        (!self.created.contains(&table.name)).then_some(wanted)
    }

    fn dropped_views(&mut self) {
        let (from, to) = (self.from, self.to);
        for view in behind_used(from.views.values()).into_iter().rev() {
            if !to.views.contains(&view.name) && !self.is_gone(&Part::View(view.name.clone())) {
                self.drop_view(view, true);
            }
        }
    }

    fn dropped_constraints(&mut self) {
        let from = self.from;
        for table in from.tables.values() {
            let Some(wanted) = self.staying(table) else {
                continue;
            };
            for constraint in table.constraints.values() {
                let is_ours =
                    is_late(constraint) || matches!(constraint.kind, ConstraintKind::Unique(_));
                let part = Part::Constraint(table.name.clone(), constraint.name.clone());
                if is_ours
                    && !self.is_gone(&part)
                    && !self.sides.is_constraint_kept(table, wanted, constraint)
                {
                    self.drop_constraint(&table.name, constraint);
                }
            }
        }
    }

    /// Drops tables, referencing ones first; in a circle, the foreign keys are dropped before.
    fn dropped_tables(&mut self) {
        let (from, to) = (self.from, self.to);
        let mut going: Vec<&'a Table> = from
            .tables
            .values()
            .filter(|table| !to.tables.contains(&table.name) && !to.views.contains(&table.name))
            .collect();
        going.sort_by(|one, other| one.name.cmp(&other.name));
        let names: HashSet<&Name> = going.iter().map(|table| &table.name).collect();
        let uses = |table: &Table, other: &Name| {
            let refers = |constraint: &crate::postgres::model::Constraint| matches!(&constraint.kind, ConstraintKind::Foreign(foreign) if foreign.is_to(other));
            table.name != *other
                && (table.constraints.values().any(refers)
                    || table.inherits.contains(other)
                    || table
                        .partition_of
                        .as_ref()
                        .is_some_and(|(parent, _)| parent == other))
        };
        let mut done: HashSet<&Name> = HashSet::new();
        while done.len() < going.len() {
            let is_free = |table: &&&Table| {
                !done.contains(&table.name)
                    && !going
                        .iter()
                        .any(|user| !done.contains(&user.name) && uses(user, &table.name))
            };
            let next = going.iter().find(is_free);
            let next = match next {
                Some(next) => *next,
                None => {
                    let Some(first) = going.iter().find(|table| !done.contains(&table.name)) else {
                        break;
                    };
                    let users = going
                        .iter()
                        .filter(|user| !done.contains(&user.name) && user.name != first.name);
                    let keys = users.flat_map(|user| {
                        user.constraints
                            .values()
                            .map(move |constraint| (*user, constraint))
                    });
                    let keys = keys.filter(|(_, constraint)| {
                        matches!(&constraint.kind, ConstraintKind::Foreign(foreign) if foreign.is_to(&first.name))
                    });
                    for (user, constraint) in keys.collect::<Vec<_>>() {
                        if self
                            .gone
                            .insert(Part::Constraint(user.name.clone(), constraint.name.clone()))
                        {
                            self.drop_constraint(&user.name, constraint);
                        }
                    }
                    *first
                }
            };
            self.drop_table(next);
            done.insert(&next.name);
        }
        debug_assert_eq!(names.len(), done.len());
    }

    fn dropped_indexes(&mut self) {
        let (from, to) = (self.from, self.to);
        for table in from.tables.values() {
            let Some(wanted) = self.staying(table) else {
                continue;
            };
            for index in table
                .indexes
                .values()
                .filter(|index| index.parent.is_none())
            {
                let part = Part::Index(table.name.clone(), index.name.clone());
                let was_renamed = |statement: &Statement| {
                    (statement.verb, statement.object.kind) == (Verb::Rename, ObjectKind::Index)
                        && statement.object.name == index.name
                };
                if !wanted.indexes.contains(&index.name)
                    && !self.is_gone(&part)
                    && !self.statements.iter().any(was_renamed)
                {
                    self.drop_index(&table.name, &index.name);
                }
            }
        }
        for view in from.views.values() {
            let Some(wanted) = to.views.get(&view.name) else {
                continue;
            };
            for index in view.indexes.values() {
                let part = Part::Index(view.name.clone(), index.name.clone());
                if !wanted.indexes.contains(&index.name) && !self.is_gone(&part) {
                    self.drop_index(&view.name, &index.name);
                }
            }
        }
    }

    fn dropped_columns(&mut self) {
        let from = self.from;
        let mut tables: Vec<&'a Table> = from.tables.values().collect();
        tables.sort_by(|one, other| one.name.cmp(&other.name));
        for table in tables {
            let Some(wanted) = self.staying(table) else {
                continue;
            };
            let going = table
                .columns
                .values()
                .filter(|column| !wanted.columns.contains(&column.name));
            let mut going: Vec<_> = going.collect();
            // The last first, but computed ones before what they are computed from.
            going.reverse();
            going.sort_by_key(|column| column.generated.is_none());
            for column in going {
                self.drop_column(&table.name, column, Verb::Drop);
            }
        }
    }

    fn dropped_sequences(&mut self) {
        let (from, to) = (self.from, self.to);
        for sequence in from.sequences.values() {
            let goes_with = sequence.owned_by.as_ref().is_some_and(|(table, column)| {
                to.tables
                    .get(table)
                    .is_none_or(|wanted| !wanted.columns.contains(column))
            });
            let is_serial = to.tables.values().any(|table| {
                table
                    .columns
                    .values()
                    .any(|column| column.serial.as_ref() == Some(&sequence.name))
            });
            if to.sequences.contains(&sequence.name) || goes_with || is_serial {
                continue;
            }
            let sql = format!("DROP SEQUENCE {}", self.printer.name(&sequence.name));
            let shown = self.shown(&sequence.name);
            let hazards = vec![
                Hazard::DataLoss(format!("the place of {shown}")),
                hazards::ACCESS_EXCLUSIVE,
            ];
            self.push_drop(sql, ObjectKind::Sequence, shown, hazards);
        }
    }

    fn dropped_namespaces(&mut self) {
        let (from, to) = (self.from, self.to);
        for name in from
            .extensions
            .keys()
            .filter(|name| !to.extensions.contains(*name))
        {
            let sql = format!("DROP EXTENSION {}", self.printer.ident(name));
            self.push_drop(
                sql,
                ObjectKind::Extension,
                name.clone(),
                vec![Hazard::Drop(format!("extension {name}"))],
            );
        }
        if self.printer.is_sqldef() {
            return;
        }
        let wanted = to.namespaces();
        for name in from.schemas.keys().filter(|name| !wanted.contains(*name)) {
            let sql = format!("DROP SCHEMA {}", self.printer.ident(name));
            self.push_drop(
                sql,
                ObjectKind::Schema,
                name.clone(),
                vec![Hazard::Drop(format!("schema {name}"))],
            );
        }
    }
}
