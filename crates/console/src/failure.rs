//! Why a command ends without a result; the program has an exit code for each cause.

use std::fmt::Display;

use crate::html::HtmlError;
use crate::process::ProcessError;

/// Reason of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// None of the others.
    Failed,
    /// The command line, or a file named there, is invalid.
    Usage,
    /// The command to measure could not be started.
    TargetFailed,
    /// The result could not be stored, or a page not be written for want of room.
    NotKept,
    /// Another run holds the lock.
    Busy,
    /// A database server cannot be reached or used.
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
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(Cause::Usage, message)
    }
}

impl From<ProcessError> for Failure {
    fn from(error: ProcessError) -> Failure {
        Failure::new(Cause::Failed, error)
    }
}

impl From<HtmlError> for Failure {
    fn from(error: HtmlError) -> Failure {
        let cause = match &error {
            HtmlError::TwoDocuments => Cause::Usage,
            HtmlError::Unwritable { is_full: true, .. } => Cause::NotKept,
            HtmlError::Unwritable { is_full: false, .. } => Cause::Failed,
        };
        Failure::new(cause, error)
    }
}
