//! One measurement of an app, and series of measurements: recorded runs, comparisons, races of
//! settings.
//!
//! Resolved [`Settings`] and a [`Context`] flow in; facts ([`record`]), a `comparison::Comparison`
//! ([`compare`]) or the blocks that a search asks for ([`tune`]) flow out. Apps are started and
//! stopped here, worktrees, copies and scratch databases are made and taken back ([`undo`]). Start
//! reading at [`lifecycle`]: claim, reset, start, load and stop, which all of them share.
//!
//! Prints nothing and knows no flags: what goes on is handed to an [`Observer`], and an
//! [`ending::Failure`] names its cause, from which the program makes its exit code.

mod app_database;
pub mod compare;
mod failure;
mod git;
mod jemalloc;
pub mod lifecycle;
mod measurement;
mod observer;
pub mod puma;
pub mod record;
mod settings;
pub mod trial;
pub mod tune;
mod undo;
mod watched;
pub mod workspace;

pub use measurement::Length;
pub use observer::{Context, Observer, Phase, PhaseGuard};
pub use settings::{Settings, set_variable};
pub use watched::{WatchedLoad, watched};
