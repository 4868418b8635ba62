//! A copy of an example app, on which the program runs as users run hakaru.

use std::error::Error;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program;

/// The ports in the configurations of the examples: Puma's and Rails' own.
const PORTS: [&str; 2] = ["9292", "3000"];

/// A copy of an example app; removed with the folder.
pub(crate) struct Copy {
    program: PathBuf,
    pub(crate) folder: PathBuf,
    env: Vec<(String, String)>,
    _temporary: tempfile::TempDir,
}

impl Copy {
    /// Of `apps/NAME`.
    pub(crate) fn of(name: &str) -> Result<Copy, Box<dyn Error>> {
        let program = std::env::var_os("HAKARU_BENCH_PROGRAM")
            .ok_or("HAKARU_BENCH_PROGRAM is not set; run it as `cargo xtask bench`")?;
        let temporary = tempfile::Builder::new().prefix("hakaru-bench-").tempdir()?;
        let folder = temporary
            .path()
            .join(Path::new(name).file_name().unwrap_or_default());
        program::copy(name, &folder)?;
        Ok(Copy {
            program: program.into(),
            folder,
            env: Vec::new(),
            _temporary: temporary,
        })
    }

    /// Sets a program other than the one built now.
    pub(crate) fn use_program(&mut self, program: &str) {
        self.program = program.into();
    }

    /// Sets a variable for all commands run in the copy.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.env.push((name.to_owned(), value));
    }

    /// Lets the app listen on a free port, by changes in the given configurations; returns the
    /// port.
    pub(crate) fn move_port(&self, configs: &[&str]) -> Result<u16, Box<dyn Error>> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        for config in configs {
            let path = self.folder.join(config);
            let mut text = std::fs::read_to_string(&path)?;
            for known in PORTS {
                text = text.replace(&format!(":{known}"), &format!(":{port}"));
            }
            std::fs::write(&path, text)?;
        }
        Ok(port)
    }

    /// Returns a command to run a program in the copy's folder.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env_remove("DATABASE_URL")
            .envs(self.env.iter().cloned());
        command
    }

    /// Returns a command to run hakaru in the copy's folder.
    pub(crate) fn hakaru_command(&self) -> Command {
        self.command(&self.program)
    }

    /// Runs hakaru with `words`, and the app's command behind when other than the configured one;
    /// returns the JSON.
    pub(crate) fn hakaru(
        &self,
        words: &[String],
        command: &[String],
    ) -> Result<Value, Box<dyn Error>> {
        let mut hakaru = self.hakaru_command();
        hakaru.args(words).arg("--json");
        if !command.is_empty() {
            hakaru.arg("--").args(command);
        }
        let output = hakaru.output()?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("hakaru {}: {error}: {said}", words.join(" ")).into()
        })
    }
}
