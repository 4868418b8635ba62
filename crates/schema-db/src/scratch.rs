//! Scratch copies of whole databases including rows, for experiments with changes, and databases by
//! address.
//!
//! A copy is another database on the same server, so an app reaches it by the same address with
//! another name at the end. SQLite needs none of this: its database is a file, which the caller can
//! copy.

mod copy;
mod index;
mod watch;

use std::path::{Path, PathBuf};

use database::Kind;
use schema::Product;

use crate::mysql::MysqlAddress;
use crate::postgres::PostgresAddress;
use crate::{Database, DbError, DbErrorKind, mysql, postgres, sqlite};

pub use copy::{CopyEnding, copy};
pub use index::Index;
pub use watch::until_stopped;

/// Beginning of every copy's name; nothing else is ever dropped.
pub const PREFIX: &str = "hakaru_scratch_";

/// A database present on every PostgreSQL server, connected to while another is copied or dropped.
const POSTGRES_ALWAYS: &str = "postgres";

/// Connects to the database of an address such as `mysql2://user@host/shop` or `sqlite:shop.db`.
///
/// # Errors
/// Whatever the server says; [`DbErrorKind::Unsupported`] for another kind of address.
pub fn open(url: &str) -> Result<Box<dyn Database>, DbError> {
    Ok(match kind(url)? {
        Kind::Mysql => Box::new(mysql::connect(&MysqlAddress::from_url(url)?)?),
        Kind::Postgres => Box::new(postgres::connect(&postgres_address(url, None))?),
        Kind::Sqlite => Box::new(sqlite::open(sqlite_path(url).unwrap_or_default().as_ref())?),
    })
}

/// The file of a SQLite address; `None` for another kind.
pub fn sqlite_path(url: &str) -> Option<&str> {
    let rest = url
        .strip_prefix("sqlite3:")
        .or_else(|| url.strip_prefix("sqlite:"))?;
    Some(rest.strip_prefix("//").unwrap_or(rest))
}

/// Names the database of an address, without user and password: the server's host and port, or the
/// socket, and the database's name; of SQLite an address of the file, complete. Two addresses of
/// one database have the same.
///
/// # Errors
/// The address cannot be read.
pub fn place_of(url: &str) -> Result<String, DbError> {
    let kind = kind(url)?;
    let place = match kind {
        Kind::Mysql => MysqlAddress::from_url(url)?.to_string(),
        Kind::Postgres => postgres_address(url, None).place()?,
        Kind::Sqlite => {
            let path = Path::new(sqlite_path(url).unwrap_or_default());
            let whole: PathBuf = path
                .canonicalize()
                .or_else(|_| std::path::absolute(path))
                .unwrap_or_else(|_| path.to_owned());
            whole.display().to_string()
        }
    };
    Ok(format!("{}:{place}", kind.name()))
}

/// The same server's database of another name; `None` for SQLite, and when the address names no
/// database.
pub fn url_of(url: &str, name: &str) -> Option<String> {
    if sqlite_path(url).is_some() {
        return None;
    }
    let authority = url.find("://")? + 3;
    let slash = authority + url[authority..].find('/')?;
    let end = url[slash..].find('?').map_or(url.len(), |at| slash + at);
    (end > slash + 1).then(|| format!("{}/{name}{}", &url[..slash], &url[end..]))
}

/// Drops a copy; a missing one is no error.
///
/// # Errors
/// Whatever the server says; a name without [`PREFIX`] is refused.
pub fn drop_copy(url: &str, name: &str) -> Result<(), DbError> {
    if !name.starts_with(PREFIX) {
        return Err(unsupported("its name is not that of a scratch database"));
    }
    match kind(url)? {
        Kind::Mysql => open(url)?.execute(&format!("DROP DATABASE IF EXISTS `{name}`")),
        Kind::Postgres => {
            let mut server = postgres::connect(&postgres_address(url, Some(POSTGRES_ALWAYS)))?;
            server.execute(&format!("DROP DATABASE IF EXISTS \"{name}\""))
        }
        Kind::Sqlite => Ok(()),
    }
}

fn kind(url: &str) -> Result<Kind, DbError> {
    let known = Kind::of_address(url).map(|(kind, _)| kind);
    known.ok_or_else(|| {
        unsupported(
            "the address begins with none of mysql2:, mysql:, mariadb:, trilogy:, postgres:, sqlite:",
        )
    })
}

fn unsupported(why: &str) -> DbError {
    DbError {
        kind: DbErrorKind::Unsupported,
        message: why.to_owned(),
        sql: None,
    }
}

fn postgres_address(url: &str, database: Option<&str>) -> PostgresAddress {
    PostgresAddress {
        url: Some(url.to_owned()),
        dbname: database.map(str::to_owned),
        ..PostgresAddress::default()
    }
}

fn url_name(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (_, name) = rest.split_once('/')?;
    name.split('?').next().filter(|name| !name.is_empty())
}

/// Whether names are quoted by backticks.
fn has_backticks(product: Product) -> bool {
    matches!(product, Product::Mysql | Product::MariaDb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_reached_by_the_same_address_with_another_name() {
        let check = |url: &str, expected: Option<&str>| {
            assert_eq!(url_of(url, "x").as_deref(), expected, "{url}");
        };
        check(
            "mysql2://u:p@h:3306/shop?socket=/a/b",
            Some("mysql2://u:p@h:3306/x?socket=/a/b"),
        );
        check("postgres://h/shop", Some("postgres://h/x"));
        check("postgres://h", None);
        check("postgres://h/", None);
        check("sqlite:shop.db", None);
        assert_eq!(sqlite_path("sqlite3:///a/b.db"), Some("/a/b.db"));
        assert_eq!(sqlite_path("sqlite:b.db"), Some("b.db"));
        assert_eq!(sqlite_path("mysql://h/b"), None);
    }

    #[test]
    fn a_place_has_no_user_and_no_password() {
        let check = |url: &str, expected: &str| {
            assert_eq!(place_of(url).ok().as_deref(), Some(expected), "{url}");
        };
        check("mysql2://u:p@127.0.0.1/shop", "mysql:127.0.0.1:3306/shop");
        check(
            "trilogy://other@127.0.0.1:3306/shop?encoding=utf8mb4",
            "mysql:127.0.0.1:3306/shop",
        );
        check("mysql://u:p@h/shop?socket=/a/b", "mysql:/a/b/shop");
        check("postgres://u:p@h:6432/shop", "postgresql:h:6432/shop");
        check("postgres://u:p@h/shop", "postgresql:h:5432/shop");
        assert!(place_of("redis://h").is_err());
    }

    #[test]
    fn a_file_has_one_place_however_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir(folder.join("db")).unwrap();
        std::fs::write(folder.join("a.db"), "").unwrap();
        let of = |path: &str| place_of(&format!("sqlite3:{}/{path}", folder.display())).unwrap();
        assert_eq!(of("a.db"), of("db/../a.db"));
        assert_eq!(of("a.db"), format!("sqlite:{}/a.db", folder.display()));
    }

    #[test]
    fn nothing_but_copies_is_dropped() {
        let error = drop_copy("mysql://h/shop", "shop").unwrap_err();
        assert_eq!(error.kind, DbErrorKind::Unsupported);
    }
}
