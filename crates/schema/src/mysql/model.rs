//! What a MySQL schema is made of. Beside what was written stands its normal form, filled in by
//! [`super::normal`]: comparing looks at that, printing at what was written.

mod grants;
mod programs;

use super::expr::Expr;

pub use grants::{Grant, Granted};
pub use programs::{Event, Opaque, Trigger, View};

/// A name, possibly quoted in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Without quotes.
    pub text: String,
    /// Whether the name was quoted in the source.
    pub is_quoted: bool,
}

impl Name {
    /// A name printed by servers in quotes.
    pub fn quoted(text: impl Into<String>) -> Name {
        Name {
            text: text.into(),
            is_quoted: true,
        }
    }
}

/// A base table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name of the table.
    pub name: Name,
    /// Former name, from a comment.
    pub renamed_from: Option<String>,
    /// Name on the server, where the plan renames the table.
    pub was: Option<Name>,
    /// In order.
    pub columns: Vec<Column>,
    /// Indexes, including the primary key and ones implied by foreign keys.
    pub indexes: Vec<Index>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Checks of the table; on MariaDB, column checks are stored with the column.
    pub checks: Vec<Check>,
    /// Engine, character set and so on.
    pub options: Options,
    /// `PARTITION BY …`
    pub partitioning: Option<Partitioning>,
    /// `PERIOD FOR …` clauses, as printed.
    pub periods: Vec<String>,
    /// The original `CREATE TABLE`, and the statements with later additions.
    pub source: Vec<String>,
    /// Whether the original statements are outdated by a rename.
    pub is_moved: bool,
    /// Normal form of the options.
    pub norm: TableNorm,
}

/// What a server would store of a table's options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableNorm {
    /// In lower case.
    pub engine: String,
    /// `None` when unknown, which equals all.
    pub charset: Option<String>,
    /// `None` when unknown.
    pub collation: Option<String>,
    /// The text.
    pub comment: String,
    /// In upper case.
    pub row_format: Option<String>,
    /// All others, in order.
    pub others: Vec<String>,
    /// Periods, the one of the table's own past apart.
    pub periods: Vec<String>,
}

/// Options of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// In lower case; the default engine when `None`.
    pub engine: Option<String>,
    /// In lower case.
    pub charset: Option<String>,
    /// In lower case.
    pub collation: Option<String>,
    /// The text.
    pub comment: Option<String>,
    /// In upper case; `DEFAULT` is `None`.
    pub row_format: Option<String>,
    /// The counter.
    pub auto_increment: Option<String>,
    /// Other options by upper-case name, with values as printed.
    pub others: Vec<(String, String)>,
}

/// A data type as written, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataType {
    /// Such as `varchar` or `double precision`.
    pub name: String,
    /// What stands in parentheses: numbers, or the values of an enum or set as literals.
    pub arguments: Vec<String>,
    /// `UNSIGNED`
    pub is_unsigned: bool,
    /// `ZEROFILL`
    pub is_zerofill: bool,
    /// `BINARY` behind a text type.
    pub is_binary: bool,
    /// `CHARACTER SET`
    pub charset: Option<String>,
    /// `COLLATE`
    pub collation: Option<String>,
}

/// A default value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, a string or another constant.
    Literal(Expr),
    /// `(expression)`, or an expression valid without parentheses on MariaDB.
    Expression(Expr),
}

/// How a generated column comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Expression of the column.
    pub expr: Expr,
    /// Kept with the row.
    pub is_stored: bool,
}

/// A column.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Name of the column.
    pub name: Name,
    /// Former name, from a comment.
    pub renamed_from: Option<String>,
    /// Name on the server, where the plan renames the column.
    pub was: Option<Name>,
    /// As written.
    pub data_type: DataType,
    /// `NULL` or `NOT NULL`, when written.
    pub nullable: Option<bool>,
    /// `DEFAULT`
    pub default: Option<Value>,
    /// `ON UPDATE`
    pub on_update: Option<Expr>,
    /// `AUTO_INCREMENT`
    pub is_auto_increment: bool,
    /// `GENERATED ALWAYS AS`
    pub generated: Option<Generated>,
    /// `INVISIBLE`
    pub is_invisible: bool,
    /// `SRID`
    pub srid: Option<String>,
    /// `COMMENT`
    pub comment: Option<String>,
    /// `UNIQUE` was written with the column.
    pub is_unique: bool,
    /// Unnamed checks written with the column.
    pub checks: Vec<Check>,
    /// Everything else, as printed.
    pub others: Vec<String>,
    /// The normal form.
    pub norm: ColumnNorm,
}

/// What a server would store of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNorm {
    /// Such as `int unsigned`.
    pub data_type: String,
    /// Of text; `None` when unknown, which equals all.
    pub charset: Option<String>,
    /// Of text; `None` when unknown.
    pub collation: Option<String>,
    /// Whether NULL is allowed.
    pub is_nullable: bool,
    /// Canonical.
    pub default: Option<String>,
    /// Canonical.
    pub on_update: Option<String>,
    /// Canonical expression, and `true` when stored.
    pub generated: Option<(String, bool)>,
    /// Canonical, in order.
    pub checks: Vec<String>,
    /// Counter, visibility, comment and so on.
    pub rest: Vec<String>,
}

/// Kinds of indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexKind {
    /// The primary key.
    Primary,
    /// Unique.
    Unique,
    /// Not unique.
    #[default]
    Plain,
    /// `FULLTEXT`
    Fulltext,
    /// `SPATIAL`
    Spatial,
    /// `VECTOR`
    Vector,
}

/// One part of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// A column's name, or an expression.
    pub key: Key,
    /// Letters or bytes of a prefix.
    pub length: Option<String>,
    /// `DESC`
    pub is_descending: bool,
    /// `WITHOUT OVERLAPS`
    pub is_period: bool,
}

/// What an index part is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A column.
    Column(Name),
    /// A functional part.
    Expr(Expr),
}

/// An index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Kind of the index.
    pub kind: IndexKind,
    /// Keyword in the source: `KEY`, `INDEX` or none.
    pub word: &'static str,
    /// Name of the index, the server's when none was written.
    pub name: Name,
    /// Former name, from a comment.
    pub renamed_from: Option<String>,
    /// Name on the server, where the plan renames the index.
    pub was: Option<Name>,
    /// In order.
    pub parts: Vec<Part>,
    /// `USING`, in upper case.
    pub using: Option<String>,
    /// `WITH PARSER`
    pub parser: Option<String>,
    /// `COMMENT`
    pub comment: Option<String>,
    /// `INVISIBLE` or `IGNORED`.
    pub is_invisible: bool,
    /// Other options, as printed.
    pub others: Vec<String>,
    /// Made by the server for a foreign key.
    pub is_implied: bool,
    /// Whether the index was written with a column.
    pub is_inline: bool,
    /// Separate statement in the source, if any.
    pub statement: Option<String>,
    /// The normal form, without the name.
    pub norm: String,
}

impl Part {
    /// Name of the column.
    pub(super) fn column(&self) -> Option<&Name> {
        match &self.key {
            Key::Column(name) => Some(name),
            Key::Expr(_) => None,
        }
    }

    /// Whether the part is the given column.
    pub(super) fn is_of(&self, column: &Name) -> bool {
        matches!(&self.key, Key::Column(name) if name.is(column))
    }
}

impl Index {
    /// Whether the index is the primary key.
    pub(super) fn is_primary(&self) -> bool {
        self.kind == IndexKind::Primary
    }

    /// Whether the first columns are the given ones, in order and whole.
    pub fn covers(&self, columns: &[Name]) -> bool {
        let is_tree = matches!(
            self.kind,
            IndexKind::Primary | IndexKind::Unique | IndexKind::Plain
        );
        is_tree
            && self.parts.len() >= columns.len()
            && self.parts.iter().zip(columns).all(|(part, column)| {
                part.length.is_none()
                    && matches!(&part.key, Key::Column(name) if name.text.eq_ignore_ascii_case(&column.text))
            })
    }
}

/// A foreign key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignKey {
    /// As written; the server makes one otherwise.
    pub name: Option<Name>,
    /// Former name, from a comment.
    pub renamed_from: Option<String>,
    /// Here.
    pub columns: Vec<Name>,
    /// Name of another database, if one was written.
    pub database: Option<String>,
    /// There.
    pub table: Name,
    /// There.
    pub references: Vec<Name>,
    /// Action in upper case; `None` for the server's default.
    pub on_delete: Option<String>,
    /// In upper case.
    pub on_update: Option<String>,
    /// Name given between `FOREIGN KEY` and the columns.
    pub index: Option<String>,
    /// Whether the key was written with a column.
    pub is_inline: bool,
    /// Separate statement in the source, if any.
    pub statement: Option<String>,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// As written; the server makes one otherwise.
    pub name: Option<Name>,
    /// Former name, from a comment.
    pub renamed_from: Option<String>,
    /// The condition.
    pub expr: Expr,
    /// `NOT ENFORCED` is absent.
    pub is_enforced: bool,
    /// Column of the check in the source, if written with one.
    pub is_inline: Option<String>,
}

/// `PARTITION BY …`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partitioning {
    /// `RANGE (…)` and all up to the list, as written.
    pub head: String,
    /// The same, canonical.
    pub norm: String,
    /// Whether partitions are given by RANGE or LIST.
    pub has_bounds: bool,
    /// Whether partitions are given by RANGE.
    pub is_range: bool,
    /// Partition key, as written: the columns or the expression in parentheses.
    pub key: String,
    /// Partitions in order; empty when only a number is given.
    pub partitions: Vec<Partition>,
}

/// One partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Name of the partition.
    pub name: Name,
    /// The definition as written, from `PARTITION` on.
    pub text: String,
    /// The same without name and default engine, canonical.
    pub norm: String,
    /// Whether the partition has no upper bound (`MAXVALUE`).
    pub is_max: bool,
    /// Values of the partition (`VALUES IN`); empty for a default partition and for other kinds.
    pub values: Vec<Expr>,
    /// Bound in parentheses behind `LESS THAN`; `None` where a part is `MAXVALUE`.
    pub bound: Option<String>,
}
