//! Why there is no result.

use app_process::TargetError;
use comparison::Ending;
use ending::{Cause, Failure};
use recording::Trouble;
use store::StoreError;

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

/// Returns the error of a run held in memory only.
pub(crate) fn not_kept(error: &StoreError) -> Trouble {
    Trouble {
        what: format!("this run is not kept: {error}"),
        remedy: "make room or mend what is named, then run again".to_owned(),
    }
}
