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

/// The failure of the build of a revision, which is no `before`.
pub(crate) fn of_build(error: TargetError, reference: &str) -> Failure {
    let TargetError::BeforeFailed {
        command,
        status,
        ran,
        printed,
    } = error
    else {
        return of_target(error, "it was built");
    };
    let how = match status {
        Some(status) => format!("ended with {status}"),
        None => format!("did not end within {:.0} s", ran.as_secs_f64()),
    };
    Failure::new(
        Cause::TargetFailed,
        format!("the build of git:{reference} failed: `{command}` {how}{printed}"),
    )
}

/// The failure of the reset of an app's data, named as in messages; the app was not started.
pub(crate) fn of_reset(error: TargetError, name: Option<&str>) -> Failure {
    match (name, error) {
        (Some(name), error) if !matches!(error, TargetError::Interrupted) => Failure::new(
            Cause::TargetFailed,
            format!("the data of {name} was not reset: {error}"),
        ),
        (_, error) => of_target(error, "the data was reset"),
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use app_process::Printed;

    use super::*;

    fn failed() -> TargetError {
        TargetError::BeforeFailed {
            command: "bundle install".to_owned(),
            status: None,
            ran: Duration::from_secs(1800),
            printed: Box::new(Printed {
                cause: None,
                tail: Vec::new(),
                log: None,
                by_hand: String::new(),
            }),
        }
    }

    #[test]
    fn a_build_and_a_reset_are_named_as_what_failed() {
        let build = of_build(failed(), "main").message;
        assert!(
            build.starts_with(
                "the build of git:main failed: `bundle install` did not end within 1800 s"
            ),
            "{build}"
        );
        assert!(!build.contains("before"), "{build}");
        let reset = of_reset(failed(), Some("B (git:main)")).message;
        assert!(
            reset.starts_with("the data of B (git:main) was not reset: "),
            "{reset}"
        );
        let interrupted = of_build(TargetError::Interrupted, "main");
        assert_eq!(interrupted.cause, Cause::Interrupted);
    }
}
