//! Statements: calls with arguments and blocks.

use schema::{Source, SyntaxError};

use super::{Block, Call, Key, Kind, Value};

/// Blocks in blocks; schema files have two.
const DEPTH_MAX: usize = 8;

/// Reason for refusing valid Ruby.
pub(super) const NEEDS_RUBY: &str =
    "only literal Ruby as ActiveRecord and Ridgepole write it is read, nothing is run";

/// Returns the statements of a file.
pub(crate) fn parse(source: &Source) -> Result<Vec<Call>, SyntaxError> {
    let mut parser = Parser {
        source,
        text: &source.text,
        at: 0,
        heredoc_end: None,
        renamed_from: None,
    };
    let calls = parser.calls(None, 0)?;
    Ok(calls)
}

/// A place in a text.
pub(super) struct Parser<'a> {
    pub(super) source: &'a Source,
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Where the text goes on behind the line on which a here-document was opened.
    pub(super) heredoc_end: Option<usize>,
    /// Former name in the last skipped comment.
    renamed_from: Option<String>,
}

impl<'a> Parser<'a> {
    pub(super) fn fail<T>(&self, at: usize, message: &str) -> Result<T, SyntaxError> {
        Err(SyntaxError::at(self.source, at, message))
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        if is_there {
            self.at += text.len();
        }
        is_there
    }

    /// Consumes a whole word, not a prefix of a longer one.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let follows = self.rest().strip_prefix(word);
        let is_whole = follows.is_some_and(|rest| !rest.starts_with(is_name_letter));
        is_whole && self.eat(word)
    }

    /// Skips blanks within a line.
    pub(super) fn skip_blanks(&mut self) {
        while self.eat(" ") || self.eat("\t") || self.eat("\r") || self.eat("\\\n") {}
    }

    /// Skips blanks, comments and ends of lines.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some('#') => self.skip_comment(),
                Some('\n') => self.end_line(),
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let comment = self.rest().lines().next().unwrap_or_default();
        if let Some(name) = renamed_from(comment) {
            self.renamed_from = Some(name);
        }
        self.at += comment.len();
    }

    fn end_line(&mut self) {
        self.at += 1;
        if let Some(end) = self.heredoc_end.take() {
            self.at = end;
        }
        if self.rest().starts_with("=begin") {
            let end = self
                .rest()
                .find("\n=end")
                .map_or(self.text.len(), |end| self.at + end + "\n=end".len());
            self.at = end;
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Parses statements up to the word closing the block, or to the end of the text.
    fn calls(&mut self, end: Option<&str>, depth: usize) -> Result<Vec<Call>, SyntaxError> {
        let mut calls = Vec::new();
        if depth > DEPTH_MAX {
            return self.fail(self.at, "these blocks are too deep for a schema");
        }
        loop {
            self.skip_lines();
            if self.eat(";") {
                continue;
            }
            if self.rest().starts_with("__END__") && end.is_none() {
                return Ok(calls);
            }
            match end {
                Some(word) if self.eat_end(word) => return Ok(calls),
                Some(word) if self.rest().is_empty() => {
                    return self.fail(self.at, &format!("the text ends before `{word}`"));
                }
                None if self.rest().is_empty() => return Ok(calls),
                _ => calls.push(self.call(depth)?),
            }
        }
    }

    fn eat_end(&mut self, word: &str) -> bool {
        match word {
            "end" => self.eat_word(word),
            _ => self.eat(word),
        }
    }

    fn call(&mut self, depth: usize) -> Result<Call, SyntaxError> {
        let at = self.at;
        self.renamed_from = None;
        let mut path = self.path()?;
        let subscript = self.subscript()?;
        if self.eat(".") {
            let name = self.name()?;
            path.push(name);
        }
        let name = path.pop().unwrap_or_default();
        let receiver = (!path.is_empty()).then(|| path.join("::"));
        let mut call = Call {
            at,
            receiver,
            subscript,
            name,
            arguments: Vec::new(),
            options: Vec::new(),
            block: None,
            renamed_from: None,
        };
        self.arguments(&mut call)?;
        self.skip_blanks();
        call.block = self.block(depth, &mut call.renamed_from)?;
        self.statement_end()?;
        call.renamed_from = call.renamed_from.or(self.renamed_from.take());
        Ok(call)
    }

    /// `A::B`, `name`.
    fn path(&mut self) -> Result<Vec<String>, SyntaxError> {
        let mut path = vec![self.name()?];
        while self.eat("::") {
            path.push(self.name()?);
        }
        let is_constant = path[0].starts_with(|letter: char| letter.is_ascii_uppercase());
        if path.len() > 1 || is_constant {
            path = vec![path.join("::")];
        }
        Ok(path)
    }

    fn name(&mut self) -> Result<String, SyntaxError> {
        let rest = self.rest();
        let end = rest.find(|letter| !is_name_letter(letter));
        let name = &rest[..end.unwrap_or(rest.len())];
        if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            return self.fail(self.at, NEEDS_RUBY);
        }
        self.at += name.len();
        Ok(name.to_owned())
    }

    fn subscript(&mut self) -> Result<Option<Value>, SyntaxError> {
        if !self.eat("[") {
            return Ok(None);
        }
        let value = self.value(0)?;
        self.skip_blanks();
        match self.eat("]") {
            true => Ok(Some(value)),
            false => self.fail(self.at, "expected `]`"),
        }
    }

    fn arguments(&mut self, call: &mut Call) -> Result<(), SyntaxError> {
        if self.eat("(") {
            loop {
                self.skip_lines();
                if self.eat(")") {
                    return Ok(());
                }
                self.argument(call)?;
                self.skip_lines();
                if !self.eat(",") && !self.rest().starts_with(')') {
                    return self.fail(self.at, "expected `,` or `)`");
                }
            }
        }
        self.skip_blanks();
        if self.is_statement_end() || self.is_block_start() {
            return Ok(());
        }
        loop {
            self.argument(call)?;
            self.skip_blanks();
            if !self.eat(",") {
                return Ok(());
            }
            self.skip_lines();
        }
    }

    fn is_statement_end(&self) -> bool {
        matches!(self.peek(), None | Some('\n' | ';' | '#' | '}'))
            || (self.rest().starts_with("end")
                && !self.rest()["end".len()..].starts_with(is_name_letter))
    }

    fn is_block_start(&self) -> bool {
        let rest = self.rest();
        let is_do = rest
            .strip_prefix("do")
            .is_some_and(|rest| !rest.starts_with(is_name_letter));
        let inside = rest.strip_prefix('{').map(str::trim_start);
        is_do || inside.is_some_and(|inside| inside.starts_with('|'))
    }

    fn argument(&mut self, call: &mut Call) -> Result<(), SyntaxError> {
        if let Some((key, value)) = self.pair(0)? {
            call.options.push((key, value));
            return Ok(());
        }
        let value = self.value(0)?;
        self.skip_blanks();
        if self.eat("=>") {
            let key = self.key_of(&value)?;
            self.skip_lines();
            let value = self.value(0)?;
            call.options.push((key, value));
        } else if let Kind::Hash(pairs) = value.kind {
            // Older Rubies take a last hash for named arguments.
            call.options.extend(pairs);
        } else {
            call.arguments.push(value);
        }
        Ok(())
    }

    pub(super) fn key_of(&self, value: &Value) -> Result<Key, SyntaxError> {
        match value.word() {
            Some(word) => Ok(Key {
                at: value.at,
                name: word.to_owned(),
            }),
            None => self.fail(value.at, "expected a name before `=>`"),
        }
    }

    fn block(
        &mut self,
        depth: usize,
        renamed: &mut Option<String>,
    ) -> Result<Option<Block>, SyntaxError> {
        if !self.is_block_start() {
            return Ok(None);
        }
        let end = match self.eat("{") {
            true => "}",
            false => {
                self.eat("do");
                "end"
            }
        };
        self.skip_blanks();
        let mut parameter = None;
        if self.eat("|") {
            self.skip_blanks();
            parameter = Some(self.name()?);
            self.skip_blanks();
            if !self.eat("|") {
                return self.fail(self.at, "expected `|`");
            }
        }
        self.skip_blanks();
        if self.peek() == Some('#') {
            self.skip_comment();
            *renamed = self.renamed_from.take();
        }
        let calls = self.calls(Some(end), depth + 1)?;
        Ok(Some(Block { parameter, calls }))
    }

    fn statement_end(&mut self) -> Result<(), SyntaxError> {
        self.skip_blanks();
        if self.peek() == Some('#') {
            self.skip_comment();
        }
        match self.is_statement_end() {
            true => Ok(()),
            false => self.fail(self.at, NEEDS_RUBY),
        }
    }
}

pub(super) fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '?' || letter == '!'
}

/// The former name in a comment, in the form also used by SQL files.
fn renamed_from(comment: &str) -> Option<String> {
    let (_, rest) = comment.split_once("@renamed from=")?;
    let name = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split_whitespace().next(),
    };
    name.map(str::to_owned)
}
