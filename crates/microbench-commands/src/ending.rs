//! How a bench ends; the program has an exit code for each.

use std::fmt::Display;

use console::html::HtmlError;
use console::process::ProcessError;

/// End of a measured bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All is decided.
    Ok,
    /// A contender failed.
    Failed,
    /// A claim is left undecided.
    Undecided,
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
    /// The result could not be stored.
    NotKept,
}

/// A bench which could not be measured or stored.
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
