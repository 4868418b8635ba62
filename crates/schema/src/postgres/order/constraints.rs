//! Constraints of existing tables, and the ones waiting for all tables.

use super::tables::{is_late, same_set};
use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::hazards;
use crate::postgres::model::{Constraint, ConstraintKind, Foreign, Table};
use crate::postgres::name::Name;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    /// Current form of a wanted constraint: found by name, or, for a generated name, by definition.
    fn counterpart(
        &self,
        from: &'a Table,
        to: &'a Table,
        wanted: &Constraint,
    ) -> Option<&'a Constraint> {
        let is_there = |constraint: &&'a Constraint| {
            !self.is_gone(&Part::Constraint(
                from.name.clone(),
                constraint.name.clone(),
            ))
        };
        if let Some(found) = from.constraints.get(&wanted.name) {
            return Some(found).filter(is_there);
        }
        if wanted.is_named {
            return None;
        }
        let mut others = from.constraints.values().filter(is_there);
        others.find(|other| {
            !to.constraints.contains(&other.name)
                && self.sides.is_same_constraint(other, wanted, &to.name)
        })
    }

    /// Checks, then the primary key, then unique ones.
    pub(super) fn table_constraints(&mut self, from: &'a Table, to: &'a Table) {
        for constraint in from.constraints.values() {
            let is_check = matches!(constraint.kind, ConstraintKind::Check(_));
            let part = Part::Constraint(from.name.clone(), constraint.name.clone());
            if is_check
                && !self.is_gone(&part)
                && !self.sides.is_constraint_kept(from, to, constraint)
            {
                self.drop_constraint(&to.name, constraint);
            }
        }
        for wanted in to.constraints.values() {
            if matches!(wanted.kind, ConstraintKind::Check(_)) {
                self.change_constraint(from, to, wanted);
            }
        }
        self.primary_key(from, to);
        for wanted in to.constraints.values() {
            if matches!(wanted.kind, ConstraintKind::Unique(_)) {
                self.change_constraint(from, to, wanted);
            }
        }
    }

    fn primary_key(&mut self, from: &'a Table, to: &'a Table) {
        let before = from
            .primary()
            .filter(|key| !self.is_gone(&Part::Constraint(from.name.clone(), key.name.clone())));
        let wanted = to.primary();
        let counterpart = wanted.and_then(|wanted| self.counterpart(from, to, wanted));
        let is_same = match (before, wanted, counterpart) {
            (None, None, _) => true,
            (Some(_), Some(wanted), Some(found)) => {
                self.sides.is_same_constraint(found, wanted, &to.name)
            }
            _ => false,
        };
        if is_same {
            if let (Some(found), Some(wanted)) = (counterpart, wanted) {
                self.rename_made(&to.name, found, wanted);
            }
            return self.free_key_columns(from, to, false);
        }
        let mut dropped = None;
        if let Some(before) = before {
            self.drop_references(&from.name, before);
            dropped = Some(self.drop_constraint(&to.name, before));
        }
        self.free_key_columns(from, to, true);
        if let Some(wanted) = wanted {
            let at = self.add_constraint(&to.name, wanted);
            self.statements[at].needs.extend(dropped);
        }
    }

    /// Drops foreign keys depending on a dropped key. Wanted ones are added again with the others.
    pub(super) fn drop_references(&mut self, table: &Name, key: &Constraint) {
        let Some(keys) = key.keys() else { return };
        let from = self.from;
        for other in from.tables.values() {
            for constraint in other.constraints.values() {
                let stands_on_it = matches!(&constraint.kind, ConstraintKind::Foreign(foreign)
                    if foreign.table == *table && same_set(&foreign.table_columns, &keys.columns));
                let part = Part::Constraint(other.name.clone(), constraint.name.clone());
                if stands_on_it && self.gone.insert(part) {
                    self.drop_constraint(&other.name, constraint);
                    self.spaced
                        .push((other.name.clone(), constraint.name.clone()));
                }
            }
        }
    }

    fn change_constraint(&mut self, from: &'a Table, to: &'a Table, wanted: &'a Constraint) {
        if self
            .made
            .contains(&Part::Constraint(to.name.clone(), wanted.name.clone()))
        {
            return;
        }
        let Some(found) = self.counterpart(from, to, wanted) else {
            self.add_constraint(&to.name, wanted);
            return;
        };
        if self.sides.is_same_constraint(found, wanted, &to.name) {
            return self.rename_made(&to.name, found, wanted);
        }
        if self.sides.is_validated(found, wanted, &to.name) {
            let sql = self.alter(
                &to.name,
                &format!("VALIDATE CONSTRAINT {}", self.printer.ident(&wanted.name)),
            );
            let shown = self.shown_part(&to.name, &wanted.name);
            let mut hazards = hazards::of_constraint(&to.name, wanted);
            hazards[0] = hazards::SHARE_UPDATE_EXCLUSIVE;
            self.push_with(sql, Verb::Validate, ObjectKind::Constraint, shown, hazards);
            return;
        }
        if found.keys().is_some() {
            self.drop_references(&to.name, found);
        }
        let dropped = self.drop_constraint(&to.name, found);
        let at = self.add_constraint(&to.name, wanted);
        self.statements[at].needs.push(dropped);
    }

    /// Renames a constraint from a name generated for another table or column to the one generated
    /// now.
    fn rename_made(&mut self, table: &Name, found: &Constraint, wanted: &Constraint) {
        if found.name == wanted.name || self.printer.is_sqldef() {
            return;
        }
        let (old, new) = (
            self.printer.ident(&found.name),
            self.printer.ident(&wanted.name),
        );
        let sql = self.alter(table, &format!("RENAME CONSTRAINT {old} TO {new}"));
        let shown = self.shown_part(table, &found.name);
        self.push_with(
            sql,
            Verb::Rename,
            ObjectKind::Constraint,
            shown,
            vec![hazards::ACCESS_EXCLUSIVE],
        );
    }

    pub(super) fn drop_constraint(&mut self, table: &Name, constraint: &Constraint) -> usize {
        let sql = self.alter(
            table,
            &format!("DROP CONSTRAINT {}", self.printer.ident(&constraint.name)),
        );
        let shown = self.shown_part(table, &constraint.name);
        let hazards = vec![
            Hazard::Drop(format!("constraint {}", constraint.name)),
            hazards::ACCESS_EXCLUSIVE,
        ];
        self.push_with(sql, Verb::Relax, ObjectKind::Constraint, shown, hazards)
    }

    pub(super) fn add_constraint(&mut self, table: &Name, constraint: &Constraint) -> usize {
        let shown = self.shown_part(table, &constraint.name);
        let hazards = hazards::of_constraint(table, constraint);
        let source = constraint
            .meta
            .source
            .clone()
            .filter(|_| self.printer.is_sqldef());
        let sql = source.unwrap_or_else(|| {
            let is_spaced = constraint.keys().is_some()
                || !self.printer.is_sqldef()
                || self
                    .spaced
                    .contains(&(table.clone(), constraint.name.clone()));
            let body = self
                .printer
                .constraint_body(constraint, if is_spaced { ", " } else { "," });
            let has_no_name = self.printer.is_sqldef()
                && !constraint.is_named
                && matches!(
                    constraint.kind,
                    ConstraintKind::Check(_) | ConstraintKind::Primary(_)
                );
            let action = if has_no_name {
                format!("ADD {body}")
            } else {
                format!(
                    "ADD CONSTRAINT {} {body}",
                    self.printer.ident(&constraint.name)
                )
            };
            self.alter(table, &action)
        });
        self.fresh
            .insert(Part::Constraint(table.clone(), constraint.name.clone()));
        self.push_with(sql, Verb::Add, ObjectKind::Constraint, shown, hazards)
    }

    /// Exclusion and foreign keys: all changed ones are dropped first.
    pub(super) fn late_constraints(&mut self) {
        let to = self.to;
        let mut dropped: Vec<(Name, String, usize)> = Vec::new();
        let mut added: Vec<(&'a Table, &'a Constraint)> = Vec::new();
        for table in to.tables.values() {
            let before = self
                .from
                .tables
                .get(&table.name)
                .filter(|before| !self.sides.is_remade(before, table));
            for wanted in table.constraints.values().filter(|each| is_late(each)) {
                let part = Part::Constraint(table.name.clone(), wanted.name.clone());
                if self.made.contains(&part) {
                    continue;
                }
                let found = before.and_then(|before| self.counterpart(before, table, wanted));
                match found {
                    None => added.push((table, wanted)),
                    Some(found) if self.sides.is_same_constraint(found, wanted, &table.name) => {
                        self.rename_made(&table.name, found, wanted);
                    }
                    Some(found) if self.sides.is_validated(found, wanted, &table.name) => {
                        if let Some(before) = before {
                            self.change_constraint(before, table, wanted);
                        }
                    }
                    Some(found) => {
                        let at = self.drop_constraint(&table.name, found);
                        dropped.push((table.name.clone(), wanted.name.clone(), at));
                        added.push((table, wanted));
                    }
                }
            }
        }
        let is_exclusion =
            |constraint: &Constraint| matches!(constraint.kind, ConstraintKind::Exclude(_));
        added.sort_by_key(|(_, constraint)| !is_exclusion(constraint));
        for (table, wanted) in added {
            let at = self.add_constraint(&table.name, wanted);
            let drops = dropped
                .iter()
                .filter(|(of, name, _)| *of == table.name && *name == wanted.name);
            self.statements[at]
                .needs
                .extend(drops.map(|(_, _, at)| *at));
        }
    }
}

impl Foreign {
    /// Whether the key references the table.
    pub(super) fn is_to(&self, table: &Name) -> bool {
        self.table == *table
    }
}
