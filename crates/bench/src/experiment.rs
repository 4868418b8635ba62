//! Published experience, repeated on the example apps: one file each, each with a report in
//! `docs/experiments/`.

mod blog;
mod jit;
mod rails;
pub(crate) mod report;
mod three_servers;

use std::error::Error;

/// Runs the experiment named by the first argument; returns whether the published shape was
/// observed.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    match arguments.first().map(String::as_str) {
        Some("blog") => blog::run(&arguments[1..]),
        Some("jit") => jit::run(&arguments[1..]),
        Some("three-servers") => three_servers::run(&arguments[1..]),
        other => Err(format!(
            "no experiment is called {:?}; there are `blog`, `jit` and `three-servers`",
            other.unwrap_or("")
        )
        .into()),
    }
}
