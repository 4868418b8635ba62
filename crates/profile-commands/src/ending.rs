//! How a profile ends; the program has an exit code for each.

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
