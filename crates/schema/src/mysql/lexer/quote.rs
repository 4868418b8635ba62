//! Quotes around names and strings, put on and taken off.

/// What a quoted name or string means: quotes and escapes taken out.
pub(in crate::mysql) fn unquoted(text: &str) -> String {
    let mut letters = text.chars();
    let Some(quote) = letters.next() else {
        return String::new();
    };
    let inner = text
        .get(1..text.len().saturating_sub(1))
        .unwrap_or_default();
    if quote == '`' {
        return inner.replace("``", "`");
    }
    if !inner.contains([quote, '\\']) {
        return inner.to_owned();
    }
    let mut plain = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('r') => plain.push('\r'),
                Some('0') => plain.push('\0'),
                Some('b') => plain.push('\u{8}'),
                Some('Z') => plain.push('\u{1a}'),
                // Escaped wildcards keep their backslash.
                Some(wildcard @ ('%' | '_')) => plain.extend(['\\', wildcard]),
                Some(other) => plain.push(other),
                None => {}
            },
            letter if letter == quote => {
                letters.next();
                plain.push(quote);
            }
            letter => plain.push(letter),
        }
    }
    plain
}

/// Quotes a string like a server's output.
pub fn literal(plain: &str) -> String {
    let mut text = String::with_capacity(plain.len() + 2);
    text.push('\'');
    for letter in plain.chars() {
        match letter {
            '\'' => text.push_str("''"),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\0' => text.push_str("\\0"),
            letter => text.push(letter),
        }
    }
    text.push('\'');
    text
}

/// A name in backticks.
pub fn backticked(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_come_off_and_on() {
        assert_eq!(unquoted("'it''s \\\"here\\\\'"), "it's \"here\\");
        assert_eq!(unquoted("`a``b`"), "a`b");
        assert_eq!(literal("it's \\"), "'it''s \\\\'");
        assert_eq!(backticked("a`b"), "`a``b`");
    }
}
