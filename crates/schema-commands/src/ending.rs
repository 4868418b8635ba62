//! How a command on schemas ends; the program has an exit code for each.

use std::fmt::Display;

/// End of a command without a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As wanted.
    Ok,
    /// The two schemas differ, or a finding is as bad as the command line forbids.
    Differs,
    /// Applied except for destructive statements without permission.
    HeldBack,
    /// There are objects neither compared nor exported, and no flag allows so.
    Unseen,
}

/// Reason of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// None of the others.
    Failed,
    /// The command line, or a file named there, is invalid.
    Usage,
    /// Another run holds the lock on the schema.
    Busy,
    /// The server cannot be reached or used.
    Server,
    /// The statements were applied, and the server is not as wanted.
    NotReached,
    /// The server has changed since the plan was stored.
    Changed,
}

/// Failure of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Reason.
    pub cause: Cause,
    /// Error message: what failed, on what, and what to try next.
    pub message: String,
}

impl Failure {
    /// Failure with a message.
    pub fn new(cause: Cause, message: impl Display) -> Failure {
        Failure {
            cause,
            message: message.to_string(),
        }
    }

    /// Failure for an invalid command line.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::new(Cause::Usage, message)
    }
}
