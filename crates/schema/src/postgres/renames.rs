//! Renames from comments, applied to a copy of the existing schema, so the rest compares equal.

mod inside;

use super::model::{ConstraintKind, Table, TypeKind};
use super::name::{Name, literal};
use super::print::Printer;
use super::{Schema, hazards};
use crate::plan::Steps;
use crate::rename::still_there;
use crate::{Hazard, ObjectKind, PlanError, Statement, Verb};
use inside::{rename_in, rename_in_action, rename_in_table, replace};

/// What applying gave.
#[derive(Default)]
pub(super) struct Renamed {
    /// `None`: nothing has a new name.
    pub(super) schema: Option<Schema>,
    pub(super) statements: Vec<Statement>,
    /// Table and new name.
    pub(super) columns: Vec<(Name, String)>,
}

/// Applies all renames.
pub(super) fn apply(
    from: &Schema,
    to: &Schema,
    printer: Printer<'_>,
) -> Result<Renamed, PlanError> {
    if !has_any(to) {
        return Ok(Renamed::default());
    }
    let mut work = Work {
        schema: from.clone(),
        to,
        printer,
        renamed: Renamed::default(),
    };
    work.types();
    work.tables()?;
    work.sequences();
    work.views();
    let Work {
        schema,
        mut renamed,
        ..
    } = work;
    renamed.schema = Some(schema);
    Ok(renamed)
}

fn has_any(to: &Schema) -> bool {
    let in_table = |table: &Table| {
        table.meta.renamed_from.is_some()
            || table
                .columns
                .values()
                .any(|column| column.meta.renamed_from.is_some())
            || table
                .constraints
                .values()
                .any(|each| each.meta.renamed_from.is_some())
            || table
                .indexes
                .values()
                .any(|index| index.meta.renamed_from.is_some())
    };
    to.tables.values().any(in_table)
        || to.sequences.values().any(|each| each.meta.renamed_from.is_some())
        || to.views.values().any(|view| {
            view.meta.renamed_from.is_some() || view.indexes.values().any(|index| index.meta.renamed_from.is_some())
        })
        || to.types.values().any(|found| {
            found.meta.renamed_from.is_some()
                || matches!(&found.kind, TypeKind::Enum(values) if values.iter().any(|value| value.renamed_from.is_some()))
        })
}

struct Work<'a> {
    schema: Schema,
    to: &'a Schema,
    printer: Printer<'a>,
    renamed: Renamed,
}

impl Steps for Work<'_> {
    const ALWAYS: &'static [Hazard] = &[hazards::ACCESS_EXCLUSIVE];

    fn statements(&mut self) -> &mut Vec<Statement> {
        &mut self.renamed.statements
    }
}

impl Work<'_> {
    fn shown(&self, name: &Name) -> String {
        name.shown(&self.to.default_schema)
    }

    fn types(&mut self) {
        for found in self.to.types.values() {
            let word = if matches!(found.kind, TypeKind::Enum(_)) {
                "TYPE"
            } else {
                "DOMAIN"
            };
            if let Some(old) = &found.meta.renamed_from {
                let old = Name::new(found.name.schema.clone(), old.clone());
                if self.schema.types.contains(&old) && !self.schema.types.contains(&found.name) {
                    let sql = format!(
                        "ALTER {word} {} RENAME TO {}",
                        self.printer.name(&old),
                        self.printer.ident(&found.name.name)
                    );
                    self.push(sql, Verb::Rename, ObjectKind::Type, self.shown(&old));
                    self.rename_type(&old, &found.name);
                }
            }
            self.enum_values(&found.name);
        }
    }

    fn rename_type(&mut self, old: &Name, new: &Name) {
        if let Some(renamed) = self.schema.types.rename(old, new.clone()) {
            renamed.name = new.clone();
        }
        for table in self.schema.tables.values_mut() {
            for column in table.columns.values_mut() {
                let data_type = &mut column.data_type;
                if data_type.name == old.name
                    && data_type
                        .schema
                        .as_ref()
                        .is_none_or(|schema| *schema == old.schema)
                {
                    new.name.clone_into(&mut data_type.name);
                }
                if let Some(default) = &mut column.default {
                    replace(default, &old.name, &new.name);
                }
            }
        }
    }

    fn enum_values(&mut self, name: &Name) {
        let Some(TypeKind::Enum(values)) = self.to.types.get(name).map(|found| &found.kind) else {
            return;
        };
        for value in values {
            let Some(old) = &value.renamed_from else {
                continue;
            };
            let Some(TypeKind::Enum(before)) =
                self.schema.types.get_mut(name).map(|found| &mut found.kind)
            else {
                continue;
            };
            let has_new = before.iter().any(|each| each.label == value.label);
            let Some(each) = before
                .iter_mut()
                .find(|each| each.label == *old && !has_new)
            else {
                continue;
            };
            value.label.clone_into(&mut each.label);
            let sql = format!(
                "ALTER TYPE {} RENAME VALUE {} TO {}",
                self.printer.name(name),
                literal(old),
                literal(&value.label)
            );
            let shown = format!("{}.{old}", self.shown(name));
            self.push(sql, Verb::Rename, ObjectKind::EnumValue, shown);
        }
    }

    fn tables(&mut self) -> Result<(), PlanError> {
        for table in self.to.tables.values() {
            if let Some(old) = &table.meta.renamed_from {
                let old = Name::new(table.name.schema.clone(), old.clone());
                if self.schema.tables.contains(&old) && !self.schema.tables.contains(&table.name) {
                    if self.to.tables.contains(&old) {
                        let (old, new) = (&old.name, &table.name.name);
                        return Err(still_there(ObjectKind::Table, old, new));
                    }
                    let sql = format!(
                        "ALTER TABLE {} RENAME TO {}",
                        self.printer.name(&old),
                        self.printer.ident(&table.name.name)
                    );
                    self.push(sql, Verb::Rename, ObjectKind::Table, self.shown(&old));
                    self.rename_table(&old, &table.name);
                }
            }
            self.columns(table)?;
            self.constraints(table);
            self.indexes(&table.name);
        }
        Ok(())
    }

    fn rename_table(&mut self, old: &Name, new: &Name) {
        if let Some(table) = self.schema.tables.rename(old, new.clone()) {
            table.name = new.clone();
        }
        for table in self.schema.tables.values_mut() {
            for constraint in table.constraints.values_mut() {
                if let ConstraintKind::Foreign(foreign) = &mut constraint.kind
                    && foreign.table == *old
                {
                    foreign.table = new.clone();
                }
            }
            for parent in table
                .inherits
                .iter_mut()
                .chain(table.partition_of.as_mut().map(|(parent, _)| parent))
            {
                if parent == old {
                    *parent = new.clone();
                }
            }
        }
        for view in self.schema.views.values_mut() {
            replace(&mut view.query, &old.name, &new.name);
        }
        self.rename_granted(old, new);
    }

    fn columns(&mut self, table: &Table) -> Result<(), PlanError> {
        for column in table.columns.values() {
            let Some(old) = &column.meta.renamed_from else {
                continue;
            };
            let Some(before) = self.schema.tables.get(&table.name) else {
                continue;
            };
            if !before.columns.contains(old) || before.columns.contains(&column.name) {
                continue;
            }
            if table.columns.contains(old) {
                return Err(still_there(ObjectKind::Column, old, &column.name));
            }
            let sql = format!(
                "ALTER TABLE {} RENAME COLUMN {} TO {}",
                self.printer.name(&table.name),
                self.printer.ident(old),
                self.printer.ident(&column.name)
            );
            let shown = format!("{}.{old}", self.shown(&table.name));
            self.push(sql, Verb::Rename, ObjectKind::Column, shown);
            self.rename_column(&table.name, old, &column.name);
            self.renamed.columns.push((table.name.clone(), old.clone()));
        }
        Ok(())
    }

    fn rename_column(&mut self, table: &Name, old: &str, new: &str) {
        self.rename_granted_column(table, old, new);
        for each in self.schema.tables.values_mut() {
            let is_own = each.name == *table;
            if is_own {
                rename_in_table(each, old, new);
            }
            for constraint in each.constraints.values_mut() {
                if let ConstraintKind::Foreign(foreign) = &mut constraint.kind {
                    if is_own {
                        rename_in(&mut foreign.columns, old, new);
                        rename_in_action(&mut foreign.on_delete, old, new);
                    }
                    if foreign.table == *table {
                        rename_in(&mut foreign.table_columns, old, new);
                    }
                }
            }
        }
    }

    fn constraints(&mut self, table: &Table) {
        for constraint in table.constraints.values() {
            let Some(old) = &constraint.meta.renamed_from else {
                continue;
            };
            let Some(before) = self.schema.tables.get_mut(&table.name) else {
                continue;
            };
            if before.constraints.contains(&constraint.name) {
                continue;
            }
            let Some(renamed) = before.constraints.rename(old, constraint.name.clone()) else {
                continue;
            };
            constraint.name.clone_into(&mut renamed.name);
            let new = self.printer.ident(&constraint.name);
            let sql = if constraint.keys().is_some() {
                format!(
                    "ALTER INDEX {} RENAME TO {new}",
                    self.printer.beside(&table.name, old)
                )
            } else {
                let old = self.printer.ident(old);
                format!(
                    "ALTER TABLE {} RENAME CONSTRAINT {old} TO {new}",
                    self.printer.name(&table.name)
                )
            };
            let shown = format!("{}.{old}", self.shown(&table.name));
            self.push(sql, Verb::Rename, ObjectKind::Constraint, shown);
        }
    }

    fn indexes(&mut self, on: &Name) {
        let wanted = self.to.tables.get(on).map(|table| &table.indexes);
        let wanted = wanted.or_else(|| self.to.views.get(on).map(|view| &view.indexes));
        for index in wanted.into_iter().flat_map(|indexes| indexes.values()) {
            let Some(old) = &index.meta.renamed_from else {
                continue;
            };
            let before = match self.schema.tables.get_mut(on) {
                Some(table) => Some(&mut table.indexes),
                None => self.schema.views.get_mut(on).map(|view| &mut view.indexes),
            };
            let Some(before) = before.filter(|before| !before.contains(&index.name)) else {
                continue;
            };
            let Some(renamed) = before.rename(old, index.name.clone()) else {
                continue;
            };
            index.name.clone_into(&mut renamed.name);
            let sql = format!(
                "ALTER INDEX {} RENAME TO {}",
                self.printer.beside(on, old),
                self.printer.ident(&index.name)
            );
            self.push(sql, Verb::Rename, ObjectKind::Index, old.clone());
        }
    }

    fn sequences(&mut self) {
        for sequence in self.to.sequences.values() {
            let Some(old) = &sequence.meta.renamed_from else {
                continue;
            };
            let old = Name::new(sequence.name.schema.clone(), old.clone());
            if self.schema.sequences.contains(&sequence.name) {
                continue;
            }
            let Some(renamed) = self.schema.sequences.rename(&old, sequence.name.clone()) else {
                continue;
            };
            renamed.name = sequence.name.clone();
            for table in self.schema.tables.values_mut() {
                for default in table
                    .columns
                    .values_mut()
                    .filter_map(|column| column.default.as_mut())
                {
                    if crate::postgres::read::next_value_of(&default.0, &old.schema).as_ref()
                        == Some(&old)
                    {
                        default.0 = default.0.replace(&old.name, &sequence.name.name);
                    }
                }
            }
            let sql = format!(
                "ALTER SEQUENCE {} RENAME TO {}",
                self.printer.name(&old),
                self.printer.ident(&sequence.name.name)
            );
            self.push(sql, Verb::Rename, ObjectKind::Sequence, self.shown(&old));
        }
    }

    fn views(&mut self) {
        for view in self.to.views.values() {
            if let Some(old) = &view.meta.renamed_from {
                let old = Name::new(view.name.schema.clone(), old.clone());
                if self.schema.views.contains(&old) && !self.schema.views.contains(&view.name) {
                    let kind = if view.materialized {
                        "MATERIALIZED VIEW"
                    } else {
                        "VIEW"
                    };
                    let sql = format!(
                        "ALTER {kind} {} RENAME TO {}",
                        self.printer.name(&old),
                        self.printer.ident(&view.name.name)
                    );
                    self.push(sql, Verb::Rename, ObjectKind::View, self.shown(&old));
                    if let Some(renamed) = self.schema.views.rename(&old, view.name.clone()) {
                        renamed.name = view.name.clone();
                    }
                    for other in self.schema.views.values_mut() {
                        replace(&mut other.query, &old.name, &view.name.name);
                    }
                    self.rename_granted(&old, &view.name);
                }
            }
            self.indexes(&view.name);
        }
    }
}
