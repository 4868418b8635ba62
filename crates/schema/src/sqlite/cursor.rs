//! Walking over the tokens of one statement.

use super::expr::unquoted;
use super::lexer::{Kind, Token};
use super::model::Name;

/// Position and reason of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// Byte offset in the source.
    pub(super) at: usize,
    pub(super) message: String,
}

/// A position among the tokens of one statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) source: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a str, tokens: &'a [Token]) -> Cursor<'a> {
        Cursor {
            source,
            tokens,
            at: 0,
        }
    }

    pub(super) fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(super) fn sees(&self, word: &str) -> bool {
        self.sees_after(0, word)
    }

    pub(super) fn sees_after(&self, skipped: usize, word: &str) -> bool {
        let token = self.tokens.get(self.at + skipped);
        token.is_some_and(|token| token.is_word(self.source, word))
    }

    pub(super) fn sees_sign(&self, sign: &str) -> bool {
        self.peek()
            .is_some_and(|token| token.is_sign(self.source, sign))
    }

    /// Consumes a word, if next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_next = self.sees(word);
        self.at += usize::from(is_next);
        is_next
    }

    /// Consumes the words when all are next.
    pub(super) fn take_all(&mut self, words: &[&str]) -> bool {
        let are_next = (0..words.len()).all(|index| self.sees_after(index, words[index]));
        if are_next {
            self.at += words.len();
        }
        are_next
    }

    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let is_next = self.sees_sign(sign);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), Failure> {
        if self.take(word) {
            Ok(())
        } else {
            Err(self.wrong(&format!("expected {}", word.to_ascii_uppercase())))
        }
    }

    pub(super) fn expect_sign(&mut self, sign: &str) -> Result<(), Failure> {
        if self.take_sign(sign) {
            Ok(())
        } else {
            Err(self.wrong(&format!("expected `{sign}`")))
        }
    }

    /// A failure at the next token.
    pub(super) fn wrong(&self, expected: &str) -> Failure {
        match self.peek() {
            Some(token) => Failure {
                at: token.start(),
                message: format!("{expected} near `{}`", token.text(self.source)),
            },
            None => Failure {
                at: self.tokens.last().map_or(0, |last| last.end()),
                message: format!("{expected}, but the statement ends here"),
            },
        }
    }

    /// A name in any quotes; SQLite takes `'…'` for one, too.
    pub(super) fn name(&mut self) -> Result<Name, Failure> {
        match self.peek() {
            Some(token) if matches!(token.kind, Kind::Word | Kind::Quoted | Kind::Text) => {
                self.at += 1;
                let written = token.text(self.source);
                Ok(Name {
                    text: unquoted(written),
                    written: written.to_owned(),
                })
            }
            _ => Err(self.wrong("expected a name")),
        }
    }

    /// A name after which `schema.` is dropped.
    pub(super) fn qualified_name(&mut self) -> Result<Name, Failure> {
        let name = self.name()?;
        if self.take_sign(".") {
            return self.name();
        }
        Ok(name)
    }

    /// What stands between brackets.
    pub(super) fn bracketed(&mut self) -> Result<&'a [Token], Failure> {
        let open = self.at;
        self.expect_sign("(")?;
        let mut depth = 1;
        while let Some(token) = self.peek() {
            self.at += 1;
            if token.is_sign(self.source, "(") {
                depth += 1;
            } else if token.is_sign(self.source, ")") {
                depth -= 1;
            }
            if depth == 0 {
                return Ok(&self.tokens[open + 1..self.at - 1]);
            }
        }
        Err(Failure {
            at: self.tokens[open].start(),
            message: "this bracket is never closed".to_owned(),
        })
    }

    /// The text from a token to the one before the next.
    pub(super) fn text_since(&self, start: usize) -> &'a str {
        text(self.source, &self.tokens[start..self.at])
    }

    pub(super) fn rest(&self) -> &'a [Token] {
        &self.tokens[self.at..]
    }
}

/// The text of consecutive tokens.
pub(super) fn text<'a>(source: &'a str, tokens: &[Token]) -> &'a str {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => &source[first.start()..last.end()],
        _ => "",
    }
}

/// Splits tokens at commas outside brackets.
pub(super) fn list<'a>(source: &str, tokens: &'a [Token]) -> Vec<&'a [Token]> {
    let mut items = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (index, token) in tokens.iter().enumerate() {
        match token.text(source) {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 0 => {
                items.push(&tokens[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    items.push(&tokens[start..]);
    items
}
