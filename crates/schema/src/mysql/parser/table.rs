//! `CREATE TABLE`.

use super::{Item, item, partition};
use crate::mysql::cursor::Cursor;
use crate::mysql::expr;
use crate::mysql::lexer::{Fault, Kind, unquoted};
use crate::mysql::model::{Name, Options, Table};
use crate::rename::Renamed;

/// What a `CREATE TABLE` makes.
#[derive(Debug)]
pub(crate) enum Created {
    Table(Box<Table>),
    /// A copy of the named table's definition.
    Like(Name, Name),
    /// Made of a query's answer.
    Query,
}

/// Reads from behind TABLE on.
pub(crate) fn table(
    cursor: &mut Cursor<'_, '_>,
    renames: &[(usize, Renamed)],
) -> Result<Created, Fault> {
    cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
    let (_, name) = cursor.qualified()?;
    if cursor.eat("LIKE") {
        return Ok(Created::Like(name, cursor.qualified()?.1));
    }
    if !cursor.is_op("(") {
        return Ok(Created::Query);
    }
    cursor.at += 1;
    if cursor.eat("LIKE") {
        return Ok(Created::Like(name, cursor.qualified()?.1));
    }
    let mut table = Table {
        name,
        ..Table::default()
    };
    let mut renames = renames.iter().peekable();
    let first = cursor.offset();
    while let Some((_, renamed)) = renames.next_if(|(at, _)| *at < first) {
        table.renamed_from = Some(renamed.from.clone());
    }
    loop {
        let mut item = item(cursor)?;
        let is_more = cursor.eat_op(",");
        if !is_more {
            cursor.expect_op(")")?;
        }
        let next = cursor.offset();
        while let Some((_, renamed)) = renames.next_if(|(at, _)| *at < next) {
            set_old_name(&mut item, &renamed.from);
        }
        table.add(item);
        if !is_more {
            break;
        }
    }
    options(cursor, &mut table.options)?;
    if cursor.is("PARTITION") {
        table.partitioning = Some(partition::partitioning(cursor)?);
    }
    match cursor.peek() {
        None => Ok(Created::Table(Box::new(table))),
        Some(token) if token.is("AS") || token.is("SELECT") => Ok(Created::Query),
        Some(_) => Err(cursor.fault("expected the end of the table or an option")),
    }
}

fn set_old_name(item: &mut Item, from: &str) {
    let slot = match item {
        Item::Column(column, _) => &mut column.renamed_from,
        Item::Index(index) => &mut index.renamed_from,
        Item::ForeignKey(key) => &mut key.renamed_from,
        Item::Check(check) => &mut check.renamed_from,
        Item::Period(_) => return,
    };
    *slot = Some(from.to_owned());
}

impl Table {
    /// Takes up an item, at the end.
    pub(in crate::mysql) fn add(&mut self, item: Item) {
        match item {
            Item::Column(column, more) => {
                self.columns.push(*column);
                for item in more {
                    self.add(item);
                }
            }
            Item::Index(index) => self.indexes.push(index),
            Item::ForeignKey(key) => self.foreign_keys.push(key),
            Item::Check(check) => self.checks.push(check),
            Item::Period(text) => self.periods.push(text),
        }
    }
}

/// Reads all following table options.
pub(crate) fn options(cursor: &mut Cursor<'_, '_>, options: &mut Options) -> Result<(), Fault> {
    while !cursor.is_done() && !cursor.is_any(&["PARTITION", "AS", "SELECT"]) {
        if !option(cursor, options)? {
            break;
        }
        cursor.eat_op(",");
    }
    Ok(())
}

/// Option of a system-versioned table.
pub(crate) const VERSIONING: &str = "WITH SYSTEM VERSIONING";

/// First words of options.
const KNOWN: [&str; 44] = [
    "AUTOEXTEND_SIZE",
    "AUTO_INCREMENT",
    "AVG_ROW_LENGTH",
    "CHARSET",
    "CHECKSUM",
    "COLLATE",
    "COMMENT",
    "COMPRESSION",
    "CONNECTION",
    "DATA",
    "DELAY_KEY_WRITE",
    "ENCRYPTION",
    "ENCRYPTED",
    "ENCRYPTION_KEY_ID",
    "ENGINE",
    "ENGINE_ATTRIBUTE",
    "IETF_QUOTES",
    "INDEX",
    "INSERT_METHOD",
    "KEY_BLOCK_SIZE",
    "MAX_ROWS",
    "MIN_ROWS",
    "PACK_KEYS",
    "PAGE_CHECKSUM",
    "PAGE_COMPRESSED",
    "PAGE_COMPRESSION_LEVEL",
    "PASSWORD",
    "ROW_FORMAT",
    "SECONDARY_ENGINE",
    "SECONDARY_ENGINE_ATTRIBUTE",
    "SEQUENCE",
    "STATS_AUTO_RECALC",
    "STATS_PERSISTENT",
    "STATS_SAMPLE_PAGES",
    "STORAGE",
    "TABLESPACE",
    "TRANSACTIONAL",
    "TYPE",
    "UNION",
    "AUTO_ID_CACHE",
    "AUTO_RANDOM_BASE",
    "SHARD_ROW_ID_BITS",
    "PRE_SPLIT_REGIONS",
    "START",
];

/// Whether there was one.
pub(crate) fn option(cursor: &mut Cursor<'_, '_>, options: &mut Options) -> Result<bool, Fault> {
    if cursor.eat_seq(&["WITH", "SYSTEM", "VERSIONING"]) {
        options.set(VERSIONING, String::new());
        return Ok(true);
    }
    cursor.eat("DEFAULT");
    if cursor.eat_seq(&["CHARACTER", "SET"]) || cursor.eat_seq(&["CHAR", "SET"]) {
        cursor.eat_op("=");
        options.charset = Some(cursor.word_or_string()?.to_lowercase());
        return Ok(true);
    }
    let Some(word) = KNOWN.iter().find(|word| cursor.is(word)) else {
        return attribute(cursor, options);
    };
    cursor.at += 1;
    let is_directory = matches!(*word, "DATA" | "INDEX");
    if is_directory {
        cursor.expect("DIRECTORY")?;
    }
    cursor.eat_op("=");
    let start = cursor.at;
    if cursor.is_op("(") {
        cursor.parens()?;
        options.set(word, expr::text(cursor.since(start)));
        return Ok(true);
    }
    let is_text = cursor.peek().is_some_and(|token| token.kind == Kind::Text);
    let value = if is_text {
        cursor.string()?
    } else {
        cursor.word_or_string()?
    };
    match *word {
        "CHARSET" => options.charset = Some(value.to_lowercase()),
        "COLLATE" => options.collation = Some(value.to_lowercase()),
        "ENGINE" | "TYPE" => options.engine = Some(value.to_lowercase()),
        "COMMENT" => options.comment = Some(value).filter(|comment| !comment.is_empty()),
        "ROW_FORMAT" => {
            let value = value.to_uppercase();
            options.row_format = Some(value).filter(|value| value != "DEFAULT");
        }
        "AUTO_INCREMENT" => options.auto_increment = Some(value),
        // `START TRANSACTION` of replicated statements.
        "START" => {}
        _ if is_directory => {}
        word => options.set(word, expr::text(cursor.since(start))),
    }
    Ok(true)
}

/// Reads an engine's own attribute; MariaDB prints the name in backticks.
fn attribute(cursor: &mut Cursor<'_, '_>, options: &mut Options) -> Result<bool, Fault> {
    let name = cursor.peek().filter(|token| token.kind == Kind::Quoted);
    let Some(name) = name.map(|token| unquoted(token.text).to_uppercase()) else {
        return Ok(false);
    };
    cursor.at += 1;
    cursor.expect_op("=")?;
    let value = cursor.any()?;
    options.set(&name, value.text.to_owned());
    Ok(true)
}

impl Options {
    pub(in crate::mysql) fn set(&mut self, word: &str, value: String) {
        self.others.retain(|(known, _)| known != word);
        self.others.push((word.to_owned(), value));
    }
}
