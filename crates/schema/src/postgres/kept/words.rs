//! A statement word by word, where the grammar's tree has no names.

use super::reader::Reader;

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
        let mut parts = self.0.name()?;
        parts.pop().filter(|_| parts.is_empty())
    }

    /// What follows, without surrounding space.
    pub(crate) fn rest(&self) -> &'t str {
        self.0.rest()
    }

    /// Consumes the text up to the first of the letters, or to the end.
    pub(crate) fn upto(&mut self, ends: &[char]) -> &'t str {
        let rest = self.0.rest();
        let start = self.start();
        let length = rest.find(ends).unwrap_or(rest.len());
        self.0.go(start + length);
        &rest[..length]
    }

    /// Consumes one letter.
    pub(crate) fn skip_letter(&mut self) {
        let start = self.start();
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        self.0.go(start + length);
    }

    /// Offset of what follows.
    fn start(&self) -> usize {
        let text = self.0.text();
        text.len() - text[self.0.at()..].trim_start().len()
    }

    /// Reads a string; `None` for one with escapes and for other text.
    pub(crate) fn string(&mut self) -> Option<String> {
        let inner = self.rest().strip_prefix('\'')?;
        let mut length = 0;
        loop {
            length += inner[length..].find('\'')?;
            if !inner[length + 1..].starts_with('\'') {
                break;
            }
            length += 2;
        }
        let start = self.start();
        self.0.go(start + length + 2);
        Some(inner[..length].replace("''", "'"))
    }
}
