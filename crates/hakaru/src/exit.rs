//! Exit codes: one place, documented for users in `docs/exit-codes.md`.

use std::process::ExitCode;

use console::html::HtmlError;
use ending::{Cause, Ended};

/// The program's exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The run is complete, every request was answered and every check held.
    Ok = 0,
    /// Failure without a more specific code; the message has the details.
    Failed = 1,
    /// The command line, the config file or a flow is invalid.
    Usage = 2,
    /// The schema was applied except for destructive statements without permission.
    HeldBack = 3,
    /// The run is complete, but requests failed or checks did not hold.
    RequestsFailed = 4,
    /// The app could not be started, or did not become ready.
    TargetFailed = 5,
    /// The app died during the measurement; figures up to then are reported and stored.
    TargetDied = 6,
    /// Another run holds the folder.
    Busy = 7,
    /// The run was measured and reported, but not stored (disk full).
    NotKept = 8,
    /// A database server cannot be reached or used.
    Server = 9,
    /// The statements were applied, and the server is not as wanted.
    NotReached = 10,
    /// The server has changed since the plan was stored.
    Changed = 11,
    /// An undecided comparison.
    Undecided = 12,
    /// The schema has objects neither compared nor exported, and nobody allowed so by flag.
    Unseen = 13,
    /// Ctrl-C; figures up to then are reported and stored.
    Interrupted = 130,
}

impl Exit {
    /// Missed expectation of a load. The same number as [`Exit::HeldBack`]: both say that all went
    /// well, and that what was wanted is not there.
    pub(crate) const EXPECTATION_MISSED: Exit = Exit::HeldBack;

    /// Difference found by `schema check`, `drift` or `lint`, of which an invalid command line has
    /// another code. The same number as [`Exit::Usage`].
    pub(crate) const DIFFERS: Exit = Exit::Usage;

    /// Returns the code of a result without a failure of its own, kept or not.
    pub(crate) fn of_kept(self, is_kept: bool) -> Exit {
        match self {
            Exit::Ok if !is_kept => Exit::NotKept,
            other => other,
        }
    }

    /// All codes, for the test against the documentation.
    #[cfg(test)]
    pub(crate) const ALL: [Exit; 15] = [
        Exit::Ok,
        Exit::Failed,
        Exit::Usage,
        Exit::HeldBack,
        Exit::RequestsFailed,
        Exit::TargetFailed,
        Exit::TargetDied,
        Exit::Busy,
        Exit::NotKept,
        Exit::Server,
        Exit::NotReached,
        Exit::Changed,
        Exit::Undecided,
        Exit::Unseen,
        Exit::Interrupted,
    ];
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// An error with the program's exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The code.
    pub(crate) exit: Exit,
    /// Error message: what failed, on what, and what to try next.
    pub(crate) message: String,
}

impl Failure {
    /// Failure for an invalid command line, config file or flow.
    pub(crate) fn usage(error: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Usage, error)
    }

    pub(crate) fn new(exit: Exit, error: impl std::fmt::Display) -> Failure {
        Failure {
            exit,
            message: error.to_string(),
        }
    }
}

impl From<Cause> for Exit {
    fn from(cause: Cause) -> Exit {
        match cause {
            Cause::Failed => Exit::Failed,
            Cause::Usage => Exit::Usage,
            Cause::RequestsFailed => Exit::RequestsFailed,
            Cause::TargetFailed => Exit::TargetFailed,
            Cause::TargetDied => Exit::TargetDied,
            Cause::NotKept => Exit::NotKept,
            Cause::Busy => Exit::Busy,
            Cause::Server => Exit::Server,
            Cause::NotReached => Exit::NotReached,
            Cause::Changed => Exit::Changed,
            Cause::Interrupted => Exit::Interrupted,
        }
    }
}

impl From<Ended> for Exit {
    fn from(ended: Ended) -> Exit {
        match ended {
            Ended::Ok => Exit::Ok,
            Ended::Failed => Exit::Failed,
            Ended::Differs => Exit::DIFFERS,
            Ended::HeldBack => Exit::HeldBack,
            Ended::Unseen => Exit::Unseen,
            Ended::Undecided => Exit::Undecided,
            Ended::TargetDied => Exit::TargetDied,
            Ended::Interrupted => Exit::Interrupted,
        }
    }
}

impl From<ending::Failure> for Failure {
    fn from(failure: ending::Failure) -> Failure {
        Failure::new(failure.cause.into(), failure.message)
    }
}

impl From<console::process::ProcessError> for Failure {
    fn from(error: console::process::ProcessError) -> Failure {
        ending::Failure::from(error).into()
    }
}

impl From<HtmlError> for Failure {
    fn from(error: HtmlError) -> Failure {
        ending::Failure::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn only_what_went_well_ends_with_not_kept() {
        assert_eq!(Exit::Ok.of_kept(true), Exit::Ok);
        assert_eq!(Exit::Ok.of_kept(false), Exit::NotKept);
        assert_eq!(Exit::Undecided.of_kept(false), Exit::Undecided);
    }

    #[test]
    fn every_exit_code_is_documented() {
        let documented = include_str!("../../../docs/exit-codes.md");
        for exit in Exit::ALL {
            let row = format!("| {} |", exit as u8);
            assert!(documented.contains(&row), "{exit:?}: no row `{row}`");
        }
    }
}
