//! SQL texts from files, folders, standard input and git.

use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use schema::Source;

/// Why a text could not be read; one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// What, and what to try.
    pub message: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SourceError {}

fn wrong(message: String) -> SourceError {
    SourceError { message }
}

/// Reads one file.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn file(path: &Path) -> Result<Source, SourceError> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| wrong(format!("cannot read {name}: {error}")))?;
    utf8(name, bytes)
}

/// Reads all `.sql` files of a folder, recursively, in path order.
///
/// # Errors
/// As for [`file`]; also when there is none.
pub fn folder(path: &Path) -> Result<Vec<Source>, SourceError> {
    let mut files = Vec::new();
    collect(path, &mut files)?;
    files.sort();
    if files.is_empty() {
        return Err(wrong(format!(
            "there is no .sql file in {}",
            path.display()
        )));
    }
    files.iter().map(|path| file(path)).collect()
}

/// Reads standard input up to the end.
///
/// # Errors
/// When it is a terminal, cannot be read, or is not UTF-8.
pub fn standard_input() -> Result<Source, SourceError> {
    if io::stdin().is_terminal() {
        return Err(wrong("stdin is not piped".to_owned()));
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| wrong(format!("cannot read standard input: {error}")))?;
    utf8("-".to_owned(), bytes)
}

/// Reads a file or a folder from a commit. The path is the repository's, from its top.
///
/// # Errors
/// When git is not there, or knows no such commit or path; with git's words.
pub fn git(commit: &str, path: &str) -> Result<Vec<Source>, SourceError> {
    let object = format!("{commit}:{path}");
    let kind = run_git(&["cat-file", "-t", &object], &object)?;
    if kind.trim_ascii() != b"tree" {
        let text = run_git(&["show", &object], &object)?;
        return Ok(vec![utf8(format!("git:{object}"), text)?]);
    }
    let folder = path.trim_end_matches('/');
    let list = run_git(
        &[
            "ls-tree",
            "-r",
            "-z",
            "--name-only",
            "--full-tree",
            commit,
            "--",
            folder,
        ],
        &object,
    )?;
    let list = String::from_utf8_lossy(&list).into_owned();
    let mut names: Vec<&str> = list
        .split('\0')
        .filter(|name| name.ends_with(".sql"))
        .collect();
    names.sort_unstable();
    if names.is_empty() {
        return Err(wrong(format!("there is no .sql file in git:{object}")));
    }
    names
        .into_iter()
        .map(|name| {
            let object = format!("{commit}:{name}");
            let text = run_git(&["show", &object], &object)?;
            utf8(format!("git:{object}"), text)
        })
        .collect()
}

fn run_git(arguments: &[&str], object: &str) -> Result<Vec<u8>, SourceError> {
    let output = Command::new("git")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| wrong(format!("cannot run git to read {object}: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let first = words.lines().next().unwrap_or("it said nothing");
    Err(wrong(format!("git cannot show {object}: {first}")))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), SourceError> {
    let unreadable = |error: io::Error| {
        wrong(format!(
            "cannot read the folder {}: {error}",
            folder.display()
        ))
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // A linked folder may lead back up; a linked file is as good as a file.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            files.push(path);
        }
    }
    Ok(())
}

/// A byte order mark is no part of the text.
fn utf8(name: String, bytes: Vec<u8>) -> Result<Source, SourceError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        wrong(format!(
            "{name} is not UTF-8 (line {line}); convert it, for instance with iconv -f latin1 -t utf8"
        ))
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    Ok(Source { name, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_read_in_the_order_of_its_paths() {
        let folder_ = tempfile::tempdir().unwrap();
        let path = folder_.path();
        fs::create_dir(path.join("b")).unwrap();
        for (name, text) in [
            ("c.sql", "3"),
            ("a.sql", "1"),
            ("b/x.sql", "2"),
            ("note.md", "no"),
        ] {
            fs::write(path.join(name), text).unwrap();
        }
        let texts: Vec<String> = folder(path).unwrap().into_iter().map(|s| s.text).collect();
        assert_eq!(texts, ["1", "2", "3"]);
        let empty = tempfile::tempdir().unwrap();
        assert!(
            folder(empty.path())
                .unwrap_err()
                .message
                .contains("no .sql file")
        );
    }

    #[test]
    fn what_is_not_utf8_is_refused_with_its_line() {
        let read = |bytes: &[u8]| utf8("s.sql".to_owned(), bytes.to_vec());
        assert_eq!(read(b"\xef\xbb\xbfA").unwrap().text, "A");
        let error = read(b"-- a\n-- caf\xe9\n").unwrap_err();
        assert!(
            error.message.starts_with("s.sql is not UTF-8 (line 2)"),
            "{error}"
        );
    }

    #[test]
    fn what_git_does_not_know_is_told_in_its_words() {
        let error = git("no-such-commit", "a.sql").unwrap_err();
        assert!(
            error
                .message
                .starts_with("git cannot show no-such-commit:a.sql: "),
            "{error}"
        );
    }
}
