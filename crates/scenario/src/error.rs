//! What can be wrong with a scenario before anything starts.

use std::fmt;
use std::path::PathBuf;

/// Why a scenario cannot be run.
#[derive(Debug)]
pub enum ScenarioError {
    /// A flow is not Hurl text, or uses unsupported grammar.
    Parse(ParseError),
    /// A file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The description itself, or a feed, does not make sense.
    Spec(String),
}

/// An unsupported place in a flow, shown with the line and a caret below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The flow's file, as given.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// Text of the line.
    pub text: String,
    /// What is wrong and what to try.
    pub message: String,
}

/// A fault at a byte offset of the parsed text; [`Fault::locate`] makes a [`ParseError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault {
            at,
            message: message.into(),
        }
    }

    /// Finds line and column of the fault in `text`.
    pub(crate) fn locate(self, file: &str, text: &str) -> ParseError {
        let before = text.get(..self.at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        ParseError {
            file: file.to_owned(),
            line: line as u32,
            column: before[line_start..].chars().count() as u32 + 1,
            text: text[line_start..].lines().next().unwrap_or("").to_owned(),
            message: self.message,
        }
    }
}

impl ParseError {
    /// An error about the place of a parsed item, whose source line is looked up in `text`.
    pub(crate) fn at_place(file: &str, text: &str, place: crate::Place, message: String) -> Self {
        ParseError {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            text: text
                .lines()
                .nth(place.line.saturating_sub(1) as usize)
                .unwrap_or("")
                .to_owned(),
            message,
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        // Tabs keep their width in the caret's line, so that the caret stands below its column.
        let indent: String = self
            .text
            .chars()
            .take(self.column.saturating_sub(1) as usize)
            .map(|character| if character == '\t' { '\t' } else { ' ' })
            .collect();
        writeln!(
            f,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )?;
        writeln!(f, "{number} | {}", self.text)?;
        write!(f, "{} | {indent}^", " ".repeat(number.len()))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScenarioError::Parse(error) => error.fmt(f),
            ScenarioError::Read { path, source } => {
                write!(f, "cannot read {}: {source}", path.display())
            }
            ScenarioError::Spec(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ParseError {}

impl std::error::Error for ScenarioError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ScenarioError::Read { source, .. } => Some(source),
            ScenarioError::Parse(_) | ScenarioError::Spec(_) => None,
        }
    }
}

impl From<ParseError> for ScenarioError {
    fn from(error: ParseError) -> Self {
        ScenarioError::Parse(error)
    }
}
