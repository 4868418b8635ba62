//! Queries: what an assert or a capture looks at. One entry of [`PLAIN`] or one arm of
//! [`Query::parse`], and one arm of [`Query::find`], is all that a new one takes.

use std::fmt;

use md5::{Digest, Md5};
use sha2::Sha256;

use crate::answer::Answer;
use crate::cursor::Cursor;
use crate::date::Date;
use crate::error::Fault;
use crate::filter::XPath;
use crate::jar::SetCookie;
use crate::pattern::{Path, Pattern};
use crate::seen::Seen;
use crate::template::{Expr, Piece, Template, print_quoted_template, quoted};
use crate::value::Value;
use crate::variables::Variables;
use crate::vocabulary::{WordKind, refusal};

/// What is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Query {
    Body,
    Bytes,
    Cookie(Template),
    Duration,
    Header(Template),
    JsonPath(Path),
    Md5,
    RawBytes,
    Redirects,
    Regex(Pattern),
    Sha256,
    Status,
    Url,
    Variable(Template),
    Version,
    XPath(XPath),
}

/// Queries without an argument, by name.
const PLAIN: [(&str, Query); 10] = [
    ("body", Query::Body),
    ("bytes", Query::Bytes),
    ("duration", Query::Duration),
    ("md5", Query::Md5),
    ("rawbytes", Query::RawBytes),
    ("redirects", Query::Redirects),
    ("sha256", Query::Sha256),
    ("status", Query::Status),
    ("url", Query::Url),
    ("version", Query::Version),
];

impl Query {
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Query, Fault> {
        let start = cursor.at();
        let name = cursor.word();
        if let Some((_, query)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
            return Ok(query.clone());
        }
        if ["cookie", "header", "jsonpath", "regex", "variable", "xpath"].contains(&name) {
            cursor.space_between()?;
        }
        match name {
            "cookie" => {
                let at = cursor.at();
                let cookie = quoted(cursor)?;
                known_attribute(&cookie, at)?;
                Ok(Query::Cookie(cookie))
            }
            "header" => Ok(Query::Header(quoted(cursor)?)),
            "jsonpath" => Ok(Query::JsonPath(Path::parse(cursor)?)),
            "regex" => Ok(Query::Regex(Pattern::parse(cursor)?)),
            "variable" => Ok(Query::Variable(quoted(cursor)?)),
            "xpath" => Ok(Query::XPath(XPath::parse(cursor)?)),
            _ => Err(Fault::new(
                start,
                refusal(WordKind::Query, name)
                    .map(|why| format!("the query {why}"))
                    .unwrap_or_else(|| {
                        "expected a query, such as `status`, `header \"Name\"`, `jsonpath \"$.path\"`"
                            .to_owned()
                    }),
            )),
        }
    }

    /// Returns whether the query needs the whole body.
    pub(crate) fn needs_body(&self) -> bool {
        matches!(
            self,
            Query::Body
                | Query::Bytes
                | Query::JsonPath(_)
                | Query::Md5
                | Query::RawBytes
                | Query::Regex(_)
                | Query::Sha256
                | Query::XPath(_)
        )
    }

    /// Returns the expressions in the argument.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Query::Cookie(name) | Query::Header(name) | Query::Variable(name) => {
                name.exprs().collect()
            }
            Query::JsonPath(path) => path.exprs(),
            Query::Regex(pattern) => pattern.exprs(),
            Query::XPath(path) => path.exprs(),
            _ => Vec::new(),
        }
    }

    /// Returns the value found; finding none is not an error.
    pub(crate) fn find(
        &self,
        seen: &Seen<'_>,
        variables: &mut Variables,
    ) -> Result<Option<Value>, String> {
        let answer = seen.answer;
        let found = match self {
            Query::Body => Some(Value::Text(seen.text()?.to_owned())),
            Query::Bytes => Some(Value::Bytes(seen.bytes()?.to_vec())),
            Query::Cookie(name) => cookie(answer, &name.render(variables)?)?,
            Query::Duration => Some(Value::Integer((answer.duration_ns / 1_000_000) as i64)),
            Query::Header(name) => header(answer, &name.render(variables)?),
            Query::JsonPath(path) => path.find(seen.json()?, variables)?,
            Query::Md5 => Some(Value::Bytes(Md5::digest(seen.bytes()?).to_vec())),
            Query::RawBytes => Some(Value::Bytes(answer.body.to_vec())),
            Query::Redirects => Some(seen.trail.redirects()),
            Query::Regex(pattern) => pattern.find(seen.text()?, variables)?.map(Value::Text),
            Query::Sha256 => Some(Value::Bytes(Sha256::digest(seen.bytes()?).to_vec())),
            Query::Status => Some(Value::Integer(i64::from(answer.status))),
            Query::Url => Some(Value::Text(seen.trail.url.clone())),
            Query::Variable(name) => {
                let name = name.render(variables)?;
                variables.get(&name).cloned()
            }
            Query::Version => Some(Value::Text(answer.version())),
            Query::XPath(path) => Some(path.find(seen.markup()?, variables)?),
        };
        Ok(found)
    }
}

/// Returns the value of a header; a list for a repeated one.
fn header(answer: &Answer<'_>, name: &str) -> Option<Value> {
    let text = |bytes| Value::Text(String::from_utf8_lossy(bytes).into_owned());
    let mut values: Vec<Value> = answer.values(name).map(text).collect();
    match values.len() {
        0 | 1 => values.pop(),
        _ => Some(Value::List(values)),
    }
}

/// A cookie the answer sets: `name`, or `name[Attribute]`.
fn cookie(answer: &Answer<'_>, wanted: &str) -> Result<Option<Value>, String> {
    let (name, attribute) = match wanted.split_once('[') {
        Some((name, rest)) => (name, rest.trim_end_matches(']')),
        None => (wanted, "Value"),
    };
    let set = answer
        .values("set-cookie")
        .filter(|value| std::str::from_utf8(value).is_ok())
        .filter_map(SetCookie::parse)
        .find(|set| set.name == name.as_bytes());
    let Some(set) = set else {
        return Ok(None);
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if attribute.eq_ignore_ascii_case("value") {
        return Ok(Some(Value::Text(text(set.value))));
    }
    let mut attributes = set.attributes();
    let found = attributes.find(|(name, _)| name.eq_ignore_ascii_case(attribute.as_bytes()));
    let Some((name, value)) = found else {
        return Ok(None);
    };
    let value = value.map(text);
    Ok(match (text(name).to_ascii_lowercase().as_str(), value) {
        ("secure" | "httponly", _) => Some(Value::Unit),
        (_, None) => None,
        ("max-age", Some(value)) => value.parse().ok().map(Value::Integer),
        ("expires", Some(value)) => {
            let date = Date::parse_http(value.as_bytes());
            let date =
                date.ok_or_else(|| format!("Expires of the cookie is no date: {value:?}"))?;
            Some(Value::Date(date))
        }
        (_, Some(value)) => Some(Value::Text(value)),
    })
}

/// Refuses `name[Attribute]` with an unknown attribute of cookies.
fn known_attribute(cookie: &Template, at: usize) -> Result<(), Fault> {
    const KNOWN: [&str; 8] = [
        "Value", "Expires", "Max-Age", "Domain", "Path", "Secure", "HttpOnly", "SameSite",
    ];
    let attribute = match cookie.pieces.last() {
        Some(Piece::Text(text)) => text.split_once('[').map(|(_, rest)| rest),
        _ => None,
    };
    let Some(attribute) = attribute else {
        return Ok(());
    };
    let name = attribute.strip_suffix(']');
    match name.filter(|name| KNOWN.iter().any(|known| name.eq_ignore_ascii_case(known))) {
        Some(_) => Ok(()),
        None => Err(Fault::new(
            at,
            format!(
                "expected `name` or `name[Attribute]` with one of {}",
                KNOWN.join(", ")
            ),
        )),
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Query::Cookie(name) => write!(f, "cookie {}", print_quoted_template(name)),
            Query::Header(name) => write!(f, "header {}", print_quoted_template(name)),
            Query::JsonPath(path) => write!(f, "jsonpath {path}"),
            Query::Regex(pattern) => write!(f, "regex {pattern}"),
            Query::Variable(name) => write!(f, "variable {}", print_quoted_template(name)),
            Query::XPath(path) => write!(f, "xpath {path}"),
            plain => {
                let row = PLAIN.iter().find(|(_, query)| query == plain);
                f.write_str(row.map_or("", |(name, _)| name))
            }
        }
    }
}
