//! `hakaru schema` and the drop-in names on the command line: the real program, texts and exit
//! codes.
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
mod roles;
mod server;
mod sqlite;
