//! Tables and parts of tables.

use std::collections::BTreeMap;

use super::{Meta, SequenceOptions, Sql, Type};
use crate::postgres::listed::Listed;
use crate::postgres::name::Name;

#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) name: Name,
    pub(crate) columns: Listed<String, Column>,
    pub(crate) constraints: Listed<String, Constraint>,
    pub(crate) indexes: Listed<String, Index>,
    pub(crate) triggers: Listed<String, Trigger>,
    pub(crate) policies: Listed<String, Policy>,
    pub(crate) unlogged: bool,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) inherits: Vec<Name>,
    pub(crate) partition_by: Option<Sql>,
    pub(crate) partition_of: Option<(Name, Sql)>,
    /// Types or tables providing columns (`OF`, `LIKE`), with the clause as written.
    pub(crate) likes: Vec<(Name, String)>,
    pub(crate) access_method: Option<String>,
    pub(crate) rls: Option<String>,
    pub(crate) force_rls: Option<String>,
    pub(crate) replica_identity: Option<String>,
    /// Whether later statements changed columns, so the original one is outdated.
    pub(crate) reshaped: bool,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) data_type: Type,
    /// Said so, or part of the primary key.
    pub(crate) not_null: bool,
    /// Said so.
    pub(crate) not_null_said: bool,
    pub(crate) default: Option<Sql>,
    pub(crate) generated: Option<Generated>,
    /// Boxed, as few columns have one and schemas have many columns.
    pub(crate) identity: Option<Box<Identity>>,
    pub(crate) collation: Option<String>,
    pub(crate) storage: Option<String>,
    pub(crate) compression: Option<String>,
    pub(crate) statistics: Option<i64>,
    /// The sequence of a `serial` column.
    pub(crate) serial: Option<Name>,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Generated {
    pub(crate) expression: Sql,
    pub(crate) stored: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) always: bool,
    pub(crate) options: SequenceOptions,
    /// Options as written, with parentheses.
    pub(crate) written: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) name: String,
    /// `false` when the server makes the name.
    pub(crate) is_named: bool,
    pub(crate) kind: ConstraintKind,
    pub(crate) deferrable: bool,
    pub(crate) deferred: bool,
    /// Whether the source states the deferral, even the default.
    pub(crate) deferral_said: bool,
    pub(crate) not_valid: bool,
    pub(crate) not_enforced: bool,
    pub(crate) no_inherit: bool,
    /// Tablespace of the index, as in the source; see [`Constraint::is_placed`].
    pub(crate) tablespace: Option<String>,
    /// Whether the tablespace is taken into account already.
    pub(crate) is_placed: bool,
    /// Column of the constraint in the source, if written with one.
    pub(crate) column: Option<String>,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug)]
pub(crate) enum ConstraintKind {
    Primary(Keys),
    Unique(Keys),
    Check(Sql),
    Foreign(Foreign),
    Exclude(Exclude),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) columns: Vec<String>,
    pub(crate) include: Vec<String>,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) nulls_not_distinct: bool,
    /// Whether the last column is a period without overlaps.
    pub(crate) without_overlaps: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    pub(crate) columns: Vec<String>,
    pub(crate) table: Name,
    /// Empty until the primary key of the other table is known.
    pub(crate) table_columns: Vec<String>,
    pub(crate) period: bool,
    pub(crate) match_full: bool,
    /// Such as `CASCADE`, `SET NULL (a)`; `None` for `NO ACTION`.
    pub(crate) on_delete: Option<String>,
    pub(crate) on_update: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Exclude {
    pub(crate) method: String,
    /// Elements, each with an operator.
    pub(crate) items: Vec<(IndexItem, String)>,
    pub(crate) include: Vec<String>,
    pub(crate) predicate: Option<Sql>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) is_named: bool,
    pub(crate) unique: bool,
    pub(crate) method: String,
    /// Whether the source names the method.
    pub(crate) method_said: bool,
    pub(crate) items: Vec<IndexItem>,
    pub(crate) include: Vec<String>,
    pub(crate) nulls_not_distinct: bool,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) predicate: Option<Sql>,
    /// Only on the partitioned table itself.
    pub(crate) only: bool,
    /// Index of the partitioned parent, if attached to one.
    pub(crate) parent: Option<Name>,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct IndexItem {
    /// Name of a plain column; `None` for an expression.
    pub(crate) column: Option<String>,
    pub(crate) expression: Sql,
    pub(crate) collation: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Trigger {
    pub(crate) name: String,
    /// `BEFORE`, `AFTER`, `INSTEAD OF`.
    pub(crate) timing: &'static str,
    /// Events with columns, in the server's order.
    pub(crate) events: Vec<(&'static str, Vec<String>)>,
    pub(crate) row: bool,
    pub(crate) is_constraint: bool,
    pub(crate) deferrable: bool,
    pub(crate) deferred: bool,
    pub(crate) from: Option<Name>,
    pub(crate) referencing: String,
    pub(crate) when: Option<Sql>,
    pub(crate) function: Name,
    pub(crate) function_schema_said: bool,
    pub(crate) arguments: String,
    /// Whether the source uses the older `EXECUTE PROCEDURE`.
    pub(crate) says_procedure: bool,
    /// `O` enabled, `D` disabled, `A` always, `R` on replicas.
    pub(crate) state: char,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    pub(crate) name: String,
    pub(crate) restrictive: bool,
    pub(crate) command: String,
    /// Sorted; empty for everybody.
    pub(crate) roles: Vec<String>,
    pub(crate) using: Option<Sql>,
    pub(crate) check: Option<Sql>,
    pub(crate) meta: Meta,
}

impl Table {
    /// Whether the table has the index, possibly of a constraint.
    pub(crate) fn has_index(&self, index: &Name) -> bool {
        let name = &index.name;
        self.name.schema == index.schema
            && (self.indexes.contains(name) || self.constraints.contains(name))
    }
}

impl Constraint {
    pub(crate) fn new(kind: ConstraintKind) -> Constraint {
        Constraint {
            name: String::new(),
            is_named: false,
            kind,
            deferrable: false,
            deferred: false,
            deferral_said: false,
            not_valid: false,
            not_enforced: false,
            no_inherit: false,
            tablespace: None,
            is_placed: false,
            column: None,
            meta: Meta::default(),
        }
    }

    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.kind, ConstraintKind::Foreign(_))
    }

    /// Columns of a key.
    pub(crate) fn keys(&self) -> Option<&Keys> {
        match &self.kind {
            ConstraintKind::Primary(keys) | ConstraintKind::Unique(keys) => Some(keys),
            _ => None,
        }
    }
}

impl Column {
    /// How values of the type are stored where nothing else is said. `SET STORAGE DEFAULT` is known
    /// to version 16 and later only.
    pub(crate) fn usual_storage(&self) -> &'static str {
        match self.data_type.name.as_str() {
            "numeric" => "MAIN",
            _ => "EXTENDED",
        }
    }
}

impl Table {
    /// The primary key.
    pub(crate) fn primary(&self) -> Option<&Constraint> {
        self.constraints
            .values()
            .find(|constraint| matches!(constraint.kind, ConstraintKind::Primary(_)))
    }
}
