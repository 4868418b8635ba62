//! Why there is no result.

use app_process::TargetError;
use comparison::Ending;
use ending::{Cause, Failure};

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

/// Returns the ending of a failed comparison.
pub(crate) fn ending_of(failure: Failure) -> Ending {
    match failure.cause {
        Cause::Interrupted => Ending::Interrupted,
        _ => Ending::Failed(failure.message),
    }
}
