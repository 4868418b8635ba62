//! Tables: which differ, and which cannot be changed into what is wanted.

use super::{Sides, TableChange, TableDiff, TableStep};
use crate::postgres::model::{Column, Table};
use crate::postgres::name::Name;

impl<'a> Sides<'a> {
    /// Whether a table needs a comparison. A cheap test, since most of a large schema is unchanged.
    fn table_differs(
        &self,
        to: &Table,
        remakes_functions: bool,
        renamed_columns: &[(Name, String)],
    ) -> bool {
        let Some(from) = self.from.tables.get(&to.name) else {
            return true;
        };
        let is_read_from_same_text = from.meta.source.is_some()
            && from.meta.source == to.meta.source
            && !from.reshaped
            && !to.reshaped
            && from.constraints.len() == to.constraints.len();
        !is_read_from_same_text
            || remakes_functions
            || from.constraints.iter().any(|(name, one)| {
                let other = to.constraints.get(name);
                other.is_none_or(|other| one.meta.source != other.meta.source)
            })
            || renamed_columns.iter().any(|(table, _)| *table == to.name)
            || to
                .columns
                .values()
                .any(|column| self.has_replaced_type(to, column))
    }

    /// Tables to be made or changed, in the wanted order. A recreated function may be used in every
    /// table.
    pub(super) fn tables(
        &self,
        remakes_functions: bool,
        renamed_columns: &[(Name, String)],
    ) -> Vec<TableDiff<'a>> {
        let tables = self.to.tables.values();
        let differing =
            tables.filter(|table| self.table_differs(table, remakes_functions, renamed_columns));
        let diffs = differing.map(|to| TableDiff {
            to,
            step: match self.from.tables.get(&to.name) {
                None => TableStep::Create,
                Some(from) if self.is_remade(from, to) => TableStep::Recreate(from),
                Some(from) => TableStep::Alter(TableChange::of(self, from, to)),
            },
        });
        diffs.collect()
    }

    /// Whether a column's type is recreated.
    pub(in crate::postgres) fn has_replaced_type(&self, table: &Table, column: &Column) -> bool {
        // Asked of every column, where most schemas have no such types.
        if self.from.types.len() == 0 {
            return false;
        }
        let schema = column.data_type.schema.clone();
        let schema = schema.unwrap_or_else(|| table.name.schema.clone());
        self.is_replaced_type(&Name::new(schema, column.data_type.name.clone()))
    }

    /// Whether the table cannot be changed into what is wanted.
    pub(in crate::postgres) fn is_remade(&self, from: &Table, to: &Table) -> bool {
        let parent = from.partition_of.as_ref().map(|(parent, _)| parent);
        let goes_with_parent = parent.is_some_and(|parent| {
            let (before, after) = (self.from.tables.get(parent), self.to.tables.get(parent));
            matches!((before, after), (Some(before), Some(after)) if self.is_remade(before, after))
        });
        goes_with_parent
            || !self.same.partitioned(from, to)
            || from
                .likes
                .iter()
                .any(|(_, clause)| clause.to_lowercase().starts_with("of "))
                && to.likes.is_empty()
    }

    /// Whether both are the same partition of the same parent.
    pub(in crate::postgres) fn is_same_partition(&self, from: &Table, to: &Table) -> bool {
        match (&from.partition_of, &to.partition_of) {
            (None, None) => true,
            (Some((parent, bound)), Some((other, other_bound))) => {
                let stored = self
                    .stored_table(&to.name)
                    .and_then(|stored| stored.partition_of.as_ref());
                parent == other
                    && (self.same.bound(bound, other_bound)
                        || stored.is_some_and(|(_, stored)| self.same.bound(bound, stored)))
            }
            _ => false,
        }
    }

    pub(in crate::postgres) fn stored_table(&self, name: &Name) -> Option<&'a Table> {
        self.stored?.tables.get(name)
    }
}
