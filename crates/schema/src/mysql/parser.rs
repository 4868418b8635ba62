//! Statements parsed into parts of the model: as written, without the server's normal form.

pub(super) mod alter;
mod column;
mod grant;
mod index;
mod partition;
mod program;
mod table;

use super::cursor::Cursor;
use super::lexer::Fault;
use super::model::{Check, Column, ForeignKey, Index, Name};

pub(super) use column::data_type;
pub(super) use grant::{grantee, grants};
pub(super) use index::created as created_index;
pub(super) use program::{event, head, trigger, view};
pub(super) use table::{Created, VERSIONING, table};

/// One thing between the parentheses of a table, or behind ADD.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A column, with attached constraints.
    Column(Box<Column>, Vec<Item>),
    Index(Index),
    ForeignKey(ForeignKey),
    Check(Check),
    /// `PERIOD FOR …`, as printed.
    Period(String),
}

/// An item of a table.
pub(super) fn item(cursor: &mut Cursor<'_, '_>) -> Result<Item, Fault> {
    let is_word = cursor
        .peek()
        .is_some_and(|token| token.kind == super::lexer::Kind::Word);
    if !is_word {
        return column::column(cursor);
    }
    let start = cursor.at;
    let mut constraint = None;
    if cursor.eat("CONSTRAINT") {
        constraint = Some(constraint_name(cursor)?);
    }
    if cursor.is("CHECK") {
        return Ok(Item::Check(check(cursor, constraint.flatten())?));
    }
    if cursor.is("FOREIGN") {
        return index::foreign_key(cursor, constraint.flatten()).map(Item::ForeignKey);
    }
    if cursor.is_seq(&["PERIOD", "FOR"]) {
        while !cursor.is_done() && !cursor.is_op(",") && !cursor.is_op(")") {
            cursor.at += 1;
            if cursor.is_op("(") {
                cursor.parens()?;
            }
        }
        return Ok(Item::Period(super::expr::text(cursor.since(start))));
    }
    if index::begins(cursor) {
        return index::index(cursor, constraint.flatten()).map(Item::Index);
    }
    if constraint.is_some() {
        return Err(cursor.fault("expected PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK"));
    }
    column::column(cursor)
}

/// The name behind CONSTRAINT, which may be left out.
fn constraint_name(cursor: &mut Cursor<'_, '_>) -> Result<Option<Name>, Fault> {
    let is_left_out = cursor.is_any(&["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"]);
    if is_left_out {
        Ok(None)
    } else {
        cursor.name().map(Some)
    }
}

/// `CHECK (…)`, which is next.
pub(super) fn check(cursor: &mut Cursor<'_, '_>, name: Option<Name>) -> Result<Check, Fault> {
    cursor.expect("CHECK")?;
    let tokens = cursor.parens()?;
    let is_enforced = !cursor.eat_seq(&["NOT", "ENFORCED"]);
    cursor.eat("ENFORCED");
    Ok(Check {
        name,
        renamed_from: None,
        expr: cursor.expr(tokens),
        is_enforced,
        is_inline: None,
    })
}
