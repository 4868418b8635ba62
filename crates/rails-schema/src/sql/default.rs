//! Defaults as SQL: what ActiveRecord makes of a literal for a column's type.

use std::fmt::Write as _;

use schema::SyntaxError;

use super::options::{Options, UNBALANCED, is_balanced};
use super::quote::Spelling;
use super::types::Asked;
use crate::ruby::{Key, Kind, Value};

/// Types whose literals are numbers, also when written as strings.
const NUMBERS: [&str; 8] = [
    "integer",
    "bigint",
    "float",
    "decimal",
    "numeric",
    "serial",
    "bigserial",
    "money",
];

/// The default in SQL.
pub(super) fn sql(
    value: &Value,
    asked: &Asked,
    spelling: Spelling,
    options: &Options<'_>,
) -> Result<String, SyntaxError> {
    if let Kind::Lambda(sql) = &value.kind {
        if !is_balanced(sql) {
            return options.fail(value.at, UNBALANCED);
        }
        return Ok(match spelling.is_sqlite() && is_call(sql) {
            true => format!("({sql})"),
            false => sql.clone(),
        });
    }
    let written = if asked.is_array && spelling.is_postgres() {
        array(value).map(|text| spelling.text(&text))
    } else {
        scalar(value, asked, spelling)
    };
    written.map_or_else(
        || options.fail(value.at, &format!("this is no default for {}", asked.word)),
        Ok,
    )
}

/// Whether the SQL is one function call, and nothing more.
fn is_call(sql: &str) -> bool {
    let name = sql.find('(').map(|end| &sql[..end]);
    name.is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '_')
    }) && sql.ends_with(')')
}

fn scalar(value: &Value, asked: &Asked, spelling: Spelling) -> Option<String> {
    let word = asked.word.as_str();
    Some(match (&value.kind, word) {
        (Kind::Nil, _) => "NULL".to_owned(),
        (_, "json" | "jsonb") => spelling.text(&json(value)?),
        (_, "hstore") => spelling.text(&hstore(value)?),
        (Kind::Bool(value), _) => boolean(*value, spelling),
        (Kind::Number(number), "boolean") => boolean(number != "0", spelling),
        (Kind::Text(text), "boolean") => boolean(!FALSES.contains(&text.as_str()), spelling),
        (Kind::Number(number), "string" | "text") => spelling.text(number),
        (Kind::Number(number), _) => number.clone(),
        (Kind::Text(text) | Kind::Symbol(text), _) if NUMBERS.contains(&word) => {
            text.parse::<f64>().ok()?;
            text.clone()
        }
        (Kind::Text(text), "uuid") if text.contains("()") && spelling.is_postgres() => text.clone(),
        (Kind::Text(text), "time") => {
            let clock = text
                .split_once(' ')
                .map_or(text.as_str(), |(_, clock)| clock);
            spelling.text(clock)
        }
        (Kind::Text(text), "bit" | "bit_varying") if spelling.is_postgres() => {
            format!("B{}", spelling.text(text))
        }
        (Kind::Text(text) | Kind::Symbol(text), _) => spelling.text(text),
        (Kind::List(pair), "point") => match pair.as_slice() {
            [
                Value {
                    kind: Kind::Number(x),
                    ..
                },
                Value {
                    kind: Kind::Number(y),
                    ..
                },
            ] => spelling.text(&format!("({x},{y})")),
            _ => return None,
        },
        _ => return None,
    })
}

/// Strings read as false by ActiveModel.
const FALSES: [&str; 7] = ["0", "f", "F", "false", "FALSE", "off", "OFF"];

fn boolean(value: bool, spelling: Spelling) -> String {
    match (value, spelling.is_postgres()) {
        (true, true) => "TRUE",
        (false, true) => "FALSE",
        (true, false) => "1",
        (false, false) => "0",
    }
    .to_owned()
}

/// A value as JSON, in ActiveSupport's format.
fn json(value: &Value) -> Option<String> {
    Some(match &value.kind {
        Kind::Nil => "null".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Number(number) => number.clone(),
        Kind::Text(text) | Kind::Symbol(text) => json_text(text),
        Kind::List(values) => {
            let values: Option<Vec<String>> = values.iter().map(json).collect();
            format!("[{}]", values?.join(","))
        }
        Kind::Hash(pairs) => {
            let pair = |(key, value): &(Key, Value)| {
                Some(format!("{}:{}", json_text(&key.name), json(value)?))
            };
            let pairs: Option<Vec<String>> = pairs.iter().map(pair).collect();
            format!("{{{}}}", pairs?.join(","))
        }
        Kind::Lambda(_) => return None,
    })
}

fn json_text(text: &str) -> String {
    let mut json = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\t' => json.push_str("\\t"),
            '\r' => json.push_str("\\r"),
            // ActiveSupport keeps JSON safe inside HTML.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(json, "\\u{:04x}", u32::from(letter));
            }
            _ => json.push(letter),
        }
    }
    json.push('"');
    json
}

fn hstore(value: &Value) -> Option<String> {
    let Kind::Hash(pairs) = &value.kind else {
        return value.word().map(str::to_owned);
    };
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let pair = |(key, value): &(Key, Value)| {
        let value = match &value.kind {
            Kind::Nil => "NULL".to_owned(),
            _ => quoted(value.word()?),
        };
        Some(format!("{}=>{value}", quoted(&key.name)))
    };
    let pairs: Option<Vec<String>> = pairs.iter().map(pair).collect();
    Some(pairs?.join(", "))
}

/// PostgreSQL's text for an array.
fn array(value: &Value) -> Option<String> {
    let values = match &value.kind {
        Kind::List(values) => values,
        // `"{}"` is taken as it is.
        Kind::Text(text) => return Some(text.clone()),
        _ => return None,
    };
    let item = |value: &Value| {
        Some(match &value.kind {
            Kind::Nil => "NULL".to_owned(),
            Kind::Bool(value) => if *value { "t" } else { "f" }.to_owned(),
            Kind::Number(number) => number.clone(),
            Kind::List(_) => array(value)?,
            Kind::Text(text) | Kind::Symbol(text) => item_text(text),
            Kind::Hash(_) | Kind::Lambda(_) => return None,
        })
    };
    let items: Option<Vec<String>> = values.iter().map(item).collect();
    Some(format!("{{{}}}", items?.join(",")))
}

fn item_text(text: &str) -> String {
    let is_plain = !text.is_empty()
        && !text.eq_ignore_ascii_case("null")
        && !text.contains(|letter: char| "{}\",\\".contains(letter) || letter.is_whitespace());
    match is_plain {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}
