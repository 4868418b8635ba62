//! Source texts of schemas, with positions.

use std::fmt;

/// A text, and the name used in errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A path, `-`, or a server's name.
    pub name: String,
    /// SQL.
    pub text: String,
}

/// A non-fatal remark on a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the source.
    pub source: String,
    /// From 1.
    pub line: usize,
    /// Kind of the remark.
    pub kind: NoteKind,
    /// The start of the statement, or a sentence.
    pub text: String,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Stored as written, not compared.
    Opaque,
    /// Data statements (`INSERT`, `COPY` …), which are no schema.
    Data,
    /// Client directives and settings without meaning for a schema.
    Setting,
    /// A deprecated spelling, such as `@rename`.
    Deprecated,
}

/// The text up to a word behind which a password may stand.
pub fn without_secret(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let places = ["password", "identified"].map(|word| lower.find(word));
    let end = places.into_iter().flatten().min();
    text[..end.unwrap_or(text.len())].trim_end()
}

/// A position of text outside the dialect's SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Name of the source.
    pub source: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The line itself.
    pub line_text: String,
    /// What was expected, or what is wrong.
    pub message: String,
    /// The enclosing statement, for the drop-in form of the message.
    pub statement: String,
}

impl SyntaxError {
    /// An error at a byte offset of a source.
    pub fn at(source: &Source, offset: usize, message: impl Into<String>) -> SyntaxError {
        let offset = source.text.floor_char_boundary(offset);
        let before = &source.text[..offset];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line_text = source.text[start..].lines().next().unwrap_or_default();
        SyntaxError {
            source: source.name.clone(),
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            line_text: line_text.to_owned(),
            message: message.into(),
            statement: String::new(),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SyntaxError {
            source,
            line,
            column,
            message,
            ..
        } = self;
        let (excerpt, caret) = self.excerpt();
        writeln!(f, "{source}:{line}:{column}: {message}")?;
        writeln!(f, "    {excerpt}")?;
        write!(f, "    {:>caret$}", "^")
    }
}

/// Characters of a line shown before and behind a position.
const EXCERPT_LETTERS: usize = 80;

impl SyntaxError {
    /// Returns the part of the line around the error, and the error's column in the part, from 1: a
    /// line may be a whole dump.
    pub fn excerpt(&self) -> (String, usize) {
        let before = self.column.saturating_sub(1);
        let skipped = before.saturating_sub(EXCERPT_LETTERS);
        let shown = self.line_text.chars().skip(skipped);
        let excerpt = shown.take(before - skipped + EXCERPT_LETTERS).collect();
        (excerpt, before - skipped + 1)
    }
}

impl std::error::Error for SyntaxError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_under_the_place_however_long_the_line_is() {
        let check = |before: usize| {
            let source = Source {
                name: "a.sql".to_owned(),
                text: format!("SELECT 1;\n{}!{}", "é".repeat(before), "x".repeat(100_000)),
            };
            let offset = source.text.find('!').unwrap();
            let shown = SyntaxError::at(&source, offset, "no").to_string();
            let lines: Vec<&str> = shown.lines().collect();
            assert_eq!(lines[0], format!("a.sql:2:{}: no", before + 1));
            let place = lines[1].chars().position(|letter| letter == '!');
            assert_eq!(place, lines[2].chars().position(|letter| letter == '^'));
            assert!(lines[1].chars().count() < 200);
        };
        [0, 5, 80, 81, 100_000].into_iter().for_each(check);
    }
}
