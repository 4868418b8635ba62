//! What the database says about a statement.

use crate::TextId;

/// The database's plan of one SELECT digest, taken with one sample of its literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedStatement {
    /// The statement.
    pub digest: TextId,
    /// One step a table it reads, in the database's order.
    pub steps: Vec<PlanStep>,
}

/// How a statement reads one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// The table's real name (not its alias).
    pub table: String,
    /// How it is read.
    pub access: Access,
    /// Rows the database expects to read in this step; 0 when it does not tell.
    pub rows: u64,
    /// Rows of the table, estimated or counted; 0 when unknown.
    pub table_rows: u64,
    /// Whether a sort of its own follows (`Using filesort`, `USE TEMP B-TREE FOR ORDER BY`,
    /// `Sort`).
    pub sorts: bool,
    /// Indexes the table has, the primary key included, each with its columns in order.
    pub indexes: Vec<IndexColumns>,
    /// Columns of the table.
    pub columns: Vec<String>,
}

/// An index and its columns in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumns {
    /// Its name.
    pub name: String,
    /// Its columns; an expression is kept as its text.
    pub columns: Vec<String>,
}

/// How a table is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every row, or every entry of an index.
    FullScan,
    /// By an index of that name.
    Index(String),
    /// By primary key or rowid.
    PrimaryKey,
    /// Something else (a constant, a subquery).
    Other,
}
