//! Places in which an app is measured: private folders, copies and worktrees of its folder,
//! databases to experiment on.

pub(crate) mod copies;
pub(crate) mod database;
mod folders;
mod learn;
mod scratch;

pub use folders::{Inside, PROFILE_RATE, RunFolders};
pub use scratch::Schemas;
