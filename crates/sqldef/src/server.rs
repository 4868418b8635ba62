//! Connections by flags and environment.

use std::env;
use std::path::{Path, PathBuf};

use database_client::tls::{Tls, TlsMode};
use schema_db::mysql::MysqlAddress;
use schema_db::postgres::PostgresAddress;
use schema_db::secrets::Login;
use schema_db::{Database, DbError};

use super::Tool;
use super::config::Config;
use super::flags::Flags;
use schema_commands::place;
use schema_commands::prompt;

/// Opens the database named by the flags.
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
        tls: mysql_tls(flags).or(options.tls),
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
        tls: place::libpq_tls()?,
    })?;
    Ok(Box::new(database))
}

/// TLS by sqldef's modes: REQUIRED trusts the public authorities, CUSTOM the file's authorities,
/// and both check the host's name.
fn mysql_tls(flags: &Flags) -> Tls {
    let mode = flags
        .ssl_mode
        .as_ref()
        .map(|mode| mode.to_ascii_lowercase());
    let authorities = flags.ssl_ca.as_ref().map(PathBuf::from);
    let mode = match (mode.as_deref(), &authorities) {
        (Some("disabled"), _) => Some(TlsMode::Off),
        (Some("required" | "custom"), _) | (_, Some(_)) => Some(TlsMode::Host),
        (Some("preferred"), None) => Some(TlsMode::Preferred),
        _ => None,
    };
    Tls {
        mode,
        authorities,
        ..Tls::default()
    }
}
