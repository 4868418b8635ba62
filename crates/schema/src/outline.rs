//! A schema of any dialect in one form, as far as shared by all: the input of linting and of other
//! formats.
//!
//! Expressions and types are SQL of the schema's own dialect. What has no place here is listed by
//! kind and name.

use crate::{Object, Schema};

/// Tables of a schema, with dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Schemas apart from the default one (PostgreSQL).
    pub schemas: Vec<String>,
    /// Extensions (PostgreSQL).
    pub extensions: Vec<String>,
    /// Enum types and labels (PostgreSQL).
    pub enums: Vec<(String, Vec<String>)>,
    /// In the schema's order.
    pub tables: Vec<Table>,
    /// Everything else.
    pub others: Vec<Object>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Name, with the schema unless the default one.
    pub name: String,
    /// In order.
    pub columns: Vec<Column>,
    /// Columns of the primary key.
    pub primary_key: Vec<String>,
    /// Indexes other than the ones of constraints.
    pub indexes: Vec<Index>,
    /// Unique constraints, on PostgreSQL and SQLite.
    pub uniques: Vec<Unique>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Checks.
    pub checks: Vec<Check>,
    /// Exclusion constraints (PostgreSQL).
    pub exclusions: Vec<Exclusion>,
    /// The text.
    pub comment: Option<String>,
    /// Default character set (MySQL).
    pub charset: Option<String>,
    /// Default collation (MySQL).
    pub collation: Option<String>,
    /// Whether the rows are stored in the partitions of another table.
    pub is_partition: bool,
    /// Other features, such as `partitioning`, `row security`.
    pub others: Vec<String>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Type as spelled by the server, with arguments, without array brackets and `unsigned`.
    pub data_type: String,
    /// One level of `[]`.
    pub is_array: bool,
    /// MySQL's integers and decimals.
    pub is_unsigned: bool,
    /// Whether NULL is refused.
    pub is_not_null: bool,
    /// The default, as SQL.
    pub default: Option<String>,
    /// `ON UPDATE` (MySQL).
    pub on_update: Option<String>,
    /// Whether the server numbers rows: `serial`, `AUTO_INCREMENT`, `AUTOINCREMENT`.
    pub is_counted: bool,
    /// Whether the column is an identity column (PostgreSQL).
    pub is_identity: bool,
    /// Expression of a computed column, and `true` when stored.
    pub generated: Option<(String, bool)>,
    /// Collation, when the column's own.
    pub collation: Option<String>,
    /// Character set, when the column's own.
    pub charset: Option<String>,
    /// The text.
    pub comment: Option<String>,
}

/// An index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Name of the index.
    pub name: String,
    /// Whether equal rows are refused.
    pub is_unique: bool,
    /// Such as `btree`, `gin`, `fulltext`, in lower case; empty for the usual one.
    pub method: String,
    /// In order.
    pub items: Vec<IndexItem>,
    /// Columns only stored in the index (PostgreSQL).
    pub include: Vec<String>,
    /// The condition of a partial index.
    pub predicate: Option<String>,
    /// Two NULLs are equal (PostgreSQL).
    pub is_null_equal: bool,
    /// The text.
    pub comment: Option<String>,
    /// Whether the server does not use the index for queries (MySQL).
    pub is_invisible: bool,
}

/// What an index sorts by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexItem {
    /// A column; else there is an expression.
    pub column: Option<String>,
    /// The whole item as SQL.
    pub sql: String,
    /// Letters or bytes of a prefix (MySQL).
    pub length: Option<String>,
    /// Operator class (PostgreSQL).
    pub class: Option<String>,
    /// Highest first.
    pub is_descending: bool,
    /// Position of NULLs, unless implied by the direction (PostgreSQL).
    pub nulls: Option<&'static str>,
}

/// When a constraint is looked at (PostgreSQL, SQLite).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deferral {
    /// At once.
    #[default]
    Never,
    /// At once, unless the transaction says otherwise.
    Immediate,
    /// At the transaction's end.
    Deferred,
}

/// A unique constraint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unique {
    /// Name of the constraint, or empty.
    pub name: String,
    /// In order.
    pub columns: Vec<String>,
    /// When the constraint is checked.
    pub deferral: Deferral,
    /// Two NULLs are equal.
    pub is_null_equal: bool,
}

/// A foreign key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignKey {
    /// Name of the foreign key, or empty.
    pub name: String,
    /// Here.
    pub columns: Vec<String>,
    /// The other table.
    pub table: String,
    /// Columns of the referenced table; empty for the primary key.
    pub references: Vec<String>,
    /// `CASCADE`, `SET NULL` …; `None` for `NO ACTION`.
    pub on_delete: Option<String>,
    /// The same for updates.
    pub on_update: Option<String>,
    /// When the foreign key is checked.
    pub deferral: Deferral,
    /// Whether existing rows were not validated.
    pub is_not_valid: bool,
}

/// A check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Name of the check, or empty.
    pub name: String,
    /// Condition without the enclosing parentheses.
    pub expression: String,
    /// Whether existing rows were not validated.
    pub is_not_valid: bool,
}

/// An exclusion constraint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusion {
    /// Name of the constraint.
    pub name: String,
    /// Such as `gist`.
    pub method: String,
    /// Elements, each with an operator.
    pub expression: String,
    /// The condition.
    pub predicate: Option<String>,
    /// When the constraint is checked.
    pub deferral: Deferral,
}

impl Schema {
    /// Returns the schema in the form shared by all dialects.
    pub fn outline(&self) -> Outline {
        match self {
            Schema::Mysql(schema) => schema.outline(),
            Schema::Postgres(schema) => schema.outline(),
            Schema::Sqlite(schema) => schema.outline(),
        }
    }
}
