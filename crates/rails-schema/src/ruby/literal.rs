//! Literals: strings, symbols, numbers, arrays, hashes, here-documents, and lambdas returning a
//! string.

use schema::SyntaxError;

use super::parser::{NEEDS_RUBY, Parser, is_name_letter};
use super::{Key, Kind, Value};

/// Lists in lists; a default may be a JSON document.
const DEPTH_MAX: usize = 64;

impl Parser<'_> {
    /// Parses a literal at the current position.
    pub(super) fn value(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        let at = self.at;
        if depth > DEPTH_MAX {
            return self.fail(at, "these brackets are too deep for a schema");
        }
        let kind = match self.peek() {
            Some('"') => Kind::Text(self.double_quoted()?),
            Some('\'') => Kind::Text(self.single_quoted()?),
            Some('[') => Kind::List(self.list(depth)?),
            Some('{') => Kind::Hash(self.hash(depth)?),
            Some(':') => self.symbol()?,
            Some('%') => self.words()?,
            Some('<') => Kind::Text(self.heredoc()?),
            Some('-') if self.rest().starts_with("->") => self.lambda("->")?,
            Some(letter) if letter.is_ascii_digit() || letter == '-' => self.number()?,
            _ => self.keyword()?,
        };
        if self.eat(".freeze") {
            return Ok(Value { at, kind });
        }
        match self.rest().strip_prefix('.') {
            Some(_) => self.fail(self.at, NEEDS_RUBY),
            None => Ok(Value { at, kind }),
        }
    }

    fn keyword(&mut self) -> Result<Kind, SyntaxError> {
        let kinds = [
            ("nil", Kind::Nil),
            ("true", Kind::Bool(true)),
            ("false", Kind::Bool(false)),
        ];
        for (word, kind) in kinds {
            if self.eat_word(word) {
                return Ok(kind);
            }
        }
        for word in ["lambda", "proc"] {
            if self.rest().starts_with(word) {
                return self.lambda(word);
            }
        }
        self.fail(self.at, NEEDS_RUBY)
    }

    fn number(&mut self) -> Result<Kind, SyntaxError> {
        let rest = self.rest();
        let mut end = usize::from(rest.starts_with('-'));
        let bytes = rest.as_bytes();
        while let Some(byte) = bytes.get(end) {
            let is_part = match byte {
                b'0'..=b'9' | b'_' | b'e' | b'E' => true,
                b'.' => bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
                b'+' | b'-' => matches!(bytes[end - 1], b'e' | b'E'),
                _ => false,
            };
            if !is_part {
                break;
            }
            end += 1;
        }
        let number = rest[..end].replace('_', "");
        if number.parse::<f64>().is_err() || rest[end..].starts_with(is_name_letter) {
            return self.fail(self.at, NEEDS_RUBY);
        }
        self.at += end;
        Ok(Kind::Number(number))
    }

    fn single_quoted(&mut self) -> Result<String, SyntaxError> {
        let at = self.at;
        let mut letters = self.rest().char_indices().skip(1);
        let mut text = String::new();
        while let Some((place, letter)) = letters.next() {
            match letter {
                '\'' => {
                    self.at += place + 1;
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, escaped @ ('\'' | '\\'))) => text.push(escaped),
                    Some((_, other)) => text.extend(['\\', other]),
                    None => break,
                },
                _ => text.push(letter),
            }
        }
        self.fail(at, "this string has no end")
    }

    fn double_quoted(&mut self) -> Result<String, SyntaxError> {
        let rest = self.rest();
        let mut end = 1;
        let bytes = rest.as_bytes();
        while bytes.get(end).is_some_and(|byte| *byte != b'"') {
            end += 1 + usize::from(bytes[end] == b'\\');
        }
        if bytes.get(end) != Some(&b'"') {
            return self.fail(self.at, "this string has no end");
        }
        let start = self.at + 1;
        let text = self.unescaped(start, &rest[1..end])?;
        self.at += end + 1;
        Ok(text)
    }

    /// Replaces escapes such as `\n` in a text; `start` is the text's offset.
    fn unescaped(&self, start: usize, written: &str) -> Result<String, SyntaxError> {
        let mut text = String::new();
        let mut letters = written.char_indices().peekable();
        while let Some((place, letter)) = letters.next() {
            let follows = letters.peek().map(|(_, letter)| *letter);
            match (letter, follows) {
                ('#', Some('{' | '@' | '$')) => return self.fail(start + place, NEEDS_RUBY),
                ('\\', Some('u')) => {
                    let (letter, length) = unicode(&written[place + 2..]).map_or_else(
                        || self.fail(start + place, "this is not a letter's number"),
                        Ok,
                    )?;
                    text.push_str(&letter);
                    letters.by_ref().take(length + 1).for_each(drop);
                }
                ('\\', Some('x' | '0'..='7' | 'c' | 'C' | 'M')) => {
                    return self.fail(start + place, "bytes cannot be read, only letters");
                }
                ('\\', Some('\n')) => drop(letters.next()),
                ('\\', Some(escaped)) => {
                    text.push(control(escaped));
                    letters.next();
                }
                _ => text.push(letter),
            }
        }
        Ok(text)
    }

    fn symbol(&mut self) -> Result<Kind, SyntaxError> {
        self.at += 1;
        match self.peek() {
            Some('"') => self.double_quoted().map(Kind::Symbol),
            Some('\'') => self.single_quoted().map(Kind::Symbol),
            Some(letter) if is_name_letter(letter) => Ok(Kind::Symbol(self.bare_word())),
            _ => self.fail(self.at - 1, NEEDS_RUBY),
        }
    }

    fn bare_word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|letter| !is_name_letter(letter));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word.to_owned()
    }

    /// `%w[a b]` and `%i[a b]`.
    fn words(&mut self) -> Result<Kind, SyntaxError> {
        let at = self.at;
        let is_symbols = self.rest().starts_with("%i");
        let opening = self
            .rest()
            .get("%w".len()..)
            .and_then(|rest| rest.chars().next());
        let closing = match opening {
            Some('[') => ']',
            Some('(') => ')',
            Some('{') => '}',
            Some('<') => '>',
            _ => return self.fail(at, NEEDS_RUBY),
        };
        if !is_symbols && !self.rest().starts_with("%w") {
            return self.fail(at, NEEDS_RUBY);
        }
        let inside = &self.rest()["%w[".len()..];
        let Some(end) = inside.find(closing) else {
            return self.fail(at, "this list has no end");
        };
        self.at += "%w[".len() + end + 1;
        let item = |word: &str| Value {
            at,
            kind: match is_symbols {
                true => Kind::Symbol(word.to_owned()),
                false => Kind::Text(word.to_owned()),
            },
        };
        Ok(Kind::List(
            inside[..end].split_whitespace().map(item).collect(),
        ))
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Value>, SyntaxError> {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.skip_lines();
            if self.eat("]") {
                return Ok(values);
            }
            values.push(self.value(depth + 1)?);
            self.skip_lines();
            if !self.eat(",") && !self.rest().starts_with(']') {
                return self.fail(self.at, "expected `,` or `]`");
            }
        }
    }

    fn hash(&mut self, depth: usize) -> Result<Vec<(Key, Value)>, SyntaxError> {
        self.at += 1;
        let mut pairs = Vec::new();
        loop {
            self.skip_lines();
            if self.eat("}") {
                return Ok(pairs);
            }
            if let Some(pair) = self.pair(depth + 1)? {
                pairs.push(pair);
            } else {
                let key = self.value(depth + 1)?;
                let key = self.key_of(&key)?;
                self.skip_lines();
                if !self.eat("=>") {
                    return self.fail(self.at, "expected `=>`");
                }
                self.skip_lines();
                pairs.push((key, self.value(depth + 1)?));
            }
            self.skip_lines();
            if !self.eat(",") && !self.rest().starts_with('}') {
                return self.fail(self.at, "expected `,` or `}`");
            }
        }
    }

    /// `name: value` or `"name": value`; `None` where something else stands.
    pub(super) fn pair(&mut self, depth: usize) -> Result<Option<(Key, Value)>, SyntaxError> {
        let at = self.at;
        let name = match self.peek() {
            Some('"') => self.double_quoted()?,
            Some('\'') => self.single_quoted()?,
            Some(letter) if is_name_letter(letter) && !letter.is_ascii_digit() => self.bare_word(),
            _ => return Ok(None),
        };
        let is_key = self.rest().starts_with(':') && !self.rest().starts_with("::");
        if !is_key {
            self.at = at;
            return Ok(None);
        }
        self.at += 1;
        self.skip_lines();
        let value = self.value(depth)?;
        Ok(Some((Key { at, name }, value)))
    }

    /// Parses a lambda without parameters, returning a string.
    fn lambda(&mut self, word: &str) -> Result<Kind, SyntaxError> {
        let at = self.at;
        self.at += word.len();
        self.skip_blanks();
        let end = match () {
            () if self.eat("{") => "}",
            () if self.eat_word("do") => "end",
            () => return self.fail(at, NEEDS_RUBY),
        };
        self.skip_lines();
        let value = self.value(0)?;
        self.skip_lines();
        match value.kind {
            Kind::Text(text) if self.eat(end) => Ok(Kind::Lambda(text)),
            Kind::Number(text) if self.eat(end) => Ok(Kind::Lambda(text)),
            _ => self.fail(at, NEEDS_RUBY),
        }
    }

    /// `<<SQL`, `<<-SQL`, `<<~SQL`, with the word in quotes or not.
    fn heredoc(&mut self) -> Result<String, SyntaxError> {
        let at = self.at;
        if !self.eat("<<") {
            return self.fail(at, NEEDS_RUBY);
        }
        let is_squiggly = self.rest().starts_with('~');
        let _ = self.eat("~") || self.eat("-");
        let (is_raw, word) = match self.peek() {
            Some('\'') => (true, self.single_quoted()?),
            Some('"') => (false, self.double_quoted()?),
            _ => (false, self.bare_word()),
        };
        let line_end = self.rest().find('\n').map(|end| self.at + end + 1);
        let Some(start) = self.heredoc_end.or(line_end).filter(|_| !word.is_empty()) else {
            return self.fail(at, NEEDS_RUBY);
        };
        let mut end = start;
        for line in self.text[start..].split_inclusive('\n') {
            if line.trim() == word {
                let body = &self.text[start..end];
                self.heredoc_end = Some(end + line.len());
                let text = match is_raw {
                    true => body.to_owned(),
                    false => self.unescaped(start, body)?,
                };
                return Ok(match is_squiggly {
                    true => without_margin(&text),
                    false => text,
                });
            }
            end += line.len();
        }
        self.fail(
            at,
            &format!("there is no line `{word}` that ends this text"),
        )
    }
}

/// What a letter behind a backslash stands for.
fn control(letter: char) -> char {
    match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        's' => ' ',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' => '\u{1b}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        other => other,
    }
}

/// Characters behind `\u`, and the length of the spelling: `00e9`, `{e9 20ac}`.
fn unicode(written: &str) -> Option<(String, usize)> {
    let letter = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    match written.strip_prefix('{') {
        Some(inside) => {
            let end = inside.find('}')?;
            let letters = inside[..end].split_whitespace().map(letter);
            Some((letters.collect::<Option<String>>()?, end + 2))
        }
        None => {
            let digits = written.get(..4)?;
            Some((letter(digits)?.to_string(), 4))
        }
    }
}

/// Removes the indentation common to all lines.
fn without_margin(text: &str) -> String {
    let filled = text.lines().filter(|line| !line.trim().is_empty());
    let margin = filled
        .map(|line| line.len() - line.trim_start().len())
        .min();
    let lines = text.split_inclusive('\n');
    lines
        .map(|line| line.get(margin.unwrap_or(0)..).unwrap_or("\n"))
        .collect()
}
