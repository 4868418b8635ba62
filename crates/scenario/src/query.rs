//! Queries: what an assert or a capture looks at. One entry of [`PLAIN`] or one arm of
//! [`Query::parse`], and one arm of [`Query::find`], is all that a new one takes.

use std::cell::OnceCell;
use std::fmt;

use md5::{Digest, Md5};
use sha2::Sha256;

use crate::answer::Answer;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::jar::SetCookie;
use crate::pattern::{Path, Pattern};
use crate::template::{plain_quoted, print_quoted};
use crate::value::Value;
use crate::variables::Variables;

/// What is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Query {
    Body,
    Bytes,
    Cookie(String),
    Duration,
    Header(String),
    JsonPath(Path),
    Md5,
    Regex(Pattern),
    Sha256,
    Status,
    Variable(String),
    Version,
}

/// Queries without an argument, by name.
const PLAIN: [(&str, Query); 7] = [
    ("body", Query::Body),
    ("bytes", Query::Bytes),
    ("duration", Query::Duration),
    ("md5", Query::Md5),
    ("sha256", Query::Sha256),
    ("status", Query::Status),
    ("version", Query::Version),
];

/// Queries that Hurl knows and Hakaru does not run.
const NOT_RUN: [&str; 6] = ["certificate", "ip", "rawbytes", "redirects", "url", "xpath"];

/// An answer with what queries have found out about it so far, so that JSON is parsed at most once.
pub(crate) struct Seen<'a> {
    pub(crate) answer: &'a Answer<'a>,
    json: OnceCell<Result<serde_json::Value, String>>,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(answer: &'a Answer<'a>) -> Self {
        Seen {
            answer,
            json: OnceCell::new(),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, String> {
        std::str::from_utf8(self.bytes()?).map_err(|_| "the body is not UTF-8".to_owned())
    }

    pub(crate) fn bytes(&self) -> Result<&'a [u8], String> {
        let coding = self.answer.values("content-encoding").next();
        match coding {
            Some(coding) if !coding.eq_ignore_ascii_case(b"identity") => Err(format!(
                "the body is compressed ({}); leave Accept-Encoding out of the request",
                String::from_utf8_lossy(coding)
            )),
            _ => Ok(self.answer.body),
        }
    }

    pub(crate) fn json(&self) -> Result<&serde_json::Value, String> {
        let parsed = self.json.get_or_init(|| {
            serde_json::from_slice(self.bytes()?).map_err(|error| {
                let body = self.answer.body;
                let shown = String::from_utf8_lossy(&body[..body.len().min(60)]);
                format!("the body is not JSON: {error}; it begins with {shown:?}")
            })
        });
        parsed.as_ref().map_err(Clone::clone)
    }
}

impl Query {
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Query, Fault> {
        let start = cursor.at();
        let name = cursor.word();
        if let Some((_, query)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
            return Ok(query.clone());
        }
        cursor.spaces();
        match name {
            "cookie" => Ok(Query::Cookie(plain_quoted(cursor)?)),
            "header" => Ok(Query::Header(plain_quoted(cursor)?)),
            "jsonpath" => Ok(Query::JsonPath(Path::parse(cursor)?)),
            "regex" => Ok(Query::Regex(Pattern::parse(cursor)?)),
            "variable" => Ok(Query::Variable(plain_quoted(cursor)?)),
            _ if NOT_RUN.contains(&name) => {
                Err(Fault::new(start, format!("the query `{name}` is not run")))
            }
            _ => Err(Fault::new(
                start,
                "expected a query, such as `status`, `header \"Name\"`, `jsonpath \"$.path\"`",
            )),
        }
    }

    /// Whether it needs the whole body.
    pub(crate) fn needs_body(&self) -> bool {
        matches!(
            self,
            Query::Body
                | Query::Bytes
                | Query::JsonPath(_)
                | Query::Md5
                | Query::Regex(_)
                | Query::Sha256
        )
    }

    /// What it finds; nothing is not an error.
    pub(crate) fn find(
        &self,
        seen: &Seen<'_>,
        variables: &Variables,
    ) -> Result<Option<Value>, String> {
        let answer = seen.answer;
        let found = match self {
            Query::Body => Some(Value::Text(seen.text()?.to_owned())),
            Query::Bytes => Some(Value::Bytes(seen.bytes()?.to_vec())),
            Query::Cookie(name) => cookie(answer, name),
            Query::Duration => Some(Value::Integer((answer.duration_ns / 1_000_000) as i64)),
            Query::Header(name) => header(answer, name),
            Query::JsonPath(path) => path.find(seen.json()?),
            Query::Md5 => Some(Value::Bytes(Md5::digest(seen.bytes()?).to_vec())),
            Query::Regex(pattern) => pattern.find(seen.text()?).map(Value::Text),
            Query::Sha256 => Some(Value::Bytes(Sha256::digest(seen.bytes()?).to_vec())),
            Query::Status => Some(Value::Integer(i64::from(answer.status))),
            Query::Variable(name) => variables.get(name).cloned(),
            Query::Version => Some(Value::Text(format!("1.{}", answer.minor_version))),
        };
        Ok(found)
    }
}

/// The value of a header; a list when it comes several times.
fn header(answer: &Answer<'_>, name: &str) -> Option<Value> {
    let text = |bytes| Value::Text(String::from_utf8_lossy(bytes).into_owned());
    let mut values: Vec<Value> = answer.values(name).map(text).collect();
    match values.len() {
        0 | 1 => values.pop(),
        _ => Some(Value::List(values)),
    }
}

/// A cookie the answer sets: `name`, or `name[Attribute]`.
fn cookie(answer: &Answer<'_>, wanted: &str) -> Option<Value> {
    let (name, attribute) = match wanted.split_once('[') {
        Some((name, rest)) => (name, rest.trim_end_matches(']')),
        None => (wanted, "Value"),
    };
    let set = answer
        .values("set-cookie")
        .filter_map(|value| std::str::from_utf8(value).ok())
        .filter_map(SetCookie::parse)
        .find(|set| set.name == name)?;
    if attribute.eq_ignore_ascii_case("value") {
        return Some(Value::Text(set.value.to_owned()));
    }
    let found = set
        .attributes()
        .find(|(name, _)| name.eq_ignore_ascii_case(attribute))?;
    match found {
        (_, None) => Some(Value::Bool(true)),
        (name, Some(value)) if name.eq_ignore_ascii_case("max-age") => Some(Value::guess(value)),
        (_, Some(value)) => Some(Value::Text(value.to_owned())),
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Query::Cookie(name) => write!(f, "cookie {}", print_quoted(name)),
            Query::Header(name) => write!(f, "header {}", print_quoted(name)),
            Query::JsonPath(path) => write!(f, "jsonpath {path}"),
            Query::Regex(pattern) => write!(f, "regex {pattern}"),
            Query::Variable(name) => write!(f, "variable {}", print_quoted(name)),
            plain => {
                let row = PLAIN.iter().find(|(_, query)| query == plain);
                f.write_str(row.map_or("", |(name, _)| name))
            }
        }
    }
}
