//! The drop-in names: `mysqldef`, `psqldef` and `sqlite3def` with sqldef's flags, texts and exit
//! codes.
//!
//! The program looks at the name it was called by ([`Tool::of`]). Flow: `flags` reads the command
//! line, `config` the YAML; `scope` says what is left out; `server` connects; `run` plans and
//! applies; `page` is what is printed. `docs/sqldef.md` lists where we differ.

mod config;
mod flags;
mod page;
mod run;
mod scope;
mod server;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use schema::{Product, Server};

/// The release of sqldef whose command line is reproduced.
const SQLDEF: &str = "3.11.20";

/// One of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// MySQL and MariaDB.
    Mysqldef,
    /// PostgreSQL.
    Psqldef,
    /// SQLite.
    Sqlite3def,
}

/// End of a drop-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Ended {
    Ok = 0,
    Failed = 1,
    /// `--check` found something to do.
    Differs = 2,
}

impl Tool {
    /// All names.
    pub const ALL: [Tool; 3] = [Tool::Mysqldef, Tool::Psqldef, Tool::Sqlite3def];

    /// The tool by the program's name on the command line.
    pub fn of(argument0: &OsStr) -> Option<Tool> {
        let name = Path::new(argument0).file_stem()?;
        Tool::ALL.into_iter().find(|tool| name == tool.name())
    }

    /// Returns the name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Mysqldef => "mysqldef",
            Tool::Psqldef => "psqldef",
            Tool::Sqlite3def => "sqlite3def",
        }
    }

    /// The server for reading texts without a connection.
    fn assumed(self) -> Server {
        Server::unknown(match self {
            Tool::Mysqldef => Product::Mysql,
            Tool::Psqldef => Product::Postgres,
            Tool::Sqlite3def => Product::Sqlite,
        })
    }
}

/// Runs a drop-in on the command line of the process, and returns the exit code.
pub fn main(tool: Tool) -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    let ended = match flags::read(tool, arguments) {
        Ok(flags) => run::run(tool, &flags),
        Err(flags::Instead { text, ended }) => {
            console::data(&text);
            Ok(ended)
        }
    };
    let ended = ended.unwrap_or_else(|message| {
        console::notice(message);
        Ended::Failed
    });
    ExitCode::from(ended as u8)
}
