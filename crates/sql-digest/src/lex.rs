//! Cuts SQL into tokens, for all three dialects at once. Never fails: odd bytes are operators.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A bare name, keyword or `@variable`.
    Word,
    /// A name in backticks.
    Quoted,
    /// A text in double quotes: a name or a string, depending on dialect.
    DoubleQuoted {
        /// Whether the content is made like a name.
        name_like: bool,
        /// Whether a dot follows.
        dotted: bool,
    },
    /// A value or a placeholder.
    Literal,
    /// An operator, or a byte of no known use.
    Operator,
    /// `+` or `-`.
    Sign,
    /// `::`.
    Cast,
    /// `.`.
    Dot,
    /// `(` or `[`.
    Open,
    /// `)` or `]`.
    Close,
    /// `,`.
    Comma,
    /// `;`.
    Semicolon,
}

/// A token with the position in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) bytes: &'a [u8],
    /// Whether white space or a comment stands before the token.
    pub(crate) spaced: bool,
}

/// Cuts one statement.
pub(crate) struct Lexer<'a> {
    sql: &'a [u8],
    at: usize,
    /// Whether the last token was a name or a closing bracket, after which `.5` is no number.
    after_name: bool,
}

/// Longest first. Signs, casts and single characters are not listed.
const OPERATORS: [&[u8]; 20] = [
    b"<=>", b"->>", b"#>>", b"!~*", b"<=", b">=", b"<>", b"!=", b"||", b"&&", b"<<", b">>", b"->",
    b"#>", b":=", b"==", b"@>", b"@@", b"~*", b"!~",
];

/// Longest name MySQL allows, in bytes; PostgreSQL allows 63. What is longer is a string.
const NAME_BYTES_MAX: usize = 64;

impl<'a> Lexer<'a> {
    pub(crate) fn new(sql: &'a [u8]) -> Self {
        Lexer {
            sql,
            at: 0,
            after_name: false,
        }
    }

    /// The byte `ahead` of the current one; zero, which is white space, past the end.
    fn peek(&self, ahead: usize) -> u8 {
        self.sql.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        self.sql.get(self.at..).unwrap_or_default()
    }

    /// Moves on while `belongs` holds.
    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        let rest = self.rest();
        self.at += rest
            .iter()
            .position(|byte| !belongs(*byte))
            .unwrap_or(rest.len());
    }

    /// Moves behind the next `end`, or to the end of the statement.
    fn skip_past(&mut self, end: &[u8]) {
        let rest = self.rest();
        self.at += rest
            .windows(end.len())
            .position(|window| window == end)
            .map_or(rest.len(), |found| found + end.len());
    }

    #[inline]
    fn skip_blank(&mut self) {
        if self.peek(0) == b' ' {
            self.at += 1;
        }
        if is_word(self.peek(0)) {
            return;
        }
        self.skip_blanks_and_comments();
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                _ if self.at >= self.sql.len() => return,
                (byte, _) if is_blank(byte) => self.skip_while(is_blank),
                (b'-', b'-') => self.skip_past(b"\n"),
                (b'#', next) if next != b'>' => self.skip_past(b"\n"),
                (b'/', b'*') => {
                    self.at += 2;
                    self.skip_past(b"*/");
                }
                _ => return,
            }
        }
    }

    #[inline]
    fn cut(&mut self) -> Kind {
        match self.peek(0) {
            byte if byte.is_ascii_alphabetic() => self.word(),
            b'\'' => self.string(true),
            b'"' => self.double_quoted(),
            b'`' => self.backticked(),
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() && !self.after_name => self.number(),
            b'?' => {
                self.at += 1;
                self.skip_while(|byte| byte.is_ascii_digit());
                Kind::Literal
            }
            b'$' => self.dollar(),
            b':' => self.colon(),
            b'@' => self.at_sign(),
            byte if is_word(byte) => self.word(),
            _ => self.punctuation(),
        }
    }

    fn one(&mut self, kind: Kind) -> Kind {
        self.at += 1;
        kind
    }

    fn punctuation(&mut self) -> Kind {
        // A longer operator needs a second character: most punctuation is settled without the list.
        if matches!(
            self.peek(1),
            b'=' | b'>' | b'<' | b'|' | b'&' | b'@' | b'~' | b'*'
        ) {
            let rest = self.rest();
            if let Some(operator) = OPERATORS.iter().find(|text| rest.starts_with(text)) {
                self.at += operator.len();
                return Kind::Operator;
            }
        }
        let kind = match self.peek(0) {
            b'.' => Kind::Dot,
            b',' => Kind::Comma,
            b';' => Kind::Semicolon,
            b'(' | b'[' => Kind::Open,
            b')' | b']' => Kind::Close,
            b'+' | b'-' => Kind::Sign,
            _ => Kind::Operator,
        };
        self.one(kind)
    }

    /// Reads a quoted text from the opening quote on; returns whether the closing quote was found.
    fn quoted(&mut self, backslash_escapes: bool) -> bool {
        let quote = self.peek(0);
        self.at += 1;
        while let Some(byte) = self.sql.get(self.at).copied() {
            self.at += 1;
            if byte == b'\\' && backslash_escapes {
                self.at = (self.at + 1).min(self.sql.len());
            } else if byte == quote {
                if self.peek(0) != quote {
                    return true;
                }
                self.at += 1;
            }
        }
        false
    }

    fn string(&mut self, backslash_escapes: bool) -> Kind {
        self.quoted(backslash_escapes);
        Kind::Literal
    }

    fn backticked(&mut self) -> Kind {
        if self.quoted(false) {
            Kind::Quoted
        } else {
            Kind::Literal
        }
    }

    fn double_quoted(&mut self) -> Kind {
        let start = self.at;
        if !self.quoted(true) {
            return Kind::Literal;
        }
        let content = self
            .sql
            .get(start + 1..self.at.saturating_sub(1))
            .unwrap_or_default();
        let name_like = !content.is_empty()
            && content.len() <= NAME_BYTES_MAX
            && content.iter().all(|byte| is_word(*byte) || *byte == b'-');
        let end = self.at;
        self.skip_blank();
        let dotted = self.peek(0) == b'.';
        self.at = end;
        Kind::DoubleQuoted { name_like, dotted }
    }

    fn number(&mut self) -> Kind {
        let hexadecimal = self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X');
        let start = self.at;
        self.skip_while(is_word);
        if self.peek(0) == b'.' {
            self.at += 1;
            self.skip_while(is_word);
        }
        let digits = self.sql.get(start..self.at).unwrap_or_default();
        let exponent = !hexadecimal && matches!(digits.last(), Some(b'e' | b'E'));
        if exponent && matches!(self.peek(0), b'+' | b'-') && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.skip_while(is_word);
        }
        Kind::Literal
    }

    /// `$1`, `$name`, `$$text$$` or `$tag$text$tag$`.
    fn dollar(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        self.skip_while(|byte| is_word(byte) && byte != b'$');
        let digit_first = self.sql.get(start + 1).is_some_and(u8::is_ascii_digit);
        if self.peek(0) == b'$' && !digit_first {
            self.at += 1;
            let tag = self.sql.get(start..self.at).unwrap_or_default();
            self.skip_past(tag);
            return Kind::Literal;
        }
        if self.at == start + 1 {
            Kind::Operator
        } else {
            Kind::Literal
        }
    }

    fn colon(&mut self) -> Kind {
        match self.peek(1) {
            b':' => {
                self.at += 2;
                Kind::Cast
            }
            byte if is_word(byte) => {
                self.at += 1;
                self.skip_while(is_word);
                Kind::Literal
            }
            _ => self.punctuation(),
        }
    }

    fn at_sign(&mut self) -> Kind {
        let signs = if self.peek(1) == b'@' { 2 } else { 1 };
        if !is_word(self.peek(signs)) {
            return self.punctuation();
        }
        self.at += signs;
        self.skip_while(is_word);
        Kind::Word
    }

    /// A word, or the prefix of a string such as `E'…'`, `x'…'`, `_utf8mb4'…'` or `U&'…'`.
    fn word(&mut self) -> Kind {
        let start = self.at;
        self.skip_while(is_word);
        let word = self.sql.get(start..self.at).unwrap_or_default();
        if self.peek(0) == b'&' && self.peek(1) == b'\'' && word.eq_ignore_ascii_case(b"u") {
            self.at += 1;
            return self.string(false);
        }
        let prefix = word.starts_with(b"_")
            || matches!(
                word,
                [b'e' | b'E' | b'n' | b'N' | b'b' | b'B' | b'x' | b'X']
            );
        if self.peek(0) == b'\'' && prefix {
            return self.string(true);
        }
        Kind::Word
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let before = self.at;
        self.skip_blank();
        let start = self.at;
        if start >= self.sql.len() {
            return None;
        }
        let kind = self.cut();
        self.after_name = matches!(
            kind,
            Kind::Word | Kind::Quoted | Kind::DoubleQuoted { .. } | Kind::Close
        );
        Some(Token {
            kind,
            bytes: self.sql.get(start..self.at).unwrap_or_default(),
            spaced: start > before,
        })
    }
}

/// White space, and control characters, which have no business in a report.
#[inline]
fn is_blank(byte: u8) -> bool {
    CLASSES[byte as usize] == BLANK
}

#[inline]
fn is_word(byte: u8) -> bool {
    CLASSES[byte as usize] == WORD
}

const BLANK: u8 = 1;
const WORD: u8 = 2;

/// What kind of text a byte belongs to; a table, since every byte is looked up.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            0..=b' ' | 0x7f => BLANK,
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$' | 0x80.. => WORD,
            _ => 0,
        };
        byte += 1;
    }
    classes
};
