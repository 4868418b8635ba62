//! Columns and column constraints.

use super::super::cursor::{Cursor, Failure, text};
use super::super::expr::{Pieces, piece_of_name, pieces};
use super::super::lexer::Kind;
use super::super::model::{Check, Column, ForeignKey, Generated, Inline, Key, Name, Table};
use super::table::empty;

/// Reads the column of `ALTER TABLE … ADD COLUMN`; returns a table with the column's constraints,
/// and the column.
pub(super) fn added(cursor: &mut Cursor<'_>) -> Result<(Table, Column), Failure> {
    let mut parsed = empty(Name::of(""));
    let column = column(&mut parsed, cursor)?;
    Ok((parsed, column))
}

/// Reads a column; keys, checks and references are added to the table.
pub(super) fn column(table: &mut Table, cursor: &mut Cursor<'_>) -> Result<Column, Failure> {
    let name = cursor.name()?;
    let start = cursor.at;
    let mut column = Column {
        name,
        data_type: data_type(cursor)?,
        definition: String::new(),
        not_null: None,
        default: None,
        collation: None,
        generated: None,
        inline: Inline::default(),
        renamed_from: None,
    };
    loop {
        let mut name = None;
        while cursor.take("constraint") {
            name = Some(cursor.name()?.text);
        }
        if !constraint(table, &mut column, cursor, name)? {
            break;
        }
    }
    column.definition = cursor.text_since(start).to_owned();
    Ok(column)
}

fn data_type(cursor: &mut Cursor<'_>) -> Result<Pieces, Failure> {
    let start = cursor.at;
    while let Some(token) = cursor.peek() {
        let ends = token.kind == Kind::Sign
            || token.kind == Kind::Word && is_constraint_word(token.text(cursor.source));
        if ends {
            break;
        }
        cursor.at += 1;
    }
    if cursor.at > start && cursor.sees_sign("(") {
        cursor.bracketed()?;
    }
    Ok(pieces(cursor.source, &cursor.tokens[start..cursor.at]))
}

fn is_constraint_word(word: &str) -> bool {
    [
        "constraint",
        "primary",
        "not",
        "null",
        "unique",
        "check",
        "default",
        "collate",
        "references",
        "generated",
        "as",
    ]
    .iter()
    .any(|known| word.eq_ignore_ascii_case(known))
}

/// One constraint; `false` when there is none any more.
fn constraint(
    table: &mut Table,
    column: &mut Column,
    cursor: &mut Cursor<'_>,
    name: Option<String>,
) -> Result<bool, Failure> {
    if cursor.take_all(&["not", "null"]) {
        column.not_null = Some(conflict(cursor)?);
    } else if cursor.take("null") {
        conflict(cursor)?;
    } else if cursor.take_all(&["primary", "key"]) {
        column.inline.is_primary_key = true;
        table.primary_key = Some(primary_key(column, cursor, name)?);
    } else if cursor.take("unique") {
        column.inline.is_unique = true;
        let key = key_of(column, cursor, name)?;
        table.uniques.push(key);
    } else if cursor.take("check") {
        check(table, cursor, name)?;
        column.inline.checks.extend(table.checks.last().cloned());
    } else if cursor.take("default") {
        column.default = default(cursor)?;
    } else if cursor.take("collate") {
        let collation = cursor.name()?.key();
        column.collation = (collation != "binary").then_some(collation);
    } else if cursor.take("references") {
        references(table, cursor, name, vec![column.name.key()])?;
        column
            .inline
            .foreign_keys
            .extend(table.foreign_keys.last().cloned());
    } else if cursor.take_all(&["generated", "always", "as"]) || cursor.take("as") {
        column.generated = Some(generated(cursor)?);
    } else if name.is_some() {
        return Err(cursor.wrong("expected a constraint"));
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn key_of(column: &Column, cursor: &mut Cursor<'_>, name: Option<String>) -> Result<Key, Failure> {
    Ok(Key {
        name,
        columns: vec![vec![piece_of_name(&column.name.text)]],
        conflict: conflict(cursor)?,
        is_autoincrement: false,
        is_descending_at_column: false,
    })
}

fn primary_key(
    column: &Column,
    cursor: &mut Cursor<'_>,
    name: Option<String>,
) -> Result<Key, Failure> {
    let is_descending = cursor.take("desc");
    if !is_descending {
        cursor.take("asc");
    }
    let mut key = key_of(column, cursor, name)?;
    key.is_autoincrement = cursor.take("autoincrement");
    key.is_descending_at_column = is_descending;
    if is_descending {
        key.columns[0].push("desc".to_owned());
    }
    Ok(key)
}

/// A key's column without what is the default.
pub(super) fn key_column(mut pieces: Pieces) -> Pieces {
    if pieces.last().is_some_and(|last| last == "asc") {
        pieces.pop();
    }
    // A text is taken for a name here.
    if let Some(first) = pieces.first_mut().filter(|first| first.starts_with('\'')) {
        *first = piece_of_name(&super::super::expr::unquoted(first));
    }
    pieces
}

/// `ON CONFLICT …`; empty for the default.
pub(super) fn conflict(cursor: &mut Cursor<'_>) -> Result<String, Failure> {
    if !cursor.take_all(&["on", "conflict"]) {
        return Ok(String::new());
    }
    let how = cursor.name()?.key();
    Ok(if how == "abort" { String::new() } else { how })
}

/// A check's expression.
pub(super) fn check(
    table: &mut Table,
    cursor: &mut Cursor<'_>,
    name: Option<String>,
) -> Result<(), Failure> {
    let inner = cursor.bracketed()?;
    conflict(cursor)?;
    table.checks.push(Check {
        name,
        expression: pieces(cursor.source, inner),
        text: text(cursor.source, inner).to_owned(),
    });
    Ok(())
}

fn default(cursor: &mut Cursor<'_>) -> Result<Option<Pieces>, Failure> {
    let value = if cursor.sees_sign("(") {
        pieces(cursor.source, cursor.bracketed()?)
    } else {
        let start = cursor.at;
        if cursor.sees_sign("-") || cursor.sees_sign("+") {
            cursor.at += 1;
        }
        let is_value = cursor.peek().is_some_and(|token| token.kind != Kind::Sign);
        if !is_value {
            return Err(cursor.wrong("expected a default"));
        }
        cursor.at += 1;
        pieces(cursor.source, &cursor.tokens[start..cursor.at])
    };
    Ok((value != ["null"]).then_some(value))
}

fn generated(cursor: &mut Cursor<'_>) -> Result<Generated, Failure> {
    let inner = cursor.bracketed()?;
    let is_stored = cursor.take("stored");
    if !is_stored {
        cursor.take("virtual");
    }
    Ok(Generated {
        expression: pieces(cursor.source, inner),
        text: text(cursor.source, inner).to_owned(),
        is_stored,
    })
}

/// Names between commas.
pub(super) fn names(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Failure> {
    let mut names = vec![cursor.name()?.key()];
    while cursor.take_sign(",") {
        names.push(cursor.name()?.key());
    }
    if !cursor.is_at_end() {
        return Err(cursor.wrong("expected `,` or `)`"));
    }
    Ok(names)
}

/// What follows `REFERENCES`.
pub(super) fn references(
    table: &mut Table,
    cursor: &mut Cursor<'_>,
    name: Option<String>,
    columns: Vec<String>,
) -> Result<(), Failure> {
    let parent = cursor.name()?.key();
    let parent_columns = if cursor.sees_sign("(") {
        names(&mut Cursor::new(cursor.source, cursor.bracketed()?))?
    } else {
        Vec::new()
    };
    let mut clauses = Vec::new();
    while let Some(clause) = reference_clause(cursor)? {
        clauses.extend(clause);
    }
    clauses.sort();
    table.foreign_keys.push(ForeignKey {
        name,
        columns,
        parent,
        parent_columns,
        clauses,
    });
    Ok(())
}

/// Reads one clause of a reference: empty for a default, `None` at the end.
fn reference_clause(cursor: &mut Cursor<'_>) -> Result<Option<Vec<String>>, Failure> {
    if cursor.sees("on") && (cursor.sees_after(1, "delete") || cursor.sees_after(1, "update")) {
        let event = if cursor.sees_after(1, "delete") {
            "delete"
        } else {
            "update"
        };
        cursor.at += 2;
        let mut action = cursor.name()?.key();
        if action == "no" || action == "set" {
            action = format!("{action} {}", cursor.name()?.key());
        }
        let is_default = action == "no action";
        return Ok(Some(if is_default {
            Vec::new()
        } else {
            vec![format!("on {event} {action}")]
        }));
    }
    if cursor.take("match") {
        let how = cursor.name()?.key();
        let is_default = how == "simple" || how == "none";
        return Ok(Some(if is_default {
            Vec::new()
        } else {
            vec![format!("match {how}")]
        }));
    }
    let is_not = cursor.take_all(&["not", "deferrable"]);
    if !is_not && !cursor.take("deferrable") {
        return Ok(None);
    }
    let is_deferred = cursor.take("initially") && cursor.name()?.key() == "deferred";
    let clause = "deferrable initially deferred".to_owned();
    Ok(Some(if is_deferred && !is_not {
        vec![clause]
    } else {
        Vec::new()
    }))
}
