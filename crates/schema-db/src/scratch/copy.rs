//! The copy of a whole database, which may be given up meanwhile.

use std::sync::atomic::AtomicBool;

use database::Kind;
use schema::mysql::{backticked, literal};

use super::watch::{asking, beside, ending, is_raised, watched};
use super::{POSTGRES_ALWAYS, kind, postgres_address, unsupported, url_name};
use crate::mysql::{Mysql, MysqlAddress};
use crate::{Database, DbError, mysql, postgres};

/// How a copy ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEnding {
    /// With all rows.
    Whole,
    /// No longer wanted. What the server has of the copy is to be dropped.
    Stopped,
}

/// Copies the database with all rows to a new one called `name`. Once `stop` is raised, the server
/// is asked to end the statement that it executes; MySQL and MariaDB first take back the rows that
/// the statement has written.
///
/// # Errors
/// Whatever the server says; [`DbErrorKind::Unsupported`](crate::DbErrorKind::Unsupported) where
/// there is more in it than tables, which would not be copied.
pub fn copy(url: &str, name: &str, stop: &AtomicBool) -> Result<CopyEnding, DbError> {
    let copied = match kind(url)? {
        Kind::Mysql => copy_mysql(url, name, stop),
        Kind::Postgres => copy_postgres(url, name, stop),
        Kind::Sqlite => Err(unsupported("a SQLite database is copied as a file")),
    };
    match is_raised(stop) {
        // Whatever the server says of a statement that it had to end.
        true => Ok(CopyEnding::Stopped),
        false => copied.map(|()| CopyEnding::Whole),
    }
}

fn copy_postgres(url: &str, name: &str, stop: &AtomicBool) -> Result<(), DbError> {
    let original = url_name(url).ok_or_else(|| unsupported("the address names no database"))?;
    let mut server = postgres::connect(&postgres_address(url, Some(POSTGRES_ALWAYS)))?;
    let end = asking(|| beside(url), ending(&mut server)?.into_iter().collect());
    let create = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{original}\"");
    watched(stop, end, || match is_raised(stop) {
        true => Ok(()),
        false => server.execute(&create),
    })
}

/// Copies tables as spelled by the server, then the rows.
fn copy_mysql(url: &str, name: &str, stop: &AtomicBool) -> Result<(), DbError> {
    let address = MysqlAddress::from_url(url)?;
    let mut from = mysql::connect(&address)?;
    refuse_more_than_tables(&mut from)?;
    let server = from.server().clone();
    let mut create = format!("CREATE DATABASE `{name}`");
    if let (Some(charset), Some(collation)) = (&server.charset, &server.collation) {
        create += &format!(" CHARACTER SET {charset} COLLATE {collation}");
    }
    from.execute(&create)?;
    let original = backticked(&address.database);
    let mut to = mysql::connect(&MysqlAddress {
        database: name.to_owned(),
        ..address
    })?;
    to.execute("SET SESSION foreign_key_checks = 0")?;
    to.execute("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")?;
    let mut statements = Vec::new();
    for connection in [&mut from, &mut to] {
        statements.extend(ending(connection)?);
    }
    let end = asking(|| beside(url), statements);
    watched(stop, end, || {
        copy_tables(&mut from, &mut to, &original, stop)
    })
}

fn copy_tables(
    from: &mut Mysql,
    to: &mut Mysql,
    original: &str,
    stop: &AtomicBool,
) -> Result<(), DbError> {
    let tables = from.query(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name",
    )?;
    for table in tables.into_iter().flatten().flatten() {
        if is_raised(stop) {
            return Ok(());
        }
        let quoted = backticked(&table);
        let shown = from.query(&format!("SHOW CREATE TABLE {quoted}"))?;
        let text = shown.into_iter().flatten().nth(1).flatten();
        to.execute(&text.ok_or_else(|| unsupported("the server does not show a table"))?)?;
        let columns = columns(from, &table)?;
        to.execute(&format!(
            "INSERT INTO {quoted} ({columns}) SELECT {columns} FROM {original}.{quoted}"
        ))?;
    }
    Ok(())
}

/// Writable columns, as a list.
fn columns(from: &mut dyn Database, table: &str) -> Result<String, DbError> {
    let names = from.query(&format!(
        "SELECT column_name FROM information_schema.columns \
         WHERE table_schema = DATABASE() AND table_name = {} AND coalesce(generation_expression, '') = '' \
         ORDER BY ordinal_position",
        literal(table)
    ))?;
    let names = names.into_iter().flatten().flatten();
    let quoted: Vec<String> = names.map(|name| backticked(&name)).collect();
    Ok(quoted.join(", "))
}

fn refuse_more_than_tables(from: &mut dyn Database) -> Result<(), DbError> {
    let more = from.query(
        "SELECT (SELECT count(*) FROM information_schema.views WHERE table_schema = DATABASE()) \
              + (SELECT count(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()) \
              + (SELECT count(*) FROM information_schema.routines WHERE routine_schema = DATABASE())",
    )?;
    match more.into_iter().flatten().flatten().next().as_deref() {
        Some("0") => Ok(()),
        _ => Err(unsupported(
            "it holds views, triggers or routines, which would not be copied",
        )),
    }
}
