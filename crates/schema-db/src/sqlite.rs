//! SQLite: one file, one connection.
//!
//! Foreign keys are never enforced on this connection, since `DROP TABLE` in a table rebuild would
//! otherwise delete the rows that refer to it. What enforcement would have caught is found before
//! the commit instead: a plan that rebuilds a table ends in `PRAGMA foreign_key_check`, which fails
//! here when it finds more than there was before.

mod error;
mod keys;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use schema::{Product, Server, Version};

use crate::{Database, DbError, DbErrorKind, Unseen};
use error::refused;
use keys::Violations;

/// Time between two attempts to become the only runner.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Query for definitions in an order accepted by an empty database, without objects created by
/// SQLite itself: internal tables and the shadow tables of virtual ones.
const EXPORT: &str = "
    SELECT sql FROM sqlite_schema AS object
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND NOT EXISTS (
            SELECT 1 FROM pragma_table_list AS listed
            WHERE listed.schema = 'main' AND listed.type = 'shadow'
                AND listed.name IN (object.name, object.tbl_name))
    ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, rowid";

/// A SQLite database.
#[derive(Debug)]
pub struct Sqlite {
    // Before `runner`: closing any descriptor of the file would give up SQLite's own locks on it.
    connection: Connection,
    runner: Option<File>,
    path: PathBuf,
    server: Server,
    violations_before: Violations,
}

/// Opens a database file, created on the first write when missing.
///
/// # Errors
/// When the file cannot be opened, or is no database.
pub fn open(path: &Path) -> Result<Sqlite, DbError> {
    let connection = Connection::open(path).map_err(|error| error::opening(path, &error))?;
    connection
        .execute_batch("PRAGMA foreign_keys = OFF; SELECT count(*) FROM sqlite_schema")
        .or_else(|error| match error {
            rusqlite::Error::ExecuteReturnedResults => Ok(()),
            error => Err(error),
        })
        .map_err(|error| error::opening(path, &error))?;
    Ok(Sqlite {
        connection,
        runner: None,
        path: path.to_owned(),
        server: Server {
            version: Some(version()),
            ..Server::unknown(Product::Sqlite)
        },
        violations_before: Violations::default(),
    })
}

/// Version of the compiled-in SQLite.
fn version() -> Version {
    let number = u32::try_from(rusqlite::version_number()).unwrap_or_default();
    Version(number / 1_000_000, number / 1_000 % 1_000, number % 1_000)
}

impl Database for Sqlite {
    fn server(&self) -> &Server {
        &self.server
    }

    fn export(&mut self) -> Result<String, DbError> {
        let rows = self.query(EXPORT)?;
        let statements = rows.into_iter().flatten().flatten();
        Ok(statements.map(|sql| sql + ";\n").collect())
    }

    fn unseen(&mut self) -> Result<Vec<Unseen>, DbError> {
        let mut unseen = Vec::new();
        for name in ["user_version", "application_id"] {
            let rows = self.query(&format!("PRAGMA {name}"))?;
            let value = rows.into_iter().flatten().flatten().next();
            let value = value.filter(|value| value != "0");
            unseen.extend(value.map(|value| Unseen {
                kind: "pragma".to_owned(),
                name: format!("{name} = {value}"),
            }));
        }
        Ok(unseen)
    }

    fn execute(&mut self, sql: &str) -> Result<(), DbError> {
        if keys::is_check(sql) {
            return self.check_foreign_keys(sql);
        }
        if keys::is_switch(sql) {
            self.violations_before = Violations::count(&self.connection)?;
        }
        run(&self.connection, sql).map(drop)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        run(&self.connection, sql)
    }

    fn is_transactional(&self) -> bool {
        true
    }

    fn lock(&mut self, patience: Duration) -> Result<(), DbError> {
        if self.runner.is_some() || !self.path.is_file() {
            return Ok(());
        }
        let file = File::open(&self.path).map_err(|error| DbError {
            kind: DbErrorKind::Unreachable,
            message: format!("cannot open {}: {error}", self.path.display()),
            sql: None,
        })?;
        let deadline = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(LOCK_POLL);
                }
                Err(_) => return Err(error::other_runner(&self.path, patience)),
            }
        }
        self.runner = Some(file);
        Ok(())
    }

    fn set_lock_timeout(&mut self, timeout: Duration) -> Result<(), DbError> {
        self.connection
            .busy_timeout(timeout)
            .map_err(|error| refused(&error, "busy_timeout"))
    }
}

impl Sqlite {
    fn check_foreign_keys(&self, sql: &str) -> Result<(), DbError> {
        let now = Violations::count(&self.connection)?;
        match now.complaint(&self.violations_before) {
            None => Ok(()),
            Some(message) => Err(DbError {
                kind: DbErrorKind::Refused,
                message,
                sql: Some(sql.to_owned()),
            }),
        }
    }
}

/// Executes one statement and returns the rows.
fn run(connection: &Connection, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
    let failed = |error: rusqlite::Error| refused(&error, sql);
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let width = statement.column_count();
    let mut rows = statement.raw_query();
    let mut answer = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let values = (0..width).map(|index| row.get_ref(index).map(text));
        answer.push(values.collect::<Result<_, _>>().map_err(failed)?);
    }
    Ok(answer)
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> (tempfile::TempDir, Sqlite) {
        let folder = tempfile::tempdir().unwrap();
        let database = open(&folder.path().join("app.db")).unwrap();
        (folder, database)
    }

    #[test]
    fn what_sqlite_makes_by_itself_is_not_exported() {
        let (_folder, mut database) = empty();
        for sql in [
            "CREATE VIEW v AS SELECT id FROM t",
            "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n TEXT UNIQUE)",
            "CREATE VIRTUAL TABLE notes USING fts5(body)",
            "CREATE INDEX by_n ON t (n)",
        ] {
            database.execute(sql).unwrap();
        }
        assert_eq!(
            database.export().unwrap(),
            "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n TEXT UNIQUE);\n\
             CREATE VIRTUAL TABLE notes USING fts5(body);\n\
             CREATE INDEX by_n ON t (n);\n\
             CREATE VIEW v AS SELECT id FROM t;\n"
        );
    }

    #[test]
    fn broken_references_fail_the_check_unless_they_were_there_before() {
        let (_folder, mut database) = empty();
        for sql in [
            "CREATE TABLE a (id INTEGER PRIMARY KEY)",
            "CREATE TABLE b (a_id REFERENCES a (id))",
            "INSERT INTO b VALUES (1)",
            "PRAGMA foreign_keys = OFF",
            "PRAGMA foreign_key_check",
            "INSERT INTO b VALUES (2)",
        ] {
            database.execute(sql).unwrap();
        }
        let error = database.execute("PRAGMA foreign_key_check").unwrap_err();
        assert_eq!(
            error.message,
            "2 rows refer to rows that do not exist (1 before): 2 in b"
        );
    }

    #[test]
    fn a_second_runner_is_told_of_the_first() {
        let (folder, mut first) = empty();
        first.execute("CREATE TABLE t (id)").unwrap();
        first.lock(Duration::ZERO).unwrap();
        let mut second = open(&folder.path().join("app.db")).unwrap();
        let error = second.lock(Duration::from_millis(30)).unwrap_err();
        assert_eq!(error.kind, DbErrorKind::Locked);
        drop(first);
        second.lock(Duration::ZERO).unwrap();
    }

    #[test]
    fn trouble_has_a_kind() {
        let folder = tempfile::tempdir().unwrap();
        let missing = open(&folder.path().join("no/such/folder.db")).unwrap_err();
        assert_eq!(missing.kind, DbErrorKind::Unreachable);
        let path = folder.path().join("text.db");
        std::fs::write(
            &path,
            "this is not a database, however long it may be".repeat(9),
        )
        .unwrap();
        assert_eq!(open(&path).unwrap_err().kind, DbErrorKind::Unsupported);
        let (_folder, mut database) = empty();
        assert_eq!(
            database.execute("CREATE NONSENSE").unwrap_err().kind,
            DbErrorKind::Refused
        );
    }
}
