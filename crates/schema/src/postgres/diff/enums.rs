//! Enums: values are added in place; one that goes makes the type anew.

use super::{Builder, Part};
use crate::Hazard;
use crate::postgres::hazards;
use crate::postgres::model::{Column, EnumValue, Table, TypeKind, UserType};
use crate::postgres::name::{Name, literal};
use crate::postgres::split;

impl<'a> Builder<'a> {
    /// Values are added where they belong. One that goes, or an order that differs, needs a new type in the old one's place.
    pub(super) fn change_enum(&mut self, name: &Name, from: &[EnumValue], to: &[EnumValue]) {
        let (old, new) = (labels(from), labels(to));
        let kept: Vec<&str> = new
            .iter()
            .copied()
            .filter(|label| old.contains(label))
            .collect();
        if kept != old {
            return self.replace_enum(name, from, to);
        }
        let shown = self.shown(name);
        let mut there = old;
        for (at, label) in new.iter().enumerate() {
            if there.contains(label) {
                continue;
            }
            let before = new[at + 1..].iter().find(|next| there.contains(next));
            let place = before
                .map(|next| format!(" BEFORE {}", literal(next)))
                .unwrap_or_default();
            let sql = format!(
                "ALTER TYPE {} ADD VALUE {}{place}",
                self.speller.name(name),
                literal(label)
            );
            self.push(sql, "add", "enum-value", format!("{shown}.{label}"));
            let position = before.and_then(|next| there.iter().position(|each| each == next));
            there.insert(position.unwrap_or(there.len()), label);
        }
    }

    pub(super) fn replace_enum(&mut self, name: &Name, from: &[EnumValue], to: &[EnumValue]) {
        let to_labels = labels(to);
        let lost: Vec<&str> = labels(from)
            .into_iter()
            .filter(|label| !to_labels.contains(label))
            .collect();
        let shown = self.shown(name);
        let old = Name::new(name.schema.clone(), format!("{}__old", name.name));
        let sql = format!(
            "ALTER TYPE {} RENAME TO {}",
            self.speller.name(name),
            self.speller.ident(&old.name)
        );
        let first = self.push_with(
            sql,
            "replace",
            "type",
            shown.clone(),
            vec![hazards::ACCESS_EXCLUSIVE],
        );
        if !lost.is_empty() {
            self.statements[first].destructive = true;
            self.statements[first].verb = "drop";
            let object = &mut self.statements[first].object;
            object.kind = "enum-value";
            object.name = format!("{shown}.{}", lost[0]);
            self.statements[first].hazards.push(Hazard::MayFail {
                reason: format!("no row may hold {}", lost.join(", ")),
                query: None,
            });
        }
        let found = UserType {
            name: name.clone(),
            kind: TypeKind::Enum(to.to_vec()),
            meta: Default::default(),
        };
        let sql = self.speller.user_type(&found);
        let mut last = self.push(sql, "create", "type", shown.clone());
        self.statements[last].needs.push(first);
        for (table, column) in self.columns_of_type(name) {
            last = self.retype_enum(table, column, name, last);
        }
        let sql = format!("DROP TYPE {}", self.speller.name(&old));
        let at = self.push(sql, "replace", "type", shown);
        self.statements[at].needs.push(last);
    }

    pub(super) fn retype_enum(
        &mut self,
        table: &'a Table,
        column: &'a Column,
        name: &Name,
        needs: usize,
    ) -> usize {
        let mut last = needs;
        let mentions = |text: &str| split::names(text).contains(&column.name);
        self.clear_hooks(table, &mentions);
        self.clear_expressions(table, &mentions);
        let ident = self.speller.ident(&column.name);
        let array = if column.data_type.is_array { "[]" } else { "" };
        let data_type = format!("{}{array}", self.speller.name(name));
        let default = column
            .default
            .as_ref()
            .map(|default| self.speller.default(default));
        let mut actions = Vec::new();
        if default.is_some() {
            actions.push(format!("ALTER COLUMN {ident} DROP DEFAULT"));
        }
        actions.push(format!(
            "ALTER COLUMN {ident} TYPE {data_type} USING {ident}::text{array}::{data_type}"
        ));
        if let Some(default) = default {
            let plain = default.split("::").next().unwrap_or_default().to_owned();
            actions.push(format!("ALTER COLUMN {ident} SET DEFAULT {plain}"));
        }
        for action in actions {
            let sql = self.alter(&table.name, &action);
            let shown = self.shown_part(&table.name, &column.name);
            let rewrite = Hazard::Rewrite(format!("table {} is written anew", table.name.name));
            let at = self.push_with(
                sql,
                "alter",
                "column",
                shown,
                vec![hazards::ACCESS_EXCLUSIVE, rewrite],
            );
            self.statements[at].needs.push(last);
            last = at;
        }
        last
    }

    /// Columns that are there and have this type.
    pub(super) fn columns_of_type(&self, name: &Name) -> Vec<(&'a Table, &'a Column)> {
        let mut found = Vec::new();
        for table in self.from.tables.values() {
            for column in table.columns.values() {
                let data_type = &column.data_type;
                if data_type.name == name.name
                    && data_type
                        .schema
                        .as_ref()
                        .is_none_or(|schema| *schema == name.schema)
                {
                    found.push((table, column));
                }
            }
        }
        found
    }

    /// Whether an enum is made anew in the other's place.
    pub(super) fn is_replaced_enum(&self, name: &Name) -> bool {
        match (
            self.from.types.get(name).map(|found| &found.kind),
            self.to.types.get(name).map(|found| &found.kind),
        ) {
            (Some(TypeKind::Enum(one)), Some(TypeKind::Enum(other))) => {
                let (old, new) = (labels(one), labels(other));
                let kept: Vec<&str> = new
                    .iter()
                    .copied()
                    .filter(|label| old.contains(label))
                    .collect();
                kept != old
            }
            _ => false,
        }
    }

    /// A new value cannot be used in the transaction that adds it, so where another statement does, the adding stands alone.
    pub(super) fn mark_new_values(&mut self) {
        let added: Vec<(usize, String)> = self
            .statements
            .iter()
            .enumerate()
            .filter(|(_, statement)| {
                (statement.verb, statement.object.kind) == ("add", "enum-value")
            })
            .filter_map(|(at, statement)| {
                let (_, label) = statement.sql.split_once("ADD VALUE ")?;
                let label = label.split(" BEFORE ").next()?;
                Some((at, label.to_owned()))
            })
            .collect();
        for (at, label) in added {
            let is_used = self
                .statements
                .iter()
                .enumerate()
                .any(|(other, statement)| {
                    other != at && statement.sql.contains(&label) && statement.verb != "add"
                        || other != at
                            && statement.object.kind == "column"
                            && statement.sql.contains(&label)
                });
            if is_used {
                self.statements[at].hazards.push(Hazard::NotTransactional);
            }
        }
    }

    /// Whether a column's type is an enum made anew, so that it must not be in use by a view meanwhile.
    pub(super) fn has_replaced_type(&self, table: &Table, column: &Column) -> bool {
        let schema = column
            .data_type
            .schema
            .clone()
            .unwrap_or_else(|| table.name.schema.clone());
        let name = Name::new(schema, column.data_type.name.clone());
        !self.is_gone(&Part::Column(table.name.clone(), column.name.clone()))
            && self.is_replaced_enum(&name)
    }
}

pub(super) fn labels(values: &[EnumValue]) -> Vec<&str> {
    values.iter().map(|value| value.label.as_str()).collect()
}
