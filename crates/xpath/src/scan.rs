//! What the readers of HTML and XML share: a place in a text.

/// The rest of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Scan<'a> {
        Scan { rest: text }
    }

    pub(crate) fn rest(self) -> &'a str {
        self.rest
    }

    pub(crate) fn is_over(self) -> bool {
        self.rest.is_empty()
    }

    /// Returns whether the given text comes next.
    pub(crate) fn at(self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    /// Returns whether the given text comes next, in letters of either case.
    pub(crate) fn at_ignoring_case(self, text: &str) -> bool {
        let next = self.rest.as_bytes().get(..text.len());
        next.is_some_and(|next| next.eq_ignore_ascii_case(text.as_bytes()))
    }

    pub(crate) fn peek(self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Returns the character behind the next one.
    pub(crate) fn second(self) -> Option<char> {
        self.rest.chars().nth(1)
    }

    /// Takes the given text if the text comes next.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes one character.
    pub(crate) fn skip(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    pub(crate) fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes all before `end`, and `end`; without an `end`, all.
    pub(crate) fn take_until(&mut self, end: &str) -> &'a str {
        let (taken, rest) = match self.rest.split_once(end) {
            Some((taken, rest)) => (taken, rest),
            None => (self.rest, ""),
        };
        self.rest = rest;
        taken
    }

    pub(crate) fn skip_space(&mut self) {
        self.take_while(is_space);
    }
}

/// Returns whether a character is white space in markup.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Takes a reference to a character by number, such as `#38` or `#x26`, with a semicolon if there
/// is one; `None`: there is no such character, and nothing is taken.
pub(crate) fn character(scan: &mut Scan<'_>) -> Option<char> {
    let mut ahead = *scan;
    if !ahead.take("#") {
        return None;
    }
    let radix = match ahead.take("x") || ahead.take("X") {
        true => 16,
        false => 10,
    };
    let digits = ahead.take_while(|c| c.is_digit(radix));
    let number = u32::from_str_radix(digits, radix).ok();
    ahead.take(";");
    let found = number.filter(|number| *number > 0).and_then(char::from_u32);
    if found.is_some() {
        *scan = ahead;
    }
    found
}
