//! `CREATE TABLE`.

use super::super::cursor::{Cursor, Failure, text};
use super::super::expr::pieces;
use super::super::model::{Key, Name, Table};
use super::Statement;
use super::column::{self, conflict, key_column};

/// What follows `CREATE TABLE`.
pub(super) fn table(mut cursor: Cursor<'_>) -> Result<Statement, Failure> {
    super::if_not_exists(&mut cursor);
    let name = cursor.qualified_name()?;
    if cursor.sees("as") {
        // Its columns are those of a query, which only a server can tell.
        return Ok(Statement::Opaque);
    }
    let mut table = empty(name);
    table.body_start =
        cursor.peek().map_or(0, |token| token.start()) - super::span(cursor.tokens).start;
    let open = cursor.at;
    let inner = cursor.bracketed()?;
    let mut body = Cursor::new(cursor.source, inner);
    loop {
        item(&mut table, &mut body)?;
        if body.is_at_end() {
            break;
        }
        // SQLite lets the comma between the table's constraints be missing.
        if !body.take_sign(",") && table.constraint_texts.is_empty() {
            return Err(body.wrong("expected `,` or `)`"));
        }
    }
    if table.columns.is_empty() {
        cursor.at = open + 1;
        return Err(cursor.wrong("expected a column"));
    }
    options(&mut table, &mut cursor)?;
    table.text = Some(text(cursor.source, cursor.tokens).to_owned());
    Ok(Statement::Table(Box::new(table)))
}

/// A table without anything yet.
pub(super) fn empty(name: Name) -> Table {
    Table {
        name,
        columns: Vec::new(),
        primary_key: None,
        uniques: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        is_strict: false,
        is_without_rowid: false,
        constraint_texts: Vec::new(),
        text: None,
        body_start: 0,
        renamed_from: None,
    }
}

fn item(table: &mut Table, cursor: &mut Cursor<'_>) -> Result<(), Failure> {
    let is_constraint = ["constraint", "primary", "unique", "check", "foreign"]
        .iter()
        .any(|word| cursor.sees(word));
    if is_constraint {
        constraint(table, cursor)
    } else if table.constraint_texts.is_empty() {
        let column = column::column(table, cursor)?;
        table.columns.push(column);
        Ok(())
    } else {
        Err(cursor.wrong("expected a constraint"))
    }
}

fn constraint(table: &mut Table, cursor: &mut Cursor<'_>) -> Result<(), Failure> {
    let start = cursor.at;
    let mut name = None;
    while cursor.take("constraint") {
        name = Some(cursor.name()?.text);
    }
    if cursor.take_all(&["primary", "key"]) {
        table.primary_key = Some(key(cursor, name)?);
    } else if cursor.take("unique") {
        let key = key(cursor, name)?;
        table.uniques.push(key);
    } else if cursor.take("check") {
        column::check(table, cursor, name)?;
    } else if cursor.take_all(&["foreign", "key"]) {
        let mut columns = Cursor::new(cursor.source, cursor.bracketed()?);
        let columns = column::names(&mut columns)?;
        cursor.expect("references")?;
        column::references(table, cursor, name, columns)?;
    } else {
        return Err(cursor.wrong("expected PRIMARY KEY, UNIQUE, CHECK or FOREIGN KEY"));
    }
    let written = cursor.text_since(start).to_owned();
    table.constraint_texts.push(written);
    Ok(())
}

fn key(cursor: &mut Cursor<'_>, name: Option<String>) -> Result<Key, Failure> {
    let inner = cursor.bracketed()?;
    let mut is_autoincrement = false;
    let mut columns = Vec::new();
    for tokens in super::list(cursor.source, inner) {
        let last = tokens.last();
        let tokens = if last.is_some_and(|token| token.is_word(cursor.source, "autoincrement")) {
            is_autoincrement = true;
            &tokens[..tokens.len() - 1]
        } else {
            tokens
        };
        columns.push(key_column(pieces(cursor.source, tokens)));
    }
    Ok(Key {
        name,
        columns,
        conflict: conflict(cursor)?,
        is_autoincrement,
        is_descending_at_column: false,
    })
}

fn options(table: &mut Table, cursor: &mut Cursor<'_>) -> Result<(), Failure> {
    while !cursor.is_at_end() {
        if cursor.take("strict") {
            table.is_strict = true;
        } else if cursor.take_all(&["without", "rowid"]) {
            table.is_without_rowid = true;
        } else {
            return Err(cursor.wrong("expected STRICT or WITHOUT ROWID"));
        }
        if !cursor.take_sign(",") && !cursor.is_at_end() {
            return Err(cursor.wrong("expected `,` or the end of the statement"));
        }
    }
    Ok(())
}
