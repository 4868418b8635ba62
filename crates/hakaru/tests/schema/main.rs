//! `hakaru schema` and its drop-in names as people run them: the real program, its texts and its
//! exit codes.
#![expect(
    clippy::unwrap_used,
    reason = "what cannot be done here fails the test that needs it"
)]

mod bad_days;
mod cut_off;
mod def;
mod kept;
mod lint;
mod online;
mod program;
mod rails;
mod server;
mod sqlite;
