//! Columns of existing tables.

use std::collections::HashMap;

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::diff::{ColumnStep, TableChange};
use crate::postgres::hazards::{self, Cast};
use crate::postgres::model::{Column, Constraint, ConstraintKind, Table, Type};
use crate::postgres::name::Name;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    pub(super) fn columns(&mut self, change: &'a TableChange<'a>) {
        self.drop_dependents(change);
        let (from, to) = (change.from, change.to);
        let mut dropped: HashMap<&str, usize> = HashMap::new();
        // A column's type cannot be changed while another one is computed from it.
        if !change.retyped.is_empty() {
            for step in &change.columns {
                if let ColumnStep::Remake { from, to: column } = *step {
                    let at = self.drop_column(&to.name, from, self.leaving(from, column));
                    dropped.insert(&column.name, at);
                }
            }
        }
        for step in &change.columns {
            match *step {
                ColumnStep::Add(column) => drop(self.add_column(to, column)),
                ColumnStep::Change {
                    from: before,
                    to: column,
                } => self.change_column(from, to, before, column),
                ColumnStep::Remake {
                    from: before,
                    to: column,
                } => {
                    let needs = match dropped.get(column.name.as_str()) {
                        Some(at) => *at,
                        None => self.drop_column(&to.name, before, self.leaving(before, column)),
                    };
                    let at = self.add_column(to, column);
                    self.statements[at].needs.push(needs);
                    // What stood at the old column went with it: comment, label.
                    let part = Part::Column(to.name.clone(), column.name.clone());
                    self.gone.insert(part.clone());
                    self.fresh.insert(part);
                }
            }
        }
    }

    /// Verb for dropping a column to be recreated as `column`: only values computed before and
    /// after come again. sqldef recreates such columns without asking, and so do the drop-in
    /// commands.
    fn leaving(&self, before: &Column, column: &Column) -> Verb {
        let is_computed = before.generated.is_some() && column.generated.is_some();
        match is_computed || self.printer.is_sqldef() {
            true => Verb::Aside,
            false => Verb::Drop,
        }
    }

    pub(super) fn add_column(&mut self, to: &'a Table, column: &'a Column) -> usize {
        let mut text = self.printer.column(column);
        if self.printer.is_sqldef() {
            // Checks without a name follow their column.
            for (name, constraint) in to.constraints.iter() {
                let is_its_own =
                    constraint.column.as_deref() == Some(&column.name) && !constraint.is_named;
                if is_its_own && matches!(constraint.kind, ConstraintKind::Check(_)) {
                    text.push_str(&format!(" {}", self.printer.constraint(constraint, true)));
                    self.made
                        .insert(Part::Constraint(to.name.clone(), name.clone()));
                }
            }
        }
        let sql = self.alter(&to.name, &format!("ADD COLUMN {text}"));
        let shown = self.shown_part(&to.name, &column.name);
        let default = column.default.as_ref();
        let functions = || self.to.functions.values();
        let is_volatile = default.is_some_and(|it| hazards::is_volatile(it, functions()));
        let hazards = hazards::of_added(&to.name, column, is_volatile);
        let at = self.push_with(sql, Verb::Add, ObjectKind::Column, shown, hazards);
        self.column_details(&to.name, None, column);
        at
    }

    /// For good, or aside.
    pub(super) fn drop_column(&mut self, table: &Name, column: &Column, verb: Verb) -> usize {
        let sql = self.alter(
            table,
            &format!("DROP COLUMN {}", self.printer.ident(&column.name)),
        );
        let shown = self.shown_part(table, &column.name);
        let mut hazards = vec![hazards::ACCESS_EXCLUSIVE];
        match (verb, &column.generated) {
            (Verb::Aside, _) => hazards.push(Hazard::Rewrite(format!(
                "table {} is written anew",
                table.name
            ))),
            (_, None) => hazards.insert(0, Hazard::DataLoss(format!("the values of {shown}"))),
            (_, Some(_)) => hazards.insert(0, Hazard::Drop(format!("column {shown}"))),
        }
        self.push_with(sql, verb, ObjectKind::Column, shown, hazards)
    }

    fn change_column(
        &mut self,
        from: &'a Table,
        to: &'a Table,
        before: &'a Column,
        column: &'a Column,
    ) {
        let mut had_default = before.default.is_some();
        let stored = self
            .sides
            .stored_table(&to.name)
            .and_then(|stored| stored.columns.get(&column.name));
        let mut same_default = self.sides.same.default(before, column)
            || stored.is_some_and(|stored| self.sides.same.default(before, stored));
        // Most plans take nothing out of the way, and have many columns.
        let has_gone = !self.gone.is_empty();
        if has_gone && self.is_gone(&Part::Default(to.name.clone(), column.name.clone())) {
            had_default = false;
            same_default = column.default.is_none();
        }
        if before.generated.is_some() && column.generated.is_none() {
            self.alter_column(
                &to.name,
                column,
                "DROP EXPRESSION",
                vec![hazards::ACCESS_EXCLUSIVE],
            );
        }
        let mut retype = None;
        self.identity_before(before, column, &to.name);
        self.end_serial(before, column, &to.name);
        if before.serial.is_some() && column.serial.is_none() {
            had_default = false;
            same_default = column.default.is_none();
        }
        if self.sides.is_retyped(before, column) {
            // The server would cast the old default, which may fail, and gives another expression
            // than the new one is.
            let cast = hazards::cast(&before.data_type, &column.data_type);
            let goes = cast == Cast::Explicit
                || self.is_enum(&before.data_type)
                || (!self.printer.is_sqldef()
                    && (cast != Cast::Free || before.data_type.name != column.data_type.name));
            if had_default && goes && before.serial.is_none() {
                let lock = vec![hazards::ACCESS_EXCLUSIVE];
                self.alter_column(&to.name, column, "DROP DEFAULT", lock);
                had_default = false;
                same_default = column.default.is_none();
            }
            retype = Some(self.change_type(to, before, column));
        }
        let first = self.statements.len();
        self.nullability(from, to, before, column);
        if !same_default {
            self.change_default(&to.name, column, had_default);
        }
        self.identity_after(before, column, &to.name);
        self.begin_serial(before, column, &to.name);
        self.column_details(&to.name, Some(before), column);
        for statement in &mut self.statements[first..] {
            statement.needs.extend(retype);
        }
    }

    pub(super) fn alter_column(
        &mut self,
        table: &Name,
        column: &Column,
        action: &str,
        hazards: Vec<Hazard>,
    ) -> usize {
        let ident = self.printer.ident(&column.name);
        let sql = self.alter(table, &format!("ALTER COLUMN {ident} {action}"));
        let shown = self.shown_part(table, &column.name);
        self.push_with(sql, Verb::Alter, ObjectKind::Column, shown, hazards)
    }

    fn change_default(&mut self, table: &Name, column: &Column, had_default: bool) {
        let action = match &column.default {
            Some(default) => format!("SET DEFAULT {}", self.printer.default(default)),
            None if had_default => "DROP DEFAULT".to_owned(),
            None => return,
        };
        self.alter_column(table, column, &action, vec![hazards::ACCESS_EXCLUSIVE]);
    }

    pub(super) fn is_enum(&self, data_type: &Type) -> bool {
        [self.from, self.to].iter().any(|schema| {
            let name = Name::new(
                data_type
                    .schema
                    .clone()
                    .unwrap_or_else(|| schema.default_schema.clone()),
                data_type.name.clone(),
            );
            schema.types.contains(&name)
        })
    }

    fn change_type(&mut self, to: &Table, before: &Column, column: &Column) -> usize {
        let data_type = self.printer.data_type(&column.data_type);
        let mut action = format!("TYPE {data_type}");
        match (&column.collation, &before.collation) {
            (Some(collation), _) => action.push_str(&format!(" COLLATE {collation}")),
            (None, Some(_)) => action.push_str(" COLLATE pg_catalog.\"default\""),
            (None, None) => {}
        }
        if hazards::cast(&before.data_type, &column.data_type) == Cast::Explicit {
            let ident = self.printer.ident(&column.name);
            let is_direct = before.data_type.is_text()
                || (self.printer.is_sqldef()
                    && column.data_type.schema.as_deref() != before.data_type.schema.as_deref())
                || matches!(
                    (
                        before.data_type.name.as_str(),
                        column.data_type.name.as_str()
                    ),
                    ("integer", "boolean") | ("boolean", "integer")
                );
            let through = match (
                is_direct,
                before.data_type.is_array && column.data_type.is_array,
            ) {
                (true, _) => "",
                (false, true) => "::text[]",
                // Of numbers only an integer is cast to a boolean and back.
                (false, false)
                    if hazards::is_truth_and_number(&before.data_type, &column.data_type) =>
                {
                    "::integer"
                }
                (false, false) => "::text",
            };
            action.push_str(&format!(" USING {ident}{through}::{data_type}"));
        }
        let at = self.alter_column(
            &to.name,
            column,
            &action,
            hazards::of_type(&to.name, before, &column.data_type),
        );
        // sqldef changes types without asking, and so do its commands.
        self.statements[at].unasked = self.printer.is_sqldef();
        if let (Some(sequence), Some(_)) = (&before.serial, &column.serial) {
            let integer = &column.data_type.name;
            let sql = format!(
                "ALTER SEQUENCE {} AS {integer}",
                self.printer.name(sequence)
            );
            let shown = self.shown(sequence);
            let sequence = self.push_with(
                sql,
                Verb::Alter,
                ObjectKind::Sequence,
                shown,
                vec![hazards::SHARE_ROW_EXCLUSIVE],
            );
            self.statements[sequence].needs.push(at);
        }
        at
    }

    fn nullability(&mut self, from: &Table, to: &Table, before: &Column, column: &Column) {
        let in_key = |table: &Table| {
            let keys = table.primary().and_then(Constraint::keys);
            keys.is_some_and(|keys| keys.columns.contains(&column.name))
        };
        match (before.not_null, column.not_null) {
            (false, true) if in_key(to) && !in_key(from) => {}
            (false, true) => {
                let hazards = hazards::of_not_null(&to.name, &column.name);
                self.alter_column(&to.name, column, "SET NOT NULL", hazards);
            }
            // After the key has gone.
            (true, false) if in_key(from) => {}
            (true, false) => {
                self.alter_column(
                    &to.name,
                    column,
                    "DROP NOT NULL",
                    vec![hazards::ACCESS_EXCLUSIVE],
                );
            }
            _ => {}
        }
    }

    /// Allows `NULL` in columns of the old primary key. sqldef does so too for columns `NOT NULL`
    /// only by the new key.
    pub(super) fn free_key_columns(&mut self, from: &'a Table, to: &'a Table, changes_key: bool) {
        for column in to.columns.values() {
            let Some(before) = from.columns.get(&column.name) else {
                continue;
            };
            let keys = |table: &'a Table| {
                table
                    .primary()
                    .and_then(Constraint::keys)
                    .map(|keys| &keys.columns)
            };
            let was_key = keys(from).is_some_and(|columns| columns.contains(&column.name));
            let is_key = keys(to).is_some_and(|columns| columns.contains(&column.name));
            let is_free = was_key && before.not_null && !column.not_null;
            let is_quirk = self.printer.is_sqldef()
                && changes_key
                && is_key
                && before.not_null_said
                && !column.not_null_said
                && column.serial.is_none()
                && column.identity.is_none();
            if is_free || is_quirk {
                self.alter_column(
                    &to.name,
                    column,
                    "DROP NOT NULL",
                    vec![hazards::ACCESS_EXCLUSIVE],
                );
            }
        }
    }
}
