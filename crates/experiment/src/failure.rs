//! Why there is no result.

use app_process::TargetError;
use comparison::Ending;
use guard::Refusal;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Something failed that has no kind of its own.
    Failed,
    /// What was asked for cannot be done as it is.
    Usage,
    /// Requests failed.
    RequestsFailed,
    /// The app could not be started, or did not become ready.
    TargetFailed,
    /// The app died while it was measured.
    TargetDied,
    /// Another run holds the project's folder.
    Busy,
    /// The user interrupted it; not an error.
    Interrupted,
}

/// A failure: its kind, and what failed, on what, and what to try next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub cause: Cause,
    /// The message.
    pub message: String,
}

impl Failure {
    /// A failure of that kind.
    pub fn new(cause: Cause, message: impl std::fmt::Display) -> Failure {
        Failure {
            cause,
            message: message.to_string(),
        }
    }

    pub(crate) fn failed(message: impl std::fmt::Display) -> Failure {
        Failure::new(Cause::Failed, message)
    }

    pub(crate) fn usage(message: impl std::fmt::Display) -> Failure {
        Failure::new(Cause::Usage, message)
    }

    /// The interruption of a measurement of which nothing is left.
    pub(crate) fn interrupted() -> Failure {
        Failure::new(
            Cause::Interrupted,
            "interrupted before anything was measured",
        )
    }

    /// The failure of a command or an app; `while_doing` completes "interrupted while …".
    pub(crate) fn of_target(error: TargetError, while_doing: &str) -> Failure {
        match error {
            TargetError::Interrupted => Failure::new(
                Cause::Interrupted,
                format!("interrupted while {while_doing}; nothing was measured"),
            ),
            error => Failure::new(Cause::TargetFailed, error),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::usage(refusal)
    }
}

impl From<Failure> for Ending {
    fn from(failure: Failure) -> Ending {
        match failure.cause {
            Cause::Interrupted => Ending::Interrupted,
            _ => Ending::Failed(failure.message),
        }
    }
}
