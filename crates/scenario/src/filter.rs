//! Filters: what makes another value of a value. One entry of [`PLAIN`] or one arm of
//! [`Filter::parse`], and one arm of [`Filter::apply`], is all that a new one takes.

use std::fmt;

use crate::cursor::Cursor;
use crate::encode;
use crate::error::Fault;
use crate::pattern::{Path, Pattern};
use crate::template::{plain_quoted, print_quoted};
use crate::value::Value;

/// A step from one value to another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    Base64Decode,
    Base64Encode,
    Count,
    First,
    HtmlEscape,
    HtmlUnescape,
    JsonPath(Path),
    Last,
    Nth(i64),
    Regex(Pattern),
    Replace(String, String),
    ReplaceRegex(Pattern, String),
    Split(String),
    ToFloat,
    ToHex,
    ToInt,
    ToText,
    UrlDecode,
    UrlEncode,
    Utf8Decode,
    Utf8Encode,
}

/// Filters without an argument, by name.
const PLAIN: [(&str, Filter); 15] = [
    ("base64Decode", Filter::Base64Decode),
    ("base64Encode", Filter::Base64Encode),
    ("count", Filter::Count),
    ("first", Filter::First),
    ("htmlEscape", Filter::HtmlEscape),
    ("htmlUnescape", Filter::HtmlUnescape),
    ("last", Filter::Last),
    ("toFloat", Filter::ToFloat),
    ("toHex", Filter::ToHex),
    ("toInt", Filter::ToInt),
    ("toString", Filter::ToText),
    ("urlDecode", Filter::UrlDecode),
    ("urlEncode", Filter::UrlEncode),
    ("utf8Decode", Filter::Utf8Decode),
    ("utf8Encode", Filter::Utf8Encode),
];

/// Filters that Hurl knows and Hakaru does not run.
const NOT_RUN: [&str; 13] = [
    "base64UrlSafeDecode",
    "base64UrlSafeEncode",
    "charsetDecode",
    "dateFormat",
    "daysAfterNow",
    "daysBeforeNow",
    "decode",
    "format",
    "location",
    "toDate",
    "urlQueryParam",
    "xpath",
    "newDate",
];

impl Filter {
    /// Filters as long as some come next.
    pub(crate) fn parse_all(cursor: &mut Cursor<'_>) -> Result<Vec<Filter>, Fault> {
        let mut filters = Vec::new();
        loop {
            let start = cursor.at();
            cursor.spaces();
            match Filter::parse(cursor)? {
                Some(filter) => filters.push(filter),
                None => {
                    cursor.back_to(start);
                    return Ok(filters);
                }
            }
        }
    }

    /// A filter, or nothing (and nothing taken) when the next word is not the name of one.
    fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Filter>, Fault> {
        let start = cursor.at();
        let name = cursor.word();
        if let Some((_, filter)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
            return Ok(Some(filter.clone()));
        }
        if NOT_RUN.contains(&name) {
            return Err(Fault::new(start, format!("the filter `{name}` is not run")));
        }
        cursor.spaces();
        let filter = match name {
            "jsonpath" => Filter::JsonPath(Path::parse(cursor)?),
            "nth" => Filter::Nth(index(cursor)?),
            "regex" => Filter::Regex(Pattern::parse(cursor)?),
            "replace" => {
                let from = plain_quoted(cursor)?;
                cursor.spaces();
                Filter::Replace(from, plain_quoted(cursor)?)
            }
            "replaceRegex" => {
                let pattern = Pattern::parse(cursor)?;
                cursor.spaces();
                Filter::ReplaceRegex(pattern, plain_quoted(cursor)?)
            }
            "split" => Filter::Split(plain_quoted(cursor)?),
            _ => {
                cursor.back_to(start);
                return Ok(None);
            }
        };
        Ok(Some(filter))
    }

    /// All filters in order. Nothing when one of them found nothing.
    pub(crate) fn apply_all(filters: &[Filter], value: Value) -> Result<Option<Value>, String> {
        let mut value = value;
        for filter in filters {
            match filter.apply(value)? {
                Some(next) => value = next,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    fn apply(&self, value: Value) -> Result<Option<Value>, String> {
        let made = match self {
            Filter::Count => Some(Value::Integer(self.size(&value)? as i64)),
            Filter::First => self.nth(value, 0)?,
            Filter::Last => self.nth(value, -1)?,
            Filter::Nth(index) => self.nth(value, *index)?,
            Filter::JsonPath(path) => self.json_path(value, path)?,
            Filter::ToInt => Some(Value::Integer(self.to_int(&value)?)),
            Filter::ToFloat => Some(Value::Float(self.to_float(&value)?)),
            Filter::ToText => Some(Value::Text(value.to_string())),
            Filter::ToHex => Some(Value::Text(encode::hex(&self.bytes(value)?))),
            Filter::Base64Encode => Some(Value::Text(encode::base64(&self.bytes(value)?))),
            Filter::Utf8Encode => Some(Value::Bytes(self.text(value)?.into_bytes())),
            Filter::Utf8Decode => {
                let text = String::from_utf8(self.bytes(value)?);
                Some(Value::Text(
                    text.map_err(|_| self.cannot("bytes that are not UTF-8"))?,
                ))
            }
            Filter::Split(by) => Some(Value::List(
                self.text(value)?
                    .split(by.as_str())
                    .map(|part| Value::Text(part.to_owned()))
                    .collect(),
            )),
            Filter::Regex(pattern) => pattern.find(&self.text(value)?).map(Value::Text),
            Filter::Base64Decode => {
                let bytes = encode::from_base64(&self.text(value)?);
                Some(Value::Bytes(bytes.ok_or_else(|| self.cannot("this text"))?))
            }
            _ => Some(Value::Text(self.text_to_text(&self.text(value)?)?)),
        };
        Ok(made)
    }

    fn text_to_text(&self, text: &str) -> Result<String, String> {
        match self {
            Filter::HtmlEscape => Ok(encode::html_escape(text)),
            Filter::HtmlUnescape => Ok(encode::html_unescape(text)),
            Filter::Replace(from, to) => Ok(text.replace(from.as_str(), to)),
            Filter::ReplaceRegex(pattern, to) => Ok(pattern.replace(text, to)),
            Filter::UrlEncode => Ok(encode::url_encode(text)),
            Filter::UrlDecode => encode::url_decode(text).ok_or_else(|| self.cannot("this text")),
            _ => Err(self.cannot("a string")),
        }
    }

    fn cannot(&self, what: &str) -> String {
        format!("filter `{self}` cannot take {what}")
    }

    fn text(&self, value: Value) -> Result<String, String> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(self.cannot(other.kind())),
        }
    }

    fn bytes(&self, value: Value) -> Result<Vec<u8>, String> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Text(text) => Ok(text.into_bytes()),
            other => Err(self.cannot(other.kind())),
        }
    }

    fn size(&self, value: &Value) -> Result<usize, String> {
        value.size().ok_or_else(|| self.cannot(value.kind()))
    }

    /// The item at `index`; negative ones count from the end.
    fn nth(&self, value: Value, index: i64) -> Result<Option<Value>, String> {
        let Value::List(mut items) = value else {
            return Err(self.cannot(value.kind()));
        };
        let at = if index < 0 {
            items.len() as i64 + index
        } else {
            index
        };
        let inside = usize::try_from(at).is_ok_and(|at| at < items.len());
        Ok(inside.then(|| items.swap_remove(at as usize)))
    }

    fn json_path(&self, value: Value, path: &Path) -> Result<Option<Value>, String> {
        let json = match &value {
            Value::Text(text) => {
                serde_json::from_str(text).map_err(|_| self.cannot("text that is not JSON"))?
            }
            other => other.to_json(),
        };
        Ok(path.find(&json))
    }

    fn to_int(&self, value: &Value) -> Result<i64, String> {
        match value {
            Value::Integer(number) => Ok(*number),
            Value::Float(number) => Ok(*number as i64),
            Value::Text(text) => {
                let number = text.trim().parse();
                number.map_err(|_| self.cannot(&value.shown()))
            }
            other => Err(self.cannot(other.kind())),
        }
    }

    fn to_float(&self, value: &Value) -> Result<f64, String> {
        match value {
            Value::Integer(number) => Ok(*number as f64),
            Value::Float(number) => Ok(*number),
            Value::Text(text) => {
                let number = text.trim().parse();
                number.map_err(|_| self.cannot(&value.shown()))
            }
            other => Err(self.cannot(other.kind())),
        }
    }
}

fn index(cursor: &mut Cursor<'_>) -> Result<i64, Fault> {
    let start = cursor.at();
    let text = cursor.take_while(|c| c == '-' || c.is_ascii_digit());
    text.parse()
        .map_err(|_| Fault::new(start, "expected a whole number"))
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Filter::JsonPath(path) => write!(f, "jsonpath {path}"),
            Filter::Nth(index) => write!(f, "nth {index}"),
            Filter::Regex(pattern) => write!(f, "regex {pattern}"),
            Filter::Replace(from, to) => {
                write!(f, "replace {} {}", print_quoted(from), print_quoted(to))
            }
            Filter::ReplaceRegex(pattern, to) => {
                write!(f, "replaceRegex {pattern} {}", print_quoted(to))
            }
            Filter::Split(by) => write!(f, "split {}", print_quoted(by)),
            plain => {
                let name = PLAIN.iter().find(|(_, filter)| filter == plain);
                f.write_str(name.map_or("", |(name, _)| name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies filters, as written in a flow, to a value.
    fn check(value: Value, filters: &str, expected: Result<Option<Value>, &str>) {
        let parsed = Filter::parse_all(&mut Cursor::new(filters)).expect(filters);
        let made = Filter::apply_all(&parsed, value);
        assert_eq!(made, expected.map_err(str::to_owned), "{filters}");
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn filters_make_values_of_values() {
        let list = || Value::List(vec![text("a"), text("b"), text("c")]);
        check(list(), "count", Ok(Some(Value::Integer(3))));
        check(list(), "nth 1", Ok(Some(text("b"))));
        check(list(), "nth -1", Ok(Some(text("c"))));
        check(list(), "nth 3", Ok(None));
        check(list(), "nth 3 toInt", Ok(None));
        check(list(), "first", Ok(Some(text("a"))));
        check(list(), "last", Ok(Some(text("c"))));
        check(
            text("a=12;b"),
            "regex /a=(\\d+)/ toInt",
            Ok(Some(Value::Integer(12))),
        );
        check(text("x"), "regex \"y\"", Ok(None));
        check(
            text("a,b"),
            "split \",\" count",
            Ok(Some(Value::Integer(2))),
        );
        check(text("a b"), "urlEncode", Ok(Some(text("a%20b"))));
        check(
            text("a-b-c"),
            "replace \"-\" \"+\"",
            Ok(Some(text("a+b+c"))),
        );
        check(
            text("a1b22"),
            "replaceRegex /\\d+/ \"#\"",
            Ok(Some(text("a#b#"))),
        );
        check(text("1.5"), "toFloat", Ok(Some(Value::Float(1.5))));
        check(
            text("{\"a\":[1]}"),
            "jsonpath \"$.a[0]\"",
            Ok(Some(Value::Integer(1))),
        );
        check(Value::Integer(7), "toString", Ok(Some(text("7"))));
        check(
            Value::Bool(true),
            "count",
            Err("filter `count` cannot take boolean"),
        );
        check(text("x"), "toInt", Err("filter `toInt` cannot take \"x\""));
    }
}
