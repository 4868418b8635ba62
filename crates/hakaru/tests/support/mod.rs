//! What tests of pages and messages share: a server, and a terminal.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

/// A server that answers `status` to everything, with `hello`.
pub fn serve(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a second handle");
                let lines = BufReader::new(stream).lines().map_while(Result::ok);
                for _ in lines.filter(String::is_empty) {
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nhello");
                    if writer.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Everything that is drawn on a terminal of this size while the program runs with these arguments, none of which has a blank.
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
