//! Errors showing the offending line.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_yaml_ng::Error;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    path: PathBuf,
    message: String,
    /// Line and column, counted from one, with the line's text.
    place: Option<(usize, usize, String)>,
    advice: &'static str,
}

impl FileError {
    /// Returns an error of the YAML library with the place.
    pub(super) fn of_yaml(
        path: &Path,
        text: &str,
        error: &Error,
        advice: &'static str,
    ) -> FileError {
        let location = error.location();
        let mut message = error.to_string();
        if let Some(location) = &location {
            // The place stands before the message here.
            let place = format!(" at line {} column {}", location.line(), location.column());
            message = message.replace(&place, "");
        }
        let place = location.map(|found| place(text, found.line(), found.column()));
        let message = in_yaml(&with_nearest(message));
        FileError {
            path: path.to_owned(),
            place: place.or_else(|| key_in(&message).and_then(|key| find(text, &key))),
            message,
            advice,
        }
    }

    /// An error about the value of a key.
    pub(super) fn at_key(path: &Path, text: &str, key: &str, message: String) -> FileError {
        FileError {
            path: path.to_owned(),
            message,
            place: find(text, key),
            advice: "docs/bench.md lists the keys",
        }
    }
}

fn place(text: &str, line: usize, column: usize) -> (usize, usize, String) {
    let shown = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    (line, column, shown.to_owned())
}

/// Returns the first line beginning with a key.
fn find(text: &str, key: &str) -> Option<(usize, usize, String)> {
    text.lines().enumerate().find_map(|(index, line)| {
        let start = line.len() - line.trim_start_matches([' ', '-']).len();
        let rest = line[start..].strip_prefix(key)?;
        rest.trim_start()
            .starts_with(':')
            .then(|| (index + 1, start + 1, line.to_owned()))
    })
}

fn key_in(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("unknown field `")?;
    Some(rest.split_once('`')?.0.to_owned())
}

/// Returns serde's list of expected names in terms of YAML, preceded by the nearest one.
fn in_yaml(message: &str) -> String {
    let message = message
        .replace("expected u64", "expected a whole number")
        .replace(": sequence,", ": a list,");
    match message.split_once("expected struct ") {
        Some((before, rest)) => {
            let rest = rest.trim_start_matches(char::is_alphanumeric);
            format!("{before}expected a map of keys{rest}")
        }
        None => message,
    }
}

fn with_nearest(message: String) -> String {
    let Some(key) = key_in(&message) else {
        return message;
    };
    let expected = message.split_once("expected").map_or("", |(_, rest)| rest);
    let known = expected.split('`').skip(1).step_by(2);
    let nearest = known
        .map(|known| (strsim::damerau_levenshtein(&key, known), known))
        .filter(|(distance, known)| *distance <= known.len().div_ceil(3))
        .min();
    match nearest {
        Some((_, known)) => format!("unknown key `{key}`; did you mean `{known}`?"),
        None => format!("unknown key `{key}`, expected{expected}"),
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let path = self.path.display();
        let Some((line, column, shown)) = &self.place else {
            return write!(formatter, "{path}: {} ({})", self.message, self.advice);
        };
        write!(
            formatter,
            "{path}:{line}:{column}: {} ({})",
            self.message, self.advice
        )?;
        let number = line.to_string();
        let (margin, blanks) = (
            " ".repeat(number.len()),
            " ".repeat(column.saturating_sub(1)),
        );
        write!(formatter, "\n  {number} | {shown}\n  {margin} | {blanks}^")
    }
}

impl std::error::Error for FileError {}
