//! How numbers and short texts of others look to people, so that the same value looks the same on every page.
//!
//! Invariant: pure; knows no page and no terminal.

pub mod line;
pub mod numbers;
