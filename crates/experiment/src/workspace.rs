//! Workspaces of measured apps: private folders, copies and worktrees, databases to experiment on.

pub(crate) mod copies;
pub(crate) mod database;
mod folders;
mod learn;
mod scratch;

pub use folders::{Inside, PROFILE_RATE, RunFolders};
pub use scratch::Schemas;
