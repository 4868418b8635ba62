//! `hakaru flows from`: flows written from a recording run without edits.

mod browser;
mod chat;
#[expect(dead_code, reason = "the command of the app starts nginx")]
#[path = "../support/nginx.rs"]
mod nginx;
mod records;
mod replay;
mod support;
