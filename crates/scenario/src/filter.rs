//! Filters: what makes another value of a value. One entry of [`PLAIN`] or [`TEXTUAL`], or one arm
//! of [`Filter::parse`], and one arm in `apply` is all that a new one takes.

mod apply;
mod xpath;

use std::fmt;

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::pattern::{Path, Pattern};
use crate::template::{Expr, Template, print_quoted_template, quoted};
use crate::vocabulary::{WordKind, refusal};

pub(crate) use self::xpath::XPath;

/// A step from one value to another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    Plain(Plain),
    Textual(Textual, Template),
    JsonPath(Path),
    Nth(i64),
    Regex(Pattern),
    Replace(Template, Template),
    ReplaceRegex(Pattern, Template),
    XPath(XPath),
}

/// Filters without an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    Base64Decode,
    Base64Encode,
    Base64UrlSafeDecode,
    Base64UrlSafeEncode,
    Count,
    DaysAfterNow,
    DaysBeforeNow,
    First,
    HtmlEscape,
    HtmlUnescape,
    Last,
    Location,
    ToFloat,
    ToHex,
    ToInt,
    ToText,
    UrlDecode,
    UrlEncode,
    Utf8Decode,
    Utf8Encode,
}

/// Filters whose argument is one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Textual {
    CharsetDecode,
    DateFormat,
    Split,
    ToDate,
    UrlQueryParam,
}

const PLAIN: [(&str, Plain); 20] = [
    ("base64Decode", Plain::Base64Decode),
    ("base64Encode", Plain::Base64Encode),
    ("base64UrlSafeDecode", Plain::Base64UrlSafeDecode),
    ("base64UrlSafeEncode", Plain::Base64UrlSafeEncode),
    ("count", Plain::Count),
    ("daysAfterNow", Plain::DaysAfterNow),
    ("daysBeforeNow", Plain::DaysBeforeNow),
    ("first", Plain::First),
    ("htmlEscape", Plain::HtmlEscape),
    ("htmlUnescape", Plain::HtmlUnescape),
    ("last", Plain::Last),
    ("location", Plain::Location),
    ("toFloat", Plain::ToFloat),
    ("toHex", Plain::ToHex),
    ("toInt", Plain::ToInt),
    ("toString", Plain::ToText),
    ("urlDecode", Plain::UrlDecode),
    ("urlEncode", Plain::UrlEncode),
    ("utf8Decode", Plain::Utf8Decode),
    ("utf8Encode", Plain::Utf8Encode),
];

/// By name; of several names for one filter the first is printed.
const TEXTUAL: [(&str, Textual); 7] = [
    ("charsetDecode", Textual::CharsetDecode),
    ("decode", Textual::CharsetDecode),
    ("dateFormat", Textual::DateFormat),
    ("format", Textual::DateFormat),
    ("split", Textual::Split),
    ("toDate", Textual::ToDate),
    ("urlQueryParam", Textual::UrlQueryParam),
];

impl Filter {
    /// Filters as long as some come next.
    pub(crate) fn parse_all(cursor: &mut Cursor<'_>) -> Result<Vec<Filter>, Fault> {
        let mut filters = Vec::new();
        loop {
            let start = cursor.at();
            cursor.spaces();
            let is_apart = cursor.at() > start;
            match Filter::parse(cursor)? {
                Some(filter) if is_apart => filters.push(filter),
                _ => {
                    cursor.back_to(start);
                    return Ok(filters);
                }
            }
        }
    }

    /// A filter, or nothing (and nothing taken) when the next word is not the name of one.
    fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Filter>, Fault> {
        let start = cursor.at();
        let name = cursor.word();
        if let Some((_, filter)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
            return Ok(Some(Filter::Plain(*filter)));
        }
        if let Some(why) = refusal(WordKind::Filter, name) {
            return Err(Fault::new(start, format!("the filter {why}")));
        }
        cursor.spaces();
        if let Some((_, filter)) = TEXTUAL.iter().find(|(textual, _)| *textual == name) {
            return Ok(Some(Filter::Textual(*filter, quoted(cursor)?)));
        }
        let filter = match name {
            "jsonpath" => Filter::JsonPath(Path::parse(cursor)?),
            "nth" => Filter::Nth(index(cursor)?),
            "regex" => Filter::Regex(Pattern::parse(cursor)?),
            "replace" => {
                let from = quoted(cursor)?;
                cursor.spaces();
                Filter::Replace(from, quoted(cursor)?)
            }
            "replaceRegex" => {
                let pattern = Pattern::parse(cursor)?;
                cursor.spaces();
                Filter::ReplaceRegex(pattern, quoted(cursor)?)
            }
            "xpath" => Filter::XPath(XPath::parse(cursor)?),
            _ => {
                cursor.back_to(start);
                return Ok(None);
            }
        };
        Ok(Some(filter))
    }

    /// Returns the expressions in the arguments.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Filter::Plain(_) | Filter::Nth(_) => Vec::new(),
            Filter::Textual(_, text) => text.exprs().collect(),
            Filter::JsonPath(path) => path.exprs(),
            Filter::Regex(pattern) => pattern.exprs(),
            Filter::Replace(from, to) => from.exprs().chain(to.exprs()).collect(),
            Filter::ReplaceRegex(pattern, to) => {
                let mut exprs = pattern.exprs();
                exprs.extend(to.exprs());
                exprs
            }
            Filter::XPath(path) => path.exprs(),
        }
    }
}

fn index(cursor: &mut Cursor<'_>) -> Result<i64, Fault> {
    let start = cursor.at();
    let text = cursor.take_while(|c| c == '-' || c.is_ascii_digit());
    text.parse()
        .map_err(|_| Fault::new(start, "expected a whole number"))
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], wanted: &T) -> &'static str {
    let row = table.iter().find(|(_, value)| value == wanted);
    row.map_or("", |(name, _)| name)
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = print_quoted_template;
        match self {
            Filter::Plain(plain) => f.write_str(name_of(&PLAIN, plain)),
            Filter::Textual(textual, argument) => {
                write!(f, "{} {}", name_of(&TEXTUAL, textual), text(argument))
            }
            Filter::JsonPath(path) => write!(f, "jsonpath {path}"),
            Filter::Nth(index) => write!(f, "nth {index}"),
            Filter::Regex(pattern) => write!(f, "regex {pattern}"),
            Filter::Replace(from, to) => write!(f, "replace {} {}", text(from), text(to)),
            Filter::ReplaceRegex(pattern, to) => {
                write!(f, "replaceRegex {pattern} {}", text(to))
            }
            Filter::XPath(path) => write!(f, "xpath {path}"),
        }
    }
}
