//! How a command on schemas ends; the program has an exit code for each.

/// End of a command without a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As wanted.
    Ok,
    /// The two schemas differ, or a finding is as bad as the command line forbids.
    Differs,
    /// Applied except for destructive statements without permission.
    HeldBack,
    /// There are objects neither compared nor exported, and no flag allows so.
    Unseen,
}
