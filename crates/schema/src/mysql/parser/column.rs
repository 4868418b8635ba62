//! A column of a table.

use super::{Item, check, constraint_name, index};
use crate::mysql::cursor::Cursor;
use crate::mysql::expr::{self, Expr};
use crate::mysql::lexer::{Fault, Kind};
use crate::mysql::model::{Column, DataType, Generated, Index, IndexKind, Key, Part, Value};

/// Reads a column with attached constraints.
pub(super) fn column(cursor: &mut Cursor<'_, '_>) -> Result<Item, Fault> {
    let mut column = Column {
        name: cursor.name()?,
        ..Column::default()
    };
    let mut more = Vec::new();
    if cursor.eat("SERIAL") {
        serial(&mut column, &mut more);
    } else {
        column.data_type = data_type(cursor)?;
    }
    while let Some(token) = cursor.peek() {
        if token.kind == Kind::Op || cursor.is_any(&["FIRST", "AFTER"]) {
            break;
        }
        if !(nullability(cursor, &mut column, &mut more)?
            || value(cursor, &mut column)?
            || text_type(cursor, &mut column.data_type)?
            || constraint(cursor, &mut column, &mut more)?
            || other(cursor, &mut column)?)
        {
            return Err(cursor.fault("this is nothing that a column has"));
        }
    }
    Ok(Item::Column(Box::new(column), more))
}

/// `SERIAL` is short for `BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE`.
fn serial(column: &mut Column, more: &mut Vec<Item>) {
    column.data_type.name = "bigint".to_owned();
    column.data_type.is_unsigned = true;
    serial_default(column, more);
}

fn serial_default(column: &mut Column, more: &mut Vec<Item>) {
    column.nullable = Some(false);
    column.is_auto_increment = true;
    more.push(inline(column, IndexKind::Unique));
}

fn inline(column: &mut Column, kind: IndexKind) -> Item {
    column.is_unique |= kind == IndexKind::Unique;
    Item::Index(Index {
        kind,
        word: "KEY",
        parts: vec![Part {
            key: Key::Column(column.name.clone()),
            length: None,
            is_descending: false,
            is_period: false,
        }],
        is_inline: true,
        ..Index::default()
    })
}

/// Reads a data type with character set and collation.
pub(crate) fn data_type(cursor: &mut Cursor<'_, '_>) -> Result<DataType, Fault> {
    const LONGER: [(&[&str], &str); 12] = [
        (&["DOUBLE", "PRECISION"], "double"),
        (&["NATIONAL", "CHARACTER", "VARYING"], "nvarchar"),
        (&["NATIONAL", "CHAR", "VARYING"], "nvarchar"),
        (&["NATIONAL", "VARCHAR"], "nvarchar"),
        (&["NATIONAL", "CHARACTER"], "nchar"),
        (&["NATIONAL", "CHAR"], "nchar"),
        (&["CHARACTER", "VARYING"], "varchar"),
        (&["CHAR", "VARYING"], "varchar"),
        (&["CHAR", "BYTE"], "binary"),
        (&["LONG", "VARCHAR"], "mediumtext"),
        (&["LONG", "VARBINARY"], "mediumblob"),
        (&["LONG"], "mediumtext"),
    ];
    let mut data_type = DataType::default();
    match LONGER.iter().find(|(words, _)| cursor.is_seq(words)) {
        Some((words, name)) => {
            cursor.at += words.len();
            data_type.name = (*name).to_owned();
        }
        None => {
            let token = cursor.peek().filter(|token| token.kind == Kind::Word);
            let token = token.ok_or_else(|| cursor.fault("expected a data type"))?;
            data_type.name = token.text.to_ascii_lowercase();
            cursor.at += 1;
        }
    }
    if cursor.is_op("(") {
        let arguments = cursor.parens()?.split(|token| token.is_op(","));
        data_type.arguments = arguments
            .map(|tokens| match tokens {
                [token] if token.kind == Kind::Text => {
                    crate::mysql::lexer::literal(&crate::mysql::lexer::unquoted(token.text))
                }
                tokens => expr::text(tokens),
            })
            .collect();
    }
    while text_type(cursor, &mut data_type)? {}
    Ok(data_type)
}

/// Reads attributes of the data type, in any position.
fn text_type(cursor: &mut Cursor<'_, '_>, data_type: &mut DataType) -> Result<bool, Fault> {
    if cursor.eat("UNSIGNED") {
        data_type.is_unsigned = true;
    } else if cursor.eat("SIGNED") {
    } else if cursor.eat("ZEROFILL") {
        data_type.is_zerofill = true;
        data_type.is_unsigned = true;
    } else if cursor.eat("BINARY") {
        data_type.is_binary = true;
    } else if cursor.eat("ASCII") {
        data_type.charset = Some("latin1".to_owned());
    } else if cursor.eat("UNICODE") {
        data_type.charset = Some("ucs2".to_owned());
    } else if cursor.eat_seq(&["CHARACTER", "SET"])
        || cursor.eat_seq(&["CHAR", "SET"])
        || cursor.eat("CHARSET")
    {
        data_type.charset = Some(cursor.word_or_string()?.to_lowercase());
    } else if cursor.eat("COLLATE") {
        data_type.collation = Some(cursor.word_or_string()?.to_lowercase());
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn nullability(
    cursor: &mut Cursor<'_, '_>,
    column: &mut Column,
    more: &mut Vec<Item>,
) -> Result<bool, Fault> {
    if cursor.eat_seq(&["NOT", "NULL"]) {
        column.nullable = Some(false);
    } else if cursor.eat("NULL") {
        column.nullable = Some(true);
    } else if cursor.eat("AUTO_INCREMENT") {
        column.is_auto_increment = true;
    } else if cursor.eat_seq(&["SERIAL", "DEFAULT", "VALUE"]) {
        serial_default(column, more);
    } else if cursor.eat("UNIQUE") {
        let _ = cursor.eat("KEY") || cursor.eat("INDEX");
        more.push(inline(column, IndexKind::Unique));
    } else if cursor.eat_seq(&["PRIMARY", "KEY"]) || cursor.eat("PRIMARY") || cursor.eat("KEY") {
        more.push(inline(column, IndexKind::Primary));
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn value(cursor: &mut Cursor<'_, '_>, column: &mut Column) -> Result<bool, Fault> {
    if cursor.eat("DEFAULT") {
        column.default = Some(default(cursor)?);
    } else if cursor.eat_seq(&["ON", "UPDATE"]) {
        column.on_update = Some(call(cursor)?);
    } else if cursor.eat_seq(&["GENERATED", "ALWAYS", "AS", "ROW"]) {
        column.others.push(format!(
            "GENERATED ALWAYS AS ROW {}",
            cursor.any()?.text.to_uppercase()
        ));
    } else if cursor.eat_seq(&["GENERATED", "ALWAYS", "AS"]) || cursor.eat("AS") {
        let tokens = cursor.parens()?;
        column.generated = Some(Generated {
            expr: cursor.expr(tokens),
            is_stored: false,
        });
    } else if cursor.is_any(&["STORED", "PERSISTENT", "VIRTUAL"]) {
        let is_stored = !cursor.is("VIRTUAL");
        cursor.at += 1;
        if let Some(generated) = &mut column.generated {
            generated.is_stored = is_stored;
        }
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// The value behind DEFAULT.
pub(super) fn default(cursor: &mut Cursor<'_, '_>) -> Result<Value, Fault> {
    if cursor.is_op("(") {
        let tokens = cursor.parens()?;
        return Ok(Value::Expression(cursor.expr(tokens)));
    }
    if cursor.is_seq(&["NEXT", "VALUE", "FOR"]) {
        let start = cursor.at;
        cursor.at += 3;
        cursor.qualified()?;
        return Ok(Value::Expression(cursor.expr(cursor.since(start))));
    }
    let typed = cursor.is_any(&["DATE", "TIME", "TIMESTAMP"]);
    if typed
        && cursor
            .peek_at(1)
            .is_some_and(|next| next.kind == Kind::Text)
    {
        let start = cursor.at;
        cursor.at += 2;
        return Ok(Value::Expression(cursor.expr(cursor.since(start))));
    }
    let is_call = cursor.peek_at(1).is_some_and(|next| next.is_op("("))
        && cursor.peek().is_some_and(|token| token.kind == Kind::Word);
    let expr = call(cursor)?;
    let is_time = expr.norm.starts_with("current_timestamp(");
    Ok(match is_call && !is_time {
        true => Value::Expression(expr),
        false => Value::Literal(expr),
    })
}

/// Reads a signed constant, or a word with optional call parentheses.
fn call(cursor: &mut Cursor<'_, '_>) -> Result<Expr, Fault> {
    let start = cursor.at;
    let _ = cursor.eat_op("-") || cursor.eat_op("+");
    let token = cursor.any()?;
    if token.kind == Kind::Op {
        cursor.at -= 1;
        return Err(cursor.fault("expected a value"));
    }
    if token.kind == Kind::Word {
        let is_introduced = token.text.starts_with('_') || token.is("N");
        let is_text = cursor
            .peek()
            .is_some_and(|next| matches!(next.kind, Kind::Text | Kind::Number));
        if is_introduced && is_text {
            cursor.at += 1;
        }
        if cursor.is_op("(") {
            cursor.parens()?;
        }
    }
    while token.kind == Kind::Text && cursor.peek().is_some_and(|next| next.kind == Kind::Text) {
        cursor.at += 1;
    }
    Ok(cursor.expr(cursor.since(start)))
}

fn constraint(
    cursor: &mut Cursor<'_, '_>,
    column: &mut Column,
    more: &mut Vec<Item>,
) -> Result<bool, Fault> {
    let mut name = None;
    if cursor.eat("CONSTRAINT") {
        name = constraint_name(cursor)?;
    }
    if cursor.is("CHECK") {
        let check = check(cursor, name.clone())?;
        match name {
            // A name makes it one of the table.
            Some(_) => more.push(Item::Check(check)),
            None => column.checks.push(check),
        }
        return Ok(true);
    }
    if cursor.is("REFERENCES") {
        let mut key = index::references(cursor)?;
        key.name = name;
        key.columns = vec![column.name.clone()];
        key.is_inline = true;
        more.push(Item::ForeignKey(key));
        return Ok(true);
    }
    match name {
        Some(_) => Err(cursor.fault("expected CHECK")),
        None => Ok(false),
    }
}

fn other(cursor: &mut Cursor<'_, '_>, column: &mut Column) -> Result<bool, Fault> {
    if cursor.eat("COMMENT") {
        column.comment = Some(cursor.string()?).filter(|comment| !comment.is_empty());
    } else if cursor.eat("INVISIBLE") {
        column.is_invisible = true;
    } else if cursor.eat("VISIBLE") {
        column.is_invisible = false;
    } else if cursor.eat("SRID") || cursor.eat("REF_SYSTEM_ID") {
        cursor.eat_op("=");
        column.srid = Some(cursor.any()?.text.to_owned());
    } else if cursor.is_any(&["COLUMN_FORMAT", "STORAGE"]) {
        // For the NDB engine alone.
        cursor.at += 2;
    } else if cursor.is_any(&["AUTO_RANDOM", "COMPRESSED", "PERSISTENT"]) {
        let start = cursor.at;
        cursor.at += 1;
        if cursor.is_op("(") {
            cursor.parens()?;
        } else if cursor.eat_op("=") {
            cursor.any()?;
        }
        column
            .others
            .push(expr::text(cursor.since(start)).to_uppercase());
    } else if cursor.is_seq(&["WITH", "SYSTEM", "VERSIONING"])
        || cursor.is_seq(&["WITHOUT", "SYSTEM", "VERSIONING"])
    {
        let start = cursor.at;
        cursor.at += 3;
        column
            .others
            .push(expr::text(cursor.since(start)).to_uppercase());
    } else if cursor.is_any(&["ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"]) {
        cursor.at += 1;
        cursor.eat_op("=");
        cursor.string()?;
    } else {
        return Ok(false);
    }
    Ok(true)
}
