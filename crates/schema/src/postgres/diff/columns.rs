//! Columns of tables on both sides.

use super::{ColumnStep, Sides, TableChange};
use crate::postgres::model::{Column, Table};
use crate::postgres::name::Name;
use crate::postgres::split;

impl<'a> Sides<'a> {
    /// Whether two columns differ in type or in the order of text.
    pub(in crate::postgres) fn is_retyped(&self, before: &Column, column: &Column) -> bool {
        !before.data_type.is_same(&column.data_type)
            || !self
                .same
                .collation(before.collation.as_deref(), column.collation.as_deref())
    }

    pub(in crate::postgres) fn retyped(&self, from: &'a Table, to: &'a Table) -> Vec<&'a str> {
        let columns = to.columns.values().filter(|column| {
            from.columns
                .get(&column.name)
                .is_some_and(|before| self.is_retyped(before, column))
        });
        columns.map(|column| column.name.as_str()).collect()
    }

    /// Whether a column must be recreated: a computed one with another expression or input type. A
    /// plain column cannot become computed in place either.
    pub(in crate::postgres) fn is_recomputed(
        &self,
        table: &Name,
        retyped: &[&str],
        before: &Column,
        column: &Column,
    ) -> bool {
        match (&before.generated, &column.generated) {
            (None, None) => false,
            (Some(generated), None) => !generated.stored,
            (None, Some(_)) => true,
            (Some(_), Some(generated)) => {
                let stored = self
                    .stored_table(table)
                    .and_then(|stored| stored.columns.get(&column.name));
                let is_same = self.same.generated(before, column, table)
                    || stored.is_some_and(|stored| self.same.generated(before, stored, table));
                let names = split::names(&generated.expression.0);
                !is_same
                    || retyped
                        .iter()
                        .any(|column| names.iter().any(|name| name == column))
            }
        }
    }

    pub(in crate::postgres) fn is_retyped_in(&self, from: &Table, to: &Table, name: &str) -> bool {
        matches!((from.columns.get(name), to.columns.get(name)), (Some(before), Some(column)) if self.is_retyped(before, column))
    }
}

impl<'a> TableChange<'a> {
    pub(super) fn of(sides: &Sides<'a>, from: &'a Table, to: &'a Table) -> TableChange<'a> {
        let retyped = sides.retyped(from, to);
        let columns = to.columns.values().map(|column| {
            let Some(before) = from.columns.get(&column.name) else {
                return ColumnStep::Add(column);
            };
            match sides.is_recomputed(&to.name, &retyped, before, column) {
                true => ColumnStep::Remake {
                    from: before,
                    to: column,
                },
                false => ColumnStep::Change {
                    from: before,
                    to: column,
                },
            }
        });
        TableChange {
            from,
            to,
            columns: columns.collect(),
            retyped,
        }
    }

    /// Names of the columns to be dropped and added again.
    pub(in crate::postgres) fn remade(&self) -> Vec<&'a str> {
        let remade = self.columns.iter().filter_map(|step| match step {
            ColumnStep::Remake { to, .. } => Some(to.name.as_str()),
            ColumnStep::Add(_) | ColumnStep::Change { .. } => None,
        });
        remade.collect()
    }
}
