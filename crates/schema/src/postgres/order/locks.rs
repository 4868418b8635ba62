//! Locks of statements on objects beside tables, compared with `pg_locks` in the tests.

use std::collections::HashMap;

use super::Builder;
use crate::postgres::hazards;
use crate::postgres::model::{ConstraintKind, Table};
use crate::{Hazard, ObjectKind, Statement, Verb};

impl Builder<'_> {
    /// States the locks of statements still without a stated lock.
    pub(super) fn state_locks(&mut self) {
        let tables = self.to.tables.values();
        let tables: HashMap<String, &Table> = tables
            .map(|table| (self.shown(&table.name), table))
            .collect();
        let mut statements = std::mem::take(&mut self.statements);
        for statement in &mut statements {
            let mut hazards = statement.hazards.iter();
            if !hazards.any(|hazard| matches!(hazard, Hazard::Lock(_))) {
                let lock = self.lock_of(statement, &tables);
                statement.hazards.extend(lock);
            }
        }
        self.statements = statements;
    }

    fn lock_of(&self, statement: &Statement, tables: &HashMap<String, &Table>) -> Option<Hazard> {
        let sql = statement.sql.as_str();
        match (statement.object.kind, statement.verb) {
            (ObjectKind::Rule, Verb::Create) => Some(hazards::ACCESS_EXCLUSIVE),
            (
                ObjectKind::TypedTable
                | ObjectKind::ColumnDefault
                | ObjectKind::ColumnStorage
                | ObjectKind::ColumnCompression
                | ObjectKind::ForeignColumnOptions,
                _,
            )
            | (ObjectKind::ForeignTable, Verb::Alter) => Some(hazards::ACCESS_EXCLUSIVE),
            (ObjectKind::Table, Verb::Create) if self.is_part_of_another(statement, tables) => {
                Some(hazards::ACCESS_EXCLUSIVE)
            }
            // Whoever takes a number waits.
            (ObjectKind::Sequence, _)
                if sql.starts_with("DROP SEQUENCE") || sql.contains(" RENAME TO ") =>
            {
                Some(hazards::ACCESS_EXCLUSIVE)
            }
            (ObjectKind::Sequence, _) if sql.starts_with("ALTER SEQUENCE") => {
                Some(hazards::SHARE_ROW_EXCLUSIVE)
            }
            // All rows with values of the domain are read.
            (ObjectKind::Domain, Verb::Alter)
                if sql.contains(" ADD ") || sql.ends_with("SET NOT NULL") =>
            {
                Some(hazards::SHARE)
            }
            (ObjectKind::Table, Verb::Create)
                if self.from.tables.len() > 0 && sql.contains(" REFERENCES ") =>
            {
                let table = tables.get(&statement.object.name);
                let refers = table.is_some_and(|table| self.refers_to_others(table));
                refers.then_some(hazards::SHARE_ROW_EXCLUSIVE)
            }
            _ => None,
        }
    }

    /// Whether the statement makes a partition of a table in use; both are locked.
    fn is_part_of_another(&self, statement: &Statement, tables: &HashMap<String, &Table>) -> bool {
        let table = tables.get(&statement.object.name);
        let parent = table.and_then(|table| table.partition_of.as_ref());
        parent.is_some_and(|(parent, _)| self.from.tables.contains(parent))
    }

    /// Whether the statement of a new table has a foreign key to a table in use.
    fn refers_to_others(&self, table: &Table) -> bool {
        let mut constraints = table.constraints.values();
        constraints.any(|constraint| {
            matches!(&constraint.kind, ConstraintKind::Foreign(foreign)
                if foreign.table != table.name && self.from.tables.contains(&foreign.table))
        })
    }
}
