//! Shared by tests of pages and messages: a server, and a terminal.

mod server;

use std::path::Path;
use std::process::Command;

pub use server::serve;

/// All output on a terminal of the given size while the program runs with the arguments, none of
/// which has a blank.
pub fn on_terminal(folder: &Path, rows: u32, columns: u32, arguments: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_hakaru");
    let command = format!(
        "stty rows {rows} cols {columns} && {program} {}",
        arguments.join(" ")
    );
    // `script` gives its command a terminal; what comes from it is everything that was drawn.
    let output = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("script, which Debian has in bsdutils");
    let drawn = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{drawn}");
    drawn
}
