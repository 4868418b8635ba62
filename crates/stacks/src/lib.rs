//! Folds samples of call stacks into tables, trees, differences and the files of viewers.
//!
//! A [`Profile`] holds what was observed: frames, stacks made of them, and samples, each a stack
//! with a state and a weight. Everything else is computed from it: [`table`] (inclusive and self),
//! [`callers`] and [`callees`], [`Tree`] and [`Flame`] (what a flame graph draws), [`diff`] with
//! bounds, [`filter`]s that make another profile, and the formats of [`export`] and [`import`].
//! [`Profile::encode`] returns the form stored on disk.
//!
//! Invariant: pure. No clock, no file, no chance: the resampling in [`diff`] is seeded. Invariant:
//! a weight is never lost. Each function's output adds up to the weight it was given, or says what
//! it left out.
//!
//! Start reading at [`Profile`], then `table.rs`.

mod around;
mod diff;
pub mod export;
pub mod filter;
mod flame;
mod format;
pub mod import;
mod in_time;
mod origin;
mod profile;
mod state;
mod table;
mod tree;

pub use around::{callees, callers};
pub use diff::{Changed, Diff, diff};
pub use flame::{Flame, Own};
pub use format::{FormatError, VERSION};
pub use in_time::{InTime, in_time};
pub use origin::Origin;
pub use profile::{
    Cost, Frame, FrameId, Location, Names, Profile, Request, RouteId, Sample, StackId, State,
    ThreadId, ThreadOf, Unit,
};
pub use state::wait_of;
pub use table::{Row, Table, states, table};
pub use tree::{Node, Tree};
