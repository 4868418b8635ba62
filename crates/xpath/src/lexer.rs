//! The words of an expression (XPath 1.0, 3.7).

use crate::number;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    Literal(String),
    /// A name, with a prefix or without.
    Name(Option<String>, String),
    /// `*`, or `prefix:*`.
    Any(Option<String>),
    /// An operator that is written as a name, `*` for times included.
    Operator(&'static str),
    /// Any other sign.
    Sign(&'static str),
}

/// Signs, the longer first.
const SIGNS: [&str; 18] = [
    "::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=",
];
const MORE_SIGNS: [&str; 2] = ["<", ">"];
const NAMED: [&str; 4] = ["and", "or", "mod", "div"];

/// Splits an expression into words. The error is a sentence.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut rest = text.trim_start();
    let mut all: Vec<Token> = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, behind) = match first {
            '"' | '\'' => literal(rest, first)?,
            '0'..='9' => digits(rest),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => digits(rest),
            '*' if is_operand(all.last()) => (Token::Operator("*"), &rest[1..]),
            '*' => (Token::Any(None), &rest[1..]),
            '$' => return Err("variables of XPath are not known here; write {{name}}".to_owned()),
            c if is_name_start(c) => named(rest, is_operand(all.last()))?,
            _ => sign(rest)?,
        };
        all.push(token);
        rest = behind.trim_start();
    }
    Ok(all)
}

/// Returns whether what comes behind a word is an operator.
fn is_operand(last: Option<&Token>) -> bool {
    match last {
        None | Some(Token::Operator(_)) => false,
        Some(Token::Sign(sign)) => [")", "]", ".", ".."].contains(sign),
        Some(_) => true,
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_numeric() || c == '-' || c == '.' || c == '\u{b7}'
}

fn literal(text: &str, quote: char) -> Result<(Token, &str), String> {
    let inner = text[1..].split_once(quote);
    let (inner, rest) = inner.ok_or_else(|| format!("the text has no closing {quote}: {text}"))?;
    Ok((Token::Literal(inner.to_owned()), rest))
}

fn digits(text: &str) -> (Token, &str) {
    let length = number::length(text);
    let (digits, rest) = text.split_at(length);
    (Token::Number(number::parse(digits)), rest)
}

/// A name, with all that belongs to it.
fn named(text: &str, is_behind_operand: bool) -> Result<(Token, &str), String> {
    let (first, rest) = split_name(text);
    if is_behind_operand {
        let operator = NAMED.into_iter().find(|operator| *operator == first);
        let operator =
            operator.ok_or_else(|| format!("expected an operator in place of `{first}`"))?;
        return Ok((Token::Operator(operator), rest));
    }
    let Some(behind) = rest
        .strip_prefix(':')
        .filter(|behind| !behind.starts_with(':'))
    else {
        return Ok((Token::Name(None, first.to_owned()), rest));
    };
    if let Some(rest) = behind.strip_prefix('*') {
        return Ok((Token::Any(Some(first.to_owned())), rest));
    }
    match split_name(behind) {
        ("", _) => Err(format!("expected a name behind `{first}:`")),
        (local, rest) => Ok((Token::Name(Some(first.to_owned()), local.to_owned()), rest)),
    }
}

fn split_name(text: &str) -> (&str, &str) {
    if !text.starts_with(is_name_start) {
        return ("", text);
    }
    text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len()))
}

fn sign(text: &str) -> Result<(Token, &str), String> {
    let mut signs = SIGNS.into_iter().chain(MORE_SIGNS);
    let found = signs.find(|sign| text.starts_with(sign));
    match found {
        Some(sign) => Ok((Token::Sign(sign), &text[sign.len()..])),
        None => Err(format!(
            "unexpected `{}`",
            text.chars().next().unwrap_or(' ')
        )),
    }
}
