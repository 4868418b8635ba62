//! Default values as stored by servers: `0` and `'0'` of an integer are equal, and a date has a
//! time.

use super::Rules;
use crate::mysql::lexer::{literal, unquoted};
use crate::mysql::model::{DataType, Value};

/// Normal form of a default; `None` for NULL, the same as no default.
pub(super) fn default(value: &Value, data_type: &DataType, rules: &Rules) -> Option<String> {
    let (norm, is_expression) = match value {
        Value::Literal(expr) => (expr.norm.as_str(), false),
        Value::Expression(expr) => (expr.norm.as_str(), true),
    };
    if norm == "null" {
        return None;
    }
    if let Some(typed) = typed(norm).filter(|_| rules.is_mariadb) {
        return Some(constant(typed, data_type));
    }
    // MySQL tells the constant `1` from the expression `(1)`; MariaDB stores the former for both.
    let is_constant =
        norm.starts_with(['\'', '-']) || norm.starts_with(|first: char| first.is_ascii_digit());
    let is_constant =
        is_constant && !norm.contains(['(', ' ']) || norm.starts_with('\'') && norm.ends_with('\'');
    if is_expression && !(rules.is_mariadb && is_constant) {
        return Some(format!("({norm})"));
    }
    Some(constant(norm, data_type))
}

/// The string of `DATE '2000-01-01'`: a constant on MariaDB, an expression on MySQL.
pub(super) fn typed(norm: &str) -> Option<&str> {
    let words = ["date '", "time '", "timestamp '"];
    let word = words.iter().find(|word| norm.starts_with(**word))?;
    Some(&norm[word.len() - 1..])
}

/// A moment: `current_timestamp()` and `current_timestamp(0)` are one.
pub(super) fn time(norm: &str) -> String {
    norm.replace("(0)", "").replace("()", "")
}

fn constant(norm: &str, data_type: &DataType) -> String {
    if norm.starts_with("current_timestamp") {
        return time(norm);
    }
    let plain = match norm.starts_with('\'') {
        true => unquoted(norm),
        false => norm.to_owned(),
    };
    let scale = data_type
        .arguments
        .get(1)
        .and_then(|scale| scale.parse().ok());
    match data_type.name.as_str() {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" => integer(&plain),
        "decimal" => decimal(&plain, scale.unwrap_or(0)),
        "float" | "double" => match (scale, plain.parse::<f64>()) {
            (Some(scale), _) => decimal(&plain, scale),
            (None, Ok(number)) => number.to_string(),
            (None, Err(_)) => plain,
        },
        "bit" => bits(&plain),
        "datetime" | "timestamp" => moment(&plain, data_type),
        "date" if plain == "0" => literal("0000-00-00"),
        "time" if plain == "0" => literal("00:00:00"),
        _ if plain == "true" => literal("1"),
        _ if plain == "false" => literal("0"),
        _ => literal(&plain),
    }
}

fn integer(plain: &str) -> String {
    match plain {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        plain => match plain.parse::<i128>() {
            Ok(number) => number.to_string(),
            Err(_) => decimal(plain, 0),
        },
    }
}

/// With so many digits behind the point; too many are cut by rounding the last one kept.
fn decimal(plain: &str, scale: usize) -> String {
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain.strip_prefix('+').unwrap_or(plain)),
    };
    let is_number = !digits.is_empty()
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_number {
        return plain.to_owned();
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let all = format!("{whole}{fraction:0<scale$}");
    let kept = whole.len() + scale;
    let is_up = all.as_bytes().get(kept).is_some_and(|digit| *digit >= b'5');
    let mut number: u128 = all.get(..kept).unwrap_or(&all).parse().unwrap_or(0);
    number += u128::from(is_up);
    let text = format!("{number:0>width$}", width = scale + 1);
    let (whole, fraction) = text.split_at(text.len() - scale);
    match scale {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    }
}

/// `b'101'` and 5 are one.
fn bits(plain: &str) -> String {
    let inner = plain
        .strip_prefix("b'")
        .and_then(|rest| rest.strip_suffix('\''));
    let number = match inner.or_else(|| plain.strip_prefix("0b")) {
        Some(bits) => u64::from_str_radix(bits, 2).ok(),
        None => integer(plain).parse().ok(),
    };
    number.map_or_else(|| plain.to_owned(), |number| number.to_string())
}

/// Letters of `2000-01-01` and of `2000-01-01 00:00:00`.
const DATE_LETTERS: usize = 10;
const SECOND_LETTERS: usize = 19;

fn moment(plain: &str, data_type: &DataType) -> String {
    let mut text = if plain == "0" {
        "0000-00-00".to_owned()
    } else {
        plain.replace('T', " ")
    };
    if text.len() == DATE_LETTERS {
        text.push_str(" 00:00:00");
    }
    let digits = data_type
        .arguments
        .first()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0);
    let has_fraction = text.len() > SECOND_LETTERS;
    if digits > 0 && text.len() >= SECOND_LETTERS {
        if !has_fraction {
            text.push('.');
        }
        let width = SECOND_LETTERS + 1 + digits;
        text = format!("{text:0<width$}");
    }
    literal(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_of_their_column() {
        for (plain, scale, expected) in [
            ("0.0", 2, "0.00"),
            ("1.2", 2, "1.20"),
            ("1.005", 2, "1.01"),
            ("-.5", 1, "-0.5"),
            ("007", 0, "7"),
            ("9.99", 1, "10.0"),
        ] {
            assert_eq!(decimal(plain, scale), expected, "{plain}");
        }
    }

    #[test]
    fn moments_have_a_time() {
        let data_type = |digits: &[&str]| DataType {
            name: "datetime".to_owned(),
            arguments: digits.iter().map(|digits| (*digits).to_owned()).collect(),
            ..DataType::default()
        };
        assert_eq!(
            moment("2000-01-01", &data_type(&[])),
            "'2000-01-01 00:00:00'"
        );
        assert_eq!(
            moment("2000-01-01", &data_type(&["3"])),
            "'2000-01-01 00:00:00.000'"
        );
        assert_eq!(bits("b'101'"), bits("5"));
    }
}
