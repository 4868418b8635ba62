//! What a PostgreSQL schema is made of.
//!
//! Expressions, queries and bodies are kept as they are written and brought into normal form only when two that
//! are not the same letter for letter have to be compared.

use std::collections::BTreeMap;

use super::listed::Listed;
use super::name::Name;

/// The schema of one database.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub(crate) default_schema: String,
    pub(crate) schemas: Listed<String, Namespace>,
    pub(crate) extensions: Listed<String, Extension>,
    pub(crate) types: Listed<Name, UserType>,
    pub(crate) sequences: Listed<Name, Sequence>,
    pub(crate) tables: Listed<Name, Table>,
    pub(crate) views: Listed<Name, View>,
    /// By name and types of the arguments.
    pub(crate) functions: Listed<(Name, String), Function>,
    /// Privileges by object, then by role.
    pub(crate) grants: Listed<(Target, String), Grant>,
    /// What a server made of this very schema, when one was asked.
    pub(crate) stored: Option<Box<Schema>>,
    /// Statements that are not understood.
    pub(crate) opaque: Vec<String>,
    /// How many statements held or changed rows.
    pub(crate) data_statements: usize,
}

/// What every object has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    /// The statement that made it, when it has one of its own.
    pub(crate) source: Option<String>,
    pub(crate) comment: Option<String>,
    pub(crate) renamed_from: Option<String>,
    pub(crate) owner: Option<Box<Owner>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) role: String,
    pub(crate) source: String,
}

/// SQL that is compared in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sql(pub(crate) String);

#[derive(Clone, Debug, Default)]
pub(crate) struct Namespace {
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Extension {
    pub(crate) name: String,
    pub(crate) schema: Option<String>,
    pub(crate) meta: Meta,
}

/// A type as a column has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Type {
    /// Given by the source, or found by its name in the default schema; `None` for built-in types and those of
    /// extensions.
    pub(crate) schema: Option<String>,
    /// The server's spelling, such as `character varying`.
    pub(crate) name: String,
    /// What stands in parentheses, `10,2`; fields of an interval too.
    pub(crate) args: String,
    pub(crate) is_array: bool,
    /// `serial` and its sisters, which stand for an integer with a sequence.
    pub(crate) is_serial: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct UserType {
    pub(crate) name: Name,
    pub(crate) kind: TypeKind,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Enum(Vec<EnumValue>),
    Domain(Domain),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnumValue {
    pub(crate) label: String,
    pub(crate) renamed_from: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Domain {
    pub(crate) base: Type,
    pub(crate) default: Option<Sql>,
    pub(crate) not_null: bool,
    pub(crate) collation: Option<String>,
    pub(crate) checks: Vec<Constraint>,
}

/// What a sequence does; `None` is what the server assumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SequenceOptions {
    pub(crate) data_type: Option<String>,
    pub(crate) start: Option<i64>,
    pub(crate) increment: Option<i64>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    pub(crate) cache: Option<i64>,
    pub(crate) cycle: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub(crate) name: Name,
    pub(crate) options: SequenceOptions,
    pub(crate) owned_by: Option<(Name, String)>,
    pub(crate) unlogged: bool,
    pub(crate) meta: Meta,
}

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
    /// Columns come from this type or table, whose source is kept as it is (`OF`, `LIKE`).
    pub(crate) likes: Vec<(Name, String)>,
    pub(crate) access_method: Option<String>,
    pub(crate) rls: Option<String>,
    pub(crate) force_rls: Option<String>,
    pub(crate) replica_identity: Option<String>,
    /// Later statements changed columns, so that its own no longer says all.
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
    /// The options as they are written, with their parentheses.
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
    /// Whether the source says when it is checked, be it the default.
    pub(crate) deferral_said: bool,
    pub(crate) not_valid: bool,
    pub(crate) not_enforced: bool,
    pub(crate) no_inherit: bool,
    /// The column that it stands at.
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
    /// The last column is a period that must not overlap.
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
    /// Each with its operator.
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
    /// The index of the partitioned table that it is a part of.
    pub(crate) parent: Option<Name>,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct IndexItem {
    /// A column by its name, or an expression.
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
    /// With their columns, in the server's order.
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
    /// `EXECUTE PROCEDURE`, as older texts say it.
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

#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) name: Name,
    pub(crate) materialized: bool,
    pub(crate) recursive: bool,
    pub(crate) columns: Vec<String>,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) query: Sql,
    pub(crate) no_data: bool,
    pub(crate) indexes: Listed<String, Index>,
    pub(crate) triggers: Listed<String, Trigger>,
    pub(crate) column_comments: BTreeMap<String, String>,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) arguments: Vec<Argument>,
    /// Types of the arguments that callers give, which tell functions of one name apart.
    pub(crate) signature: String,
    pub(crate) returns: Option<Returns>,
    pub(crate) language: String,
    /// `IMMUTABLE`, `STABLE` or `VOLATILE`.
    pub(crate) volatility: &'static str,
    pub(crate) strict: bool,
    pub(crate) security_definer: bool,
    pub(crate) leakproof: bool,
    pub(crate) window: bool,
    /// `UNSAFE`, `RESTRICTED` or `SAFE`.
    pub(crate) parallel: String,
    pub(crate) cost: Option<String>,
    pub(crate) rows: Option<String>,
    pub(crate) support: Option<String>,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) body: Body,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Argument {
    /// `IN`, `OUT`, `INOUT`, `VARIADIC`, `TABLE`.
    pub(crate) mode: &'static str,
    pub(crate) name: Option<String>,
    pub(crate) data_type: Type,
    pub(crate) default: Option<Sql>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Returns {
    pub(crate) set: bool,
    pub(crate) data_type: Type,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// What stands in the string.
    Text(String),
    /// A library and the name in it.
    Library(String, Option<String>),
    /// `RETURN …` or `BEGIN ATOMIC … END`.
    Sql(Sql),
}

impl Default for Body {
    fn default() -> Self {
        Body::Text(String::new())
    }
}

/// What privileges are on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Target {
    /// `TABLE`, `SEQUENCE`, `SCHEMA`, `FUNCTION`, `TYPE` …
    pub(crate) kind: &'static str,
    pub(crate) name: Name,
    /// Types of a function's arguments.
    pub(crate) signature: String,
}

/// One role's privileges on one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grant {
    /// With the columns for those on columns; the value says whether they may be passed on.
    pub(crate) privileges: BTreeMap<Privilege, bool>,
    /// The statements' grantees together, for printers that keep them together.
    pub(crate) statements: Vec<GrantStatement>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Privilege {
    pub(crate) name: String,
    /// Sorted; empty for the whole object.
    pub(crate) columns: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrantStatement {
    /// Number of the statement in its schema.
    pub(crate) number: usize,
    /// As written.
    pub(crate) privileges: Vec<Privilege>,
    pub(crate) roles: Vec<String>,
    pub(crate) grantable: bool,
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

impl Table {
    /// The primary key.
    pub(crate) fn primary(&self) -> Option<&Constraint> {
        self.constraints
            .values()
            .find(|constraint| matches!(constraint.kind, ConstraintKind::Primary(_)))
    }
}
