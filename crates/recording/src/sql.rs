//! Plans of statements from the database.

use crate::TextId;

/// The database's plan of one SELECT digest, explained with one sample of the literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedStatement {
    /// The statement.
    pub digest: TextId,
    /// One step per table read, in the database's order.
    pub steps: Vec<PlanStep>,
}

/// Access of a statement to one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// The table's real name (not the alias).
    pub table: String,
    /// Access to the table.
    pub access: Access,
    /// Rows expected by the database in the step; 0 if not reported.
    pub rows: u64,
    /// Rows of the table, estimated or counted; 0 when unknown.
    pub table_rows: u64,
    /// Whether the step is followed by a separate sort (`Using filesort`,
    /// `USE TEMP B-TREE FOR ORDER BY`, `Sort`).
    pub sorts: bool,
    /// Indexes of the table, the primary key included, each with columns in order.
    pub indexes: Vec<IndexColumns>,
    /// Columns of the table.
    pub columns: Vec<String>,
}

/// An index with columns in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumns {
    /// Name of the index.
    pub name: String,
    /// Columns of the index; an expression is stored as text.
    pub columns: Vec<String>,
}

/// Way of reading a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every row, or every entry of an index.
    FullScan,
    /// By the index of the given name.
    Index(String),
    /// By the primary key or the rowid.
    PrimaryKey,
    /// Something else (a constant, a subquery).
    Other,
}
