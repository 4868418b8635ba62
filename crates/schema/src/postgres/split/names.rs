//! The names in a text.

use super::super::name::is_reserved;
use super::{
    is_word_start, line_end, skip_comment, skip_dollar, skip_quoted, skip_string, word_end,
};

/// Names in a piece of SQL: words, quoted or not, in the server's form, except in strings, dollar
/// quotes and comments.
pub(crate) fn names(text: &str) -> Vec<String> {
    let spans = name_spans(text).into_iter();
    spans.map(|(_, _, name)| name).collect()
}

/// Replaces every name equal to `old` by `with`.
pub(crate) fn with_renamed(text: &str, old: &str, with: &str) -> String {
    let mut renamed = String::with_capacity(text.len());
    let mut end = 0;
    for (from, to, name) in name_spans(text) {
        if name == old {
            renamed.push_str(&text[end..from]);
            renamed.push_str(with);
            end = to;
        }
    }
    renamed.push_str(&text[end..]);
    renamed
}

/// Names with start and end offsets.
fn name_spans(text: &str) -> Vec<(usize, usize, String)> {
    let bytes = text.as_bytes();
    let mut names = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        at = match bytes[at] {
            b'-' if bytes.get(at + 1) == Some(&b'-') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => skip_comment(bytes, at),
            b'\'' => skip_string(bytes, at, false),
            b'$' => skip_dollar(bytes, at).unwrap_or(at + 1),
            b'"' => {
                let end = skip_quoted(bytes, at);
                names.push((at, end, text[at + 1..end].trim_end_matches('"').to_owned()));
                end
            }
            byte if is_word_start(byte) => {
                let end = word_end(bytes, at);
                if bytes.get(end) == Some(&b'\'')
                    && end == at + 1
                    && byte.eq_ignore_ascii_case(&b'e')
                {
                    skip_string(bytes, end, true)
                } else {
                    let word = text[at..end].to_lowercase();
                    if !is_reserved(&word) {
                        names.push((at, end, word));
                    }
                    end
                }
            }
            byte if byte.is_ascii_digit() => word_end(bytes, at).max(at + 1),
            _ => at + 1,
        };
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_outside_of_strings() {
        assert_eq!(
            names("SELECT a.\"B c\", \"select\" 'x' $$y$$ -- z\n Cd1 1e5"),
            ["a", "B c", "select", "cd1"]
        );
    }
}
