//! What the filters do.

use ::xpath::Document;

use super::{Filter, Plain, Textual};
use crate::date::Date;
use crate::encode;
use crate::pattern::Path;
use crate::seen::decoded;
use crate::value::Value;
use crate::variables::Variables;

impl Filter {
    /// All filters in order. Nothing when the last of them found nothing; before others that is an
    /// error.
    pub(crate) fn apply_all(
        filters: &[Filter],
        value: Value,
        variables: &mut Variables,
    ) -> Result<Option<Value>, String> {
        let mut value = Some(value);
        for filter in filters {
            let given = value.ok_or_else(|| format!("filter `{filter}` is given nothing"))?;
            value = filter.apply(given, variables)?;
        }
        Ok(value)
    }

    fn apply(&self, value: Value, variables: &mut Variables) -> Result<Option<Value>, String> {
        match self {
            Filter::Plain(plain) => self.plain(*plain, value),
            Filter::Textual(textual, argument) => {
                self.textual(*textual, value, &argument.render(variables)?)
            }
            Filter::Nth(index) => self.nth(value, *index),
            Filter::JsonPath(path) => self.json_path(value, path, variables),
            Filter::Regex(pattern) => {
                let found = pattern.find(&self.text(value)?, variables)?;
                Ok(found.map(Value::Text))
            }
            Filter::Replace(from, to) => {
                let (from, to) = (from.render(variables)?, to.render(variables)?);
                Ok(Some(Value::Text(
                    self.text(value)?.replace(from.as_str(), &to),
                )))
            }
            Filter::ReplaceRegex(pattern, to) => {
                let to = to.render(variables)?;
                let text = pattern.replace(&self.text(value)?, &to, variables)?;
                Ok(Some(Value::Text(text)))
            }
            Filter::XPath(path) => {
                // A text alone does not say what it is; HTML takes XML too.
                let document = Document::html(&self.text(value)?);
                let document = document.map_err(|why| format!("filter `{self}`: {why}"))?;
                path.find(&document, variables).map(Some)
            }
        }
    }

    fn plain(&self, plain: Plain, value: Value) -> Result<Option<Value>, String> {
        let made = match plain {
            Plain::Count => Value::Integer(self.size(&value)? as i64),
            Plain::First => return self.nth(value, 0),
            Plain::Last => return self.nth(value, -1),
            Plain::Location => self.location(&value)?,
            Plain::ToInt => Value::Integer(self.to_int(&value)?),
            Plain::ToFloat => Value::Float(self.to_float(&value)?),
            Plain::ToText => Value::Text(value.rendered().map_err(|_| self.cannot(value.kind()))?),
            Plain::ToHex => Value::Text(encode::hex(&self.bytes(value)?)),
            Plain::Base64Encode => Value::Text(encode::base64(&self.bytes(value)?)),
            Plain::Base64UrlSafeEncode => Value::Text(encode::base64_url_safe(&self.bytes(value)?)),
            Plain::Base64Decode => {
                let bytes = encode::from_base64_exactly(&self.text(value)?);
                Value::Bytes(bytes.ok_or_else(|| self.cannot("what is no base64"))?)
            }
            Plain::Base64UrlSafeDecode => {
                let bytes = encode::from_base64_url_safe(&self.text(value)?);
                Value::Bytes(bytes.ok_or_else(|| self.cannot("what is no such base64"))?)
            }
            Plain::Utf8Encode => Value::Bytes(self.text(value)?.into_bytes()),
            Plain::Utf8Decode => {
                Value::Text(String::from_utf8_lossy(&self.bytes(value)?).into_owned())
            }
            Plain::HtmlEscape => Value::Text(encode::html_escape(&self.text(value)?)),
            Plain::HtmlUnescape => Value::Text(encode::html_unescape(&self.text(value)?)),
            Plain::UrlEncode => Value::Text(encode::url_encode(&self.text(value)?)),
            Plain::UrlDecode => Value::Text(encode::url_decode(&self.text(value)?)),
            Plain::DaysAfterNow => Value::Integer(self.date(&value)?.days_after(Date::now())),
            Plain::DaysBeforeNow => Value::Integer(Date::now().days_after(self.date(&value)?)),
        };
        Ok(Some(made))
    }

    fn textual(
        &self,
        textual: Textual,
        value: Value,
        argument: &str,
    ) -> Result<Option<Value>, String> {
        let made = match textual {
            Textual::CharsetDecode => {
                let text = decoded(&self.bytes(value)?, argument);
                Value::Text(text.map_err(|why| format!("filter `{self}`: {why}"))?)
            }
            Textual::DateFormat => {
                let text = self.date(&value)?.format(argument);
                Value::Text(text.ok_or_else(|| format!("`{argument}` is no format of a date"))?)
            }
            Textual::ToDate => {
                let text = self.text(value)?;
                let date = Date::parse(&text, argument);
                Value::Date(date.ok_or_else(|| self.cannot(&Value::Text(text).shown()))?)
            }
            Textual::Split => {
                let text = self.text(value)?;
                let parts = text
                    .split(argument)
                    .map(|part| Value::Text(part.to_owned()));
                Value::List(parts.collect())
            }
            Textual::UrlQueryParam => {
                let url = self.text(value)?;
                if !encode::is_url(&url) {
                    return Err(self.cannot("what is no URL"));
                }
                let found = encode::url_query_param(&url, argument);
                return Ok(found.map(Value::Text));
            }
        };
        Ok(Some(made))
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
            other => Err(self.cannot(other.kind())),
        }
    }

    fn date(&self, value: &Value) -> Result<Date, String> {
        match value {
            Value::Date(date) => Ok(*date),
            other => Err(self.cannot(other.kind())),
        }
    }

    fn size(&self, value: &Value) -> Result<usize, String> {
        match value {
            Value::List(items) => Ok(items.len()),
            Value::Bytes(bytes) => Ok(bytes.len()),
            Value::Nodes(count) => Ok(*count),
            other => Err(self.cannot(other.kind())),
        }
    }

    /// Where a redirect led.
    fn location(&self, value: &Value) -> Result<Value, String> {
        let Value::Object(members) = value else {
            return Err(self.cannot(value.kind()));
        };
        let found = members.iter().find(|(name, _)| name == "location");
        let found = found.map(|(_, location)| location.clone());
        found.ok_or_else(|| self.cannot("what is no redirect"))
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
        match inside {
            true => Ok(Some(items.swap_remove(at as usize))),
            false => Err(self.cannot(&format!("a list of {}", items.len()))),
        }
    }

    fn json_path(
        &self,
        value: Value,
        path: &Path,
        variables: &mut Variables,
    ) -> Result<Option<Value>, String> {
        let json = serde_json::from_str(&self.text(value)?)
            .map_err(|_| self.cannot("text that is not JSON"))?;
        path.find(&json, variables)
    }

    fn to_int(&self, value: &Value) -> Result<i64, String> {
        match value {
            Value::Integer(number) => Ok(*number),
            Value::Float(number) => Ok(*number as i64),
            Value::Text(text) => {
                let number = text.parse();
                number.map_err(|_| self.cannot(&value.shown()))
            }
            other => Err(self.cannot(other.kind())),
        }
    }

    fn to_float(&self, value: &Value) -> Result<f64, String> {
        match value {
            Value::Integer(number) => Ok(*number as f64),
            Value::Float(_) if value.is_integer() => Err(self.cannot("so large a number")),
            Value::Float(number) => Ok(*number),
            Value::Text(text) => {
                let number = text.parse();
                number.map_err(|_| self.cannot(&value.shown()))
            }
            other => Err(self.cannot(other.kind())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Cursor;

    /// Applies filters, as written in a flow, to a value.
    fn check(value: Value, filters: &str, expected: Result<Option<Value>, &str>) {
        let behind_query = format!(" {filters}");
        let parsed = Filter::parse_all(&mut Cursor::new(&behind_query)).expect(filters);
        let made = Filter::apply_all(&parsed, value, &mut Variables::default());
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
        check(
            list(),
            "nth 3",
            Err("filter `nth 3` cannot take a list of 3"),
        );
        check(
            text("x"),
            "regex \"(y)\" toInt",
            Err("filter `toInt` is given nothing"),
        );
        check(list(), "first", Ok(Some(text("a"))));
        check(list(), "last", Ok(Some(text("c"))));
        check(
            text("a=12;b"),
            "regex /a=(\\d+)/ toInt",
            Ok(Some(Value::Integer(12))),
        );
        check(text("x"), "regex \"(y)\"", Ok(None));
        check(text("x"), "regex \"x\"", Ok(None));
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
