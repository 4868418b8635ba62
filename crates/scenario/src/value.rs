//! Values found by queries, held by variables and compared by predicates.

use std::fmt;

use crate::date::Date;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes, not necessarily text.
    Bytes(Vec<u8>),
    /// An instant of the calendar.
    Date(Date),
    /// An ordered collection.
    List(Vec<Value>),
    /// A collection by name.
    Object(Vec<(String, Value)>),
    /// What is there and has no value, such as the attribute `Secure` of a cookie.
    Unit,
    /// So many nodes of HTML or XML.
    Nodes(usize),
}

impl Value {
    /// The value a person means by `text` where only text can be given: `12` is a number, `true` a
    /// boolean. Only what would be written in the same way again, so that `007` stays text.
    pub fn guess(text: &str) -> Value {
        if let Ok(number) = text.parse::<i64>()
            && number.to_string() == text
        {
            return Value::Integer(number);
        }
        if let Ok(number) = text.parse::<f64>()
            && number.is_finite()
            && number.to_string() == text
        {
            return Value::Float(number);
        }
        match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => Value::Text(text.to_owned()),
        }
    }

    /// Returns the value of a variable given as text, read as in `hurl --variable`: numbers,
    /// `true`, `false`, `null`; quotes around a text are removed.
    pub fn of_variable(text: &str) -> Value {
        let number = || {
            let first = text.trim_start_matches('-').chars().next()?;
            let number = first.is_ascii_digit().then(|| text.parse::<f64>().ok())??;
            number.is_finite().then_some(Value::Float(number))
        };
        let quoted = text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        match (text.parse::<i64>(), quoted) {
            (Ok(number), _) => Value::Integer(number),
            (_, Some(inner)) => Value::Text(inner.to_owned()),
            _ => number().unwrap_or_else(|| Value::guess(text)),
        }
    }

    /// Returns the kind, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Integer(_) => "integer",
            Value::Float(_) => "float",
            Value::Text(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Date(_) => "date",
            Value::List(_) => "list",
            Value::Object(_) => "object",
            Value::Unit => "a mark without a value",
            Value::Nodes(_) => "nodes",
        }
    }

    /// Returns the value as a number: integers and floats unchanged, collections by size.
    pub fn as_units(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::List(items) => Some(items.len() as f64),
            Value::Object(members) => Some(members.len() as f64),
            _ => None,
        }
    }

    /// Returns the number of items, members, characters or bytes.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            Value::Text(text) => Some(text.chars().count()),
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(items) => Some(items.len()),
            Value::Object(members) => Some(members.len()),
            Value::Nodes(count) => Some(*count),
            _ => None,
        }
    }

    /// Equality in which `1` equals `1.0`.
    pub(crate) fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Integer(a), Value::Float(b)) | (Value::Float(b), Value::Integer(a)) => {
                *a as f64 == *b
            }
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            _ => self == other,
        }
    }

    pub(crate) fn from_json(json: &serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(integer) => Value::Integer(integer),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Value::Text(text.clone()),
            serde_json::Value::Array(items) => {
                Value::List(items.iter().map(Value::from_json).collect())
            }
            serde_json::Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), Value::from_json(value)))
                    .collect(),
            ),
        }
    }

    /// As JSON; bytes become text in hexadecimal digits, numbers JSON does not know become `null`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Bytes(bytes) => crate::encode::hex(bytes).into(),
            Value::Date(date) => date.to_string().into(),
            Value::List(items) => items.iter().map(Value::to_json).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), value.to_json()))
                .collect(),
            Value::Unit => serde_json::Value::Bool(true),
            Value::Nodes(count) => (*count).into(),
        }
    }

    /// Returns whether the value is a whole number: also one beyond 64 bits, stored as a float.
    pub(crate) fn is_integer(&self) -> bool {
        /// Least float above which all floats are whole; smaller numbers are integers only where
        /// stored as integers.
        const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Value::Integer(_) => true,
            Value::Float(number) => number.abs() >= BEYOND_64_BITS,
            _ => false,
        }
    }

    /// Returns the value as text in a request, or as made by `toString`. The error names an
    /// unprintable kind.
    pub(crate) fn rendered(&self) -> Result<String, String> {
        match self {
            Value::List(_) | Value::Object(_) | Value::Bytes(_) | Value::Unit | Value::Nodes(_) => {
                Err(format!("{} cannot be put into a text", self.kind()))
            }
            other => Ok(other.to_string()),
        }
    }

    /// As shown in a failure's reason: short, with the kind visible.
    pub(crate) fn shown(&self) -> String {
        const SHOWN_CHARS_MAX: usize = 80;
        let text = match self {
            Value::Text(text) => format!("{text:?}"),
            Value::Bytes(bytes) => {
                format!("hex,{};", crate::encode::hex(&bytes[..bytes.len().min(64)]))
            }
            other => other.to_string(),
        };
        match text.char_indices().nth(SHOWN_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

/// Prints the value as in a request.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Integer(number) => number.fmt(f),
            // Of numbers that flows know, only a float has a point.
            Value::Float(number) if number.fract() == 0.0 && !self.is_integer() => {
                write!(f, "{number}.0")
            }
            Value::Float(number) => number.fmt(f),
            Value::Text(text) => f.write_str(text),
            Value::Bytes(bytes) => f.write_str(&crate::encode::hex(bytes)),
            Value::Date(date) => date.fmt(f),
            Value::List(_) | Value::Object(_) => write!(f, "{}", self.to_json()),
            Value::Unit => f.write_str("a mark without a value"),
            Value::Nodes(count) => write!(f, "{count} nodes"),
        }
    }
}
