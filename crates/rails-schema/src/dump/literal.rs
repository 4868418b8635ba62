//! Ruby literals.

use std::fmt::Write as _;

/// A string in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut ruby = String::from('"');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\\' => ruby.extend(['\\', letter]),
            '#' if matches!(letters.peek(), Some('{' | '@' | '$')) => ruby.push_str("\\#"),
            '\n' => ruby.push_str("\\n"),
            '\t' => ruby.push_str("\\t"),
            '\r' => ruby.push_str("\\r"),
            control if control.is_control() => {
                let _ = write!(ruby, "\\u{{{:x}}}", u32::from(control));
            }
            other => ruby.push(other),
        }
    }
    ruby.push('"');
    ruby
}

/// SQL as a string.
pub(super) fn text(sql: &str) -> String {
    quoted(sql)
}

/// A list of strings.
pub(super) fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A symbol.
pub(super) fn symbol(word: &str) -> String {
    let is_plain = word
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && word.starts_with(|letter: char| !letter.is_ascii_digit());
    match is_plain {
        true => format!(":{word}"),
        false => format!(":{}", quoted(word)),
    }
}
