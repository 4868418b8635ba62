//! Runs the program in a folder.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn hakaru(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .output()
        .expect("hakaru runs")
}

/// Runs the program, which ends with the exit code; returns everything printed.
pub(crate) fn check(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = hakaru(folder, arguments);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
    printed
}

pub(crate) fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

/// Copies an example app into a folder; returns the folder of the copy.
pub(crate) fn copy_of(app: &str, folder: &Path) -> PathBuf {
    let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps");
    let project = folder.join(app);
    let copied = Command::new("cp")
        .arg("-r")
        .args([&apps.join(app), &project])
        .status();
    assert!(copied.expect("cp runs").success());
    let _ = std::fs::remove_dir_all(project.join(".hakaru"));
    project
}

/// Replaces texts in a file.
pub(crate) fn replace_in(file: &Path, changes: &[(&str, &str)]) {
    let text = std::fs::read_to_string(file).expect("a file");
    let changed = changes.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old} is in {text}");
        text.replace(old, new)
    });
    std::fs::write(file, changed).expect("it is written");
}
