//! Places of the values in a JSON text, so single ones can be replaced and all other bytes stay.

use std::ops::Range;

use serde_json::Value;

use crate::call::Template;
use crate::secret::{Secrets, is_secret, is_token};

/// A string or a number in a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Name of the innermost field around the value; empty outside of objects.
    pub(crate) field: String,
    /// Whether the field or an outer one is named like a secret, or the value looks like a secret.
    pub(crate) is_secret: bool,
    /// Place in the text; of a string, without the quotes.
    pub(crate) place: Range<usize>,
    /// The string without escapes; `None` for a number.
    pub(crate) text: Option<String>,
}

/// An open object or array.
#[derive(Default)]
struct Level {
    is_object: bool,
    /// Whether the next string is the name of a field.
    awaits_name: bool,
    field: String,
    /// Whether a field around the level is named like a secret.
    is_within_secret: bool,
    is_secret: bool,
}

impl Level {
    fn within(&self, is_object: bool) -> Level {
        Level {
            is_object,
            awaits_name: is_object,
            field: self.field.clone(),
            is_within_secret: self.is_secret,
            is_secret: self.is_secret,
        }
    }

    fn leaf(&self, place: Range<usize>, text: Option<String>) -> Leaf {
        Leaf {
            field: self.field.clone(),
            is_secret: self.is_secret || text.as_deref().is_some_and(is_token),
            place,
            text,
        }
    }
}

/// Returns the JSON text with the variable returned by `variable_of` in place of each value; the
/// function gets the value and the letters in the text. `None` for other texts.
pub(crate) fn template(
    text: &str,
    mut variable_of: impl FnMut(&Leaf, &str) -> Option<String>,
) -> Option<Template> {
    let mut places = Vec::new();
    for leaf in leaves(text)? {
        let letters = &text[leaf.place.clone()];
        if !letters.is_empty()
            && let Some(name) = variable_of(&leaf, letters)
        {
            places.push((leaf.place.clone(), name));
        }
    }
    Some(Template::with(text, &places))
}

/// Returns the JSON text with a variable in place of each secret; `None` for a text other than
/// JSON.
pub(crate) fn without_secrets(text: &str, secrets: &mut Secrets) -> Option<Template> {
    template(text, |leaf, letters| {
        leaf.is_secret.then(|| secrets.column(&leaf.field, letters))
    })
}

/// Returns strings and numbers in order; `None` for a text other than JSON.
fn leaves(text: &str) -> Option<Vec<Leaf>> {
    serde_json::from_str::<Value>(text).ok()?;
    let bytes = text.as_bytes();
    let mut leaves = Vec::new();
    let mut levels = vec![Level::default()];
    let mut at = 0;
    while at < bytes.len() {
        let level = levels.last_mut()?;
        match bytes[at] {
            open @ (b'{' | b'[') => {
                let inner = level.within(open == b'{');
                levels.push(inner);
                at += 1;
            }
            b'}' | b']' => {
                levels.pop();
                at += 1;
            }
            b',' => {
                level.awaits_name = level.is_object;
                at += 1;
            }
            b'"' => {
                let end = string_end(bytes, at)?;
                let decoded: String = serde_json::from_str(&text[at..end]).ok()?;
                match level.awaits_name {
                    true => {
                        level.is_secret = level.is_within_secret || is_secret(&decoded);
                        level.field = decoded;
                        level.awaits_name = false;
                    }
                    false => leaves.push(level.leaf(at + 1..end - 1, Some(decoded))),
                }
                at = end;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| {
                    byte.is_ascii_digit() || matches!(**byte, b'-' | b'+' | b'.' | b'e' | b'E')
                };
                let length = bytes[at..].iter().take_while(is_part).count();
                leaves.push(level.leaf(at..at + length, None));
                at += length;
            }
            _ => at += 1,
        }
    }
    Some(leaves)
}

/// Returns the place behind the closing quote of the string beginning at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Style;

    fn check(text: &str, expected: &str, values: &[&str]) {
        let mut secrets = Secrets::default();
        let template = without_secrets(text, &mut secrets).expect("JSON");
        assert_eq!(template.print(Style::Quoted), expected, "{text}");
        let feed = secrets.feed().unwrap_or_default();
        for value in values {
            assert!(feed.contains(value), "{value} in {feed}");
        }
    }

    #[test]
    fn secrets_are_replaced_where_they_stand_and_nowhere_else() {
        check("[\"a\", 1, null]", "[\\\"a\\\", 1, null]", &[]);
        // The same letters elsewhere are no secret.
        check(
            r#"["anna", {"password": "a"}]"#,
            "[\\\"anna\\\", \\u{7b}\\\"password\\\": \\\"{{password}}\\\"\\u{7d}]",
            &["\"a\""],
        );
    }

    #[test]
    fn secrets_with_escapes_as_numbers_and_within_others_are_found() {
        let text = r#"[{"password": "q\"\u00e9x", "pin": 1234, "credentials": {"id": ["hush"]}, "id": 5}]"#;
        let mut secrets = Secrets::default();
        let template = without_secrets(text, &mut secrets).expect("JSON");
        let printed = template.print(Style::Quoted);
        for hidden in ["u00e9", "1234", "hush"] {
            assert!(!printed.contains(hidden), "{printed}");
        }
        assert!(printed.contains("\\\"id\\\": 5"), "{printed}");
        let feed = secrets.feed().expect("secrets");
        assert!(feed.contains(r#""q\""\u00e9x","1234","hush""#), "{feed}");
    }

    #[test]
    fn other_texts_are_no_json() {
        assert_eq!(without_secrets("a=1", &mut Secrets::default()), None);
        assert_eq!(without_secrets("{\"a\": ", &mut Secrets::default()), None);
    }
}
