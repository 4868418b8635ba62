//! Runs the program in a temporary folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder for one test, with the program inside.
pub struct Folder {
    folder: tempfile::TempDir,
}

/// Exit code and output of a run.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Folder {
    pub fn new() -> Folder {
        Folder {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Command of the program in the folder, without the user's passwords and settings.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("HOME", self.path())
            .stdin(Stdio::null());
        for name in [
            "MYSQL_PWD",
            "PGPASSWORD",
            "PGPASSFILE",
            "PGSSLMODE",
            "LOG_LEVEL",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// `hakaru schema …`
    pub fn schema(&self, arguments: &[&str]) -> Said {
        let arguments: Vec<&str> = [&["schema"], arguments].concat();
        said(&self.command(&arguments).output().unwrap())
    }

    /// Executes SQL in a SQLite database.
    pub fn sqlite(&self, name: &str, sql: &str) {
        let connection = rusqlite::Connection::open(self.path().join(name)).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// The first column of a query's rows.
    pub fn ask(&self, name: &str, sql: &str) -> Vec<String> {
        let connection = rusqlite::Connection::open(self.path().join(name)).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            row.get_ref(0).map(|value| match value {
                rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                value => value.as_str().unwrap_or("NULL").to_owned(),
            })
        });
        rows.unwrap().map(Result::unwrap).collect()
    }
}

/// Writes a program's standard input and returns the output.
pub fn feed(mut child: Child, text: &str) -> Output {
    let mut input = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || {
        // A program that fails early does not read on.
        let _ = input.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub fn said(output: &Output) -> Said {
    Said {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Said {
    /// Asserts the exit code; a failure prints the whole output.
    #[track_caller]
    pub fn ended(self, code: i32) -> Said {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    #[track_caller]
    pub fn has_out(self, text: &str) -> Said {
        assert!(self.out.contains(text), "no {text:?} in\n{}", self.out);
        self
    }

    #[track_caller]
    pub fn has_err(self, text: &str) -> Said {
        assert!(self.err.contains(text), "no {text:?} in\n{}", self.err);
        self
    }
}
