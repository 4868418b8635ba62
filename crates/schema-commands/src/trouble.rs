//! Errors of a schema or a server, as one sentence and an exit code.

use schema_db::runner::RunError;
use schema_db::{DbError, DbErrorKind};

use ending::{Cause, Failure};

/// A server's error.
pub fn of_server(error: &DbError) -> Failure {
    let (exit, advice) = match error.kind {
        DbErrorKind::Unreachable => (Cause::Server, "is it running, and is the address right?"),
        DbErrorKind::Denied => (Cause::Server, "check the user and the password"),
        DbErrorKind::NoDatabase => (Cause::Server, "create the database first"),
        DbErrorKind::NotPermitted => (Cause::Server, "use a user who may change the schema"),
        DbErrorKind::Locked => (Cause::Busy, "try again when the other one has ended"),
        DbErrorKind::Gone => (
            Cause::Server,
            "run again when it is back: what was done is known",
        ),
        DbErrorKind::DiskFull => (
            Cause::Server,
            "make room on the server's disk and run again",
        ),
        DbErrorKind::Unsupported => (Cause::Server, "`hakaru help schema` says what is supported"),
        DbErrorKind::Refused => (Cause::Failed, "the server refuses this statement"),
    };
    let sql = match &error.sql {
        Some(sql) => format!(":\n    {}", sql.trim().replace('\n', "\n    ")),
        None => String::new(),
    };
    Failure::new(exit, format!("{}; {advice}{sql}", error.message.trim_end()))
}

/// A run's error.
pub(crate) fn of_run(error: &RunError) -> Failure {
    match error {
        RunError::Database(error) => of_server(error),
        RunError::Syntax(error) => Failure::new(Cause::Failed, error),
        RunError::Plan(error) => Failure::new(Cause::Failed, error),
    }
}
