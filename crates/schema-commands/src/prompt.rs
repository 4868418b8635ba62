//! Asks for a password on the terminal, without echo.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use schema_db::{DbError, DbErrorKind};

/// Asks on the controlling terminal, since standard input may be the wanted schema.
///
/// # Errors
/// There is no terminal, or nothing can be read from there.
pub fn password(whose: &str) -> Result<String, DbError> {
    ask(whose).map_err(|error| DbError {
        kind: DbErrorKind::Denied,
        message: format!("cannot ask for the password of {whose}: {error}"),
        sql: None,
    })
}

fn ask(whose: &str) -> std::io::Result<String> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let shown = tcgetattr(&terminal)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    write!(terminal, "Password for {whose}: ")?;
    tcsetattr(&terminal, OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = BufReader::new(&terminal).read_line(&mut line);
    tcsetattr(&terminal, OptionalActions::Flush, &shown)?;
    writeln!(terminal)?;
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
