//! Numbers, durations and short texts of others as written for people, the same on every page;
//! texts fitted into columns ([`text`]); and durations as typed ([`duration`]).
//!
//! Invariant: pure; knows no page, and of a terminal the number of columns only.

pub mod duration;
pub mod hollow;
pub mod line;
pub mod numbers;
pub mod text;
