//! Running other programs, and where things are.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, IsTerminal};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A task's result: the error is a sentence for the person at the terminal.
pub(crate) type Outcome<T> = Result<T, String>;

/// The repository's top folder.
pub(crate) fn root() -> PathBuf {
    // Cargo tells it to what it runs; what it told the compiler may be another clone with the same
    // target folder.
    let own = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().unwrap_or(&own).to_owned()
}

/// Where cargo builds.
pub(crate) fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Cargo, in the top folder.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    // Set by the `cargo run` that started us; they would change what build scripts see.
    for (name, _) in env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command with our input and output.
pub(crate) fn run(command: &mut Command) -> Outcome<()> {
    let shown = show(command);
    let status = command
        .status()
        .map_err(|error| start_failure(&shown, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` ended with {status}"))
    }
}

/// Returns the output of a command; standard error is part of the error.
pub(crate) fn capture(command: &mut Command) -> Outcome<String> {
    let shown = show(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| start_failure(&shown, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`{shown}` ended with {}: {}",
        output.status,
        complaint.trim()
    ))
}

/// Returns the command as typed in a shell.
pub(crate) fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Finds a program in `PATH`, then in the folders missing in an ordinary user's `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    find_program_outside(Path::new(""), name)
}

/// The same, leaving out one folder of `PATH`.
pub(crate) fn find_program_outside(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from);
    env::split_paths(&path)
        .chain(system)
        .filter(|in_path| in_path != folder)
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

pub(crate) fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0)
}

/// Whether somebody can answer a question.
pub(crate) fn can_ask() -> bool {
    env::var_os("CI").is_none() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

pub(crate) fn free_port() -> Outcome<u16> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| format!("no free port on 127.0.0.1: {error}"))
}

/// Writes a file, creating parent folders.
pub(crate) fn write(path: &Path, text: &str) -> Outcome<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn start_failure(shown: &str, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            format!("cannot run `{shown}`: there is no such program; install it")
        }
        _ => format!("cannot run `{shown}`: {error}"),
    }
}
