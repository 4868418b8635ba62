//! Views, triggers, events and routines.

use super::Name;
use crate::mysql::expr::Expr;

/// A view.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Its name.
    pub name: Name,
    /// What it was called before.
    pub renamed_from: Option<String>,
    /// The name on the server, where a plan gives it the one above.
    pub was: Option<Name>,
    /// In upper case; `UNDEFINED` when not written.
    pub algorithm: String,
    /// As printed; the creating user when `None`.
    pub definer: Option<String>,
    /// In upper case, when written.
    pub security: Option<String>,
    /// Names of the columns, where the view has its own.
    pub columns: Vec<Name>,
    /// The query, with check option; its normal form holds the names of the columns.
    pub body: Expr,
    /// Names in the query, in lower case and in order: tables and views are among them.
    pub tables: Vec<String>,
    /// The statement as written.
    pub source: String,
}

/// A trigger.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    /// Its name.
    pub name: Name,
    /// Name of its table.
    pub table: Name,
    /// As printed.
    pub definer: Option<String>,
    /// `BEFORE INSERT` and so on, in upper case.
    pub event: String,
    /// `FOLLOWS x`, which servers do not tell again.
    pub order: String,
    /// What it does.
    pub body: Expr,
    /// The statement as written.
    pub source: String,
}

/// An event.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// Its name.
    pub name: Name,
    /// As printed.
    pub definer: Option<String>,
    /// `EVERY …` or `AT …`.
    pub schedule: Expr,
    /// STARTS and ENDS.
    pub bounds: Expr,
    /// Whether a start was written; the server makes one otherwise.
    pub has_start: bool,
    /// `ON COMPLETION PRESERVE`
    pub is_preserved: bool,
    /// `ENABLE`, `DISABLE` or `DISABLE ON SLAVE`.
    pub status: String,
    /// `COMMENT`
    pub comment: String,
    /// What it does.
    pub body: Expr,
    /// The statement as written.
    pub source: String,
}

/// A routine or a sequence, which is kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// `procedure`, `function` or `sequence`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// What is compared of it.
    pub norm: String,
    /// As written.
    pub text: String,
}
