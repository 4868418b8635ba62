//! Workspaces of measured apps: private folders, copies and worktrees.

pub(crate) mod copies;
mod folders;

pub use folders::{Inside, PROFILE_RATE, RunFolders};
