//! How a profile ends; the program has an exit code for each.

use std::fmt::Display;

use console::html::HtmlError;
use console::process::ProcessError;

/// End of a profile taken or shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All went well.
    Ok,
    /// The profiled command failed.
    TargetDied,
    /// Ctrl-C.
    Interrupted,
}

/// Reason of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// None of the others.
    Failed,
    /// The command line, or a file named there, is invalid.
    Usage,
    /// The command to profile could not be started.
    TargetFailed,
    /// A page could not be written for want of room.
    NotKept,
}

/// Failure to take, read or write a profile.
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
