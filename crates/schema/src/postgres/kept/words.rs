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
}
