//! Why there is no result.

use app_process::TargetError;
use comparison::Ending;
use guard::Refusal;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Any failure without a kind of the failure's own.
    Failed,
    /// The request cannot be carried out as given.
    Usage,
    /// Requests failed.
    RequestsFailed,
    /// The app could not be started, or did not become ready.
    TargetFailed,
    /// The app died during the measurement.
    TargetDied,
    /// Another run holds the project's folder.
    Busy,
    /// The user interrupted the measurement; not an error.
    Interrupted,
}

/// A failure: the kind, and a message with object, reason and next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub cause: Cause,
    /// The message.
    pub message: String,
}

impl Failure {
    /// Returns a failure of the given kind.
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
