//! A position in the text being parsed, and the small tokens all parsers share.

use crate::Place;
use crate::error::Fault;

/// Reads a text from front to back.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Offset of the first comment with a command to `hurl`, which Hakaru does not obey.
    command_at: Option<usize>,
}

/// First words of comments obeyed by `hurl`: one sets a cookie, one clears the jar.
const COMMANDS: [&str; 2] = ["@cookie_storage_set", "@cookie_storage_clear"];

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        // A byte order mark is not part of the text.
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Cursor {
            text,
            at,
            command_at: None,
        }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Consumes `token` if next.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(crate) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), Fault> {
        if self.take(token) {
            return Ok(());
        }
        Err(self.fault(format!("expected `{token}`")))
    }

    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.at, message)
    }

    pub(crate) fn place(&self) -> Place {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
        }
    }

    pub(crate) fn spaces(&mut self) {
        self.take_while(|c| c == ' ' || c == '\t');
    }

    /// Spaces, of which there must be one.
    pub(crate) fn space_between(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.spaces();
        match self.at > start {
            true => Ok(()),
            false => Err(self.fault("expected a space")),
        }
    }

    /// Spaces, blank lines and comments.
    pub(crate) fn blank(&mut self) {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
            if self.peek() != Some('#') {
                return;
            }
            let start = self.at;
            let comment = self.take_while(|c| c != '\n');
            let comment = comment.trim_start_matches(['#', ' ', '\t']);
            if COMMANDS.iter().any(|command| comment.starts_with(command)) {
                self.command_at.get_or_insert(start);
            }
        }
    }

    /// Refuses a skipped comment with a command to `hurl`.
    pub(crate) fn no_command(&self) -> Result<(), Fault> {
        let Some(start) = self.command_at else {
            return Ok(());
        };
        let comment = self.text[start..].trim_start_matches(['#', ' ', '\t']);
        let command = comment.split([' ', ':', '\t', '\r', '\n']).next();
        Err(Fault::new(
            start,
            format!(
                "`{}` is not run: each iteration begins without cookies; use [Cookies] in the entries, or take the comment away",
                command.unwrap_or_default()
            ),
        ))
    }

    /// Spaces, a comment, and the end of the line or of the text.
    pub(crate) fn end_of_line(&mut self) -> Result<(), Fault> {
        self.spaces();
        if self.peek() == Some('#') {
            self.take_while(|c| c != '\n');
        }
        self.take("\r");
        if self.at_end() || self.take("\n") {
            return Ok(());
        }
        Err(self.fault("expected the end of the line"))
    }

    /// A word of letters, digits, `_` and `-`; empty when none comes next.
    pub(crate) fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }

    /// Consumes the word `token` if next and complete; returns whether found.
    pub(crate) fn take_word(&mut self, token: &str) -> bool {
        let start = self.at;
        if self.word() == token {
            return true;
        }
        self.at = start;
        false
    }
}
