//! The figures of logs, of one host (`hakaru logs`) or of several (`hakaru collect`), as a page and
//! as JSON.
//!
//! Invariant: reads no log; `logs` and `collect` do.

pub mod collected;
pub mod json;
pub mod page;
