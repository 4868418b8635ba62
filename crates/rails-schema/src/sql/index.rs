//! Indexes.

use schema::SyntaxError;

use super::File;
use super::options::{Options, UNBALANCED, is_balanced, words};
use super::quote::Spelling;
use super::table::Table;
use crate::names;
use crate::ruby::{Call, Kind, Value};

/// An index in the forms required by servers.
pub(super) struct Written {
    /// Inside of `CREATE TABLE` (MySQL).
    pub(super) inside: String,
    /// Statements behind `CREATE TABLE`.
    pub(super) statements: Vec<String>,
}

/// What an index is on.
enum Keys {
    Columns(Vec<String>),
    /// Verbatim SQL.
    Expression(String),
}

/// `add_index`.
pub(super) fn outside(file: &File<'_>, call: &Call) -> Result<Vec<String>, SyntaxError> {
    let options = file.options(call);
    let keys = keys(file, file.argument(call, 1)?)?;
    let written = written(file, &file.word(call, 0)?, &keys, None, &options)?;
    options.finish()?;
    Ok(written.statements)
}

/// `t.index`.
pub(super) fn of_table(
    table: &Table<'_>,
    call: &Call,
    arguments: &[Value],
    options: &Options<'_>,
) -> Result<Written, SyntaxError> {
    let Some(value) = arguments.first() else {
        return table.file.fail(call.at, "an index needs its columns");
    };
    let keys = keys(table.file, value)?;
    written(table.file, &table.name, &keys, None, options)
}

/// An index on known columns, with a default name.
pub(super) fn with_columns(
    table: &Table<'_>,
    columns: &[String],
    name: Option<String>,
    options: &Options<'_>,
) -> Result<Written, SyntaxError> {
    let keys = Keys::Columns(columns.to_vec());
    let written = written(table.file, &table.name, &keys, name, options)?;
    options.finish()?;
    Ok(written)
}

fn keys(file: &File<'_>, value: &Value) -> Result<Keys, SyntaxError> {
    match &value.kind {
        Kind::Text(text) if !is_balanced(text) => file.fail(value.at, UNBALANCED),
        Kind::Text(text) if !is_word(text) => Ok(Keys::Expression(text.clone())),
        _ => words(file.source, value).map(Keys::Columns),
    }
}

fn is_word(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_alphanumeric() || letter == '_')
}

fn written(
    file: &File<'_>,
    table: &str,
    keys: &Keys,
    name: Option<String>,
    options: &Options<'_>,
) -> Result<Written, SyntaxError> {
    let spelling = file.spelling;
    let name = options.word("name")?.or(name).unwrap_or_else(|| {
        let columns = match keys {
            Keys::Columns(columns) => columns.clone(),
            Keys::Expression(text) => vec![words_of(text)],
        };
        names::index(table, &columns, file.release >= (7, 1))
    });
    let list = match keys {
        Keys::Expression(text) => {
            options.ignore(&["length", "order", "opclass"]);
            text.clone()
        }
        Keys::Columns(columns) => items(spelling, columns, options)?,
    };
    let kind = match options.word("type")? {
        Some(kind) => format!("{} ", kind.to_uppercase()),
        None if options.flag("unique")? => "UNIQUE ".to_owned(),
        None => String::new(),
    };
    options.ignore(&["unique", "algorithm", "if_not_exists"]);
    let using = options.word("using")?.filter(|_| !spelling.is_sqlite());
    let using = using.map_or(String::new(), |using| format!(" USING {using}"));
    let comment = options.word("comment")?;
    let tail = tail(spelling, options)?;
    let quoted = spelling.name(&name);
    if spelling.is_mysql() {
        let comment = comment.map_or(String::new(), |text| {
            format!(" COMMENT {}", spelling.text(&text))
        });
        let table = spelling.table(table);
        return Ok(Written {
            inside: format!("{kind}INDEX {quoted}{using} ({list}){comment}{tail}"),
            statements: vec![format!(
                "CREATE {kind}INDEX {quoted}{using} ON {table} ({list}){comment}{tail}"
            )],
        });
    }
    let mut statements = vec![format!(
        "CREATE {kind}INDEX {quoted} ON {}{using} ({list}){tail}",
        spelling.table(table)
    )];
    if let (Some(comment), true) = (comment, spelling.is_postgres()) {
        // An index is in the schema of its table.
        let schema = table
            .rsplit_once('.')
            .map(|(schema, _)| format!("{}.", spelling.name(schema)));
        let name = format!("{}{quoted}", schema.unwrap_or_default());
        statements.push(format!(
            "COMMENT ON INDEX {name} IS {}",
            spelling.text(&comment)
        ));
    }
    Ok(Written {
        inside: String::new(),
        statements,
    })
}

/// Name part for an expression: the words.
fn words_of(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("_")
}

/// Columns with lengths, operator classes and directions.
fn items(
    spelling: Spelling,
    columns: &[String],
    options: &Options<'_>,
) -> Result<String, SyntaxError> {
    let length = options.value("length");
    let class = options.value("opclass");
    let order = options.value("order");
    let mut items = Vec::new();
    for column in columns {
        let mut item = spelling.name(column);
        if let Some(length) = of_column(length, column).filter(|_| spelling.is_mysql()) {
            item.push_str(&format!("({})", plain(options, length)?));
        }
        if let Some(class) = of_column(class, column).filter(|_| spelling.is_postgres()) {
            item.push_str(&format!(" {}", plain(options, class)?));
        }
        if let Some(order) = of_column(order, column) {
            item.push_str(&format!(" {}", plain(options, order)?.to_uppercase()));
        }
        items.push(item);
    }
    Ok(items.join(", "))
}

/// Value of an option for one column: common to all, or given by column name.
fn of_column<'v>(value: Option<&'v Value>, column: &str) -> Option<&'v Value> {
    let value = match value.map(|value| &value.kind) {
        Some(Kind::Hash(pairs)) => {
            let mut pairs = pairs.iter();
            pairs
                .find(|(key, _)| key.name == column)
                .map(|(_, value)| value)
        }
        _ => value,
    };
    value.filter(|value| !value.is_false())
}

fn plain(options: &Options<'_>, value: &Value) -> Result<String, SyntaxError> {
    match (&value.kind, value.word()) {
        (Kind::Number(number), _) => Ok(number.clone()),
        (_, Some(word)) => Ok(word.to_owned()),
        _ => options.fail(value.at, "expected a word or a number"),
    }
}

fn tail(spelling: Spelling, options: &Options<'_>) -> Result<String, SyntaxError> {
    let mut tail = String::new();
    let (include, predicate) = (options.words("include")?, options.expression("where")?);
    let is_one_null = options.flag("nulls_not_distinct")?;
    let is_disabled = matches!(
        options.given("enabled").map(|value| &value.kind),
        Some(Kind::Bool(false))
    );
    if spelling.is_postgres() {
        tail.extend(include.map(|names| format!(" INCLUDE ({})", spelling.names(&names))));
        if is_one_null {
            tail.push_str(" NULLS NOT DISTINCT");
        }
    }
    if !spelling.is_mysql() {
        tail.extend(predicate.map(|predicate| format!(" WHERE {predicate}")));
    } else if is_disabled {
        let is_mariadb = spelling.product == schema::Product::MariaDb;
        tail.push_str(if is_mariadb { " IGNORED" } else { " INVISIBLE" });
    }
    Ok(tail)
}
