//! From flags and environment to a connection.

use std::env;
use std::path::{Path, PathBuf};

use schema_db::mysql::MysqlAddress;
use schema_db::postgres::{PostgresAddress, SslMode};
use schema_db::secrets::Login;
use schema_db::{Database, DbError, DbErrorKind};

use super::Tool;
use super::config::Config;
use super::flags::Flags;
use crate::schema::place;
use crate::schema::prompt;

/// Opens the database that the flags name.
pub(super) fn open(
    tool: Tool,
    flags: &Flags,
    config: &Config,
) -> Result<Box<dyn Database>, DbError> {
    match tool {
        Tool::Mysqldef => mysql(flags, config),
        Tool::Psqldef => postgres(flags),
        Tool::Sqlite3def => {
            let database = schema_db::sqlite::open(&PathBuf::from(&flags.database))?;
            Ok(Box::new(database))
        }
    }
}

fn mysql(flags: &Flags, config: &Config) -> Result<Box<dyn Database>, DbError> {
    let needs_tls =
        |mode: &String| ["required", "custom"].contains(&mode.to_ascii_lowercase().as_str());
    if flags.ssl_mode.as_ref().is_some_and(needs_tls) || flags.ssl_ca.is_some() {
        return Err(no_tls("--ssl-mode=DISABLED"));
    }
    let default = MysqlAddress::default();
    let options = place::my_cnf();
    let mut address = MysqlAddress {
        host: flags.host.clone().unwrap_or(default.host),
        port: flags.port.unwrap_or(default.port),
        socket: flags.socket.clone(),
        user: flags.user.clone().or(options.user).unwrap_or(default.user),
        password: None,
        database: flags.database.clone(),
        cleartext_plugin: flags.cleartext_plugin,
    };
    address.password = if flags.asks_password {
        Some(prompt::password(&address.to_string())?)
    } else {
        let given = env::var("MYSQL_PWD")
            .ok()
            .or_else(|| flags.password.clone());
        given.or(options.password)
    };
    let mut database = schema_db::mysql::connect(&address)?;
    if let Some(readers) = config.dump_concurrency.filter(|readers| *readers > 0) {
        database.readers = readers;
    }
    Ok(Box::new(database))
}

fn postgres(flags: &Flags) -> Result<Box<dyn Database>, DbError> {
    let host = flags.host.clone().unwrap_or_else(|| "127.0.0.1".to_owned());
    let sslmode = env::var("PGSSLMODE").ok();
    let sslmode = sslmode.as_deref().and_then(SslMode::parse);
    let login = Login {
        host: match Path::new(&host).is_absolute() {
            true => "localhost".to_owned(),
            false => host.clone(),
        },
        port: flags.port.unwrap_or(5432),
        database: flags.database.clone(),
        user: flags.user.clone().unwrap_or_else(|| "postgres".to_owned()),
    };
    let password = if flags.asks_password {
        let place = format!("{}:{}/{}", login.host, login.port, login.database);
        Some(prompt::password(&place)?)
    } else {
        let given = env::var("PGPASSWORD")
            .ok()
            .or_else(|| flags.password.clone());
        given.or_else(|| place::pgpass(&login))
    };
    let database = schema_db::postgres::connect(&PostgresAddress {
        url: None,
        host: Some(host),
        port: Some(login.port),
        user: Some(login.user),
        password,
        dbname: Some(login.database),
        sslmode,
    })?;
    Ok(Box::new(database))
}

fn no_tls(instead: &str) -> DbError {
    DbError {
        kind: DbErrorKind::Unsupported,
        message: format!(
            "this program speaks no TLS to MySQL yet; use a Unix socket or a tunnel, and {instead}"
        ),
        sql: None,
    }
}
