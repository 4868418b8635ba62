//! How a bench ends; the program has an exit code for each.

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
