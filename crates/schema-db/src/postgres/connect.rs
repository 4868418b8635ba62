//! Addresses, the first contact, and the server's errors in our kinds.

use std::error::Error as _;
use std::time::Duration;

use ::postgres::config::Host;
use ::postgres::error::SqlState;
use ::postgres::{Client, Config, Error};
use database_client::ConnectError;
use database_client::postgres::{is_tls, without_tls};
use schema::{Product, Server, Version};

use super::Postgres;
use crate::{DbError, DbErrorKind};
use database_client::tls::Tls;

/// Oldest supported version. Older servers lack catalogue columns read by the export.
const OLDEST: Version = Version(14, 0, 0);
/// How long a server may take to answer the first time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a PostgreSQL database is. Parts that are `None` are taken from `url`, then from what
/// everybody assumes (`127.0.0.1`, 5432, `postgres`).
#[derive(Clone, Default)]
pub struct PostgresAddress {
    /// `postgres://user:password@host:port/dbname?sslmode=…`, or the `key=value` form of libpq.
    pub url: Option<String>,
    /// A name, an address, or the folder of a Unix socket.
    pub host: Option<String>,
    /// TCP port.
    pub port: Option<u16>,
    /// Role to log in as.
    pub user: Option<String>,
    /// Password of the user.
    pub password: Option<String>,
    /// Database.
    pub dbname: Option<String>,
    /// TLS settings; missing ones are taken from `url`.
    pub tls: Tls,
}

impl PostgresAddress {
    /// Returns host, port and database, without user and password.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn place(&self) -> Result<String, DbError> {
        let url = match &self.url {
            Some(url) => without_tls(url).map_err(unsupported)?.0,
            None => String::new(),
        };
        let config = config(self, &url)?;
        let hosts: Vec<String> = (config.get_hosts().iter())
            .map(|host| match host {
                Host::Tcp(name) => name.clone(),
                Host::Unix(folder) => folder.display().to_string(),
            })
            .collect();
        let ports: Vec<String> = (config.get_ports().iter())
            .map(ToString::to_string)
            .collect();
        let ports = match ports.is_empty() {
            true => "5432".to_owned(),
            false => ports.join(","),
        };
        let name = config.get_dbname().or(config.get_user());
        let name = name.unwrap_or_default();
        Ok(format!("{}:{ports}/{name}", hosts.join(",")))
    }
}

/// Connects to a database.
///
/// # Errors
/// When the address cannot be read, nobody answers, the user is refused, the database is missing,
/// or the server is older than 14.
pub fn connect(address: &PostgresAddress) -> Result<Postgres, DbError> {
    let mut client = client(address)?;
    let row = client
        .query_one(
            "SELECT current_setting('server_version_num')::int4, coalesce(current_schema(), 'public')::text, \
             (SELECT datcollate::text FROM pg_catalog.pg_database WHERE datname = current_database()), current_user::text",
            &[],
        )
        .map_err(|error| failed(&error, None))?;
    let number = u32::try_from(row.get::<_, i32>(0)).unwrap_or_default();
    let version = Version(number / 10_000, number % 10_000, 0);
    if version < OLDEST {
        return Err(DbError {
            kind: DbErrorKind::Unsupported,
            message: format!(
                "this is PostgreSQL {}.{}; {} and later are supported",
                version.0, version.1, OLDEST.0
            ),
            sql: None,
        });
    }
    // What functions mention may be made after them, as in the server's own dumps.
    client
        .batch_execute("SET check_function_bodies = off")
        .map_err(|error| failed(&error, None))?;
    Ok(Postgres {
        client,
        address: address.clone(),
        prepared: Vec::new(),
        server: Server {
            version: Some(version),
            collation: row.get(2),
            default_schema: Some(row.get(1)),
            role: Some(row.get(3)),
            ..Server::unknown(Product::Postgres)
        },
    })
}

fn client(address: &PostgresAddress) -> Result<Client, DbError> {
    let (url, from_url) = match &address.url {
        Some(url) => without_tls(url).map_err(unsupported)?,
        None => (String::new(), Tls::default()),
    };
    let tls = address.tls.clone().or(from_url);
    let config = config(address, &url)?;
    database_client::postgres::connect(config, &tls).map_err(|error| match error {
        ConnectError::Settings(message) => unsupported(message),
        ConnectError::Driver(error) => failed(&error, None),
    })
}

fn unsupported(message: String) -> DbError {
    DbError {
        kind: DbErrorKind::Unsupported,
        message,
        sql: None,
    }
}

fn config(address: &PostgresAddress, url: &str) -> Result<Config, DbError> {
    let mut config = match &address.url {
        None => Config::new(),
        Some(_) => url.parse::<Config>().map_err(|error| DbError {
            kind: DbErrorKind::Unreachable,
            // The text of the URL may hold a password, so it is not repeated.
            message: format!(
                "the database's address cannot be read: {}; write postgres://user@host:port/dbname",
                error
                    .source()
                    .map_or_else(|| error.to_string(), ToString::to_string)
            ),
            sql: None,
        })?,
    };
    config
        .application_name("hakaru")
        .connect_timeout(CONNECT_TIMEOUT);
    set_host(&mut config, address);
    match (&address.user, config.get_user()) {
        (Some(user), _) => drop(config.user(user)),
        (None, None) => drop(config.user("postgres")),
        (None, Some(_)) => {}
    }
    if let Some(password) = &address.password {
        config.password(password);
    }
    if let Some(dbname) = &address.dbname {
        config.dbname(dbname);
    }
    Ok(config)
}

/// Sets a host given beside a URL, replacing the URL's: the driver itself would try both.
fn set_host(config: &mut Config, address: &PostgresAddress) {
    if address.host.is_none() && address.port.is_none() && !config.get_hosts().is_empty() {
        return;
    }
    let from_url = config.get_hosts().first().cloned();
    let port_from_url = config.get_ports().first().copied();
    let mut fresh = Config::new();
    std::mem::swap(config, &mut fresh);
    if let Some(user) = fresh.get_user() {
        config.user(user);
    }
    if let Some(password) = fresh.get_password() {
        config.password(password);
    }
    if let Some(dbname) = fresh.get_dbname() {
        config.dbname(dbname);
    }
    if let Some(options) = fresh.get_options() {
        config.options(options);
    }
    config
        .application_name("hakaru")
        .connect_timeout(CONNECT_TIMEOUT);
    match (&address.host, from_url) {
        (Some(host), _) => drop(config.host(host)),
        (None, Some(Host::Tcp(host))) => drop(config.host(&host)),
        (None, Some(Host::Unix(folder))) => drop(config.host_path(folder)),
        (None, None) => drop(config.host("127.0.0.1")),
    }
    if let Some(port) = address.port.or(port_from_url) {
        config.port(port);
    }
}

/// The server's or the client's error in our kinds.
pub(super) fn failed(error: &Error, sql: Option<&str>) -> DbError {
    let (kind, message) = match error.as_db_error() {
        Some(db) => {
            let detail = db
                .detail()
                .map(|detail| format!(" ({detail})"))
                .unwrap_or_default();
            (kind_of(db.code()), format!("{}{detail}", db.message()))
        }
        None => {
            let cause = error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string);
            let cause = match is_tls(error) {
                true => format!("TLS with the server failed: {cause}"),
                false => cause,
            };
            let kind = match error.is_closed() {
                true => DbErrorKind::Gone,
                false if is_tls(error) => DbErrorKind::Unsupported,
                false if sql.is_some() => DbErrorKind::Gone,
                false if cause.contains("password") => DbErrorKind::Denied,
                false => DbErrorKind::Unreachable,
            };
            (kind, cause)
        }
    };
    DbError {
        kind,
        message,
        sql: sql.map(str::to_owned),
    }
}

fn kind_of(code: &SqlState) -> DbErrorKind {
    match code.code() {
        "28000" | "28P01" => DbErrorKind::Denied,
        "3D000" => DbErrorKind::NoDatabase,
        "42501" | "25006" => DbErrorKind::NotPermitted,
        "55P03" | "40P01" => DbErrorKind::Locked,
        "53100" => DbErrorKind::DiskFull,
        "57P01" | "57P02" | "57P03" | "08000" | "08003" | "08006" => DbErrorKind::Gone,
        _ => DbErrorKind::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options are part of the address, whoever names the host.
    #[test]
    fn options_stay_where_the_address_names_no_host() {
        let check = |url: &str| {
            let address = PostgresAddress {
                url: Some(url.to_owned()),
                ..PostgresAddress::default()
            };
            let config = config(&address, url).expect("a configuration");
            assert_eq!(config.get_options(), Some("-c jit=off"), "{url}");
        };
        check("postgres://me@db/shop?options=-c%20jit%3Doff");
        check("postgres:///shop?options=-c%20jit%3Doff");
    }
}
