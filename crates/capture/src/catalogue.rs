//! Reads of a server's settings, counters and catalogue as rows of text, on a separate read-only
//! connection. The statements are the caller's own constants, never a user's.

use ::mysql::prelude::Queryable;
use ::mysql::{Row, Value};
use ::postgres::SimpleQueryMessage;
use database::Kind;

use crate::explain::mysql::Mysql;
use crate::explain::postgres::Postgres;
use crate::explain::sqlite::Sqlite;
use crate::explain::{ExplainError, ExplainLimits, kind_of};

/// A database open for reading.
pub struct Catalogue(Open);

enum Open {
    Mysql(Mysql),
    Postgres(Postgres),
    Sqlite(Sqlite),
}

impl Catalogue {
    /// Connects.
    ///
    /// # Errors
    /// When the address is of no known kind, or the database cannot be reached.
    pub fn open(database_url: &str, limits: ExplainLimits) -> Result<Catalogue, ExplainError> {
        let (kind, rest) = kind_of(database_url)?;
        Ok(Catalogue(match kind {
            Kind::Mysql => Open::Mysql(Mysql::connect(rest, limits)?),
            Kind::Postgres => Open::Postgres(Postgres::connect(rest, limits)?),
            Kind::Sqlite => Open::Sqlite(Sqlite::open(rest, limits)?),
        }))
    }

    /// Returns the kind of the database.
    pub fn kind(&self) -> Kind {
        match self.0 {
            Open::Mysql(_) => Kind::Mysql,
            Open::Postgres(_) => Kind::Postgres,
            Open::Sqlite(_) => Kind::Sqlite,
        }
    }

    /// The rows of a statement; NULL is `None`.
    ///
    /// # Errors
    /// The server's code or the driver's kind of failure.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, String> {
        match &mut self.0 {
            Open::Mysql(server) => {
                let rows: Vec<Row> = server
                    .connection
                    .query(sql)
                    .map_err(|error| error.to_string())?;
                let texts = |row: Row| row.unwrap().into_iter().map(text_of_mysql).collect();
                Ok(rows.into_iter().map(texts).collect())
            }
            Open::Postgres(server) => {
                let messages = server.client.simple_query(sql).map_err(|error| {
                    let message = error.as_db_error().map(|error| error.message().to_owned());
                    message.unwrap_or_else(|| error.to_string())
                })?;
                Ok(messages.iter().filter_map(texts_of_postgres).collect())
            }
            Open::Sqlite(file) => rows_of_sqlite(file, sql).map_err(|error| error.to_string()),
        }
    }

    /// The rows of a statement with the names of the columns, of a server that reports names only
    /// with rows: MySQL and MariaDB. Others return none.
    ///
    /// # Errors
    /// As [`Catalogue::rows`].
    pub fn named_rows(&mut self, sql: &str) -> Result<Vec<NamedRow>, String> {
        let Open::Mysql(server) = &mut self.0 else {
            return Ok(Vec::new());
        };
        let rows: Vec<Row> = server
            .connection
            .query(sql)
            .map_err(|error| error.to_string())?;
        Ok(rows.into_iter().map(named).collect())
    }
}

/// Names of columns with values; NULL is `None`.
pub type NamedRow = Vec<(String, Option<String>)>;

fn named(row: Row) -> NamedRow {
    let columns = row.columns();
    let names = columns.iter().map(|column| column.name_str().into_owned());
    names
        .zip(row.unwrap().into_iter().map(text_of_mysql))
        .collect()
}

fn text_of_mysql(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        other => Some(other.as_sql(true)),
    }
}

fn texts_of_postgres(message: &SimpleQueryMessage) -> Option<Vec<Option<String>>> {
    let SimpleQueryMessage::Row(row) = message else {
        return None;
    };
    let text = |at: usize| row.get(at).map(str::to_owned);
    Some((0..row.len()).map(text).collect())
}

fn rows_of_sqlite(file: &Sqlite, sql: &str) -> rusqlite::Result<Vec<Vec<Option<String>>>> {
    use rusqlite::types::Value;
    let mut prepared = file.database.prepare(sql)?;
    let columns = prepared.column_count();
    let mut rows = prepared.query([])?;
    let mut texts = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |at: usize| {
            Ok(match row.get::<_, Value>(at)? {
                Value::Text(text) => Some(text),
                Value::Integer(number) => Some(number.to_string()),
                Value::Real(number) => Some(number.to_string()),
                Value::Null | Value::Blob(_) => None,
            })
        };
        texts.push((0..columns).map(text).collect::<rusqlite::Result<_>>()?);
    }
    Ok(texts)
}
