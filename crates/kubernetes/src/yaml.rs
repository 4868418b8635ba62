//! JSON as readable YAML.
//!
//! Every text stands in double quotes: `N`, `on` and `1e3` are no texts where they stand bare, for
//! readers of YAML 1.1.

use serde_json::Value;

/// Appends a document.
pub(crate) fn document(value: &Value, out: &mut String) {
    out.push_str("---\n");
    block(value, 0, out);
}

fn block(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                out.push_str(&"  ".repeat(depth));
                field(key, value, depth, out);
            }
        }
        Value::Array(items) => {
            for item in items {
                out.push_str(&"  ".repeat(depth));
                out.push_str("- ");
                element(item, depth, out);
            }
        }
        _ => {}
    }
}

/// Writes a key with a value; the indentation has been written already.
fn field(key: &str, value: &Value, depth: usize, out: &mut String) {
    match is_plain(key) {
        true => out.push_str(key),
        false => out.push_str(&scalar(&Value::String(key.to_owned()))),
    }
    out.push(':');
    match is_block(value) {
        true => {
            out.push('\n');
            block(value, depth + 1, out);
        }
        false => {
            out.push(' ');
            out.push_str(&scalar(value));
            out.push('\n');
        }
    }
}

/// Writes an item of a list after the dash: a map's first key is on the same line.
fn element(item: &Value, depth: usize, out: &mut String) {
    match item {
        Value::Object(map) if !map.is_empty() => {
            for (place, (key, value)) in map.iter().enumerate() {
                if place > 0 {
                    out.push_str(&"  ".repeat(depth + 1));
                }
                field(key, value, depth + 1, out);
            }
        }
        _ => {
            out.push_str(&scalar(item));
            out.push('\n');
        }
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| !item.is_array()),
        _ => false,
    }
}

/// JSON is YAML too.
fn scalar(value: &Value) -> String {
    value.to_string()
}

/// Whether a key needs no quotes: letters, digits and signs between; a word of more than three
/// letters is never a number or a truth value, except the listed ones.
fn is_plain(key: &str) -> bool {
    let starts = key
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    starts
        && key.len() > 3
        && key.bytes().all(plain)
        && !["true", "false", "null"].contains(&key.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let value = json!({
            "apiVersion": "v1",
            "N": "N",
            "no": ["on", "1e3", "0x1", "a: b", "- x", "#", "", "line\nfeed", "日本", "\u{7}"],
            "list": [{"name": "a", "env": [{"value": "1"}, {}], "none": []}, 3, true, null],
            "empty": {},
            "deep": {"deeper": {"deepest": [[1, 2], [3]]}},
        });
        let mut text = String::new();
        document(&value, &mut text);
        let read: Value =
            serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read, value, "{text}");
    }
}
