//! Parts of a form with files (`multipart/form-data`), as recorded by a browser.

use serde_json::Value;

/// One field or file of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether the part is a file, whose content records rarely have whole.
    pub(crate) is_file: bool,
}

/// Returns the parts of the `postData` of a `.har` file, by the body or else by the list of fields;
/// `None` where neither can be read.
pub(crate) fn of_record(data: &Value) -> Option<Vec<Part>> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    if let Some(parts) = of_text(&text(data, "mimeType"), &text(data, "text")) {
        return Some(parts);
    }
    let fields = data["params"].as_array().filter(|all| !all.is_empty())?;
    let part = |field: &Value| Part {
        name: text(field, "name"),
        value: text(field, "value"),
        is_file: field["fileName"].is_string(),
    };
    Some(fields.iter().map(part).collect())
}

fn of_text(kind: &str, text: &str) -> Option<Vec<Part>> {
    let (_, boundary) = kind.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    if boundary.is_empty() {
        return None;
    }
    let mark = format!("--{boundary}");
    let mut parts = Vec::new();
    for piece in text.split(mark.as_str()).skip(1) {
        if piece.starts_with("--") {
            return Some(parts);
        }
        let piece = piece.strip_prefix("\r\n")?.strip_suffix("\r\n")?;
        let (head, value) = piece.split_once("\r\n\r\n")?;
        let (_, name) = head.split_once("; name=\"")?;
        parts.push(Part {
            name: name.split('"').next()?.replace("%22", "\""),
            value: value.to_owned(),
            is_file: head.contains("; filename"),
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_from_the_body_or_the_list() {
        let part = |name: &str, value: &str, is_file| Part {
            name: name.to_owned(),
            value: value.to_owned(),
            is_file,
        };
        let kind = "multipart/form-data; boundary=----x";
        let body = "------x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n\
            ------x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"p.png\"\r\n\
            Content-Type: image/png\r\n\r\n\r\n------x--\r\n";
        let expected = [part("a", "1\r\n2", false), part("f", "", true)];
        let data = serde_json::json!({"mimeType": kind, "text": body});
        assert_eq!(of_record(&data).as_deref(), Some(&expected[..]));
        let params = serde_json::json!([{"name": "a", "value": "1\r\n2"}, {"name": "f", "fileName": "p.png"}]);
        let data = serde_json::json!({"mimeType": kind, "params": params});
        assert_eq!(of_record(&data).as_deref(), Some(&expected[..]));
        let cut = serde_json::json!({"mimeType": kind, "text": &body[..40]});
        assert_eq!(of_record(&cut), None);
    }
}
