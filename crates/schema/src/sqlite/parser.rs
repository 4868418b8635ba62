//! Statements defining a schema; everything else is classified by the first words.

mod column;
mod table;

use std::ops::Range;

use super::cursor::{Cursor, Failure, list, text};
use super::expr::pieces;
use super::lexer::Token;
use super::model::{Column, Index, IndexColumn, Name, Table, Whole, WholeKind};

/// A statement, as far as relevant to a schema.
#[derive(Debug)]
pub(super) enum Statement {
    Table(Box<Table>),
    Index(Box<Index>),
    Whole(Whole),
    AddColumn {
        table: Name,
        column: Box<Column>,
        parsed: Box<Table>,
    },
    RenameTable {
        table: Name,
        to: Name,
    },
    RenameColumn {
        table: Name,
        column: Name,
        to: Name,
    },
    DropColumn {
        table: Name,
        column: Name,
    },
    Drop {
        kind: DropKind,
        name: Name,
    },
    /// `INSERT` and other statements on rows.
    Data,
    /// Transactions, pragmas.
    Setting,
    /// Lives in the connection only, or is unknown.
    Opaque,
}

/// What `DROP` is followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DropKind {
    Table,
    Index,
    View,
    Trigger,
}

/// Offset and name of an object, a possible target of a `@renamed` comment.
pub(super) type Named = (usize, String);

/// Reads one statement; `names` receives the positions of all named objects and columns.
pub(super) fn statement(source: &str, tokens: &[Token]) -> Result<Statement, Failure> {
    let mut cursor = Cursor::new(source, tokens);
    for (word, kind) in [
        ("insert", Statement::Data),
        ("replace", Statement::Data),
        ("update", Statement::Data),
        ("delete", Statement::Data),
        ("select", Statement::Data),
        ("values", Statement::Data),
        ("with", Statement::Data),
        ("begin", Statement::Setting),
        ("commit", Statement::Setting),
        ("end", Statement::Setting),
        ("rollback", Statement::Setting),
        ("savepoint", Statement::Setting),
        ("release", Statement::Setting),
        ("pragma", Statement::Setting),
        ("analyze", Statement::Setting),
        ("vacuum", Statement::Setting),
        ("reindex", Statement::Setting),
    ] {
        if cursor.take(word) {
            return Ok(kind);
        }
    }
    if cursor.take("create") {
        return create(cursor);
    }
    if cursor.take("alter") {
        return alter(cursor);
    }
    if cursor.take("drop") {
        return drop_object(cursor);
    }
    Ok(Statement::Opaque)
}

fn create(mut cursor: Cursor<'_>) -> Result<Statement, Failure> {
    if cursor.take("temp") || cursor.take("temporary") {
        return Ok(Statement::Opaque);
    }
    if cursor.take("table") {
        return table::table(cursor);
    }
    if cursor.take_all(&["virtual", "table"]) {
        return whole(cursor, WholeKind::Virtual);
    }
    if cursor.take("view") {
        return whole(cursor, WholeKind::View);
    }
    if cursor.take("trigger") {
        return whole(cursor, WholeKind::Trigger);
    }
    let is_unique = cursor.take("unique");
    if cursor.take("index") {
        return index(cursor, is_unique);
    }
    if is_unique {
        return Err(cursor.wrong("expected INDEX"));
    }
    Ok(Statement::Opaque)
}

fn if_not_exists(cursor: &mut Cursor<'_>) {
    cursor.take_all(&["if", "not", "exists"]);
}

fn index(mut cursor: Cursor<'_>, is_unique: bool) -> Result<Statement, Failure> {
    if_not_exists(&mut cursor);
    let name = cursor.qualified_name()?;
    cursor.expect("on")?;
    let table = cursor.name()?;
    let inner = cursor.bracketed()?;
    let columns = list(cursor.source, inner)
        .into_iter()
        .map(|tokens| index_column(cursor.source, tokens))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| cursor.wrong("expected a column in the index before this,"))?;
    let condition = if cursor.take("where") {
        let rest = cursor.rest();
        if rest.is_empty() {
            return Err(cursor.wrong("expected a condition"));
        }
        cursor.at = cursor.tokens.len();
        Some((
            pieces(cursor.source, rest),
            text(cursor.source, rest).to_owned(),
        ))
    } else {
        None
    };
    if !cursor.is_at_end() {
        return Err(cursor.wrong("expected WHERE or the end of the statement"));
    }
    Ok(Statement::Index(Box::new(Index {
        name,
        table,
        is_unique,
        columns,
        condition,
        text: text(cursor.source, cursor.tokens).to_owned(),
        renamed_from: None,
    })))
}

/// `None` when there is nothing.
fn index_column(source: &str, tokens: &[Token]) -> Option<IndexColumn> {
    let mut cursor = Cursor::new(source, tokens);
    let last = tokens.last()?;
    let kept = if last.is_word(source, "asc") {
        &tokens[..tokens.len() - 1]
    } else {
        tokens
    };
    let name = cursor.name().ok().filter(|_| {
        cursor.is_at_end()
            || ["collate", "asc", "desc"]
                .iter()
                .any(|word| cursor.sees(word))
    });
    let rest = match &name {
        Some(_) => &kept[1.min(kept.len())..],
        None => kept,
    };
    Some(IndexColumn {
        pieces: pieces(source, kept),
        column: name,
        text: text(source, rest).to_owned(),
    })
}

/// A view, a trigger, a virtual table.
fn whole(mut cursor: Cursor<'_>, kind: WholeKind) -> Result<Statement, Failure> {
    if_not_exists(&mut cursor);
    let name = cursor.qualified_name()?;
    let start = cursor.at;
    let table = match kind {
        WholeKind::View => {
            while !cursor.take("as") {
                if cursor.is_at_end() {
                    return Err(cursor.wrong("expected AS"));
                }
                cursor.at += 1;
            }
            None
        }
        WholeKind::Virtual => {
            cursor.expect("using")?;
            None
        }
        WholeKind::Trigger => Some(trigger_table(&mut cursor)?),
    };
    let mut body: Vec<Token> = cursor.tokens[start..].to_vec();
    if kind == WholeKind::Trigger {
        without_defaults(cursor.source, &mut body);
    }
    let mut normal = pieces(cursor.source, &body);
    if kind == WholeKind::Trigger && !["before", "after", "instead"].contains(&normal[0].as_str()) {
        normal.insert(0, "before".to_owned());
    }
    Ok(Statement::Whole(Whole {
        kind,
        name,
        table,
        pieces: normal,
        text: text(cursor.source, cursor.tokens).to_owned(),
        renamed_from: None,
    }))
}

fn trigger_table(cursor: &mut Cursor<'_>) -> Result<Name, Failure> {
    while !cursor.take("on") {
        if cursor.is_at_end() {
            return Err(cursor.wrong("expected ON"));
        }
        cursor.at += 1;
    }
    let table = cursor.qualified_name()?;
    let body = *cursor;
    if !body
        .rest()
        .iter()
        .any(|token| token.is_word(body.source, "begin"))
    {
        return Err(cursor.wrong("expected BEGIN"));
    }
    Ok(table)
}

/// `FOR EACH ROW` is all there is.
fn without_defaults(source: &str, body: &mut Vec<Token>) {
    let words = ["for", "each", "row"];
    let found = body
        .windows(3)
        .position(|window| (0..3).all(|index| window[index].is_word(source, words[index])));
    if let Some(at) = found {
        body.drain(at..at + 3);
    }
}

fn alter(mut cursor: Cursor<'_>) -> Result<Statement, Failure> {
    cursor.expect("table")?;
    let table = cursor.qualified_name()?;
    if cursor.take("rename") {
        if cursor.take("to") {
            let to = cursor.name()?;
            return Ok(Statement::RenameTable { table, to });
        }
        cursor.take("column");
        let column = cursor.name()?;
        cursor.expect("to")?;
        let to = cursor.name()?;
        return Ok(Statement::RenameColumn { table, column, to });
    }
    if cursor.take("drop") {
        cursor.take("column");
        let column = cursor.name()?;
        return Ok(Statement::DropColumn { table, column });
    }
    cursor.expect("add")?;
    cursor.take("column");
    let (parsed, column) = column::added(&mut cursor)?;
    if !cursor.is_at_end() {
        return Err(cursor.wrong("expected the end of the statement"));
    }
    Ok(Statement::AddColumn {
        table,
        column: Box::new(column),
        parsed: Box::new(parsed),
    })
}

fn drop_object(mut cursor: Cursor<'_>) -> Result<Statement, Failure> {
    let kind = [
        ("table", DropKind::Table),
        ("index", DropKind::Index),
        ("view", DropKind::View),
        ("trigger", DropKind::Trigger),
    ]
    .into_iter()
    .find(|(word, _)| cursor.take(word));
    let Some((_, kind)) = kind else {
        return Ok(Statement::Opaque);
    };
    cursor.take_all(&["if", "exists"]);
    let name = cursor.qualified_name()?;
    Ok(Statement::Drop { kind, name })
}

/// Where the objects and columns of a statement are named, in order: what a comment can rename.
pub(super) fn named(source: &str, tokens: &[Token]) -> Vec<Named> {
    let mut cursor = Cursor::new(source, tokens);
    cursor.take("create");
    cursor.take("unique");
    cursor.take("virtual");
    let is_table =
        cursor.sees("table") && !tokens.get(1).is_some_and(|t| t.is_word(source, "virtual"));
    cursor.at += 1;
    if_not_exists(&mut cursor);
    let mut names = Vec::new();
    let Ok(name) = cursor.qualified_name() else {
        return names;
    };
    let start = |cursor: &Cursor<'_>| cursor.tokens[cursor.at - 1].start();
    names.push((start(&cursor), name.key()));
    if is_table && let Ok(inner) = cursor.bracketed() {
        for item in list(source, inner) {
            let mut item = Cursor::new(source, item);
            item.take("constraint");
            if let Ok(name) = item.name() {
                names.push((start(&item), name.key()));
            }
        }
    }
    names
}

/// The byte range from a statement's first token to the last.
pub(super) fn span(tokens: &[Token]) -> Range<usize> {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.start()..last.end(),
        _ => 0..0,
    }
}
