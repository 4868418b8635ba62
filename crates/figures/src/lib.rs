//! How numbers and short texts of others look to people, so that the same value looks the same on
//! every page, and how durations are typed ([`duration`]).
//!
//! Invariant: pure; knows no page and no terminal.

pub mod duration;
pub mod line;
pub mod numbers;
