//! Values of a response sent back by a later request: tokens, and targets of redirects.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::har::quoted;

/// Shorter values occur in a page by chance.
const LETTERS_MIN: usize = 6;
/// Letters of context before a value in the regular expression finding the value, at least and at
/// most.
const CONTEXT_MIN: usize = 6;
const CONTEXT_MAX: usize = 160;

/// The responses so far, in the order of the record.
#[derive(Default)]
pub(crate) struct Responses(Vec<Response>);

struct Response {
    headers: Vec<(String, String)>,
    body: String,
    json: Option<Value>,
    is_redirect: bool,
}

impl Responses {
    /// Adds a response of a `.har` file; returns whether the body could be read.
    pub(crate) fn add(&mut self, response: &Value) -> bool {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let content = &response["content"];
        let found = body(content);
        let is_read = found.is_some();
        let body = found.unwrap_or_default();
        let headers = response["headers"].as_array().into_iter().flatten();
        self.0.push(Response {
            headers: headers
                .map(|header| (text(header, "name"), text(header, "value")))
                .collect(),
            json: match text(content, "mimeType").contains("json") {
                true => serde_json::from_str(&body).ok(),
                false => None,
            },
            body,
            is_redirect: matches!(response["status"].as_u64(), Some(301..=303 | 307 | 308)),
        });
        is_read
    }

    /// Returns the names in a `Cookie` header set by no response so far.
    pub(crate) fn unset<'h>(&self, cookies: &'h str) -> Vec<&'h str> {
        let headers = || self.0.iter().flat_map(|response| &response.headers);
        let is_set = |cookie: &str| {
            headers().any(|(name, value)| {
                let mut lines = value.lines().filter_map(|line| line.split_once('='));
                name.eq_ignore_ascii_case("set-cookie")
                    && lines.any(|(name, _)| name.trim() == cookie)
            })
        };
        let pairs = cookies.split(';').filter_map(|pair| pair.split_once('='));
        let names = pairs.map(|(name, _)| name.trim());
        names.filter(|name| !is_set(name)).collect()
    }

    /// Returns the latest response containing a value, and the Hurl query for the value there.
    pub(crate) fn source_of(&self, field: &str, value: &str) -> Option<(usize, String)> {
        if !is_distinct(field, value) {
            return None;
        }
        let sources = self.0.iter().enumerate().rev();
        sources
            .filter_map(|(index, response)| Some((index, response.query_of(field, value)?)))
            .next()
    }
}

/// Returns the body of a response of a `.har` file: as text, or unpacked from base64, as browsers
/// write what they do not take for text. `None` for a damaged one, or another encoding.
fn body(content: &Value) -> Option<String> {
    let text = content["text"].as_str().unwrap_or_default();
    match content["encoding"].as_str() {
        None | Some("") => Some(text.to_owned()),
        Some("base64") => {
            let bytes = STANDARD.decode(text).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        Some(_) => None,
    }
}

/// Returns whether a value is distinct enough to be matched: hidden fields of forms are named by
/// purpose, other values have to look generated.
fn is_distinct(field: &str, value: &str) -> bool {
    let is_long = value.chars().count() >= LETTERS_MIN;
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_word = value.contains(char::is_whitespace) || !value.is_ascii();
    is_long
        && !is_word
        && (crate::secret::is_secret(field) || (has_digit && value.len() >= 8))
        && !field.to_ascii_lowercase().contains("pass")
}

impl Response {
    fn query_of(&self, field: &str, value: &str) -> Option<String> {
        if let Some(path) = self.json.as_ref().and_then(|json| json_path(json, value)) {
            return Some(format!("jsonpath {}", quoted(&format!("${path}"))));
        }
        if let Some((name, _)) = self
            .headers
            .iter()
            .find(|(name, held)| held == value && !name.eq_ignore_ascii_case("set-cookie"))
        {
            return Some(format!("header {}", quoted(name)));
        }
        let plain = context_of(&self.body, field, value).map(|pattern| (pattern, ""));
        let pattern = plain.or_else(|| {
            let escaped = escaped(value);
            let pattern = (escaped != value).then(|| context_of(&self.body, field, &escaped))??;
            Some((pattern, " htmlUnescape"))
        });
        pattern.map(|(pattern, filter)| format!("regex {}{filter}", quoted(&pattern)))
    }
}

/// Returns the path to a text in a document, as JSONPath without the leading `$`.
fn json_path(json: &Value, value: &str) -> Option<String> {
    match json {
        Value::String(text) => (text == value).then(String::new),
        Value::Number(number) => (number.to_string() == value).then(String::new),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| Some(format!("[{index}]{}", json_path(item, value)?))),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            let rest = json_path(field, value)?;
            let is_plain = name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            Some(match is_plain {
                true => format!(".{name}{rest}"),
                false => format!("['{}']{rest}", name.replace('\'', "\\'")),
            })
        }),
        _ => None,
    }
}

/// Returns a value escaped as in an HTML attribute.
fn escaped(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns a regular expression whose first group is the value: the shortest text before the value,
/// on the same line, with no earlier match.
fn context_of(body: &str, field: &str, value: &str) -> Option<String> {
    let at = body.find(value)?;
    let before = body[..at].rsplit('\n').next().unwrap_or_default();
    let behind = body[at + value.len()..].chars().next()?;
    let letters: Vec<char> = before.chars().collect();
    let most = letters.len().min(CONTEXT_MAX);
    let group = match behind {
        behind if value.contains(behind) => return None,
        behind => format!("([^{}]+)", regex::escape(&behind.to_string())),
    };
    let starts_a_word = |length: &usize| {
        let before = letters[..letters.len() - length].last();
        before.is_none_or(|letter| letter.is_whitespace() || "<>{,".contains(*letter))
    };
    let context_of = |length: usize| letters[letters.len() - length..].iter().collect::<String>();
    let lengths = CONTEXT_MIN.min(most)..=most;
    // The field's name before its value holds whatever other fields the page has; one that begins
    // with a word is easier to read.
    let words = lengths.clone().filter(starts_a_word);
    let named = words
        .clone()
        .filter(|length| !field.is_empty() && context_of(*length).contains(field));
    named.chain(words).chain(lengths).find_map(|length| {
        let context = context_of(length);
        let pattern = format!(
            "{}{group}{}",
            regex::escape(&context),
            regex::escape(&behind.to_string())
        );
        let found = regex::Regex::new(&pattern).ok()?.captures(body)?;
        (found.get(1)?.as_str() == value).then_some(pattern)
    })
}

/// Returns the path of the last redirect, when followed by the current request and different from
/// run to run; and the index of the response.
pub(crate) fn located(path: &str, responses: &Responses) -> Option<(String, usize)> {
    let last = responses.0.last().filter(|response| response.is_redirect)?;
    let (_, place) = last
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
    let place = match crate::browser::split_url(place) {
        Some((_, place)) => place,
        None => place.clone(),
    };
    let bare = |path: &str| path.split(['?', '#']).next().unwrap_or_default().to_owned();
    let (asked, place) = (bare(path), bare(&place));
    let is_made = place
        .split('/')
        .any(|segment| routes::shape(segment).is_some());
    (asked == place && is_made).then(|| (place, responses.0.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_the_text_before_it() {
        let check = |body: &str, value: &str, expected: Option<&str>| {
            assert_eq!(context_of(body, "t", value).as_deref(), expected, "{body}");
        };
        check("<i value=\"abc123\">", "abc123", Some("value=\"([^\"]+)\""));
        // The same words stand before another value first.
        check(
            "<a value=\"x\"><input name=\"t\" value=\"abc123\">",
            "abc123",
            Some("name=\"t\" value=\"([^\"]+)\""),
        );
        check("abc123", "abc123", None);
        check("nothing", "abc123", None);
    }

    #[test]
    fn a_body_in_base64_is_searched_as_any_other() {
        let found = |content: Value| {
            let mut responses = Responses::default();
            let is_read = responses.add(&serde_json::json!({ "status": 200, "content": content }));
            (
                is_read,
                responses
                    .source_of("csrf_token", "tok-1234")
                    .map(|(_, query)| query),
            )
        };
        let page = "<input name=\"csrf_token\" value=\"tok-1234\">";
        let plain = found(serde_json::json!({ "mimeType": "text/html", "text": page }));
        assert!(plain.1.is_some());
        let packed = STANDARD.encode(page);
        let content = |text: &str, encoding: &str| serde_json::json!({ "mimeType": "text/html", "text": text, "encoding": encoding });
        assert_eq!(found(content(&packed, "base64")), plain);
        assert_eq!(found(content(page, "")), plain);
        assert_eq!(found(content("%%%", "base64")), (false, None));
        assert_eq!(found(content(page, "br")), (false, None));
    }

    #[test]
    fn json_is_searched_by_its_fields() {
        let json = serde_json::json!({"user": {"api-token": ["x", "abc"]}, "id": 7});
        assert_eq!(
            json_path(&json, "abc").as_deref(),
            Some(".user['api-token'][1]")
        );
        assert_eq!(json_path(&json, "7").as_deref(), Some(".id"));
        assert_eq!(json_path(&json, "y"), None);
    }
}
