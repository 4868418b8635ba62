//! A comparison of two variants for people and programs: the verdict as a sentence, the table, and
//! the JSON `hakaru-compare`.

mod json;
mod sentence;
mod table;

pub use json::{compact, json};
pub use sentence::sentence;
pub use table::text;

#[cfg(test)]
pub(crate) mod tests;
