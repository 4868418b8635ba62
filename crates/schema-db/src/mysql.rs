//! MySQL and MariaDB: the connection, the catalogue as SQL, and a scratch database to ask.
//!
//! One connection executes, with the session settings that the server gives everybody, since a
//! trigger or an event keeps those under which it was made. Reading uses connections of its own
//! with fixed settings ([`export`]), so that what is read does not depend on them.

mod connection;
mod error;
mod export;
mod roles;
mod unseen;

use database::Kind;
use std::time::Duration;

use ::mysql::prelude::Queryable;
use ::mysql::{Conn, Opts, OptsBuilder, Value};
use schema::{Server, Version};

use crate::{Database, DbError, DbErrorKind, Unseen};
use database_client::tls::Tls;

/// Longest wait for a server to take a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Oldest supported version of MySQL. Older ones lack columns of `information_schema`.
const OLDEST_MYSQL: Version = Version(8, 0, 0);
const OLDEST_MARIADB: Version = Version(10, 6, 0);

/// Where a database is, and who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct MysqlAddress {
    /// A name or an address; ignored when there is a socket.
    pub host: String,
    /// TCP port; ignored when there is a socket.
    pub port: u16,
    /// Path of a Unix socket.
    pub socket: Option<String>,
    /// User name.
    pub user: String,
    /// `None`: no password.
    pub password: Option<String>,
    /// The database's name.
    pub database: String,
    /// Whether the password may be sent in clear text on the server's request.
    pub cleartext_plugin: bool,
    /// Whether and how to speak TLS; a Unix socket needs none.
    pub tls: Tls,
}

/// Leaves the password out.
impl std::fmt::Debug for MysqlAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MysqlAddress({self})")
    }
}

/// For people: without user and password.
impl std::fmt::Display for MysqlAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.socket {
            Some(socket) => write!(f, "{socket}/{}", self.database),
            None => write!(f, "{}:{}/{}", self.host, self.port, self.database),
        }
    }
}

impl Default for MysqlAddress {
    fn default() -> MysqlAddress {
        MysqlAddress {
            host: "127.0.0.1".to_owned(),
            port: 3306,
            socket: None,
            user: "root".to_owned(),
            password: None,
            database: String::new(),
            cleartext_plugin: false,
            tls: Tls::default(),
        }
    }
}

impl MysqlAddress {
    /// Reads `mysql://user:password@host:port/database`, also with `mariadb://`, `mysql2://` or
    /// `trilogy://` in front and with `?socket=/path`, `ssl-mode`, `ssl-ca`, `ssl-cert` and
    /// `ssl-key` behind; other settings behind the `?` belong to frameworks and are passed over.
    ///
    /// # Errors
    /// When it is no such address; the message does not repeat it, since it may hold a password.
    pub fn from_url(url: &str) -> Result<MysqlAddress, DbError> {
        let wrong = || DbError {
            kind: DbErrorKind::Unreachable,
            message: "the address is not of the form mysql://user:password@host:port/database"
                .to_owned(),
            sql: None,
        };
        let (kind, rest) = Kind::of_address(url).ok_or_else(wrong)?;
        if kind != Kind::Mysql {
            return Err(wrong());
        }
        let (rest, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let options = Opts::from_url(&format!("mysql:{rest}")).map_err(|_| wrong())?;
        let (mut socket, mut tls) = (None, Tls::default());
        for (key, value) in settings.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = database_client::unescaped(value);
            tls.take_mysql(key, &value).map_err(|message| DbError {
                kind: DbErrorKind::Unsupported,
                message,
                sql: None,
            })?;
            if key == "socket" {
                socket = Some(value);
            }
        }
        let default = MysqlAddress::default();
        Ok(MysqlAddress {
            host: options.get_ip_or_hostname().into_owned(),
            port: options.get_tcp_port(),
            socket,
            user: options.get_user().map_or(default.user, str::to_owned),
            password: options.get_pass().map(str::to_owned),
            database: options.get_db_name().ok_or_else(wrong)?.to_owned(),
            cleartext_plugin: false,
            tls,
        })
    }

    fn options(&self) -> OptsBuilder {
        OptsBuilder::new()
            .ip_or_hostname(Some(self.host.clone()))
            .tcp_port(self.port)
            .socket(self.socket.clone())
            // The address is meant as it is written; by default the driver would move to a socket.
            .prefer_socket(self.socket.is_some())
            .user(Some(self.user.clone()))
            .pass(self.password.clone())
            .db_name(Some(self.database.clone()))
            .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
            .enable_cleartext_plugin(self.cleartext_plugin)
    }
}

/// A connection to one database of a MySQL or MariaDB server.
pub struct Mysql {
    address: MysqlAddress,
    server: Server,
    connection: Conn,
    /// Number of connections reading in parallel.
    pub readers: usize,
}

/// Connects and finds the kind of server.
///
/// # Errors
/// Unreachable, refused, no such database, or a version that is not supported.
pub fn connect(address: &MysqlAddress) -> Result<Mysql, DbError> {
    let mut address = address.clone();
    let mut connection = connection::open_first(&mut address)?;
    let server = connection::describe(&mut connection, &address)?;
    Ok(Mysql {
        address,
        server,
        connection,
        readers: export::READERS,
    })
}

impl Database for Mysql {
    fn server(&self) -> &Server {
        &self.server
    }

    fn export(&mut self) -> Result<String, DbError> {
        export::export(&self.address, &self.server, self.readers)
    }

    fn roles(&mut self, names: &[String]) -> Result<String, DbError> {
        roles::statements(&mut self.connection, self.server.product, names)
    }

    fn unseen(&mut self) -> Result<Vec<Unseen>, DbError> {
        let queries = unseen::queries(self.server.product);
        let mut all = Vec::new();
        for sql in queries {
            for row in self.query(sql)? {
                if let [Some(kind), Some(name)] = row.as_slice() {
                    all.push(Unseen {
                        kind: kind.clone(),
                        name: name.clone(),
                    });
                }
            }
        }
        all.sort();
        Ok(all)
    }

    fn execute(&mut self, sql: &str) -> Result<(), DbError> {
        connection::execute(&mut self.connection, sql)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let rows: Vec<::mysql::Row> = self
            .connection
            .query(sql)
            .map_err(|error| error::in_statement(error, sql))?;
        Ok(rows.into_iter().map(texts).collect())
    }

    fn is_transactional(&self) -> bool {
        false
    }

    fn lock(&mut self, patience: Duration) -> Result<(), DbError> {
        connection::lock(&mut self.connection, &self.address, patience)
    }

    fn set_lock_timeout(&mut self, timeout: Duration) -> Result<(), DbError> {
        // Whole seconds, and 0 would mean not to wait at all on MariaDB alone.
        let seconds = timeout.as_secs().max(1);
        self.execute(&format!(
            "SET SESSION lock_wait_timeout = {seconds}, SESSION innodb_lock_wait_timeout = {seconds}"
        ))
    }

    fn read_back(&mut self, statements: &[String]) -> Result<String, DbError> {
        export::read_back(&self.address, &self.server, self.readers, statements)
    }
}

fn texts(row: ::mysql::Row) -> Vec<Option<String>> {
    row.unwrap().into_iter().map(text).collect()
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_frameworks() {
        let check = |url: &str, shown: &str, user: &str, password: Option<&str>| {
            let address = MysqlAddress::from_url(url).unwrap();
            assert_eq!(address.to_string(), shown, "{url}");
            assert_eq!(address.user, user, "{url}");
            assert_eq!(address.password.as_deref(), password, "{url}");
        };
        check("mysql://db/chat", "db:3306/chat", "root", None);
        check(
            "mysql2://me:p%40ss@db:3307/chat?pool=5",
            "db:3307/chat",
            "me",
            Some("p@ss"),
        );
        check(
            "mariadb://me@db/chat?socket=%2Frun%2Fdb.sock",
            "/run/db.sock/chat",
            "me",
            None,
        );
    }

    #[test]
    fn a_wrong_address_is_not_repeated() {
        for url in [
            "mysql:",
            "postgres://me:secret@db/chat",
            "mysql://me:secret@db",
        ] {
            let error = MysqlAddress::from_url(url).unwrap_err();
            assert!(!error.message.contains("secret"), "{error:?}");
        }
        let address = MysqlAddress::from_url("mysql://me:secret@db/chat").unwrap();
        assert!(!format!("{address:?}").contains("secret"));
    }
}
