//! The catalogue as SQL: names from `information_schema`, definitions from `SHOW CREATE` over
//! several connections.
//!
//! MySQL gives no snapshot of its catalogue. So a fingerprint of it is taken before and after, and
//! everything is read again when they differ; after [`ATTEMPTS`] times that is an error, since
//! somebody changes it all the time.

mod grants;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ::mysql::prelude::Queryable;
use ::mysql::{Conn, Row};
use schema::mysql::backticked;
use schema::{Product, Server};

use super::{MysqlAddress, connection, error};
use crate::{DbError, DbErrorKind};

/// Number of connections reading in parallel. Servers accept many more, and more gave no gain on
/// two cores.
pub(super) const READERS: usize = 4;

/// How often the catalogue may change under the reader.
const ATTEMPTS: usize = 5;

/// Minimum of objects per reading connection; opening another costs more than reading fewer.
const OBJECTS_PER_READER: usize = 25;

/// Settings of the reading session: everything is shown, quoted, and in UTF-8.
const SESSION: &str = "SET SESSION sql_mode = '', SESSION sql_quote_show_create = 1, SESSION group_concat_max_len = 1000000";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Table,
    Sequence,
    View,
    Trigger,
    Event,
    Procedure,
    Function,
    Package,
    PackageBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    kind: Kind,
    name: String,
    /// Position among the table's triggers for the same event; 0 for other objects.
    order: u32,
}

pub(super) fn export(
    address: &MysqlAddress,
    server: &Server,
    readers: usize,
) -> Result<String, DbError> {
    let mut first = reader(address)?;
    for _ in 0..ATTEMPTS {
        let before = fingerprint(&mut first, server)?;
        let objects = objects(&mut first)?;
        let texts = definitions(address, &mut first, &objects, readers)?;
        let Some(texts) = texts else {
            continue;
        };
        if fingerprint(&mut first, server)? == before {
            let grants = grants::statements(&mut first)?;
            return Ok(script(&objects, &texts) + &grants);
        }
    }
    Err(DbError {
        kind: DbErrorKind::Locked,
        message: format!(
            "the schema of {address} changed each of the {ATTEMPTS} times it was read; run again when nobody alters it"
        ),
        sql: None,
    })
}

/// Executes the statements in a scratch database, with events disabled, and reads the result.
pub(super) fn read_back(
    address: &MysqlAddress,
    server: &Server,
    readers: usize,
    statements: &[String],
) -> Result<String, DbError> {
    let mut owner = connection::open(address)?;
    drop_left(&mut owner)?;
    let now: Option<u64> = first(&mut owner, "SELECT UNIX_TIMESTAMP()")?;
    // Processes on two machines, or in two containers, may have the same number.
    let name = format!(
        "hakaru_readback_{}_{}_{}",
        now.unwrap_or_default(),
        std::process::id(),
        owner.connection_id()
    );
    // Held as long as the connection lives, so that another run knows whether this one does.
    let _: Option<u64> = first(&mut owner, &format!("SELECT GET_LOCK('{name}', 0)"))?;
    let charset = server.charset.as_deref().unwrap_or("utf8mb4");
    let collation = match &server.collation {
        Some(collation) => format!(" COLLATE {collation}"),
        None => String::new(),
    };
    run(&mut owner, &format!("DROP DATABASE IF EXISTS `{name}`"))?;
    run(
        &mut owner,
        &format!("CREATE DATABASE `{name}` CHARACTER SET {charset}{collation}"),
    )?;
    let scratch = MysqlAddress {
        database: name.clone(),
        ..address.clone()
    };
    let read = fill_and_export(&mut owner, &scratch, server, readers, statements);
    run(&mut owner, &format!("DROP DATABASE IF EXISTS `{name}`"))?;
    read
}

/// Databases left by killed runs: older than any creation takes, and without a held lock.
const LEFT: &str = "
    SELECT SCHEMA_NAME FROM information_schema.SCHEMATA
    WHERE SCHEMA_NAME REGEXP '^hakaru_readback_[0-9]+_'
        AND SUBSTRING_INDEX(SUBSTRING_INDEX(SCHEMA_NAME, '_', 3), '_', -1) + 600 < UNIX_TIMESTAMP() AND IS_FREE_LOCK(SCHEMA_NAME)";

fn drop_left(owner: &mut Conn) -> Result<(), DbError> {
    let left: Vec<String> = owner
        .query(LEFT)
        .map_err(|error| error::in_statement(error, LEFT))?;
    for name in left {
        // It may be somebody else's to drop.
        let _ = owner.query_drop(format!("DROP DATABASE IF EXISTS `{name}`"));
    }
    Ok(())
}

fn first(owner: &mut Conn, sql: &str) -> Result<Option<u64>, DbError> {
    owner
        .query_first(sql)
        .map_err(|error| error::in_statement(error, sql))
}

fn fill_and_export(
    owner: &mut Conn,
    scratch: &MysqlAddress,
    server: &Server,
    readers: usize,
    statements: &[String],
) -> Result<String, DbError> {
    run(owner, &format!("USE `{}`", scratch.database))?;
    // Privileges would outlive the database.
    let is_harmless = |statement: &&String| !statement.starts_with("GRANT ");
    for statement in statements.iter().filter(is_harmless) {
        run(owner, &schema::mysql::dormant(statement))?;
    }
    let text = export(scratch, server, readers)?;
    // MariaDB says where a sequence is that a default counts by. Nothing else has this name.
    Ok(text.replace(&format!("`{}`.", scratch.database), ""))
}

fn reader(address: &MysqlAddress) -> Result<Conn, DbError> {
    let mut connection = connection::open(address)?;
    run(&mut connection, SESSION)?;
    Ok(connection)
}

fn run(connection: &mut Conn, sql: &str) -> Result<(), DbError> {
    connection::execute(connection, sql)
}

fn rows(connection: &mut Conn, sql: &str) -> Result<Vec<Row>, DbError> {
    connection
        .query(sql)
        .map_err(|error| error::in_statement(error, sql))
}

/// Changes whenever a definition does. MySQL keeps its catalogue in tables, so that all columns and
/// indexes are cheap to add up there; MariaDB would open every table for that, and has the file's
/// time of change instead.
fn fingerprint(connection: &mut Conn, server: &Server) -> Result<String, DbError> {
    let tables = match server.product {
        Product::MariaDb => {
            "SELECT COUNT(*), SUM(CRC32(CONCAT_WS('|', TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_TIME, TABLE_COLLATION, TABLE_COMMENT)))
             FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
        }
        _ => {
            "SELECT COUNT(*), SUM(CRC32(CONCAT_WS('|', TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE,
                 COLUMN_DEFAULT, COLLATION_NAME, EXTRA, COLUMN_COMMENT, GENERATION_EXPRESSION)))
             FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
        }
    };
    let queries = [
        tables,
        "SELECT COUNT(*), SUM(CRC32(CONCAT_WS('|', TRIGGER_NAME, CREATED, ACTION_ORDER, ACTION_STATEMENT)))
         FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()",
        "SELECT COUNT(*), SUM(CRC32(CONCAT_WS('|', EVENT_NAME, LAST_ALTERED, STATUS)))
         FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()",
        "SELECT COUNT(*), SUM(CRC32(CONCAT_WS('|', ROUTINE_NAME, LAST_ALTERED)))
         FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()",
    ];
    let mut all = String::new();
    for query in queries {
        for row in rows(connection, query)? {
            for value in super::texts(row) {
                all.push_str(&value.unwrap_or_default());
                all.push(';');
            }
        }
    }
    Ok(all)
}

/// Objects in an order accepted by an empty server: by name within a kind, triggers in execution
/// order.
fn objects(connection: &mut Conn) -> Result<Vec<Object>, DbError> {
    let sql = "SELECT TABLE_NAME, TABLE_TYPE, 0 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
        UNION ALL SELECT TRIGGER_NAME, 'TRIGGER', ACTION_ORDER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()
        UNION ALL SELECT EVENT_NAME, 'EVENT', 0 FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()
        UNION ALL SELECT ROUTINE_NAME, ROUTINE_TYPE, 0 FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()";
    let mut objects = Vec::new();
    for row in rows(connection, sql)? {
        let mut values = super::texts(row).into_iter().flatten();
        let (Some(name), Some(kind)) = (values.next(), values.next()) else {
            continue;
        };
        let kind = match kind.as_str() {
            "VIEW" | "SYSTEM VIEW" => Kind::View,
            "SEQUENCE" => Kind::Sequence,
            "TRIGGER" => Kind::Trigger,
            "EVENT" => Kind::Event,
            "PROCEDURE" => Kind::Procedure,
            "FUNCTION" => Kind::Function,
            "PACKAGE" => Kind::Package,
            "PACKAGE BODY" => Kind::PackageBody,
            kind if kind.ends_with("TABLE") || kind == "SYSTEM VERSIONED" => Kind::Table,
            _ => continue,
        };
        let order = values.next().and_then(|order| order.parse().ok());
        let order = order.unwrap_or_default();
        objects.push(Object { kind, name, order });
    }
    objects.sort_by(|a, b| (a.kind as u8, a.order, &a.name).cmp(&(b.kind as u8, b.order, &b.name)));
    Ok(objects)
}

/// Definitions with the objects' indices; `None` for an object dropped meanwhile.
type Numbered = Vec<(usize, Option<String>)>;

/// `None` when an object went away meanwhile.
fn definitions(
    address: &MysqlAddress,
    first: &mut Conn,
    objects: &[Object],
    readers: usize,
) -> Result<Option<Vec<String>>, DbError> {
    let others = readers.min(objects.len() / OBJECTS_PER_READER).max(1) - 1;
    let next = AtomicUsize::new(0);
    let parts: Vec<Result<Numbered, DbError>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..others)
            .map(|_| scope.spawn(|| take(&mut reader(address)?, objects, &next)))
            .collect();
        let mine = take(first, objects, &next);
        let mut parts = vec![mine];
        for worker in workers {
            parts.push(worker.join().unwrap_or_else(|_| {
                Err(DbError {
                    kind: DbErrorKind::Gone,
                    message: format!("a reader of {address} broke off"),
                    sql: None,
                })
            }));
        }
        parts
    });
    let mut texts = vec![String::new(); objects.len()];
    for part in parts {
        for (index, text) in part? {
            let Some(text) = text else {
                return Ok(None);
            };
            texts[index] = text;
        }
    }
    Ok(Some(texts))
}

/// Reads one object after the other until all are taken. The counter alone is shared, so no order
/// is needed of it.
fn take(
    connection: &mut Conn,
    objects: &[Object],
    next: &AtomicUsize,
) -> Result<Numbered, DbError> {
    let mut texts = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(object) = objects.get(index) else {
            return Ok(texts);
        };
        texts.push((index, definition(connection, object)?));
    }
}

fn definition(connection: &mut Conn, object: &Object) -> Result<Option<String>, DbError> {
    let (kind, column) = match object.kind {
        Kind::Table => ("TABLE", 1),
        Kind::Sequence => ("SEQUENCE", 1),
        Kind::View => ("VIEW", 1),
        Kind::Trigger => ("TRIGGER", 2),
        Kind::Event => ("EVENT", 3),
        Kind::Procedure => ("PROCEDURE", 2),
        Kind::Function => ("FUNCTION", 2),
        Kind::Package => ("PACKAGE", 2),
        Kind::PackageBody => ("PACKAGE BODY", 2),
    };
    let sql = format!("SHOW CREATE {kind} {}", backticked(&object.name));
    let row: Option<Row> = match connection.query_first(&sql) {
        Ok(row) => row,
        Err(::mysql::Error::MySqlError(error)) if gone(error.code) => return Ok(None),
        Err(error) => return Err(error::in_statement(error, &sql)),
    };
    let text = row.and_then(|row| super::texts(row).into_iter().nth(column).flatten());
    text.map(Some).ok_or_else(|| DbError {
        kind: DbErrorKind::NotPermitted,
        message: format!(
            "this user may not see the definition of {} {}",
            kind.to_lowercase(),
            object.name
        ),
        sql: Some(sql),
    })
}

/// Whether an error code means a table, trigger, event or routine dropped meanwhile.
fn gone(code: u16) -> bool {
    matches!(code, 1146 | 1360 | 1539 | 1305 | 4091)
}

/// Script of all definitions for the reader, with other delimiters around bodies, since bodies
/// contain `;`.
fn script(objects: &[Object], texts: &[String]) -> String {
    let mut script = String::with_capacity(texts.iter().map(|text| text.len() + 4).sum());
    for (object, text) in objects.iter().zip(texts) {
        match object.kind {
            Kind::Table | Kind::View | Kind::Sequence => {
                script.push_str(text);
                script.push_str(";\n\n");
            }
            _ => {
                script.push_str("DELIMITER ;;\n");
                script.push_str(text);
                script.push_str("\n;;\nDELIMITER ;\n\n");
            }
        }
    }
    script
}
