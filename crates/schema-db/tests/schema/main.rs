//!
//! A dialect brings a [`bench::Bench`] (an empty database, its catalogue) and a list of exceptions with reasons.
//! The corpus is found through `HAKARU_SCHEMA_CORPUS`, else at `../shared/corpus/schema` beside the project.

mod bench;
mod cases;
mod pairs;
mod real;
mod sqlite;
