//! Place of a schema: a server, or texts.

use database::Kind;
use std::env;
use std::fs;
use std::path::PathBuf;

use database_client::tls::Tls;
use schema::Source;
use schema_db::mysql::MysqlAddress;
use schema_db::postgres::PostgresAddress;
use schema_db::secrets::{self, ClientOptions, Login, Private};
use schema_db::{Database, DbError, DbErrorKind, source};
use words::text;

use super::prompt;
use super::trouble::of_server;
use ending::{Cause, Failure};

/// Place of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A URL such as `mysql://…`.
    Mysql(String),
    /// `postgres://…`.
    Postgres(String),
    /// `sqlite:path`.
    Sqlite(PathBuf),
    /// `-`.
    StandardInput,
    /// `git:REF:path`.
    Git {
        /// Text before the path.
        commit: String,
        /// Path from the repository's top.
        path: String,
    },
    /// A file or a folder.
    Path(PathBuf),
}

/// Options for opening a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether the password is asked for.
    pub prompt: bool,
    /// Whether a missing database file is created.
    pub create: bool,
}

impl Place {
    /// Reads what somebody typed.
    pub fn parse(text: &str) -> Place {
        let scheme = text.split_once("://");
        match scheme.and_then(|(scheme, path)| Some((Kind::of_scheme(scheme)?, path))) {
            Some((Kind::Mysql, _)) => Place::Mysql(text.to_owned()),
            Some((Kind::Postgres, _)) => Place::Postgres(text.to_owned()),
            Some((Kind::Sqlite, path)) => Place::Sqlite(PathBuf::from(path)),
            _ if text == "-" => Place::StandardInput,
            _ => match (text.strip_prefix("sqlite:"), text.strip_prefix("git:")) {
                (Some(path), _) => Place::Sqlite(PathBuf::from(path)),
                (_, Some(rest)) if rest.contains(':') => {
                    let (commit, path) = rest.split_once(':').unwrap_or((rest, ""));
                    let (commit, path) = (commit.to_owned(), path.to_owned());
                    Place::Git { commit, path }
                }
                _ => Place::Path(PathBuf::from(text)),
            },
        }
    }

    /// The place for people and files: without the password.
    pub fn shown(&self) -> String {
        match self {
            Place::Mysql(url) | Place::Postgres(url) => without_password(url),
            Place::Sqlite(path) => format!("sqlite:{}", path.display()),
            Place::StandardInput => "-".to_owned(),
            Place::Git { commit, path } => format!("git:{commit}:{path}"),
            Place::Path(path) => path.display().to_string(),
        }
    }

    /// Connects, when the place is a server.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the user.
    pub fn connect(&self, access: Access) -> Result<Option<Box<dyn Database>>, Failure> {
        let connected = match self {
            Place::Mysql(url) => mysql(url, access),
            Place::Postgres(url) => postgres(url, access),
            Place::Sqlite(path) if !access.create && !path.exists() => Err(DbError {
                kind: DbErrorKind::Unreachable,
                message: format!("there is no file {}", path.display()),
                sql: None,
            }),
            Place::Sqlite(path) => boxed(schema_db::sqlite::open(path)),
            _ => return Ok(None),
        };
        connected.map(Some).map_err(|error| of_server(&error))
    }

    /// Reads the texts, when the place is not a server.
    ///
    /// # Errors
    /// A file, or the commit, cannot be read.
    pub fn texts(&self) -> Result<Vec<Source>, Failure> {
        let read = match self {
            Place::StandardInput => source::standard_input().map(|source| vec![source]),
            Place::Git { commit, path } => source::git(commit, path),
            Place::Path(path) if path.is_dir() => source::folder(path),
            Place::Path(path) => source::file(path).map(|source| vec![source]),
            _ => Ok(Vec::new()),
        };
        read.map_err(|error| Failure::new(Cause::Failed, error))
    }
}

type Connected = Result<Box<dyn Database>, DbError>;

fn boxed<D: Database + 'static>(opened: Result<D, DbError>) -> Connected {
    opened.map(|database| Box::new(database) as Box<dyn Database>)
}

/// Address in a URL, completed from the environment and `~/.my.cnf`.
pub(super) fn mysql_address(url: &str) -> Result<MysqlAddress, DbError> {
    let mut address = MysqlAddress::from_url(url)?;
    let options = my_cnf();
    address.tls = address.tls.or(options.tls);
    if let (false, Some(user)) = (authority(url).contains('@'), options.user) {
        address.user = user;
    }
    address.password = address
        .password
        .or_else(|| env::var("MYSQL_PWD").ok())
        .or(options.password);
    Ok(address)
}

fn mysql(url: &str, access: Access) -> Connected {
    let mut address = mysql_address(url)?;
    if access.prompt {
        address.password = Some(prompt::password(&address.to_string())?);
    }
    boxed(schema_db::mysql::connect(&address))
}

/// Options in `~/.my.cnf`; a file readable by others is used, as by MySQL's own clients.
pub fn my_cnf() -> ClientOptions {
    let path = home().map(|home| home.join(".my.cnf"));
    let text = path.and_then(|path| fs::read_to_string(path).ok());
    text.map_or_else(ClientOptions::default, |text| {
        secrets::client_options(&text)
    })
}

fn postgres(url: &str, access: Access) -> Connected {
    let login = Login::from_postgres_url(url);
    let mut address = PostgresAddress {
        url: Some(url.to_owned()),
        tls: match url.contains("sslmode=") {
            true => Tls::default(),
            false => libpq_tls()?,
        },
        ..PostgresAddress::default()
    };
    if access.prompt {
        let place = format!("{}:{}/{}", login.host, login.port, login.database);
        address.password = Some(prompt::password(&place)?);
    } else if without_password(url) == url {
        address.password = env::var("PGPASSWORD").ok().or_else(|| pgpass(&login));
    }
    boxed(schema_db::postgres::connect(&address))
}

/// TLS by libpq's environment.
///
/// # Errors
/// A variable with a value unknown to libpq.
pub fn libpq_tls() -> Result<Tls, DbError> {
    let mut tls = Tls::default();
    for (variable, key) in [
        ("PGSSLMODE", "sslmode"),
        ("PGSSLROOTCERT", "sslrootcert"),
        ("PGSSLCERT", "sslcert"),
        ("PGSSLKEY", "sslkey"),
    ] {
        if let Some(value) = env::var(variable).ok().filter(|value| !value.is_empty()) {
            tls.take_libpq(key, &value).map_err(|message| DbError {
                kind: DbErrorKind::Unsupported,
                message,
                sql: None,
            })?;
        }
    }
    Ok(tls)
}

/// Password of a login in the password file.
pub fn pgpass(login: &Login) -> Option<String> {
    let named = env::var_os("PGPASSFILE").map(PathBuf::from);
    let path = named.or_else(|| home().map(|home| home.join(".pgpass")))?;
    match secrets::read_private(&path) {
        Private::Text(text) => secrets::pgpass(&text, login),
        Private::Missing => None,
        Private::Open => {
            console::notice(text!(
                "hakaru: {path} is not used, since others may read it; chmod 0600 it",
                path = path.display().to_string()
            ));
            None
        }
    }
}

fn home() -> Option<PathBuf> {
    env::var_os("HOME").map(PathBuf::from)
}

/// User, password and host of a URL.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    &rest[..rest.find(['/', '?']).unwrap_or(rest.len())]
}

/// The URL without the password.
fn without_password(url: &str) -> String {
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let authority = authority(url);
    let start = url.len() - url.split_once("://").map_or(url, |(_, rest)| rest).len();
    let rest = &url[start + authority.len()..];
    let kept = match authority.rsplit_once('@') {
        Some((login, host)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let settings: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.to_ascii_lowercase().starts_with("password="))
        .collect();
    let query = match settings.is_empty() {
        true => String::new(),
        false => format!("?{}", settings.join("&")),
    };
    format!("{}{kept}{rest}{query}", &url[..start])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_by_how_they_are_written() {
        let check = |text: &str, expected: Place| assert_eq!(Place::parse(text), expected);
        check("-", Place::StandardInput);
        check("mariadb://h/d", Place::Mysql("mariadb://h/d".to_owned()));
        check(
            "postgres://h/d",
            Place::Postgres("postgres://h/d".to_owned()),
        );
        check("sqlite:a.db", Place::Sqlite("a.db".into()));
        check("sqlite:///srv/a.db", Place::Sqlite("/srv/a.db".into()));
        check("schema/", Place::Path("schema/".into()));
        let (commit, path) = ("main~1".to_owned(), "db/schema.sql".to_owned());
        check("git:main~1:db/schema.sql", Place::Git { commit, path });
    }

    #[test]
    fn passwords_are_not_shown() {
        let check = |url: &str, shown: &str| assert_eq!(Place::parse(url).shown(), shown);
        check("mysql://me:secret@db/app", "mysql://me@db/app");
        check("mysql://me:s@cret@db/app", "mysql://me@db/app");
        check("postgres://db:5433/app", "postgres://db:5433/app");
        check(
            "postgres://me@db/app?password=secret&sslmode=disable",
            "postgres://me@db/app?sslmode=disable",
        );
    }
}
