//! Small program on the far host of `hakaru collect`: the collector and nothing else.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Called as the whole program is: with one word.
    if std::env::args().nth(1).as_deref() != Some("collector") {
        return complain(
            "this is the far side of `hakaru collect`, which starts it by itself",
            2,
        );
    }
    match collect::collector::serve(remote::Shift::of_environment()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("the collector ends: {error}"), 1),
    }
}

fn complain(message: &str, code: u8) -> ExitCode {
    // Nobody may be listening any more.
    let _ = writeln!(std::io::stderr(), "hakaru: {message}");
    ExitCode::from(code)
}
