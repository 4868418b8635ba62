//! Starts an app, detects readiness, and stops the app with every process started meanwhile.
//!
//! [`start`] takes a [`Spec`] and returns a [`Running`] app or a [`TargetError`] whose text says
//! what failed, on what, and what to try next. [`attach`] does the same for an app somebody else
//! started, and [`run_before`] runs the command that resets its data.
//!
//! What holds, whichever way a run ends (return, error, Ctrl-C, panic, `SIGKILL` of this program):
//! - The app runs in its own process group, so Ctrl-C in the terminal reaches this program alone
//!   and [`Running::stop`] decides when the app goes. Dropping a [`Running`] stops it too.
//! - Every process of the app carries `HAKARU_RUN=<token>` in its environment, and this program is
//!   a "child subreaper": a process that daemonises itself becomes our child and is found by its
//!   mark.
//! - The kernel sends the app `SIGTERM` when this program dies. That signal follows the *thread*
//!   that spawned the app, so a keeper thread spawns it and lives as long as the app does. What the
//!   signal does not reach or end is ended by a guard, a shell that notices our death (`guard.rs`).
//! - Every wait has a deadline and watches the caller's stop flag.
//!
//! Invariant: this crate knows no HTTP load; it asks one question ("does the URL answer?") and no
//! more.
//!
//! Start reading at [`Spec`], then `start.rs` (the order of events), `tree.rs` (the processes) and
//! `ready.rs` (when is it ready?).

mod address;
mod by_hand;
mod error;
mod failure;
mod guard;
mod keeper;
mod log;
mod procfs;
mod ready;
mod running;
mod spec;
mod start;
mod tree;

pub use address::Endpoint;
pub use error::{Holder, Printed, Seen, TargetError};
pub use failure::Cause;
pub use log::telling_line;
pub use ready::{Ask, ReadyBy};
pub use running::{Running, Stopped};
pub use spec::{Agent, CommandLine, Spec};
pub use start::{attach, run_before, start};
