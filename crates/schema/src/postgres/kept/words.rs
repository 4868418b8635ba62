//! A statement word by word, where the grammar's tree has no names.

use super::reader::Reader;
use crate::postgres::name::string;

/// What is left to be read of a statement.
pub(crate) struct Words<'t>(Reader<'t>);

impl<'t> Words<'t> {
    pub(crate) fn new(text: &'t str) -> Words<'t> {
        Words(Reader::new(text, ""))
    }

    /// Consumes the given word; returns `false` when another is next.
    pub(crate) fn word(&mut self, word: &str) -> bool {
        self.0.word(word)
    }

    /// Consumes all the words, or none.
    pub(crate) fn words(&mut self, words: &str) -> bool {
        self.0.words(words)
    }

    /// Reads names with commas between them.
    pub(crate) fn names(&mut self) -> Option<Vec<String>> {
        let mut names = vec![self.0.name()?.pop()?];
        while self.0.comma() {
            names.push(self.0.name()?.pop()?);
        }
        Some(names)
    }

    /// Reads roles with commas between them, each possibly behind the word `GROUP`.
    pub(crate) fn grantees(&mut self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        loop {
            let _ = self.word("GROUP");
            names.push(self.0.name()?.pop()?);
            if !self.0.comma() {
                return Some(names);
            }
        }
    }

    /// Reads one name without qualifiers.
    pub(crate) fn name(&mut self) -> Option<String> {
        let start = self.0.at();
        let parts = self.0.name().unwrap_or_default();
        match <[String; 1]>::try_from(parts) {
            Ok([name]) => Some(name),
            Err(_) => {
                self.0.go(start);
                None
            }
        }
    }

    /// What follows, without surrounding space.
    pub(crate) fn rest(&self) -> &'t str {
        self.0.rest()
    }

    /// Consumes the text up to white space or a letter, or to the end.
    pub(crate) fn upto(&mut self, letter: char) -> &'t str {
        let rest = self.0.rest();
        let length = rest.find(|next: char| next == letter || next.is_whitespace());
        let length = length.unwrap_or(rest.len());
        self.0.go(self.start() + length);
        &rest[..length]
    }

    /// Consumes one letter.
    pub(crate) fn skip_letter(&mut self) {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        self.0.go(self.start() + length);
    }

    /// Offset of what follows.
    fn start(&self) -> usize {
        let text = self.0.text();
        text.len() - text[self.0.at()..].trim_start().len()
    }

    /// Reads a string, perhaps with escapes; `None` for other text.
    pub(crate) fn string(&mut self) -> Option<String> {
        let start = self.start();
        let text = self.0.text();
        let has_escapes = text[start..].starts_with(['e', 'E']);
        let open = start + usize::from(has_escapes);
        let inner = text[open..].strip_prefix('\'')?;
        let mut letters = inner.char_indices();
        let length = loop {
            let (at, letter) = letters.next()?;
            match letter {
                '\\' if has_escapes => drop(letters.next()),
                '\'' if inner[at + 1..].starts_with('\'') => drop(letters.next()),
                '\'' => break at,
                _ => {}
            }
        };
        let end = open + length + 2;
        self.0.go(end);
        Some(string(&text[start..end]))
    }
}
