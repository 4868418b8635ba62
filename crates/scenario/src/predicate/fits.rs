//! Whether a value is what a predicate demands.

use std::cmp::Ordering;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Comparison, Kind};
use crate::date::Date;
use crate::value::Value;

impl Comparison {
    pub(super) fn fits(self, value: &Value, expected: &Value) -> bool {
        match self {
            Comparison::Equal => value.same(expected),
            Comparison::NotEqual => !value.same(expected),
            Comparison::Greater => order(value, expected) == Some(Ordering::Greater),
            Comparison::Less => order(value, expected) == Some(Ordering::Less),
            Comparison::GreaterOrEqual => {
                order(value, expected).is_some_and(|order| order != Ordering::Less)
            }
            Comparison::LessOrEqual => {
                order(value, expected).is_some_and(|order| order != Ordering::Greater)
            }
            Comparison::StartsWith => both(value, expected, <[u8]>::starts_with),
            Comparison::EndsWith => both(value, expected, <[u8]>::ends_with),
            Comparison::Contains | Comparison::Includes => contains(value, expected),
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
fn both(value: &Value, expected: &Value, relation: fn(&[u8], &[u8]) -> bool) -> bool {
    match (value, expected) {
        (Value::Text(a), Value::Text(b)) => relation(a.as_bytes(), b.as_bytes()),
        (Value::Bytes(a), Value::Bytes(b)) => relation(a, b),
        _ => false,
    }
}

fn contains(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::List(items), expected) => items.iter().any(|item| item.same(expected)),
        (Value::Text(text), Value::Text(part)) => text.contains(part.as_str()),
        (Value::Bytes(bytes), Value::Bytes(part)) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
        }
        _ => false,
    }
}

impl Kind {
    pub(super) fn fits(self, value: &Value) -> bool {
        match self {
            Kind::Boolean => matches!(value, Value::Bool(_)),
            Kind::Collection => {
                matches!(value, Value::List(_) | Value::Object(_) | Value::Bytes(_))
            }
            Kind::Date => matches!(value, Value::Date(_)),
            Kind::Empty => value.size() == Some(0),
            Kind::Float => matches!(value, Value::Float(_)),
            Kind::Integer => matches!(value, Value::Integer(_)),
            Kind::Ipv4 => text_is(value, |text| text.parse::<Ipv4Addr>().is_ok()),
            Kind::Ipv6 => text_is(value, |text| text.parse::<Ipv6Addr>().is_ok()),
            Kind::IsoDate => text_is(value, |text| Date::parse_iso(text).is_some()),
            Kind::List => matches!(value, Value::List(_)),
            Kind::Number => matches!(value, Value::Integer(_) | Value::Float(_)),
            Kind::Object => matches!(value, Value::Object(_)),
            Kind::Text => matches!(value, Value::Text(_)),
            Kind::Uuid => text_is(value, is_uuid),
        }
    }
}

fn text_is(value: &Value, holds: impl Fn(&str) -> bool) -> bool {
    matches!(value, Value::Text(text) if holds(text))
}

/// Five groups of 8, 4, 4, 4 and 12 hexadecimal digits.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}
