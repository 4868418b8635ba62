//! Numbers, durations and short texts of others as written for people, the same on every page, and
//! durations as typed ([`duration`]).
//!
//! Invariant: pure; knows no page and no terminal.

pub mod duration;
pub mod line;
pub mod numbers;
