//! The process's context of every command: the current folder, and a flag for Ctrl-C.

pub(crate) use console::process::{current_folder, pause, raised, stop_flag};
