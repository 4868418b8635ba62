//! A place in the tokens of one statement, and the small steps a parser makes.

use super::expr::Expr;
use super::lexer::{Fault, Kind, Token, unquoted};
use super::model::Name;

#[derive(Clone, Copy)]
pub(super) struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    pub at: usize,
    /// Where the text behind the last token begins.
    end: usize,
}

impl<'t, 'a> Cursor<'t, 'a> {
    pub fn new(tokens: &'t [Token<'a>], end: usize) -> Cursor<'t, 'a> {
        Cursor { tokens, at: 0, end }
    }

    pub fn peek(&self) -> Option<&'t Token<'a>> {
        self.tokens.get(self.at)
    }

    pub fn peek_at(&self, ahead: usize) -> Option<&'t Token<'a>> {
        self.tokens.get(self.at + ahead)
    }

    pub fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The tokens from here on.
    pub fn rest(&self) -> &'t [Token<'a>] {
        &self.tokens[self.at.min(self.tokens.len())..]
    }

    pub fn since(&self, start: usize) -> &'t [Token<'a>] {
        &self.tokens[start..self.at]
    }

    /// Byte offset of the next token.
    pub fn offset(&self) -> usize {
        self.peek().map_or(self.end, |token| token.at)
    }

    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.offset(), message)
    }

    pub fn is(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.is(word))
    }

    pub fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    pub fn is_op(&self, op: &str) -> bool {
        self.peek().is_some_and(|token| token.is_op(op))
    }

    pub fn is_seq(&self, words: &[&str]) -> bool {
        words
            .iter()
            .enumerate()
            .all(|(ahead, word)| self.peek_at(ahead).is_some_and(|token| token.is(word)))
    }

    pub fn eat(&mut self, word: &str) -> bool {
        let is = self.is(word);
        self.at += usize::from(is);
        is
    }

    pub fn eat_op(&mut self, op: &str) -> bool {
        let is = self.is_op(op);
        self.at += usize::from(is);
        is
    }

    /// Consumes all the words, or none.
    pub fn eat_seq(&mut self, words: &[&str]) -> bool {
        let is = self.is_seq(words);
        self.at += if is { words.len() } else { 0 };
        is
    }

    pub fn expect(&mut self, word: &str) -> Result<(), Fault> {
        match self.eat(word) {
            true => Ok(()),
            false => Err(self.fault(format!("expected {word}"))),
        }
    }

    pub fn expect_op(&mut self, op: &str) -> Result<(), Fault> {
        match self.eat_op(op) {
            true => Ok(()),
            false => Err(self.fault(format!("expected `{op}`"))),
        }
    }

    pub fn any(&mut self) -> Result<&'t Token<'a>, Fault> {
        let token = self
            .peek()
            .ok_or_else(|| self.fault("the statement ends too early"))?;
        self.at += 1;
        Ok(token)
    }

    /// Reads a name: a word, in backticks, or (as in ANSI SQL) in double quotes.
    pub fn name(&mut self) -> Result<Name, Fault> {
        let token = self.peek().ok_or_else(|| self.fault("expected a name"))?;
        let is_quoted =
            token.kind == Kind::Quoted || (token.kind == Kind::Text && token.text.starts_with('"'));
        if !is_quoted && token.kind != Kind::Word {
            return Err(self.fault("expected a name"));
        }
        self.at += 1;
        let text = match is_quoted {
            true => unquoted(token.text),
            false => token.text.to_owned(),
        };
        Ok(Name { text, is_quoted })
    }

    /// `name` or `database.name`.
    pub fn qualified(&mut self) -> Result<(Option<String>, Name), Fault> {
        let first = self.name()?;
        match self.eat_op(".") {
            true => Ok((Some(first.text), self.name()?)),
            false => Ok((None, first)),
        }
    }

    /// Reads a pair of parentheses and returns the tokens inside.
    pub fn parens(&mut self) -> Result<&'t [Token<'a>], Fault> {
        let open = self.at;
        self.expect_op("(")?;
        let mut depth = 1;
        while depth > 0 {
            let Some(token) = self.peek() else {
                return Err(Fault::new(
                    self.tokens[open].at,
                    "this parenthesis is not closed",
                ));
            };
            if token.is_op("(") {
                depth += 1;
            } else if token.is_op(")") {
                depth -= 1;
            }
            self.at += 1;
        }
        Ok(&self.tokens[open + 1..self.at - 1])
    }

    /// Names between parentheses.
    pub fn names(&mut self) -> Result<Vec<Name>, Fault> {
        self.expect_op("(")?;
        let mut names = Vec::new();
        loop {
            names.push(self.name()?);
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op(")")?;
        Ok(names)
    }

    /// A string's content; adjacent strings are one.
    pub fn string(&mut self) -> Result<String, Fault> {
        let mut all: Option<String> = None;
        while let Some(token) = self.peek().filter(|token| token.kind == Kind::Text) {
            all.get_or_insert_default().push_str(&unquoted(token.text));
            self.at += 1;
        }
        all.ok_or_else(|| self.fault("expected a string"))
    }

    /// An option's value: a word, a name, a number or a string, as plain text.
    pub fn word_or_string(&mut self) -> Result<String, Fault> {
        let token = self.any()?;
        Ok(match token.kind {
            Kind::Quoted | Kind::Text => unquoted(token.text),
            _ => token.text.to_owned(),
        })
    }

    pub fn expr(&self, tokens: &[Token<'a>]) -> Expr {
        Expr::new(tokens)
    }
}
