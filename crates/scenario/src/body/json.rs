//! JSON with expressions.

use std::fmt;

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::template::Expr;
use crate::variables::Variables;

/// How deep JSON may be nested; deeper text is refused rather than overflowing the stack.
const JSON_DEPTH_MAX: u32 = 128;

/// JSON with expressions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JsonText {
    pub(crate) pieces: Vec<JsonPiece>,
}

/// A part of a [`JsonText`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonPiece {
    Text(String),
    /// Stands for a whole value.
    Value(Expr),
    /// Stands within a string, where the value must be escaped.
    InString(Expr),
}

impl JsonText {
    pub(super) fn begins(rest: &str) -> bool {
        let word = rest
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next();
        rest.starts_with(|c: char| matches!(c, '{' | '[' | '"' | '-') || c.is_ascii_digit())
            || matches!(word, Some("true" | "false" | "null"))
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<JsonText, Fault> {
        let mut json = JsonText::default();
        json.parse_value(cursor, 0)?;
        Ok(json)
    }

    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.pieces.iter().filter_map(|piece| match piece {
            JsonPiece::Text(_) => None,
            JsonPiece::Value(expr) | JsonPiece::InString(expr) => Some(expr),
        })
    }

    pub(crate) fn render(&self, variables: &mut Variables) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                JsonPiece::Text(part) => text.push_str(part),
                JsonPiece::Value(expr) => text.push_str(&scalar(expr, variables)?),
                JsonPiece::InString(expr) => {
                    let quoted = serde_json::Value::String(expr.text(variables)?).to_string();
                    text.push_str(&quoted[1..quoted.len() - 1]);
                }
            }
        }
        Ok(text)
    }

    fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(JsonPiece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(JsonPiece::Text(text.to_owned())),
        }
    }

    fn push_space(&mut self, cursor: &mut Cursor<'_>) {
        let space = cursor.take_while(|c| c.is_ascii_whitespace());
        self.push_text(space);
    }

    fn push_token(&mut self, cursor: &mut Cursor<'_>, token: &str) -> Result<(), Fault> {
        cursor.expect(token)?;
        self.push_text(token);
        Ok(())
    }

    fn parse_value(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> Result<(), Fault> {
        if depth > JSON_DEPTH_MAX {
            return Err(cursor.fault("this JSON is nested too deeply"));
        }
        if cursor.rest().starts_with("{{") {
            let expr = Expr::parse(cursor)?;
            self.pieces.push(JsonPiece::Value(expr));
            return Ok(());
        }
        match cursor.peek() {
            Some('"') => self.parse_string(cursor),
            Some('{') => self.parse_items(cursor, ("{", "}"), |json, cursor| {
                json.parse_string(cursor)?;
                json.push_space(cursor);
                json.push_token(cursor, ":")?;
                json.push_space(cursor);
                json.parse_value(cursor, depth + 1)
            }),
            Some('[') => self.parse_items(cursor, ("[", "]"), |json, cursor| {
                json.parse_value(cursor, depth + 1)
            }),
            _ => self.parse_scalar(cursor),
        }
    }

    fn parse_items(
        &mut self,
        cursor: &mut Cursor<'_>,
        (open, close): (&str, &str),
        mut item: impl FnMut(&mut JsonText, &mut Cursor<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.push_token(cursor, open)?;
        self.push_space(cursor);
        if cursor.rest().starts_with(close) {
            return self.push_token(cursor, close);
        }
        loop {
            item(self, cursor)?;
            self.push_space(cursor);
            if !cursor.rest().starts_with(',') {
                return self.push_token(cursor, close);
            }
            self.push_token(cursor, ",")?;
            self.push_space(cursor);
        }
    }

    fn parse_string(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let start = cursor.at();
        self.push_token(cursor, "\"")?;
        loop {
            if cursor.rest().starts_with("{{") {
                let expr = Expr::parse(cursor)?;
                self.pieces.push(JsonPiece::InString(expr));
                continue;
            }
            let from = cursor.at();
            match cursor.next() {
                None | Some('\n') => return Err(Fault::new(start, "this string has no end")),
                Some('\\') => escape(cursor, from)?,
                Some(_) => {}
            }
            let taken = cursor.since(from);
            self.push_text(taken);
            if taken == "\"" {
                return Ok(());
            }
        }
    }

    fn parse_scalar(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let start = cursor.at();
        let text = cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        if serde_json::from_str::<serde_json::Value>(text).is_err() {
            return Err(Fault::new(start, "expected a JSON value"));
        }
        self.push_text(text);
        Ok(())
    }
}

/// What stands for a whole value: a number, `true`, `false` or `null`. A text would need quotes.
fn scalar(expr: &Expr, variables: &mut Variables) -> Result<String, String> {
    let text = expr.text(variables)?;
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Number(_) | serde_json::Value::Bool(_) | serde_json::Value::Null) => {
            Ok(text)
        }
        _ => Err(format!(
            "{expr} is {text:?}, which is no value of JSON; write \"{expr}\" for a text"
        )),
    }
}

/// Takes what stands behind a backslash (RFC 8259, section 7).
fn escape(cursor: &mut Cursor<'_>, at: usize) -> Result<(), Fault> {
    let wrong = || Fault::new(at, "this is no escape of JSON");
    match cursor.next() {
        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => Ok(()),
        Some('u') => {
            const HIGH: std::ops::RangeInclusive<u32> = 0xd800..=0xdbff;
            const LOW: std::ops::RangeInclusive<u32> = 0xdc00..=0xdfff;
            let unit = code_unit(cursor).ok_or_else(wrong)?;
            if !HIGH.contains(&unit) {
                return if LOW.contains(&unit) {
                    Err(wrong())
                } else {
                    Ok(())
                };
            }
            // Of two that stand for one character, the second follows at once.
            let low = cursor.take("\\u").then(|| code_unit(cursor)).flatten();
            low.filter(|unit| LOW.contains(unit))
                .map(|_| ())
                .ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

fn code_unit(cursor: &mut Cursor<'_>) -> Option<u32> {
    const DIGITS: usize = 4;
    let digits = cursor.rest().get(..DIGITS)?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    cursor.back_to(cursor.at() + DIGITS);
    Some(unit)
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                JsonPiece::Text(text) => f.write_str(text)?,
                JsonPiece::Value(expr) | JsonPiece::InString(expr) => expr.fmt(f)?,
            }
        }
        Ok(())
    }
}
