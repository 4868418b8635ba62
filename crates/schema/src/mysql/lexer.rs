//! Tokens of MySQL's SQL, borrowed from the source. Comments are no tokens, but what a server would
//! execute of them (`/*!50100 … */`) is, and rename comments are collected on the way.

mod quote;

use crate::rename::{Renamed, renamed_from};
use crate::{Product, Server, Version};

pub(super) use quote::unquoted;
pub use quote::{backticked, literal};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in backticks, including the backticks.
    Quoted,
    /// A string, including the quotes.
    Text,
    /// A number, also `0x1f`, `x'1f'`, `b'01'`.
    Number,
    /// `@variable`, `@@setting`, and the host of `user@host`.
    Param,
    /// Anything else, of one to three letters.
    Op,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Byte offset in the source.
    pub at: usize,
}

impl Token<'_> {
    pub fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub fn is_op(&self, op: &str) -> bool {
        self.kind == Kind::Op && self.text == op
    }

    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// Position and reason of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub at: usize,
    pub message: String,
}

impl Fault {
    pub fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault {
            at,
            message: message.into(),
        }
    }
}

/// Which versioned comments a server executes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Executes {
    is_mariadb: bool,
    version: u32,
}

impl Executes {
    /// Dumps begin with a comment of version 999999, which no server is meant to execute.
    const NEWEST: u32 = 999_998;

    pub fn of(server: &Server) -> Executes {
        let version = server.version.map_or(Executes::NEWEST, |version| {
            let Version(major, minor, patch) = version;
            major * 10_000 + minor * 100 + patch
        });
        Executes {
            is_mariadb: server.product == Product::MariaDb,
            version,
        }
    }

    /// MariaDB passes over what is meant for MySQL from 5.7 on.
    fn executes(&self, is_mariadb_only: bool, version: u32) -> bool {
        let foreign = match is_mariadb_only {
            true => !self.is_mariadb,
            false => self.is_mariadb && (50_700..=99_999).contains(&version),
        };
        !foreign && version <= self.version
    }
}

pub(super) struct Lexer<'a> {
    pub text: &'a str,
    pub at: usize,
    executes: Executes,
    /// How many executed comments are open.
    open: usize,
    /// Rename comments, by offset.
    pub renames: Vec<(usize, Renamed)>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str, executes: Executes) -> Lexer<'a> {
        Lexer {
            text,
            at: 0,
            executes,
            open: 0,
            renames: Vec::new(),
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        *self.text.as_bytes().get(self.at + ahead).unwrap_or(&0)
    }

    /// Skips to the next character of a token.
    pub fn skip(&mut self) -> Result<(), Fault> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, _) => self.at += 1,
                (b'#', _) => self.line_comment(),
                (b'-', b'-') if self.byte(2) <= b' ' => self.line_comment(),
                (b'/', b'*') => self.block_comment()?,
                (b'*', b'/') if self.open > 0 => {
                    self.open -= 1;
                    self.at += 2;
                }
                _ => return Ok(()),
            }
        }
    }

    /// The rest of the line.
    pub fn rest_of_line(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        self.at += line.len();
        line
    }

    fn line_comment(&mut self) {
        let at = self.at;
        let comment = self.rest_of_line();
        self.note(at, comment);
    }

    fn note(&mut self, at: usize, comment: &str) {
        if let Some(renamed) = renamed_from(comment) {
            self.renames.push((at, renamed));
        }
    }

    fn block_comment(&mut self) -> Result<(), Fault> {
        let at = self.at;
        let rest = &self.text[at + 2..];
        let marked = rest.strip_prefix("M!").map(|rest| (true, rest));
        let marked = marked.or_else(|| rest.strip_prefix('!').map(|rest| (false, rest)));
        if let Some((is_mariadb_only, rest)) = marked {
            let digits = rest.bytes().take(6).take_while(u8::is_ascii_digit).count();
            let digits = if digits < 5 { 0 } else { digits };
            let version = rest[..digits].parse().unwrap_or(0);
            let content = &rest[digits..];
            // A column's SRID is read whoever executes it, since the drop-in printer repeats it so.
            if self.executes.executes(is_mariadb_only, version)
                || content.trim_start().starts_with("SRID ")
            {
                self.at = self.text.len() - content.len();
                self.open += 1;
                return Ok(());
            }
        }
        let Some(length) = rest.find("*/") else {
            return Err(Fault::new(at, "this comment does not end"));
        };
        self.at = at + 2 + length + 2;
        self.note(at, &self.text[at..self.at]);
        Ok(())
    }

    /// The next token; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Token<'a>>, Fault> {
        self.skip()?;
        let at = self.at;
        if at >= self.text.len() {
            return Ok(None);
        }
        let kind = match self.byte(0) {
            b'`' => self.quoted(b'`', Kind::Quoted)?,
            quote @ (b'\'' | b'"') => self.quoted(quote, Kind::Text)?,
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() && !self.follows_name() => self.number(),
            b'@' => self.param()?,
            b'x' | b'X' | b'b' | b'B' if self.byte(1) == b'\'' => {
                self.at += 1;
                self.quoted(b'\'', Kind::Number)?
            }
            byte if is_word(byte) => self.word(),
            _ => self.op(),
        };
        Ok(Some(Token {
            kind,
            text: &self.text[at..self.at],
            at,
        }))
    }

    /// In `a.5b` the part behind the dot is a name.
    fn follows_name(&self) -> bool {
        let before = self.text.as_bytes()[..self.at].last();
        before.is_some_and(|byte| is_word(*byte) || *byte == b'`')
    }

    fn quoted(&mut self, quote: u8, kind: Kind) -> Result<Kind, Fault> {
        let at = self.at;
        let bytes = self.text.as_bytes();
        let mut end = at + 1;
        loop {
            match bytes.get(end) {
                None => return Err(Fault::new(at, "this quote does not end")),
                Some(b'\\') if quote != b'`' => end += 2,
                Some(byte) if *byte == quote => {
                    if bytes.get(end + 1) != Some(&quote) {
                        break;
                    }
                    end += 2;
                }
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        Ok(kind)
    }

    fn number(&mut self) -> Kind {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        let digits = |mut end: usize| {
            while bytes.get(end).is_some_and(u8::is_ascii_digit) {
                end += 1;
            }
            end
        };
        end = digits(end);
        // `0x1f`, `1st`: letters right behind the digits, unless they are an exponent.
        let exponent = |end: usize| {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let is_exponent = matches!(bytes.get(end), Some(b'e' | b'E'))
                && bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit);
            is_exponent.then(|| digits(end + 1 + sign))
        };
        if bytes.get(end).is_some_and(|byte| is_word(*byte)) && exponent(end).is_none() {
            let is_hex = &bytes[self.at..end] == b"0" && matches!(bytes[end], b'x' | b'X' | b'b');
            self.word();
            return if is_hex { Kind::Number } else { Kind::Word };
        }
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        self.at = exponent(end).unwrap_or(end);
        Kind::Number
    }

    fn param(&mut self) -> Result<Kind, Fault> {
        self.at += 1;
        match self.byte(0) {
            quote @ (b'\'' | b'"' | b'`') => self.quoted(quote, Kind::Param),
            _ => {
                while is_word(self.byte(0)) || matches!(self.byte(0), b'@' | b'.') {
                    self.at += 1;
                }
                Ok(Kind::Param)
            }
        }
    }

    fn word(&mut self) -> Kind {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| is_word(*byte)) {
            self.at += 1;
        }
        Kind::Word
    }

    fn op(&mut self) -> Kind {
        const LONG: [&str; 12] = [
            "<=>", "->>", "->", ":=", "||", "&&", "<<", ">>", "<=", ">=", "<>", "!=",
        ];
        // Most are parentheses and commas.
        let begins_long = matches!(self.byte(0), b'<' | b'>' | b'-' | b':' | b'|' | b'&' | b'!');
        let rest = &self.text.as_bytes()[self.at..];
        let long = LONG.iter().filter(|_| begins_long);
        let mut long = long.filter(|op| rest.starts_with(op.as_bytes()));
        self.at += long.next().map_or(1, |op| op.len());
        Kind::Op
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(server: Product, sql: &str, expected: &[&str]) {
        let mut lexer = Lexer::new(sql, Executes::of(&Server::unknown(server)));
        let mut found = Vec::new();
        while let Some(token) = lexer.next().unwrap() {
            found.push(token.text);
        }
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn tokens() {
        let check = |sql: &str, expected: &[&str]| check(Product::Mysql, sql, expected);
        check(
            "a.`b``c` <=> 'x''y\\'z'",
            &["a", ".", "`b``c`", "<=>", "'x''y\\'z'"],
        );
        check(
            "1 1.5e-3 .5 0x1F x'1f' 1st 2e",
            &["1", "1.5e-3", ".5", "0x1F", "x'1f'", "1st", "2e"],
        );
        check(
            "a--1 -- b\n#c\nd/* e ; */f",
            &["a", "-", "-", "1", "d", "f"],
        );
        check(
            "`root`@`%` @@x.y @'a b'",
            &["`root`", "@`%`", "@@x.y", "@'a b'"],
        );
        check("größe->>'$.ü'", &["größe", "->>", "'$.ü'"]);
    }

    #[test]
    fn comments_for_servers() {
        let sql = "a /*!50003 b */ /*!80016 c */ /*M!100100 d */ /*M!999999\\- e */ /*! f */";
        check(Product::Mysql, sql, &["a", "b", "c", "f"]);
        check(Product::MariaDb, sql, &["a", "b", "d", "f"]);
    }

    #[test]
    fn what_does_not_end_is_told() {
        for (sql, at) in [("a 'b", 2), ("/* c", 0), ("d `", 2)] {
            let mut lexer = Lexer::new(sql, Executes::of(&Server::unknown(Product::Mysql)));
            let fault = loop {
                match lexer.next() {
                    Ok(token) => assert!(token.is_some(), "{sql}"),
                    Err(fault) => break fault,
                }
            };
            assert_eq!(fault.at, at, "{sql}");
        }
    }
}
