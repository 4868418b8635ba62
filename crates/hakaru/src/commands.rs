//! The commands, one module each: what `hakaru NAME` does from top to bottom.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod flows;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod links;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod logs;
pub(crate) mod note;
pub(crate) mod predict;
pub(crate) mod profile;
pub(crate) mod prune;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod sweep;
pub(crate) mod try_finding;
pub(crate) mod tune;
