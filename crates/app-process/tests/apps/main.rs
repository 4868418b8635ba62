//! Real programs, started and stopped.
#![expect(
    clippy::unwrap_used,
    reason = "a test helper that fails must say where"
)]

mod common;
mod starting;
mod stopping;
