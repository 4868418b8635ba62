//! Indexes and foreign keys.

use crate::mysql::cursor::Cursor;
use crate::mysql::expr::Expr;
use crate::mysql::lexer::{Fault, Kind, unquoted};
use crate::mysql::model::{ForeignKey, Index, IndexKind, Key, Name, Part};

/// Whether an index is next, and not a column with such a name.
pub(super) fn begins(cursor: &Cursor<'_, '_>) -> bool {
    cursor.is_any(&["PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL"])
        || cursor.is_seq(&["VECTOR", "INDEX"])
        || cursor.is_seq(&["VECTOR", "KEY"])
}

fn kind(cursor: &mut Cursor<'_, '_>) -> IndexKind {
    const KINDS: [(&str, IndexKind); 5] = [
        ("PRIMARY", IndexKind::Primary),
        ("UNIQUE", IndexKind::Unique),
        ("FULLTEXT", IndexKind::Fulltext),
        ("SPATIAL", IndexKind::Spatial),
        ("VECTOR", IndexKind::Vector),
    ];
    let found = KINDS.iter().find(|(word, _)| cursor.eat(word));
    found.map_or(IndexKind::Plain, |(_, kind)| *kind)
}

/// Reads an index in a table; `constraint` is the preceding name.
pub(super) fn index(cursor: &mut Cursor<'_, '_>, constraint: Option<Name>) -> Result<Index, Fault> {
    let mut index = Index {
        kind: kind(cursor),
        ..Index::default()
    };
    index.word = if cursor.eat("KEY") {
        "KEY"
    } else if cursor.eat("INDEX") {
        "INDEX"
    } else {
        ""
    };
    cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    let is_using = cursor.is_any(&["USING", "TYPE"])
        && cursor
            .peek_at(1)
            .is_some_and(|next| ["BTREE", "HASH", "RTREE"].iter().any(|word| next.is(word)));
    let is_named = !is_using && !cursor.is_op("(");
    if is_named {
        index.name = cursor.name()?;
    } else if let Some(name) = constraint {
        index.name = name;
    }
    using(cursor, &mut index)?;
    index.parts = parts(cursor)?;
    options(cursor, &mut index)?;
    Ok(index)
}

fn using(cursor: &mut Cursor<'_, '_>, index: &mut Index) -> Result<(), Fault> {
    if cursor.eat("USING") || cursor.eat("TYPE") {
        index.using = Some(cursor.any()?.text.to_uppercase());
    }
    Ok(())
}

fn parts(cursor: &mut Cursor<'_, '_>) -> Result<Vec<Part>, Fault> {
    cursor.expect_op("(")?;
    let mut parts = Vec::new();
    loop {
        parts.push(part(cursor)?);
        if !cursor.eat_op(",") {
            break;
        }
    }
    cursor.expect_op(")")?;
    Ok(parts)
}

fn part(cursor: &mut Cursor<'_, '_>) -> Result<Part, Fault> {
    let key = if cursor.is_op("(") {
        let tokens = cursor.parens()?;
        Key::Expr(Expr::new(tokens))
    } else {
        Key::Column(cursor.name()?)
    };
    let mut part = Part {
        key,
        length: None,
        is_descending: false,
        is_period: false,
    };
    if cursor.is_op("(") {
        let tokens = cursor.parens()?;
        part.length = tokens.first().map(|token| token.text.to_owned());
    }
    cursor.eat("ASC");
    part.is_descending = cursor.eat("DESC");
    part.is_period = cursor.eat_seq(&["WITHOUT", "OVERLAPS"]);
    Ok(part)
}

fn options(cursor: &mut Cursor<'_, '_>, index: &mut Index) -> Result<(), Fault> {
    loop {
        if cursor.is_any(&["USING", "TYPE"]) {
            using(cursor, index)?;
        } else if cursor.eat("COMMENT") {
            cursor.eat_op("=");
            index.comment = Some(cursor.string()?).filter(|comment| !comment.is_empty());
        } else if cursor.eat_seq(&["WITH", "PARSER"]) {
            index.parser = Some(cursor.name()?.text.to_lowercase());
        } else if cursor.eat("INVISIBLE") || cursor.eat("IGNORED") {
            index.is_invisible = true;
        } else if cursor.eat_seq(&["NOT", "IGNORED"]) || cursor.eat("VISIBLE") {
            index.is_invisible = false;
        } else if cursor.is_any(&[
            "KEY_BLOCK_SIZE",
            "M",
            "DISTANCE",
            "CLUSTERING",
            "ENGINE_ATTRIBUTE",
        ]) {
            let word = cursor.any()?.text.to_uppercase();
            cursor.eat_op("=");
            let value = cursor.any()?;
            index
                .others
                .push(format!("{word}={}", value.text.to_lowercase()));
        } else if cursor
            .peek()
            .is_some_and(|token| token.kind == Kind::Quoted)
        {
            // So MariaDB prints what only an engine knows: `m`='16'.
            let word = unquoted(cursor.any()?.text).to_uppercase();
            cursor.eat_op("=");
            let value = unquoted(cursor.any()?.text).to_lowercase();
            index.others.push(format!("{word}={value}"));
        } else {
            return Ok(());
        }
    }
}

/// Reads `CREATE … INDEX name ON table (…)` from behind CREATE; returns the table and the index.
pub(crate) fn created(cursor: &mut Cursor<'_, '_>) -> Result<(Name, Index), Fault> {
    cursor.eat_seq(&["OR", "REPLACE"]);
    let _ = cursor.eat("ONLINE") || cursor.eat("OFFLINE");
    let mut index = Index {
        kind: kind(cursor),
        word: "INDEX",
        ..Index::default()
    };
    cursor.expect("INDEX")?;
    cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    index.name = cursor.name()?;
    using(cursor, &mut index)?;
    cursor.expect("ON")?;
    let (_, table) = cursor.qualified()?;
    index.parts = parts(cursor)?;
    options(cursor, &mut index)?;
    while cursor.eat("ALGORITHM") || cursor.eat("LOCK") || cursor.is_any(&["WAIT", "NOWAIT"]) {
        cursor.eat_op("=");
        cursor.any()?;
    }
    match cursor.is_done() {
        true => Ok((table, index)),
        false => Err(cursor.fault("this is nothing that an index has")),
    }
}

/// `FOREIGN KEY …`, which is next.
pub(super) fn foreign_key(
    cursor: &mut Cursor<'_, '_>,
    name: Option<Name>,
) -> Result<ForeignKey, Fault> {
    cursor.expect("FOREIGN")?;
    cursor.expect("KEY")?;
    cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    let index = match cursor.is_op("(") {
        true => None,
        false => Some(cursor.name()?),
    };
    let columns = cursor.names()?;
    let mut key = references(cursor)?;
    key.columns = columns;
    key.index = index.map(|index| index.text);
    key.name = name;
    Ok(key)
}

/// `REFERENCES …`, which is next.
pub(super) fn references(cursor: &mut Cursor<'_, '_>) -> Result<ForeignKey, Fault> {
    cursor.expect("REFERENCES")?;
    let (database, table) = cursor.qualified()?;
    let mut key = ForeignKey {
        database,
        table,
        ..ForeignKey::default()
    };
    if cursor.is_op("(") {
        key.references = cursor.names()?;
    }
    loop {
        if cursor.eat("MATCH") {
            cursor.any()?;
        } else if cursor.eat_seq(&["ON", "DELETE"]) {
            key.on_delete = Some(action(cursor)?);
        } else if cursor.eat_seq(&["ON", "UPDATE"]) {
            key.on_update = Some(action(cursor)?);
        } else {
            return Ok(key);
        }
    }
}

fn action(cursor: &mut Cursor<'_, '_>) -> Result<String, Fault> {
    const ACTIONS: [&[&str]; 5] = [
        &["RESTRICT"],
        &["CASCADE"],
        &["SET", "NULL"],
        &["NO", "ACTION"],
        &["SET", "DEFAULT"],
    ];
    let found = ACTIONS.iter().find(|words| cursor.eat_seq(words));
    let is_word = cursor.peek().is_some_and(|token| token.kind == Kind::Word);
    match found {
        Some(words) => Ok(words.join(" ")),
        None if is_word => Err(cursor.fault("this is nothing that a foreign key does")),
        None => Err(cursor.fault("expected RESTRICT, CASCADE, SET NULL or NO ACTION")),
    }
}
