//! Everything the program prints: data on standard output, diagnostics on standard error.

pub mod columns;
pub mod html;
pub mod language;
pub mod look;
pub mod markdown;
pub mod process;
mod progress;

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use figures::text::fold;
use words::{Text, text};

pub use progress::{Progress, Ticker};

/// Whether some document could not be printed.
static DATA_LOST: AtomicBool = AtomicBool::new(false);

/// Whether the reader of standard output has gone away.
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Whether somebody may still read what is printed on standard output, as far as the last document
/// showed.
pub fn has_reader() -> bool {
    !READER_GONE.load(Ordering::Relaxed)
}

/// Whether standard output failed for a reason other than a closed reader.
pub fn lost_data() -> bool {
    DATA_LOST.load(Ordering::Relaxed)
}

/// Prints a document on standard output. A reader that has gone away ends the program quietly.
pub fn data(text: &str) {
    bytes(text.as_bytes());
}

/// Prints a page for people on standard output, in the terminal's width and signs.
pub fn page(text: &str) {
    data(&fold(&look::signs(text), look::page_columns()));
}

/// Writes bytes to standard output, for documents other than text.
pub fn bytes(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    // Relaxed: both flags are read by the thread that prints.
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            READER_GONE.store(true, Ordering::Relaxed);
        }
        Err(error) => {
            DATA_LOST.store(true, Ordering::Relaxed);
            notice(text!(
                "cannot write to standard output: {error}",
                error = error.to_string()
            ));
        }
    }
}

/// Writes a line to standard error; a line wider than the terminal is broken between words.
pub fn notice(line: impl Into<Text>) {
    let line = line.into().written_in(language::chosen());
    let line = look::signs(&line);
    let line = match look::notice_columns() {
        Some(columns) => fold(&line, columns).into(),
        None => line,
    };
    progress::wipe();
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Asks a yes-or-no question on a terminal; returns false without a terminal, and for every reply
/// but yes.
pub fn confirm(question: Text) -> bool {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    let mut answer = String::new();
    let question = question.written_in(language::chosen());
    let asked = write!(io::stderr().lock(), "{question} ").and_then(|()| io::stderr().flush());
    let read = asked.and_then(|()| io::stdin().read_line(&mut answer));
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Whether what is printed on standard output gets colour.
pub fn colour() -> bool {
    look::colour(&io::stdout())
}
