//! How a command ends: with a result, or with a failure and its cause.
//!
//! The program maps both to exit codes (`crates/hakaru/src/exit.rs`). Pure: values without I/O.

use std::fmt::Display;

/// End of a command with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All is as wanted, or decided.
    Ok,
    /// A contender of a bench failed; the others have figures.
    Failed,
    /// The two schemas differ, or a finding is as bad as the command line forbids.
    Differs,
    /// A schema was applied except for destructive statements without permission.
    HeldBack,
    /// There are objects neither compared nor exported, and no flag allows so.
    Unseen,
    /// A claim is left undecided.
    Undecided,
    /// The profiled command failed.
    TargetDied,
    /// Ctrl-C; the figures up to then are the result.
    Interrupted,
}

/// Reason of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// None of the others.
    Failed,
    /// The command line, or a file named there, is invalid, or cannot be carried out as given.
    Usage,
    /// Requests failed.
    RequestsFailed,
    /// The app, or the command to measure, could not be started or did not become ready.
    TargetFailed,
    /// The app died during the measurement.
    TargetDied,
    /// The result could not be stored, or a page not be written for want of room.
    NotKept,
    /// Another run holds the lock of the folder or the server.
    Busy,
    /// A database server cannot be reached or used.
    Server,
    /// The statements were applied, and the server is not as wanted.
    NotReached,
    /// The server has changed since the plan was stored.
    Changed,
    /// The user interrupted before there was a result; not an error.
    Interrupted,
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

    /// Failure without a particular cause.
    pub fn failed(message: impl Display) -> Failure {
        Failure::new(Cause::Failed, message)
    }

    /// Failure for an invalid command line, or a request that cannot be carried out as given.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(Cause::Usage, message)
    }
}
