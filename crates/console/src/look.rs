//! Abilities of the terminal: width, colours, signs.

use std::env;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use clap::ValueEnum;
use rustix::termios::tcgetwinsize;

/// Widths of a page in columns; narrower and wider terminals get the nearest: less has no room for
/// a table, more is hard to read.
const COLUMNS: std::ops::RangeInclusive<usize> = 60..=120;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// Colour on a terminal with colours, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Never
    Never,
}

static COLOUR: OnceLock<Colour> = OnceLock::new();

/// Keeps what the command line says; the first call counts.
pub fn choose(colour: Colour) {
    let _ = COLOUR.set(colour);
}

/// Columns of what is printed on standard output.
pub fn page_columns() -> usize {
    columns(&io::stdout()).unwrap_or(figures::text::COLUMNS)
}

/// Lines of standard output's screen.
pub fn page_rows() -> Option<usize> {
    let out = io::stdout();
    let size = out.is_terminal().then(|| tcgetwinsize(&out).ok()).flatten();
    size.map(|size| size.ws_row.into()).filter(|rows| *rows > 0)
}

/// Columns of standard error's terminal; `None` for lines of any length, as in a log file.
pub fn notice_columns() -> Option<usize> {
    columns(&io::stderr())
}

/// The terminal's width, else the value of the variable COLUMNS.
fn columns(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    let of_terminal = || tcgetwinsize(stream).ok().map(|size| size.ws_col.into());
    let of_terminal = stream.is_terminal().then(of_terminal).flatten();
    let of_variable = || env::var("COLUMNS").ok()?.trim().parse().ok();
    let known = of_terminal.filter(|columns| *columns > 0);
    let columns: usize = known.or_else(of_variable)?;
    Some(columns.clamp(*COLUMNS.start(), *COLUMNS.end()))
}

/// Whether `stream` gets colour (no-color.org; a terminal named dumb has none).
pub fn colour(stream: &impl IsTerminal) -> bool {
    match COLOUR.get().copied().unwrap_or_default() {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let is_forbidden = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            stream.is_terminal() && !is_forbidden && !is_dumb()
        }
    }
}

/// Whether the terminal knows no control sequences.
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// Whether the locale has no other signs than ASCII. Where no locale is set, as in many containers,
/// terminals take UTF-8; who asks for Japanese has its signs.
pub fn is_ascii() -> bool {
    if crate::language::chosen() != words::Language::English {
        return false;
    }
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let set = (names.iter()).find_map(|name| env::var(name).ok().filter(|set| !set.is_empty()));
    set.is_some_and(|set| set == "C" || set == "POSIX")
}

/// Text in the signs of the locale.
pub fn signs(text: &str) -> std::borrow::Cow<'_, str> {
    match is_ascii() && !text.is_ascii() {
        true => figures::text::ascii(text).into(),
        false => text.into(),
    }
}
