//! Opening connections, and what stands at the other end.

use std::time::Duration;

use ::mysql::Conn;
use ::mysql::prelude::Queryable;
use database_client::ConnectError;
use schema::{Product, Server, Version};

use super::{MysqlAddress, OLDEST_MARIADB, OLDEST_MYSQL, error};
use crate::{DbError, DbErrorKind};
use database_client::tls::TlsMode;

/// Sets strict mode. Without it a lenient server turns a `NULL` into 0 for `NOT NULL`, and
/// truncates long values, without an error. And lets tables with system versioning be altered,
/// their history with them, which MariaDB refuses otherwise; for others that is a comment.
const SESSION: &str = "SET SESSION sql_mode = CONCAT_WS(',', NULLIF(@@SESSION.sql_mode, ''), 'STRICT_ALL_TABLES') \
                       /*M!100304 , SESSION system_versioning_alter_history = 'KEEP' */";

/// Maximum length of a name for `GET_LOCK`.
const LOCK_NAME_MAX: usize = 64;

pub(super) fn open(address: &MysqlAddress) -> Result<Conn, DbError> {
    let is_socket = address.socket.is_some();
    let connected = database_client::mysql::connect(&address.options(), &address.tls, is_socket);
    let mut connection = connected.map_err(|error| match error {
        ConnectError::Settings(message) => DbError {
            kind: DbErrorKind::Unsupported,
            message,
            sql: None,
        },
        ConnectError::Driver(error) => error::connecting(error, address),
    })?;
    connection
        .query_drop("SET NAMES utf8mb4")
        .and_then(|()| connection.query_drop(SESSION))
        .map_err(|error| error::connecting(error, address))?;
    Ok(connection)
}

/// The first connection. Where TLS is only preferred and cannot be had, the others need not try.
pub(super) fn open_first(address: &mut MysqlAddress) -> Result<Conn, DbError> {
    let mut connection = open(address)?;
    let cipher: Option<(String, String)> = connection
        .query_first("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        .map_err(|error| error::connecting(error, address))?;
    if cipher.is_none_or(|(_, cipher)| cipher.is_empty())
        && address.tls.resolved() == TlsMode::Preferred
    {
        address.tls.mode = Some(TlsMode::Off);
    }
    Ok(connection)
}

pub(super) fn describe(connection: &mut Conn, address: &MysqlAddress) -> Result<Server, DbError> {
    let sql = "SELECT VERSION(), @@character_set_database, @@collation_database, @@lower_case_table_names, DATABASE()";
    let row: Option<(String, String, String, u8, String)> = connection
        .query_first(sql)
        .map_err(|error| error::in_statement(error, sql))?;
    let (banner, charset, collation, lower_case, database) = row.ok_or_else(|| DbError {
        kind: DbErrorKind::Gone,
        message: format!("{address} does not say what it is"),
        sql: Some(sql.to_owned()),
    })?;
    let product = match banner.contains("MariaDB") {
        true => Product::MariaDb,
        false => Product::Mysql,
    };
    let version = version(&banner);
    let oldest = match product {
        Product::MariaDb => OLDEST_MARIADB,
        _ => OLDEST_MYSQL,
    };
    if version < oldest {
        let Version(major, minor, _) = oldest;
        return Err(DbError {
            kind: DbErrorKind::Unsupported,
            message: format!("{address} is {banner}; versions from {major}.{minor} are supported"),
            sql: None,
        });
    }
    Ok(Server {
        version: Some(version),
        charset: Some(charset),
        collation: Some(collation),
        lower_case_tables: lower_case != 0,
        database: Some(database),
        ..Server::unknown(product)
    })
}

/// Parses a version banner: `5.5.5-10.11.14-MariaDB-log` is 10.11.14, since old clients accept only
/// a known version.
fn version(banner: &str) -> Version {
    let banner = banner.strip_prefix("5.5.5-").unwrap_or(banner);
    let mut parts = banner
        .split(|letter: char| !letter.is_ascii_digit())
        .map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    Version(next(), next(), next())
}

/// Executes a statement in the SQL mode of the statement's kind.
pub(super) fn execute(connection: &mut Conn, sql: &str) -> Result<(), DbError> {
    let run = |connection: &mut Conn, sql: &str| {
        let done = connection.query_drop(sql);
        done.map_err(|error| error::in_statement(error, sql))
    };
    if !schema::mysql::needs_oracle_mode(sql) {
        return run(connection, sql);
    }
    let mode: Option<String> = connection
        .query_first("SELECT @@SESSION.sql_mode")
        .map_err(|error| error::in_statement(error, sql))?;
    let oracle = schema::mysql::ORACLE_MODE;
    run(connection, &format!("SET SESSION sql_mode = '{oracle}'"))?;
    let done = run(connection, sql);
    let mode = mode.unwrap_or_default();
    run(connection, &format!("SET SESSION sql_mode = '{mode}'"))?;
    done
}

/// Takes the server's advisory lock of the database.
pub(super) fn lock(
    connection: &mut Conn,
    address: &MysqlAddress,
    patience: Duration,
) -> Result<(), DbError> {
    let mut name = format!("hakaru:{}", address.database);
    let end = name.floor_char_boundary(LOCK_NAME_MAX);
    name.truncate(end);
    let sql = "SELECT GET_LOCK(?, ?)";
    let given: Option<Option<u8>> = connection
        .exec_first(sql, (name, patience.as_secs()))
        .map_err(|error| error::in_statement(error, sql))?;
    match given.flatten() {
        Some(1) => Ok(()),
        _ => Err(DbError {
            kind: DbErrorKind::Locked,
            message: format!(
                "another runner changes {address} and was not done within {} s; wait for it and run again",
                patience.as_secs()
            ),
            sql: None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_banners() {
        assert_eq!(version("10.11.14-MariaDB-0+deb12u2"), Version(10, 11, 14));
        assert_eq!(version("5.5.5-10.6.2-MariaDB"), Version(10, 6, 2));
        assert_eq!(version("9.7.0"), Version(9, 7, 0));
        assert_eq!(version("8.4"), Version(8, 4, 0));
    }
}
