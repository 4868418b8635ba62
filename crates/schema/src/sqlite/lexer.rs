//! Tokens of SQLite's SQL.
//!
//! Nothing is copied: a token is a range of the text. Comments are kept aside, since old names
//! stand in them.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a plain name.
    Word,
    /// A name in `"…"`, `` `…` `` or `[…]`.
    Quoted,
    /// `'…'`.
    Text,
    /// `x'…'`.
    Blob,
    /// A number.
    Number,
    /// An operator, a bracket, a comma, a variable: anything else.
    Sign,
}

/// Longest text: tokens, of which a large schema has a million, hold places of half the size.
pub(super) const BYTES_MAX: usize = u32::MAX as usize;

/// Bytes of a text for each token, so the list of tokens rarely has to grow.
const BYTES_A_TOKEN: usize = 4;

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    start: u32,
    end: u32,
}

/// A text cut into tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Range<usize>>,
    /// Lines of the command-line shell, such as `.mode list`.
    pub(super) shell_lines: Vec<Range<usize>>,
    /// Position of an unclosed quote.
    pub(super) open_quote: Option<usize>,
}

impl Token {
    pub(super) fn text<'a>(&self, source: &'a str) -> &'a str {
        &source[self.start()..self.end()]
    }

    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    pub(super) fn end(&self) -> usize {
        self.end as usize
    }

    pub(super) fn is_word(&self, source: &str, word: &str) -> bool {
        self.kind == Kind::Word && self.text(source).eq_ignore_ascii_case(word)
    }

    pub(super) fn is_sign(&self, source: &str, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text(source) == sign
    }
}

/// Cuts a text into tokens.
pub(super) fn lex(source: &str) -> Lexed {
    let bytes = source.as_bytes();
    let mut lexed = Lexed::default();
    lexed.tokens.reserve(source.len() / BYTES_A_TOKEN);
    let mut at = if source.starts_with('\u{feff}') { 3 } else { 0 };
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if let Some(end) = comment_end(source, at) {
            lexed.comments.push(start..end);
            at = end;
            continue;
        }
        if byte == b'.' && lexed.starts_statement(source) && begins_line(source, at) {
            at = line_end(source, at);
            lexed.shell_lines.push(start..at);
            continue;
        }
        let (kind, end) = match byte {
            b'\'' => (Kind::Text, quote_end(bytes, at, b'\'')),
            b'"' | b'`' => (Kind::Quoted, quote_end(bytes, at, byte)),
            b'[' => (Kind::Quoted, bracket_end(bytes, at)),
            b'x' | b'X' if bytes.get(at + 1) == Some(&b'\'') => {
                (Kind::Blob, quote_end(bytes, at + 1, b'\''))
            }
            b'0'..=b'9' => (Kind::Number, Some(number_end(bytes, at))),
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                (Kind::Number, Some(number_end(bytes, at)))
            }
            byte if is_name_byte(byte) => (Kind::Word, Some(name_end(bytes, at))),
            _ => (Kind::Sign, Some(sign_end(bytes, at))),
        };
        at = end.unwrap_or_else(|| {
            lexed.open_quote = Some(start);
            bytes.len()
        });
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        lexed.tokens.push(Token {
            kind,
            start: place(start),
            end: place(at),
        });
    }
    lexed
}

impl Lexed {
    fn starts_statement(&self, source: &str) -> bool {
        self.tokens
            .last()
            .is_none_or(|last| last.is_sign(source, ";"))
    }
}

fn comment_end(source: &str, at: usize) -> Option<usize> {
    let rest = &source.as_bytes()[at..];
    if rest.starts_with(b"--") {
        Some(line_end(source, at))
    } else if rest.starts_with(b"/*") {
        // One that is never closed goes to the end, as in SQLite.
        let end = source[at + 2..].find("*/").map(|found| at + found + 4);
        Some(end.unwrap_or(source.len()))
    } else {
        None
    }
}

fn line_end(source: &str, at: usize) -> usize {
    source[at..].find('\n').map_or(source.len(), |end| at + end)
}

fn begins_line(source: &str, at: usize) -> bool {
    at == 0 || source.as_bytes()[at - 1] == b'\n'
}

/// The mark doubled stands for itself.
fn quote_end(bytes: &[u8], open: usize, mark: u8) -> Option<usize> {
    let mut at = open + 1;
    while at < bytes.len() {
        if bytes[at] != mark {
            at += 1;
        } else if bytes.get(at + 1) == Some(&mark) {
            at += 2;
        } else {
            return Some(at + 1);
        }
    }
    None
}

fn bracket_end(bytes: &[u8], open: usize) -> Option<usize> {
    let length = bytes[open..].iter().position(|byte| *byte == b']')?;
    Some(open + length + 1)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn name_end(bytes: &[u8], at: usize) -> usize {
    let length = bytes[at..].iter().position(|byte| !is_name_byte(*byte));
    length.map_or(bytes.len(), |length| at + length)
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let is_hex = bytes[start..].len() > 1 && matches!(bytes[start + 1], b'x' | b'X');
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        let is_exponent_sign =
            matches!(byte, b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E') && !is_hex;
        if !(is_name_byte(*byte) || *byte == b'.' || is_exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

fn sign_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    for sign in ["->>", "->", "||", "<=", ">=", "<>", "!=", "==", "<<", ">>"] {
        if rest.starts_with(sign.as_bytes()) {
            return at + sign.len();
        }
    }
    match rest[0] {
        b'?' | b':' | b'@' | b'#' => name_end(bytes, at + 1),
        _ => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_what_they_look_like() {
        let source = "a->>'$.b' != -1.5e-3 AND x'0f' = ?1";
        let tokens = lex(source).tokens;
        let texts: Vec<&str> = tokens.iter().map(|token| token.text(source)).collect();
        assert_eq!(
            texts,
            [
                "a", "->>", "'$.b'", "!=", "-", "1.5e-3", "AND", "x'0f'", "=", "?1"
            ]
        );
        assert_eq!(lex("a 'b").open_quote, Some(2));
    }
}
