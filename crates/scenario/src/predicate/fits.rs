//! Whether a value is what a predicate demands.

use std::cmp::Ordering;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Comparison, Kind};
use crate::date::Date;
use crate::value::Value;

impl Comparison {
    /// Compares two values; `None` for incomparable kinds, for which the negation fails as well.
    pub(super) fn fits(self, value: &Value, expected: &Value) -> Option<bool> {
        match self {
            Comparison::Equal => Some(value.same(expected)),
            Comparison::NotEqual => Some(!value.same(expected)),
            Comparison::Greater => Some(order(value, expected)? == Ordering::Greater),
            Comparison::Less => Some(order(value, expected)? == Ordering::Less),
            Comparison::GreaterOrEqual => Some(order(value, expected)? != Ordering::Less),
            Comparison::LessOrEqual => Some(order(value, expected)? != Ordering::Greater),
            Comparison::StartsWith => both(value, expected, <[u8]>::starts_with),
            Comparison::EndsWith => both(value, expected, <[u8]>::ends_with),
            Comparison::Contains => contains(value, expected),
            Comparison::Includes => includes(value, expected),
        }
    }
}

fn order(value: &Value, expected: &Value) -> Option<Ordering> {
    match (value, expected) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
        (Value::Integer(_) | Value::Float(_), Value::Integer(_) | Value::Float(_)) => {
            value.as_units()?.partial_cmp(&expected.as_units()?)
        }
        _ => None,
    }
}

/// Whether two texts, or bytes, stand in `relation`.
fn both(value: &Value, expected: &Value, relation: fn(&[u8], &[u8]) -> bool) -> Option<bool> {
    match (value, expected) {
        (Value::Text(a), Value::Text(b)) => Some(relation(a.as_bytes(), b.as_bytes())),
        (Value::Bytes(a), Value::Bytes(b)) => Some(relation(a, b)),
        _ => None,
    }
}

fn includes(value: &Value, expected: &Value) -> Option<bool> {
    match value {
        Value::List(items) => Some(items.iter().any(|item| item.same(expected))),
        _ => None,
    }
}

fn contains(value: &Value, expected: &Value) -> Option<bool> {
    match (value, expected) {
        (Value::Text(text), Value::Text(part)) => Some(text.contains(part.as_str())),
        (Value::Bytes(bytes), Value::Bytes(part)) => {
            Some(part.is_empty() || bytes.windows(part.len()).any(|window| window == part))
        }
        (value, expected) => includes(value, expected),
    }
}

impl Kind {
    /// Tests a value; `None` for an unsuitable kind, for which the negation fails as well.
    pub(super) fn fits(self, value: &Value) -> Option<bool> {
        let is = match self {
            Kind::Empty => return value.size().map(|size| size == 0),
            Kind::Ipv4 => return text_is(value, |text| text.parse::<Ipv4Addr>().is_ok()),
            Kind::Ipv6 => return text_is(value, |text| text.parse::<Ipv6Addr>().is_ok()),
            Kind::IsoDate => return text_is(value, |text| Date::parse_iso(text).is_some()),
            Kind::Uuid => return text_is(value, is_uuid),
            Kind::Boolean => matches!(value, Value::Bool(_)),
            Kind::Collection => {
                matches!(
                    value,
                    Value::List(_) | Value::Object(_) | Value::Bytes(_) | Value::Nodes(_)
                )
            }
            Kind::Date => matches!(value, Value::Date(_)),
            Kind::Float => matches!(value, Value::Float(_)) && !value.is_integer(),
            Kind::Integer => value.is_integer(),
            Kind::List => matches!(value, Value::List(_) | Value::Bytes(_)),
            Kind::Number => matches!(value, Value::Integer(_) | Value::Float(_)),
            Kind::Object => matches!(value, Value::Object(_) | Value::Nodes(_)),
            Kind::Text => matches!(value, Value::Text(_)),
        };
        Some(is)
    }
}

fn text_is(value: &Value, holds: impl Fn(&str) -> bool) -> Option<bool> {
    match value {
        Value::Text(text) => Some(holds(text)),
        _ => None,
    }
}

/// 32 hexadecimal digits, or groups of 8, 4, 4, 4 and 12, also in braces or behind `urn:uuid:`.
fn is_uuid(text: &str) -> bool {
    const DIGITS: usize = 32;
    if text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return true;
    }
    let braced = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    let text = braced.or(text.strip_prefix("urn:uuid:")).unwrap_or(text);
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}
