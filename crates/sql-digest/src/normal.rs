//! Decides how each token is written, and puts the result into a sink.
//!
//! Commas, semicolons and signs are held back until the next token shows whether they are said: a
//! comma before a literal that is swallowed, a last semicolon, the sign of a number.

use crate::lex::{Kind, Lexer, Token};
use crate::words::{Says, is_constant, says};
use crate::{DIGEST_BYTES_MAX, Sink};

/// Puts the digest of `sql` into `sink`.
pub(crate) fn run(sql: &[u8], sink: &mut impl Sink) {
    let mut normal = Normal::new(sink);
    for token in Lexer::new(sql) {
        normal.take(token);
        if normal.full {
            return;
        }
    }
    normal.finish();
}

/// The last written token, as far as spacing and meaning depend on the kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    Word,
    /// `WHERE`, `THEN`: a following sign belongs to a number.
    SignWord,
    /// `LIKE`, `LIMIT`: likewise, and a following double-quoted text or `NULL` is a value.
    ValueWord,
    /// `IN`, `ARRAY`: the following bracket holds a list.
    ListWord,
    /// `VALUES`: the following bracket holds a row.
    RowsWord,
    Quoted,
    Literal,
    Operator,
    Cast,
    Dot,
    Open,
    Close,
    Comma,
    Semicolon,
}

impl Last {
    fn of_word(word: &[u8]) -> Last {
        match says(word) {
            Some(Says::List) => Last::ListWord,
            Some(Says::Rows) => Last::RowsWord,
            Some(Says::Value) => Last::ValueWord,
            Some(Says::Sign) => Last::SignWord,
            None => Last::Word,
        }
    }
}

/// What a bracket holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Anything,
    List,
}

/// The current item between two commas of a bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Empty,
    Literal,
    Row,
    Mixed,
}

#[derive(Clone, Copy)]
struct Frame {
    holds: Holds,
    /// Whether the bracket is a row: further rows after a comma are dropped.
    row: bool,
    item: Item,
    /// The item before the comma.
    item_last: Item,
}

const PLAIN: Frame = Frame {
    holds: Holds::Anything,
    row: false,
    item: Item::Empty,
    item_last: Item::Empty,
};

/// Brackets nested deeper are counted but not looked into; found in no hand-written statement.
const FRAMES: usize = 32;

/// Room for a held-back token, a space and the dot turning a double-quoted text into a name:
/// without the dot, a truncated text would be a string when digested again.
const DOT_ROOM: usize = 8;

struct Normal<'s, S> {
    sink: &'s mut S,
    bytes: usize,
    full: bool,
    last: Last,
    frames: [Frame; FRAMES],
    depth: usize,
    /// Depth at which a dropped row began.
    muted_at: Option<usize>,
    semicolon: bool,
    comma: bool,
    /// A sign held back, `true` for a minus.
    sign: Option<bool>,
}

impl<'s, S: Sink> Normal<'s, S> {
    fn new(sink: &'s mut S) -> Self {
        Normal {
            sink,
            bytes: 0,
            full: false,
            last: Last::Start,
            frames: [PLAIN; FRAMES],
            depth: 0,
            muted_at: None,
            semicolon: false,
            comma: false,
            sign: None,
        }
    }

    fn frame(&mut self) -> &mut Frame {
        &mut self.frames[self.depth.min(FRAMES - 1)]
    }

    fn take(&mut self, token: Token<'_>) {
        if let Some(depth) = self.muted_at {
            self.take_muted(token.kind, depth);
            return;
        }
        match token.kind {
            Kind::Comma => self.take_comma(),
            Kind::Semicolon => {
                if self.comma || self.sign.is_some() {
                    self.say_nothing();
                }
                self.semicolon = true;
            }
            Kind::Sign if self.wants_value() => {
                let minus = token.bytes == b"-";
                self.sign = Some(self.sign.unwrap_or(false) ^ minus);
            }
            Kind::Open => self.open(token),
            Kind::Close => self.close(token),
            Kind::Literal => self.literal(),
            Kind::Word if self.at_value() && is_constant(token.bytes) => self.literal(),
            Kind::DoubleQuoted { name_like, dotted }
                if !name_like || (self.at_value() && !dotted) =>
            {
                self.literal();
            }
            kind => self.plain(kind, token),
        }
    }

    fn take_muted(&mut self, kind: Kind, muted_at: usize) {
        match kind {
            Kind::Open => self.depth += 1,
            Kind::Close => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == muted_at {
                    self.muted_at = None;
                }
            }
            _ => {}
        }
    }

    fn take_comma(&mut self) {
        if self.comma || self.sign.is_some() {
            self.say_nothing();
        }
        let frame = self.frame();
        frame.item_last = frame.item;
        frame.item = Item::Empty;
        self.comma = true;
    }

    fn plain(&mut self, kind: Kind, token: Token<'_>) {
        let last = match kind {
            Kind::Word => Last::of_word(token.bytes),
            Kind::Quoted | Kind::DoubleQuoted { .. } => Last::Quoted,
            Kind::Cast => Last::Cast,
            Kind::Dot => Last::Dot,
            _ => Last::Operator,
        };
        self.frame().item = Item::Mixed;
        let dot_to_come = matches!(kind, Kind::DoubleQuoted { dotted: true, .. });
        if dot_to_come && self.bytes + token.bytes.len() + DOT_ROOM > DIGEST_BYTES_MAX {
            self.full = true;
            return;
        }
        self.say(token.bytes, last, token.spaced);
    }

    fn literal(&mut self) {
        let comma = self.comma;
        let frame = self.frame();
        let first = frame.item == Item::Empty;
        frame.item = if first { Item::Literal } else { Item::Mixed };
        let swallowed =
            comma && first && frame.holds == Holds::List && frame.item_last == Item::Literal;
        self.sign = None;
        if swallowed {
            self.comma = false;
        } else {
            self.say(b"?", Last::Literal, true);
        }
    }

    fn open(&mut self, token: Token<'_>) {
        let comma = self.comma;
        let last = self.last_or_held();
        let frame = *self.frame();
        if comma && frame.item_last == Item::Row && last == Last::Comma && token.bytes == b"(" {
            self.frame().item = Item::Row;
            self.comma = false;
            self.muted_at = Some(self.depth);
            self.depth += 1;
            return;
        }
        let nested_row = frame.holds == Holds::List && frame.item == Item::Empty;
        let row = token.bytes == b"(" && (last == Last::RowsWord || nested_row);
        let list = row || last == Last::ListWord;
        self.frame().item = Item::Mixed;
        let spaced = token.spaced
            || matches!(last, Last::RowsWord)
            || (last == Last::ListWord && token.bytes == b"(");
        self.say(token.bytes, Last::Open, spaced);
        self.depth += 1;
        if self.depth < FRAMES {
            *self.frame() = Frame {
                holds: if list { Holds::List } else { Holds::Anything },
                row,
                ..PLAIN
            };
        } else {
            self.frames[FRAMES - 1] = PLAIN;
        }
    }

    fn close(&mut self, token: Token<'_>) {
        let row = self.depth > 0 && self.frame().row;
        self.say(token.bytes, Last::Close, token.spaced);
        self.depth = self.depth.saturating_sub(1);
        self.frame().item = if row { Item::Row } else { Item::Mixed };
    }

    /// What stands before the next token, things held back included.
    fn last_or_held(&self) -> Last {
        match (self.sign, self.comma, self.semicolon) {
            (Some(_), _, _) => Last::Operator,
            (None, true, _) => Last::Comma,
            (None, false, true) => Last::Semicolon,
            (None, false, false) => self.last,
        }
    }

    /// Whether a sign here belongs to what follows.
    fn wants_value(&self) -> bool {
        matches!(
            self.last_or_held(),
            Last::Start
                | Last::SignWord
                | Last::ValueWord
                | Last::ListWord
                | Last::Operator
                | Last::Open
                | Last::Comma
                | Last::Semicolon
        )
    }

    /// Whether a word or a double-quoted text here is a value rather than a name.
    fn at_value(&mut self) -> bool {
        let last = self.last_or_held();
        let frame = self.frame();
        let list_item = frame.holds == Holds::List && frame.item == Item::Empty;
        list_item || matches!(last, Last::Operator | Last::ValueWord)
    }

    /// Writes a token, with U+FFFD in place of invalid UTF-8.
    #[inline]
    fn say(&mut self, bytes: &[u8], last: Last, spaced: bool) {
        if !bytes.is_ascii() {
            self.say_unicode(bytes, last, spaced);
        } else if self.say_before(bytes.len(), last, spaced) {
            self.sink.put(bytes);
        }
    }

    fn say_unicode(&mut self, bytes: &[u8], last: Last, spaced: bool) {
        let length: usize = bytes
            .utf8_chunks()
            .map(|chunk| chunk.valid().len() + if chunk.invalid().is_empty() { 0 } else { 3 })
            .sum();
        if !self.say_before(length, last, spaced) {
            return;
        }
        for chunk in bytes.utf8_chunks() {
            self.sink.put(chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                self.sink.put("\u{fffd}".as_bytes());
            }
        }
    }

    /// Writes the held-back token and the space before a token of `length` bytes, if everything
    /// fits. A text ending in a held-back token would not be its own digest.
    #[inline]
    fn say_before(&mut self, length: usize, last: Last, spaced: bool) -> bool {
        if self.semicolon || self.comma || self.sign.is_some() {
            return self.say_held(length, last, spaced);
        }
        let blank = space(self.last, last, spaced);
        let total = length + blank.len();
        if self.bytes + total > DIGEST_BYTES_MAX {
            self.full = true;
            return false;
        }
        self.sink.put(blank);
        self.bytes += total;
        self.last = last;
        true
    }

    fn say_held(&mut self, length: usize, last: Last, spaced: bool) -> bool {
        let mut pieces: [&[u8]; 5] = [b""; 5];
        let mut before = self.last;
        if self.semicolon {
            pieces[0] = b";";
            before = Last::Semicolon;
        }
        if self.comma {
            pieces[1] = b",";
            before = Last::Comma;
        }
        if let Some(minus) = self.sign {
            pieces[2] = space(before, Last::Operator, true);
            pieces[3] = if minus { b"-" } else { b"+" };
            before = Last::Operator;
        }
        if length > 0 {
            pieces[4] = space(before, last, spaced);
        }
        let total = length + pieces.iter().map(|piece| piece.len()).sum::<usize>();
        if self.bytes + total > DIGEST_BYTES_MAX {
            self.full = true;
            return false;
        }
        for piece in pieces {
            self.sink.put(piece);
        }
        self.bytes += total;
        (self.semicolon, self.comma, self.sign) = (false, false, None);
        self.last = if length > 0 { last } else { before };
        true
    }

    /// Puts what is held back, with nothing following.
    fn say_nothing(&mut self) {
        self.say_held(0, Last::Comma, false);
    }

    fn finish(&mut self) {
        if self.muted_at.is_none() && (self.comma || self.sign.is_some()) {
            self.say_nothing();
        }
    }
}

/// Returns the separator of two tokens: cutting the digest again gives the same tokens.
fn space(before: Last, next: Last, spaced: bool) -> &'static [u8] {
    let name_or_close = matches!(
        before,
        Last::Word
            | Last::SignWord
            | Last::ValueWord
            | Last::ListWord
            | Last::RowsWord
            | Last::Quoted
            | Last::Close
    );
    let apart = match (before, next) {
        (Last::Start | Last::Open | Last::Dot, _) => false,
        (_, Last::Close | Last::Dot) => false,
        (_, Last::Cast) => !name_or_close && before != Last::Literal,
        (Last::Cast, Last::Word | Last::Quoted) => false,
        (_, Last::Open) if name_or_close => spaced,
        _ => true,
    };
    if apart { b" " } else { b"" }
}
