//! Cuts a digest. Digests have no literals, comments or odd spacing, so little is left to know.

/// A piece of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    /// A quoted name, without the quotes.
    Quoted(&'a str),
    Value,
    Dot,
    Comma,
    Semicolon,
    Open,
    Close,
    Operator(&'a str),
}

impl<'a> Token<'a> {
    /// Whether the token is the given keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(self, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// The name in the token, where a name is possible.
    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Token::Word(name) | Token::Quoted(name) => Some(name),
            _ => None,
        }
    }
}

/// Cuts the whole digest into tokens.
pub(super) fn cut(digest: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = digest.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = one(rest, first);
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn one(rest: &str, first: char) -> (Token<'_>, usize) {
    let single = |token| (token, first.len_utf8());
    match first {
        '?' => single(Token::Value),
        '.' => single(Token::Dot),
        ',' => single(Token::Comma),
        ';' => single(Token::Semicolon),
        '(' | '[' => single(Token::Open),
        ')' | ']' => single(Token::Close),
        '`' | '"' => quoted(rest, first),
        _ if is_word(first) => {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (Token::Word(&rest[..end]), end)
        }
        _ => {
            let end = rest
                .find(|c: char| c.is_whitespace() || is_word(c) || "?.,;()[]`\"".contains(c))
                .unwrap_or(rest.len());
            (Token::Operator(&rest[..end]), end)
        }
    }
}

/// Cuts a quoted name. Doubled quotes inside are rare; they end the name, and then nothing matches
/// a real column.
fn quoted(rest: &str, quote: char) -> (Token<'_>, usize) {
    match rest[1..].find(quote) {
        Some(end) => (Token::Quoted(&rest[1..=end]), end + 2),
        None => (Token::Quoted(&rest[1..]), rest.len()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '\u{fffd}')
}
