//! Predicates: what an assert demands of a value. One arm each in [`Predicate::parse`], `fmt` and
//! [`Predicate::holds`] is all that a new one takes; those without an argument are rows of
//! [`KINDS`].

mod fits;

use std::fmt;

use crate::body::{parse_bytes, parse_file, parse_multiline};
use crate::cursor::Cursor;
use crate::encode;
use crate::error::Fault;
use crate::files::Files;
use crate::pattern::Pattern;
use crate::template::{Expr, Style, Template, quoted};
use crate::value::Value;
use crate::variables::Variables;

/// A demand on a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predicate {
    pub(crate) negated: bool,
    pub(crate) test: Test,
}

/// What is demanded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Compare(Comparison, Operand),
    Matches(Pattern),
    Exists,
    Is(Kind),
}

/// Tests with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
    LessOrEqual,
    Less,
    StartsWith,
    EndsWith,
    Contains,
    Includes,
}

/// Tests of what a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Collection,
    Date,
    Empty,
    Float,
    Integer,
    Ipv4,
    Ipv6,
    IsoDate,
    List,
    Number,
    Object,
    Text,
    Uuid,
}

/// What a value is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Value(Value),
    Text(Template),
    Expr(Expr),
    /// The content of a file.
    File(String),
}

/// By name; where one sign begins another, the longer one comes first. Of several names for one
/// comparison the first is printed.
const COMPARISONS: [(&str, Comparison); 16] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    (">=", Comparison::GreaterOrEqual),
    (">", Comparison::Greater),
    ("<=", Comparison::LessOrEqual),
    ("<", Comparison::Less),
    ("startsWith", Comparison::StartsWith),
    ("endsWith", Comparison::EndsWith),
    ("contains", Comparison::Contains),
    ("includes", Comparison::Includes),
    ("equals", Comparison::Equal),
    ("notEquals", Comparison::NotEqual),
    ("greaterThan", Comparison::Greater),
    ("greaterThanOrEquals", Comparison::GreaterOrEqual),
    ("lessThan", Comparison::Less),
    ("lessThanOrEquals", Comparison::LessOrEqual),
];

const KINDS: [(&str, Kind); 14] = [
    ("isBoolean", Kind::Boolean),
    ("isCollection", Kind::Collection),
    ("isDate", Kind::Date),
    ("isEmpty", Kind::Empty),
    ("isFloat", Kind::Float),
    ("isInteger", Kind::Integer),
    ("isIpv4", Kind::Ipv4),
    ("isIpv6", Kind::Ipv6),
    ("isIsoDate", Kind::IsoDate),
    ("isList", Kind::List),
    ("isNumber", Kind::Number),
    ("isObject", Kind::Object),
    ("isString", Kind::Text),
    ("isUuid", Kind::Uuid),
];

impl Predicate {
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Predicate, Fault> {
        let negated = cursor.take_word("not");
        if negated {
            cursor.space_between()?;
        }
        let test = Test::parse(cursor)?;
        Ok(Predicate { negated, test })
    }

    /// Returns the expressions in the operand.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match &self.test {
            Test::Compare(_, operand) => operand.exprs(),
            Test::Matches(pattern) => pattern.exprs(),
            _ => Vec::new(),
        }
    }

    /// Returns the file in the operand.
    pub(crate) fn file(&self) -> Option<&str> {
        match &self.test {
            Test::Compare(_, Operand::File(name)) => Some(name),
            _ => None,
        }
    }

    /// Checks `value`; the error names the expected and the actual value.
    pub(crate) fn holds(
        &self,
        value: Option<&Value>,
        files: &Files,
        variables: &mut Variables,
    ) -> Result<(), String> {
        let passed = match (&self.test, value) {
            (Test::Exists, Some(Value::Nodes(0))) => Some(false),
            (Test::Exists, value) => Some(value.is_some()),
            // Nothing is not what is demanded, so the opposite holds.
            (_, None) if self.negated => return Ok(()),
            (_, None) => return Err(format!("expected {self}, but there is nothing")),
            (Test::Is(kind), Some(value)) => kind.fits(value),
            (Test::Matches(pattern), Some(Value::Text(text))) => {
                Some(pattern.is_match(text, variables)?)
            }
            (Test::Matches(_), Some(_)) => None,
            (Test::Compare(comparison, operand), Some(value)) => {
                let expected = operand.value(files, variables)?;
                comparison.fits(value, &expected)
            }
        };
        if passed == Some(!self.negated) {
            return Ok(());
        }
        let came = value.map_or_else(|| "nothing".to_owned(), Value::shown);
        match passed {
            Some(_) => Err(format!("expected {self}, came {came}")),
            None => Err(format!(
                "expected {self}, came {came}, which is of another kind"
            )),
        }
    }
}

impl Test {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Test, Fault> {
        let is_sign = |token: &str| !token.starts_with(|c: char| c.is_ascii_alphabetic());
        let comes = |cursor: &mut Cursor<'_>, token: &str| match is_sign(token) {
            true => cursor.take(token),
            false => cursor.take_word(token),
        };
        for (token, comparison) in COMPARISONS {
            if comes(cursor, token) {
                match is_sign(token) {
                    true => cursor.spaces(),
                    false => cursor.space_between()?,
                }
                let at = cursor.at();
                let operand = Operand::parse(cursor)?;
                return match comparison.takes(&operand) {
                    true => Ok(Test::Compare(comparison, operand)),
                    false => Err(Fault::new(at, format!("`{token}` cannot take this value"))),
                };
            }
        }
        let start = cursor.at();
        let name = cursor.word();
        if let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) {
            return Ok(Test::Is(*kind));
        }
        match name {
            "exists" => Ok(Test::Exists),
            "matches" => {
                cursor.space_between()?;
                Ok(Test::Matches(Pattern::parse_operand(cursor)?))
            }
            _ => Err(Fault::new(
                start,
                "expected a filter or a predicate, such as `==`, `contains`, `exists`",
            )),
        }
    }
}

impl Comparison {
    /// Whether a value can ever be compared so with `operand`.
    pub(crate) fn takes(self, operand: &Operand) -> bool {
        let is_text = matches!(operand, Operand::Text(_));
        match self {
            Comparison::StartsWith | Comparison::EndsWith => {
                is_text || matches!(operand, Operand::Value(Value::Bytes(_)))
            }
            Comparison::Greater
            | Comparison::GreaterOrEqual
            | Comparison::Less
            | Comparison::LessOrEqual => {
                let is_number =
                    matches!(operand, Operand::Value(Value::Integer(_) | Value::Float(_)));
                is_text || is_number || matches!(operand, Operand::Expr(_))
            }
            _ => true,
        }
    }
}

impl Operand {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Operand, Fault> {
        let start = cursor.at();
        let rest = cursor.rest();
        if rest.starts_with("{{") {
            return Ok(Operand::Expr(Expr::parse(cursor)?));
        }
        if rest.starts_with('"') {
            return Ok(Operand::Text(quoted(cursor)?));
        }
        if rest.starts_with("```") {
            return parse_multiline(cursor)?.into_operand(start);
        }
        if cursor.take("`") {
            let template = Template::parse(cursor, Style::Backtick)?;
            cursor.expect("`")?;
            return Ok(Operand::Text(template));
        }
        if let Some(bytes) = parse_bytes(cursor)? {
            return Ok(Operand::Value(Value::Bytes(bytes)));
        }
        if let Some(file) = parse_file(cursor)? {
            return Ok(Operand::File(file));
        }
        let word = cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        number_or_name(word)
            .map(Operand::Value)
            .ok_or_else(|| Fault::new(start, "expected a value: a number, \"text\", true, null…"))
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Operand::Text(template) => template.exprs().collect(),
            Operand::Expr(expr) => vec![expr],
            Operand::Value(_) | Operand::File(_) => Vec::new(),
        }
    }

    pub(crate) fn value(&self, files: &Files, variables: &mut Variables) -> Result<Value, String> {
        match self {
            Operand::File(name) => match files.get(name) {
                Some(bytes) => Ok(Value::Bytes(bytes.to_vec())),
                None => Err(format!("{name} was not read")),
            },
            Operand::Value(value) => Ok(value.clone()),
            Operand::Text(template) => template.render(variables).map(Value::Text),
            Operand::Expr(expr) => expr.value(variables),
        }
    }
}

pub(crate) fn number_or_name(word: &str) -> Option<Value> {
    match word {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        "null" => return Some(Value::Null),
        _ => {}
    }
    // Rust reads more as numbers: `inf`, `007`, `1.`, `2e2`.
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = match word.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (word, None),
    };
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let is_number =
        digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(digits);
    if !is_number {
        return None;
    }
    match word.parse() {
        Ok(integer) => Some(Value::Integer(integer)),
        Err(_) => word.parse().ok().map(Value::Float),
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negated {
            f.write_str("not ")?;
        }
        match &self.test {
            Test::Exists => f.write_str("exists"),
            Test::Matches(pattern) => write!(f, "matches {pattern}"),
            Test::Is(kind) => f.write_str(name_of(&KINDS, kind)),
            Test::Compare(comparison, operand) => {
                write!(f, "{} {operand}", name_of(&COMPARISONS, comparison))
            }
        }
    }
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], wanted: &T) -> &'static str {
    let row = table.iter().find(|(_, value)| value == wanted);
    row.map_or("", |(name, _)| name)
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Value(Value::Bytes(bytes)) => write!(f, "hex,{};", encode::hex(bytes)),
            // With a point, so that it is read as a float again; exponents are not read.
            Operand::Value(Value::Float(number)) => {
                let text = number.to_string();
                let point = if text.contains('.') { "" } else { ".0" };
                write!(f, "{text}{point}")
            }
            Operand::Value(value) => value.fmt(f),
            Operand::Text(template) => write!(f, "\"{}\"", template.print(Style::Quoted)),
            Operand::Expr(expr) => expr.fmt(f),
            Operand::File(name) => {
                write!(f, "file,{};", Template::text(name).print(Style::FileName))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a predicate, as written in a flow, holds for a value given as JSON; `None` is
    /// nothing.
    fn check(value: Option<&str>, predicate: &str, expected: Result<(), &str>) {
        let parsed = Predicate::parse(&mut Cursor::new(predicate)).expect(predicate);
        let value =
            value.map(|json| Value::from_json(&serde_json::from_str(json).expect("test JSON")));
        let held = parsed.holds(value.as_ref(), &Files::new(), &mut Variables::default());
        assert_eq!(
            held,
            expected.map_err(str::to_owned),
            "{value:?} {predicate}"
        );
    }

    #[test]
    fn predicates_that_hold() {
        for (value, predicate) in [
            ("1", "== 1"),
            ("1", "== 1.0"),
            ("1", "!= 2"),
            ("2", "> 1.5"),
            ("2", ">= 2"),
            ("-2", "< -1"),
            ("2", "<= 2"),
            ("\"b\"", "> \"a\""),
            ("\"abc\"", "startsWith \"ab\""),
            ("\"abc\"", "endsWith `bc`"),
            ("\"abc\"", "contains \"b\""),
            ("\"abc\"", "not contains \"x\""),
            ("[1, 2]", "contains 2"),
            ("[1, 2]", "includes 2"),
            ("\"abc\"", "matches /^a.c$/"),
            ("null", "== null"),
            ("null", "exists"),
            ("true", "isBoolean"),
            ("[]", "isEmpty"),
            ("[]", "isCollection"),
            ("{}", "isObject"),
            ("1.5", "isFloat"),
            ("1", "isInteger"),
            ("1", "isNumber"),
            ("\"x\"", "isString"),
            ("\"127.0.0.1\"", "isIpv4"),
            ("\"::1\"", "isIpv6"),
            ("\"2023-01-23T18:25:43Z\"", "isIsoDate"),
            ("1", "equals 1"),
            ("1", "notEquals 2"),
            ("2", "greaterThan 1"),
            ("2", "greaterThanOrEquals 2"),
            ("2", "lessThan 3"),
            ("2", "not lessThanOrEquals 1"),
            ("\"123e4567-e89b-12d3-a456-426614174000\"", "isUuid"),
        ] {
            check(Some(value), predicate, Ok(()));
        }
        check(None, "not exists", Ok(()));
    }

    #[test]
    fn those_that_do_not_say_what_came() {
        check(Some("1"), "== 2", Err("expected == 2, came 1"));
        check(Some("\"1\""), "== 1", Err("expected == 1, came \"1\""));
        check(None, "== 1", Err("expected == 1, but there is nothing"));
        check(None, "exists", Err("expected exists, came nothing"));
        check(Some("[1]"), "not isEmpty", Ok(()));
        check(
            Some("[]"),
            "not isEmpty",
            Err("expected not isEmpty, came []"),
        );
    }
}
