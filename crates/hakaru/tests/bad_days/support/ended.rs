//! Exit code and output of an ended command.

use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;

/// An ended command. The debug output has everything for the diagnosis of a failure.
pub(crate) struct Ended {
    command: String,
    folder: Vec<String>,
    code: Option<i32>,
    signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(super) fn of(child: Child, command: String, path: &Path) -> Ended {
        let output = child.wait_with_output().expect("the end of a command");
        Ended {
            command,
            folder: listing(path, 0),
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts the exit code, and each part in either stream, wherever lines are broken.
    pub(crate) fn check(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "the exit code of{self}");
        let said = on_one_line(&format!("{}\n{}", self.stdout, self.stderr));
        for part in parts {
            assert!(
                said.contains(&on_one_line(part)),
                "{part:?} is not said by{self}"
            );
        }
        assert!(!said.contains("panicked at"), "a panic in{self}");
    }

    /// Asserts the absence of a text from the output.
    pub(crate) fn check_silent_on(&self, part: &str) {
        let said = on_one_line(&format!("{}\n{}", self.stdout, self.stderr));
        assert!(!said.contains(part), "{part:?} is said by{self}");
    }

    /// Standard output as one JSON document and nothing else.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: no JSON in{self}"))
    }

    /// Returns the signal of the command's end.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.signal
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\n=== command (code {:?}, signal {:?})\n{}\n=== folder\n{}\n=== stdout\n{}\n=== stderr\n{}\n===",
            self.code,
            self.signal,
            self.command,
            self.folder.join("\n"),
            self.stdout,
            self.stderr
        )
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn listing(folder: &Path, depth: usize) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .flat_map(|path| {
            let bytes = fs::metadata(path).map_or(0, |data| data.len());
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let line = format!("{}{name}  {bytes} bytes", "  ".repeat(depth));
            let below = if path.is_dir() {
                listing(path, depth + 1)
            } else {
                Vec::new()
            };
            [vec![line], below].concat()
        })
        .collect()
}
