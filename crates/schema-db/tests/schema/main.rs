//! The schema engine on real databases: the corpus of cases and files, and random pairs.
//!
//! A dialect brings a [`bench::Bench`] (an empty database, its catalogue) and a list of exceptions
//! with reasons. The corpus is our own (`crates/schema/fixtures/corpus`), or the folder that
//! `HAKARU_SCHEMA_CORPUS` names (`cargo xtask corpus`).
#![expect(clippy::print_stdout, reason = "says how much it read")]
#![expect(
    clippy::unwrap_used,
    reason = "a panic is how a test says that its own files are broken"
)]

mod bench;
mod cases;
mod given_up;
mod left;
mod losses;
mod mysql;
mod pairs;
mod postgres;
mod real;
mod sqlite;
mod tls;
