//! Predicates: what an assert demands of a value. One arm each in [`Predicate::parse`], `fmt` and
//! [`Predicate::holds`] is all that a new one takes; those without an argument are rows of [`KINDS`].

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::cursor::Cursor;
use crate::encode;
use crate::error::Fault;
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
    Empty,
    Float,
    Integer,
    Ipv4,
    Ipv6,
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
}

/// By name; where one name begins another, the longer one comes first.
const COMPARISONS: [(&str, Comparison); 10] = [
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
];

const KINDS: [(&str, Kind); 12] = [
    ("isBoolean", Kind::Boolean),
    ("isCollection", Kind::Collection),
    ("isEmpty", Kind::Empty),
    ("isFloat", Kind::Float),
    ("isInteger", Kind::Integer),
    ("isIpv4", Kind::Ipv4),
    ("isIpv6", Kind::Ipv6),
    ("isList", Kind::List),
    ("isNumber", Kind::Number),
    ("isObject", Kind::Object),
    ("isString", Kind::Text),
    ("isUuid", Kind::Uuid),
];

impl Predicate {
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Predicate, Fault> {
        let negated = cursor.take_word("not");
        cursor.spaces();
        let test = Test::parse(cursor)?;
        Ok(Predicate { negated, test })
    }

    /// The expressions it compares with.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match &self.test {
            Test::Compare(_, Operand::Text(template)) => template.exprs().collect(),
            Test::Compare(_, Operand::Expr(expr)) => vec![expr],
            _ => Vec::new(),
        }
    }

    /// Whether it holds for `value`; the error says what was expected and what came.
    pub(crate) fn holds(
        &self,
        value: Option<&Value>,
        variables: &mut Variables,
    ) -> Result<(), String> {
        let passed = match (&self.test, value) {
            (Test::Exists, value) => value.is_some(),
            (_, None) => return Err(format!("expected {self}, but there is nothing")),
            (Test::Is(kind), Some(value)) => kind.fits(value),
            (Test::Matches(pattern), Some(Value::Text(text))) => pattern.is_match(text),
            (Test::Matches(_), Some(_)) => false,
            (Test::Compare(comparison, operand), Some(value)) => {
                let expected = operand.value(variables)?;
                comparison.fits(value, &expected)
            }
        };
        if passed != self.negated {
            return Ok(());
        }
        let came = value.map_or_else(|| "nothing".to_owned(), Value::shown);
        Err(format!("expected {self}, came {came}"))
    }
}

impl Test {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Test, Fault> {
        let found = COMPARISONS
            .iter()
            .find(|(token, _)| cursor.rest().starts_with(token));
        if let Some((token, comparison)) = found {
            cursor.take(token);
            cursor.spaces();
            return Ok(Test::Compare(*comparison, Operand::parse(cursor)?));
        }
        let start = cursor.at();
        let name = cursor.word();
        if let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) {
            return Ok(Test::Is(*kind));
        }
        match name {
            "exists" => Ok(Test::Exists),
            "matches" => {
                cursor.spaces();
                Ok(Test::Matches(Pattern::parse(cursor)?))
            }
            "isDate" | "isIsoDate" => {
                let message = format!("the predicate `{name}` is not run; use `matches`");
                Err(Fault::new(start, message))
            }
            _ => Err(Fault::new(
                start,
                "expected a filter or a predicate, such as `==`, `contains`, `exists`",
            )),
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
        if cursor.take("`") {
            let template = Template::parse(cursor, Style::Backtick)?;
            cursor.expect("`")?;
            return Ok(Operand::Text(template));
        }
        if let Some(bytes) = crate::body::parse_bytes(cursor)? {
            return Ok(Operand::Value(Value::Bytes(bytes)));
        }
        if rest.starts_with("file,") || rest.starts_with("```") {
            return Err(cursor.fault("this kind of value is not run in a predicate; use \"…\""));
        }
        let word = cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        number_or_name(word)
            .map(Operand::Value)
            .ok_or_else(|| Fault::new(start, "expected a value: a number, \"text\", true, null…"))
    }

    fn value(&self, variables: &mut Variables) -> Result<Value, String> {
        match self {
            Operand::Value(value) => Ok(value.clone()),
            Operand::Text(template) => template.render(variables).map(Value::Text),
            Operand::Expr(expr) => expr.value(variables),
        }
    }
}

fn number_or_name(word: &str) -> Option<Value> {
    match word {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        "null" => return Some(Value::Null),
        _ => {}
    }
    // Keeps `inf` and `NaN`, which Rust would read as numbers, out.
    word.strip_prefix('-')
        .unwrap_or(word)
        .chars()
        .next()
        .filter(char::is_ascii_digit)?;
    match word.parse() {
        Ok(integer) => Some(Value::Integer(integer)),
        Err(_) => word.parse().ok().map(Value::Float),
    }
}

impl Comparison {
    fn fits(self, value: &Value, expected: &Value) -> bool {
        use std::cmp::Ordering;
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

fn order(value: &Value, expected: &Value) -> Option<std::cmp::Ordering> {
    match (value, expected) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
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
    fn fits(self, value: &Value) -> bool {
        match self {
            Kind::Boolean => matches!(value, Value::Bool(_)),
            Kind::Collection => {
                matches!(value, Value::List(_) | Value::Object(_) | Value::Bytes(_))
            }
            Kind::Empty => value.size() == Some(0),
            Kind::Float => matches!(value, Value::Float(_)),
            Kind::Integer => matches!(value, Value::Integer(_)),
            Kind::Ipv4 => text_is(value, |text| text.parse::<Ipv4Addr>().is_ok()),
            Kind::Ipv6 => text_is(value, |text| text.parse::<Ipv6Addr>().is_ok()),
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
            // `Debug` keeps the point of `1.0`, so that it is read as a float again.
            Operand::Value(Value::Float(number)) => write!(f, "{number:?}"),
            Operand::Value(value) => value.fmt(f),
            Operand::Text(template) => write!(f, "\"{}\"", template.print(Style::Quoted)),
            Operand::Expr(expr) => expr.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a predicate, as written in a flow, holds for a value given as JSON; `None` is nothing.
    fn check(value: Option<&str>, predicate: &str, expected: Result<(), &str>) {
        let parsed = Predicate::parse(&mut Cursor::new(predicate)).expect(predicate);
        let value =
            value.map(|json| Value::from_json(&serde_json::from_str(json).expect("test JSON")));
        let held = parsed.holds(value.as_ref(), &mut Variables::default());
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
