//! `ALTER TABLE` parsed into actions on an existing table.

use super::{Item, column, item, partition, table};
use crate::mysql::cursor::Cursor;
use crate::mysql::lexer::{Fault, Kind};
use crate::mysql::model::{Column, Name, Options, Partition, Partitioning, Value};

/// Where a column goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    First,
    After(Name),
}

/// One change.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Add(Item, Option<Place>),
    /// Old name of a column, and the new definition.
    Change(Name, Box<Column>, Vec<Item>, Option<Place>),
    Default(Name, Option<Value>),
    DropColumn(Name),
    DropIndex(Name),
    DropPrimary,
    DropForeignKey(Name),
    /// A check, a unique index or a foreign key.
    DropConstraint(Name),
    RenameTable(Name),
    RenameColumn(Name, Name),
    RenameIndex(Name, Name),
    Visible(Name, bool),
    VisibleColumn(Name, bool),
    /// Whether a check counts.
    Enforced(Name, bool),
    Options(Options),
    /// Conversion of all texts to a character set and collation.
    Convert(Options),
    Partition(Partitioning),
    AddPartitions(Vec<Partition>),
    DropPartitions(Vec<Name>),
    /// Reorganisation of the named partitions into new ones.
    Reorganize(Vec<Name>, Vec<Partition>),
    /// So many partitions more or fewer.
    Resize(i64),
    Unpartition,
    /// `DROP SYSTEM VERSIONING`
    Unversion,
    /// `DROP PERIOD FOR` a name.
    DropPeriod(Name),
    /// What leaves no trace in a schema.
    Nothing,
}

/// Reads the table's name and all actions, starting behind TABLE.
pub(crate) fn actions(cursor: &mut Cursor<'_, '_>) -> Result<(Name, Vec<Action>), Fault> {
    cursor.eat_seq(&["IF", "EXISTS"]);
    let (_, name) = cursor.qualified()?;
    let mut actions = Vec::new();
    while !cursor.is_done() {
        action(cursor, &mut actions)?;
        // Partitions may follow an option without a comma.
        if !cursor.is_done() && !cursor.eat_op(",") && !cursor.is("PARTITION") {
            return Err(cursor.fault("this is nothing that can be done to a table"));
        }
    }
    Ok((name, actions))
}

fn action(cursor: &mut Cursor<'_, '_>, actions: &mut Vec<Action>) -> Result<(), Fault> {
    if cursor.eat("ADD") {
        return add(cursor, actions);
    }
    if cursor.is_seq(&["DROP", "PARTITION"]) {
        cursor.at += 2;
        cursor.eat_seq(&["IF", "EXISTS"]);
        let mut names = vec![cursor.name()?];
        while cursor.eat_op(",") {
            names.push(cursor.name()?);
        }
        actions.push(Action::DropPartitions(names));
        return Ok(());
    }
    if begins_data(cursor) {
        cursor.at += cursor.rest().len();
        return Ok(());
    }
    let action = if cursor.eat("DROP") {
        drop(cursor)?
    } else if cursor.eat("MODIFY") {
        cursor.eat("COLUMN");
        cursor.eat_seq(&["IF", "EXISTS"]);
        changed(cursor, None)?
    } else if cursor.eat("CHANGE") {
        cursor.eat("COLUMN");
        cursor.eat_seq(&["IF", "EXISTS"]);
        let old = cursor.name()?;
        changed(cursor, Some(old))?
    } else if cursor.eat("RENAME") {
        rename(cursor)?
    } else if cursor.eat("ALTER") {
        altered(cursor)?
    } else if cursor.is_seq(&["PARTITION", "BY"]) {
        Action::Partition(partition::partitioning(cursor)?)
    } else if cursor.eat_seq(&["REORGANIZE", "PARTITION"]) {
        reorganize(cursor)?
    } else if cursor.eat_seq(&["COALESCE", "PARTITION"]) {
        Action::Resize(-number(cursor)?)
    } else if cursor.eat_seq(&["REMOVE", "PARTITIONING"]) {
        Action::Unpartition
    } else if cursor.eat_seq(&["CONVERT", "TO"]) {
        let mut options = Options::default();
        table::options(cursor, &mut options)?;
        Action::Convert(options)
    } else {
        other(cursor)?
    };
    actions.push(action);
    Ok(())
}

/// Whether what follows is about rows alone, to the end of the statement.
fn begins_data(cursor: &Cursor<'_, '_>) -> bool {
    const PARTS: [&str; 9] = [
        "ANALYZE", "CHECK", "DISCARD", "EXCHANGE", "IMPORT", "OPTIMIZE", "REBUILD", "REPAIR",
        "TRUNCATE",
    ];
    let is_part = |next: &str| PARTS.iter().any(|word| cursor.is_seq(&[word, next]));
    is_part("PARTITION") || is_part("TABLESPACE")
}

fn number(cursor: &mut Cursor<'_, '_>) -> Result<i64, Fault> {
    let number = cursor
        .peek()
        .and_then(|token| token.text.parse::<u16>().ok());
    let number = number.ok_or_else(|| cursor.fault("expected a number"))?;
    cursor.at += 1;
    Ok(number.into())
}

fn reorganize(cursor: &mut Cursor<'_, '_>) -> Result<Action, Fault> {
    let mut names = vec![cursor.name()?];
    while cursor.eat_op(",") {
        names.push(cursor.name()?);
    }
    cursor.expect("INTO")?;
    Ok(Action::Reorganize(names, partition::partitions(cursor)?))
}

fn add(cursor: &mut Cursor<'_, '_>, actions: &mut Vec<Action>) -> Result<(), Fault> {
    if cursor.eat("PARTITION") {
        cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
        actions.push(match cursor.is_op("(") {
            true => Action::AddPartitions(partition::partitions(cursor)?),
            false => {
                cursor.expect("PARTITIONS")?;
                Action::Resize(number(cursor)?)
            }
        });
        return Ok(());
    }
    if cursor.eat_seq(&["SYSTEM", "VERSIONING"]) {
        let mut options = Options::default();
        options.set(table::VERSIONING, String::new());
        actions.push(Action::Options(options));
        return Ok(());
    }
    let is_column = cursor.eat("COLUMN");
    if is_column {
        cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    }
    if cursor.eat_op("(") {
        loop {
            actions.push(Action::Add(item(cursor)?, None));
            if !cursor.eat_op(",") {
                break;
            }
        }
        return cursor.expect_op(")");
    }
    let item = match is_column {
        true => column::column(cursor)?,
        false => item(cursor)?,
    };
    let place = place(cursor)?;
    actions.push(Action::Add(item, place));
    Ok(())
}

fn place(cursor: &mut Cursor<'_, '_>) -> Result<Option<Place>, Fault> {
    if cursor.eat("FIRST") {
        return Ok(Some(Place::First));
    }
    match cursor.eat("AFTER") {
        true => Ok(Some(Place::After(cursor.name()?))),
        false => Ok(None),
    }
}

fn changed(cursor: &mut Cursor<'_, '_>, old: Option<Name>) -> Result<Action, Fault> {
    match column::column(cursor)? {
        Item::Column(column, more) => {
            let old = old.unwrap_or_else(|| column.name.clone());
            Ok(Action::Change(old, column, more, place(cursor)?))
        }
        _ => Err(cursor.fault("expected a column")),
    }
}

fn drop(cursor: &mut Cursor<'_, '_>) -> Result<Action, Fault> {
    if cursor.eat_seq(&["PRIMARY", "KEY"]) {
        return Ok(Action::DropPrimary);
    }
    let is_exists = |cursor: &mut Cursor<'_, '_>| {
        cursor.eat_seq(&["IF", "EXISTS"]);
    };
    if cursor.eat_seq(&["FOREIGN", "KEY"]) {
        is_exists(cursor);
        return cursor.name().map(Action::DropForeignKey);
    }
    if cursor.eat("INDEX") || cursor.eat("KEY") {
        is_exists(cursor);
        return cursor.name().map(Action::DropIndex);
    }
    if cursor.eat("CONSTRAINT") || cursor.eat("CHECK") {
        is_exists(cursor);
        return cursor.name().map(Action::DropConstraint);
    }
    if cursor.eat_seq(&["SYSTEM", "VERSIONING"]) {
        return Ok(Action::Unversion);
    }
    if cursor.eat_seq(&["PERIOD", "FOR"]) {
        return cursor.name().map(Action::DropPeriod);
    }
    cursor.eat("COLUMN");
    is_exists(cursor);
    let name = cursor.name()?;
    let _ = cursor.eat("RESTRICT") || cursor.eat("CASCADE");
    Ok(Action::DropColumn(name))
}

fn rename(cursor: &mut Cursor<'_, '_>) -> Result<Action, Fault> {
    if cursor.eat("COLUMN") {
        let old = cursor.name()?;
        cursor.expect("TO")?;
        return Ok(Action::RenameColumn(old, cursor.name()?));
    }
    if cursor.eat("INDEX") || cursor.eat("KEY") {
        let old = cursor.name()?;
        cursor.expect("TO")?;
        return Ok(Action::RenameIndex(old, cursor.name()?));
    }
    let _ = cursor.eat("TO") || cursor.eat("AS") || cursor.eat_op("=");
    Ok(Action::RenameTable(cursor.qualified()?.1))
}

fn altered(cursor: &mut Cursor<'_, '_>) -> Result<Action, Fault> {
    if cursor.eat("INDEX") {
        let name = cursor.name()?;
        let is_hidden = cursor.eat("INVISIBLE") || cursor.eat("IGNORED");
        if !is_hidden {
            cursor.eat("NOT");
            cursor.any()?;
        }
        return Ok(Action::Visible(name, !is_hidden));
    }
    if cursor.eat("CHECK") || cursor.eat("CONSTRAINT") {
        let name = cursor.name()?;
        let is_enforced = !cursor.eat("NOT");
        cursor.expect("ENFORCED")?;
        return Ok(Action::Enforced(name, is_enforced));
    }
    cursor.eat("COLUMN");
    let name = cursor.name()?;
    if cursor.eat_seq(&["DROP", "DEFAULT"]) {
        return Ok(Action::Default(name, None));
    }
    cursor.expect("SET")?;
    if cursor.is_any(&["VISIBLE", "INVISIBLE"]) {
        let is_visible = cursor.any()?.is("VISIBLE");
        return Ok(Action::VisibleColumn(name, is_visible));
    }
    cursor.expect("DEFAULT")?;
    Ok(Action::Default(name, Some(column::default(cursor)?)))
}

fn other(cursor: &mut Cursor<'_, '_>) -> Result<Action, Fault> {
    let words = ["ENABLE", "DISABLE"];
    if words.iter().any(|word| cursor.eat(word)) {
        cursor.expect("KEYS")?;
        return Ok(Action::Nothing);
    }
    if cursor.eat("FORCE")
        || cursor.eat_seq(&["WITH", "VALIDATION"])
        || cursor.eat_seq(&["WITHOUT", "VALIDATION"])
    {
        return Ok(Action::Nothing);
    }
    if cursor.eat("ALGORITHM") || cursor.eat("LOCK") {
        cursor.eat_op("=");
        cursor.any()?;
        return Ok(Action::Nothing);
    }
    if cursor.eat_seq(&["ORDER", "BY"]) {
        while cursor.peek().is_some_and(|token| token.kind != Kind::Op) {
            cursor.at += 1;
        }
        return Ok(Action::Nothing);
    }
    let mut options = Options::default();
    match table::option(cursor, &mut options)? {
        true => {
            table::options(cursor, &mut options)?;
            Ok(Action::Options(options))
        }
        false => Err(cursor.fault("this is nothing that can be done to a table")),
    }
}
