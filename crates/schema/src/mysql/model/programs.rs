//! Views, triggers, events and routines.

use super::Name;
use crate::ObjectKind;
use crate::mysql::expr::Expr;

/// A view.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Name of the view.
    pub name: Name,
    /// Former name, from a comment.
    pub renamed_from: Option<String>,
    /// Name on the server, where the plan renames the view.
    pub was: Option<Name>,
    /// In upper case; `UNDEFINED` when not written.
    pub algorithm: String,
    /// As printed; the creating user when `None`.
    pub definer: Option<String>,
    /// In upper case, when written.
    pub security: Option<String>,
    /// Column names, where given by the view.
    pub columns: Vec<Name>,
    /// Query with check option; the normal form includes the column names.
    pub body: Expr,
    /// Names in the query, in lower case and sorted; includes all tables and views read.
    pub tables: Vec<String>,
    /// The statement as written.
    pub source: String,
}

/// A trigger.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    /// Name of the trigger.
    pub name: Name,
    /// Name of the table.
    pub table: Name,
    /// As printed.
    pub definer: Option<String>,
    /// `BEFORE INSERT` and so on, in upper case.
    pub event: String,
    /// `FOLLOWS x`, which servers do not tell again.
    pub order: String,
    /// Statement executed by the trigger.
    pub body: Expr,
    /// The statement as written.
    pub source: String,
}

/// An event.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// Name of the event.
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
    /// Statement executed by the event.
    pub body: Expr,
    /// The statement as written.
    pub source: String,
}

/// A routine, a package or a sequence, stored as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// A procedure, function, package, package's body or sequence.
    pub kind: ObjectKind,
    /// Name of the object.
    pub name: String,
    /// Compared part of the definition.
    pub norm: String,
    /// As written.
    pub text: String,
}
