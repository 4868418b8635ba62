//! The schema engine's hands on real servers: connects, reads the catalogue as SQL, applies plans.

pub mod apply;
#[cfg(test)]
mod fake;
pub mod journal;
pub mod mysql;
pub mod online;
pub mod postgres;
pub mod runner;
pub mod scratch;
pub mod secrets;
pub mod source;
pub mod sqlite;
pub mod usage;

use schema::Server;

/// A connection to one database.
pub trait Database: Send {
    /// Kind of the server.
    fn server(&self) -> &Server;

    /// Returns the whole schema as SQL text for [`schema::read`], in one snapshot where supported.
    ///
    /// # Errors
    /// Whatever the server says.
    fn export(&mut self) -> Result<String, DbError>;

    /// Returns roles and users by name, as SQL text for [`schema::read_with_roles`]. They belong to
    /// the whole server and are in no [`Database::export`].
    ///
    /// # Errors
    /// Whatever the server says, such as a missing right to read roles.
    fn roles(&mut self, _names: &[String]) -> Result<String, DbError> {
        Ok(String::new())
    }

    /// Returns objects in the database not exported by [`Database::export`], and so not compared.
    ///
    /// # Errors
    /// Whatever the server says.
    fn unseen(&mut self) -> Result<Vec<Unseen>, DbError>;

    /// Executes one statement.
    ///
    /// # Errors
    /// Whatever the server says.
    fn execute(&mut self, sql: &str) -> Result<(), DbError>;

    /// Executes a query; values as text.
    ///
    /// # Errors
    /// Whatever the server says.
    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError>;

    /// Whether DDL can be rolled back.
    fn is_transactional(&self) -> bool;

    /// Becomes the only runner on the database, until the connection ends.
    ///
    /// # Errors
    /// When another runner is there for longer than `patience`.
    fn lock(&mut self, patience: std::time::Duration) -> Result<(), DbError>;

    /// Longest wait of a statement for a lock of the server.
    ///
    /// # Errors
    /// Whatever the server says.
    fn set_lock_timeout(&mut self, timeout: std::time::Duration) -> Result<(), DbError>;

    /// Returns the server's normal form of a schema as text like [`Database::export`]'s: the
    /// statements are executed in a scratch database or schema, dropped afterwards. With
    /// [`schema::Schema::adopt`] a schema takes over the form.
    ///
    /// # Errors
    /// Whatever the server says, such as that this user may make no scratch place; `Unsupported`
    /// where there is no asking.
    fn read_back(&mut self, _statements: &[String]) -> Result<String, DbError> {
        Err(DbError {
            kind: DbErrorKind::Unsupported,
            message: "this server is not asked how it would store a schema".to_owned(),
            sql: None,
        })
    }
}

/// An object neither exported nor compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unseen {
    /// Such as `procedure`, `owner`, `revoked privilege`.
    pub kind: String,
    /// Name as written by the server.
    pub name: String,
}

/// What went wrong at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DbError {
    /// What kind, for the exit code and the remedy.
    pub kind: DbErrorKind,
    /// The server's own words, without secrets.
    pub message: String,
    /// The statement, when there was one.
    pub sql: Option<String>,
}

/// Kinds of errors of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DbErrorKind {
    /// No such host, nothing listens, no such file.
    Unreachable,
    /// User or password refused.
    Denied,
    /// No such database.
    NoDatabase,
    /// The user lacks a privilege.
    NotPermitted,
    /// Another runner, or a lock not given in time.
    Locked,
    /// The connection ended.
    Gone,
    /// No room.
    DiskFull,
    /// An unsupported version or feature.
    Unsupported,
    /// The statement was refused.
    Refused,
}
