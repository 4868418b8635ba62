//! Splits a text into statements without parsing.
//!
//! Knows what may hide a semicolon: strings, dollar quotes, quoted names, comments (which nest),
//! parentheses, bodies between `BEGIN ATOMIC` and `END`, data after `COPY … FROM stdin`, and lines
//! that are for psql.

mod comments;
mod names;

pub(crate) use comments::without_comments;
pub(crate) use names::{names, with_renamed};

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A statement, without the semicolon.
    Statement,
    /// Rows after `COPY … FROM stdin`.
    Data,
    /// A line for psql, such as `\restrict`.
    Client,
}

/// A piece of a text, by byte offsets, without surrounding white space and comments. Comments at
/// the end of the last line are in `tail`, since a rename may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// All pieces, in order.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut cutter = Cutter {
        bytes: text.as_bytes(),
        at: 0,
        pieces: Vec::new(),
    };
    cutter.run();
    cutter.pieces
}

struct Cutter<'a> {
    bytes: &'a [u8],
    at: usize,
    pieces: Vec<Piece>,
}

/// The part read of the current statement.
#[derive(Default)]
struct Seen {
    start: Option<usize>,
    /// End of the last piece other than white space and comments.
    end: usize,
    parens: usize,
    words: Words,
    /// Open `BEGIN ATOMIC` and `CASE` in a routine.
    atomic: usize,
}

/// The few words deciding how a statement ends.
#[derive(Default)]
struct Words {
    count: usize,
    is_copy: bool,
    is_create: bool,
    is_routine: bool,
    from_stdin: bool,
    previous: Word,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Word {
    #[default]
    Other,
    Begin,
    From,
}

impl Cutter<'_> {
    fn run(&mut self) {
        let mut seen = Seen::default();
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                byte if byte.is_ascii_whitespace() => self.at += 1,
                b'-' if self.next_is(b'-') => self.skip_line(),
                b'/' if self.next_is(b'*') => self.at = skip_comment(self.bytes, self.at),
                b'\\' if seen.start.is_none() => self.client_line(),
                b';' if seen.parens == 0 && seen.atomic == 0 => {
                    self.at += 1;
                    self.finish(&mut seen);
                }
                _ => self.token(&mut seen),
            }
        }
        self.finish(&mut seen);
    }

    fn next_is(&self, byte: u8) -> bool {
        self.bytes.get(self.at + 1) == Some(&byte)
    }

    fn skip_line(&mut self) {
        self.at = line_end(self.bytes, self.at);
    }

    fn client_line(&mut self) {
        let start = self.at;
        self.skip_line();
        self.pieces.push(Piece {
            kind: PieceKind::Client,
            start,
            end: self.at,
        });
    }

    fn finish(&mut self, seen: &mut Seen) {
        let seen = std::mem::take(seen);
        let Some(start) = seen.start else { return };
        self.pieces.push(Piece {
            kind: PieceKind::Statement,
            start,
            end: seen.end,
        });
        if seen.words.is_copy && seen.words.from_stdin {
            self.copy_data();
        }
    }

    /// The rows begin on the next line and end with a line of `\.` alone, or with the text.
    fn copy_data(&mut self) {
        self.skip_line();
        let start = (self.at + 1).min(self.bytes.len());
        let mut line = start;
        while line < self.bytes.len() {
            let end = line_end(self.bytes, line);
            let is_last = self.bytes[line..end].trim_ascii_end() == b"\\.";
            line = (end + 1).min(self.bytes.len());
            if is_last {
                break;
            }
        }
        self.at = line;
        self.pieces.push(Piece {
            kind: PieceKind::Data,
            start,
            end: line,
        });
    }

    /// Steps over one token of a statement.
    fn token(&mut self, seen: &mut Seen) {
        seen.start.get_or_insert(self.at);
        let start = self.at;
        let byte = self.bytes[start];
        self.at = match byte {
            b'\'' => skip_string(self.bytes, start, false),
            b'"' => skip_quoted(self.bytes, start),
            b'$' => skip_dollar(self.bytes, start).unwrap_or(start + 1),
            b'(' => {
                seen.parens += 1;
                start + 1
            }
            b')' => {
                seen.parens = seen.parens.saturating_sub(1);
                start + 1
            }
            byte if is_word_start(byte) => {
                let end = word_end(self.bytes, start);
                let is_escape = end == start + 1 && byte.eq_ignore_ascii_case(&b'e');
                if is_escape && self.bytes.get(end) == Some(&b'\'') {
                    skip_string(self.bytes, end, true)
                } else {
                    note_word(&self.bytes[start..end], seen);
                    end
                }
            }
            _ => start + 1,
        };
        seen.end = self.at;
    }
}

fn note_word(word: &[u8], seen: &mut Seen) {
    let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
    let words = &mut seen.words;
    words.count += 1;
    if words.count == 1 {
        words.is_copy = is("copy");
        words.is_create = is("create");
    }
    if words.is_create && words.count <= 5 && (is("function") || is("procedure")) {
        words.is_routine = true;
    }
    if words.is_routine {
        let opens = (words.previous == Word::Begin && is("atomic"))
            || (seen.atomic > 0 && (is("case") || is("begin")));
        if opens {
            seen.atomic += 1;
        } else if is("end") {
            seen.atomic = seen.atomic.saturating_sub(1);
        }
    }
    words.from_stdin |= words.previous == Word::From && is("stdin");
    words.previous = match () {
        () if is("begin") => Word::Begin,
        () if is("from") => Word::From,
        () => Word::Other,
    };
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |length| at + length)
}

fn skip_comment(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 2;
    let mut depth = 1;
    while at < bytes.len() && depth > 0 {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => (depth, at) = (depth + 1, at + 2),
            (b'*', Some(b'/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at.min(bytes.len())
}

fn skip_string(bytes: &[u8], start: usize, has_escapes: bool) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if has_escapes => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn skip_quoted(bytes: &[u8], start: usize) -> usize {
    bytes[start + 1..]
        .iter()
        .position(|byte| *byte == b'"')
        .map_or(bytes.len(), |length| start + length + 2)
}

/// The end of `$tag$ … $tag$`, when there is one.
fn skip_dollar(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    if bytes.get(at).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    while bytes
        .get(at)
        .is_some_and(|byte| is_word(*byte) && *byte != b'$')
    {
        at += 1;
    }
    if bytes.get(at) != Some(&b'$') {
        return None;
    }
    let tag = &bytes[start..=at];
    let mut from = at + 1;
    loop {
        let next = bytes.get(from..)?.iter().position(|byte| *byte == b'$');
        from += next.unwrap_or(bytes.len() - from);
        if from >= bytes.len() {
            return Some(bytes.len());
        }
        if bytes[from..].starts_with(tag) {
            return Some(from + tag.len());
        }
        from += 1;
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..]
        .iter()
        .position(|byte| !is_word(*byte))
        .map_or(bytes.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(PieceKind, &str)]) {
        let found: Vec<_> = pieces(text)
            .into_iter()
            .map(|piece| (piece.kind, text[piece.start..piece.end].trim_end()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn semicolons_that_end_nothing() {
        use PieceKind::{Client, Data, Statement};
        check("a; b", &[(Statement, "a"), (Statement, "b")]);
        check(
            "a ';' \";\" -- ;\n/* ; /* ; */ ; */ b;",
            &[(Statement, "a ';' \";\" -- ;\n/* ; /* ; */ ; */ b")],
        );
        check(
            "x $$;$$ $t$;$$;$t$; y",
            &[(Statement, "x $$;$$ $t$;$$;$t$"), (Statement, "y")],
        );
        check(
            "e E'\\';' ;f",
            &[(Statement, "e E'\\';'"), (Statement, "f")],
        );
        check(
            "\\restrict abc\nSELECT 1;\n\\unrestrict abc\n",
            &[
                (Client, "\\restrict abc"),
                (Statement, "SELECT 1"),
                (Client, "\\unrestrict abc"),
            ],
        );
        check(
            "COPY t (a) FROM stdin;\n1;2\nx\n\\.\nSELECT 1;",
            &[
                (Statement, "COPY t (a) FROM stdin"),
                (Data, "1;2\nx\n\\."),
                (Statement, "SELECT 1"),
            ],
        );
        check(
            "CREATE RULE r AS ON UPDATE TO t DO (a; b); c",
            &[
                (Statement, "CREATE RULE r AS ON UPDATE TO t DO (a; b)"),
                (Statement, "c"),
            ],
        );
        let atomic = "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; END";
        check(
            &format!("{atomic}; x"),
            &[(Statement, atomic), (Statement, "x")],
        );
        check(
            "BEGIN; x; END; y",
            &[
                (Statement, "BEGIN"),
                (Statement, "x"),
                (Statement, "END"),
                (Statement, "y"),
            ],
        );
        check("'never closed ;", &[(Statement, "'never closed ;")]);
        check("$$never closed ;", &[(Statement, "$$never closed ;")]);
    }
}
