//! A statement without comments.

use super::{is_word, line_end, skip_comment, skip_quoted, skip_string};

/// The text with a space for each comment outside of strings and quoted names.
pub(crate) fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = String::with_capacity(text.len());
    let (mut at, mut start) = (0, 0);
    while at < bytes.len() {
        let next = bytes.get(at + 1);
        let end = match bytes[at] {
            b'-' if next == Some(&b'-') => line_end(bytes, at),
            b'/' if next == Some(&b'*') => skip_comment(bytes, at),
            other => {
                at = match other {
                    b'\'' => skip_string(bytes, at, has_escapes(&bytes[..at])),
                    b'"' => skip_quoted(bytes, at),
                    _ => at + 1,
                };
                continue;
            }
        };
        plain.push_str(&text[start..at]);
        plain.push(' ');
        (at, start) = (end, end);
    }
    plain.push_str(&text[start..]);
    plain
}

/// Whether a string behind the bytes has escapes: behind the word `E`.
fn has_escapes(before: &[u8]) -> bool {
    match before {
        [.., other, b'e' | b'E'] => !is_word(*other),
        _ => false,
    }
}
