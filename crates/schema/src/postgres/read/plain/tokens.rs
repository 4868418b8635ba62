//! The tokens of plain statements.

use super::words::is_unreserved;
use crate::postgres::name::{fold, is_keyword};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// A name in quotes.
    Quoted,
    Number,
    String,
    Sign,
    End,
    /// Whatever plain statements have not: comments, other letters outside of quotes, other strings
    /// and operators.
    Unknown,
}

/// Operators of one or two characters, surrounded by other kinds of characters.
const OPERATORS: [&str; 11] = ["=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "||"];

/// Column names parsed by the grammar as the start of something else.
const NOT_COLUMNS: [&str; 3] = ["exclude", "period", "without"];

/// A tokenised text with a current token.
pub(super) struct Tokens<'t> {
    text: &'t str,
    kind: Kind,
    start: usize,
    end: usize,
    /// End of the token before.
    end_before: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Tokens<'t> {
        let mut tokens = Tokens {
            text,
            kind: Kind::Unknown,
            start: 0,
            end: 0,
            end_before: 0,
        };
        tokens.advance();
        tokens
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Where the token begins.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// The source from an offset to the end of the previous token.
    pub(super) fn since(&self, start: usize) -> &'t str {
        &self.text[start..self.end_before]
    }

    /// Text of the current token, unless unknown.
    pub(super) fn current(&self) -> &'t str {
        match self.kind {
            Kind::Unknown | Kind::End => "",
            _ => &self.text[self.start..self.end],
        }
    }

    pub(super) fn advance(&mut self) {
        let bytes = self.text.as_bytes();
        self.end_before = self.end;
        self.start = self.end;
        while matches!(
            bytes.get(self.start),
            Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
        ) {
            self.start += 1;
        }
        (self.kind, self.end) = token(self.text, self.start);
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.current().eq_ignore_ascii_case(word)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.current() == sign
    }

    /// Consumes the given word, if next.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let is_next = self.is(word);
        if is_next {
            self.advance();
        }
        is_next
    }

    pub(super) fn eat_sign(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        if is_next {
            self.advance();
        }
        is_next
    }

    pub(super) fn need(&mut self, word: &str) -> Option<()> {
        self.eat(word).then_some(())
    }

    pub(super) fn need_sign(&mut self, sign: &str) -> Option<()> {
        self.eat_sign(sign).then_some(())
    }

    /// Reads a name without another meaning in any context.
    pub(super) fn name(&mut self) -> Option<String> {
        self.name_unless(|word| is_keyword(word) || is_unreserved(word))
    }

    /// A column's name where nothing but a column can stand.
    pub(super) fn column_name(&mut self) -> Option<String> {
        self.name_unless(|word| is_keyword(word) || NOT_COLUMNS.contains(&word))
    }

    fn name_unless(&mut self, is_other: impl Fn(&str) -> bool) -> Option<String> {
        let name = match self.kind {
            Kind::Quoted => fold(self.current()),
            Kind::Word => Some(fold(self.current())).filter(|name| !is_other(name))?,
            _ => return None,
        };
        self.advance();
        Some(name)
    }

    /// Reads a name with an optional schema.
    pub(super) fn path(&mut self) -> Option<Vec<String>> {
        let mut path = vec![self.name()?];
        if self.eat_sign(".") {
            path.push(self.name()?);
        }
        Some(path)
    }

    /// The same over and over with commas between, in parentheses.
    pub(super) fn list(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.need_sign("(")?;
        self.rest_of_list(item)
    }

    /// The same behind the parenthesis.
    pub(super) fn rest_of_list(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        loop {
            item(self)?;
            if !self.eat_sign(",") {
                return self.need_sign(")");
            }
        }
    }
}

/// Kind of the token at an offset, and the end.
fn token(text: &str, start: usize) -> (Kind, usize) {
    let bytes = text.as_bytes();
    let Some(first) = bytes.get(start) else {
        return (Kind::End, start);
    };
    let (kind, end) = match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Word, run(bytes, start, is_word)),
        b'0'..=b'9' => (Kind::Number, number(bytes, start)),
        b'\'' => return closed(bytes, start, Kind::String),
        b'"' => return closed(bytes, start, Kind::Quoted),
        b'(' | b')' | b',' | b'.' | b'[' | b']' => return (Kind::Sign, start + 1),
        b':' if bytes.get(start + 1) == Some(&b':') => return (Kind::Sign, start + 2),
        byte if is_operator(*byte) => {
            let end = run(bytes, start, is_operator);
            let is_known = OPERATORS.contains(&&text[start..end]);
            return (if is_known { Kind::Sign } else { Kind::Unknown }, end);
        }
        _ => (Kind::Unknown, start + 1),
    };
    // `E'…'` is another kind of string, and `1x` is no number.
    let is_whole = bytes
        .get(end)
        .is_none_or(|next| !is_word(*next) && next.is_ascii() && !matches!(next, b'\'' | b'&'));
    (if is_whole { kind } else { Kind::Unknown }, end)
}

/// A string or a name in quotes. Quotes within names, and names without letters, are not plain.
fn closed(bytes: &[u8], start: usize, kind: Kind) -> (Kind, usize) {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(length) = bytes[at..].iter().position(|byte| *byte == quote) {
        at += length + 1;
        if bytes.get(at) != Some(&quote) {
            let is_plain = kind == Kind::String || at > start + 2;
            return (if is_plain { kind } else { Kind::Unknown }, at);
        }
        if kind == Kind::Quoted {
            break;
        }
        at += 1;
    }
    (Kind::Unknown, bytes.len())
}

/// Digits, with digits behind a dot.
fn number(bytes: &[u8], start: usize) -> usize {
    let end = run(bytes, start, |byte| byte.is_ascii_digit());
    let has_more =
        bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    if has_more {
        run(bytes, end + 1, |byte| byte.is_ascii_digit())
    } else {
        end
    }
}

fn run(bytes: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let length = bytes[start..].iter().position(|byte| !belongs(*byte));
    length.map_or(bytes.len(), |length| start + length)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'=' | b'<'
            | b'>'
            | b'+'
            | b'-'
            | b'*'
            | b'/'
            | b'|'
            | b'!'
            | b'@'
            | b'#'
            | b'~'
            | b'^'
            | b'&'
            | b'%'
            | b'?'
            | b'`'
    )
}
