//! Bodies: of requests, and as a demand on responses.

mod json;
mod multiline;
mod xml;

use std::fmt;

use crate::cursor::Cursor;
use crate::encode;
use crate::error::Fault;
use crate::predicate::Operand;
use crate::template::{Expr, Style, Template};
use crate::value::Value;

#[cfg(test)]
pub(crate) use json::JsonPiece;
pub(crate) use json::JsonText;
pub(crate) use multiline::{GraphQl, Language, parse_multiline};

/// A body as written in a flow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// JSON with expressions, layout kept as written.
    Json(JsonText),
    /// An XML document, which holds no expressions.
    Xml(String),
    /// Between ```` ``` ```` lines.
    Multiline(Language, Template),
    /// Between ```` ```graphql ```` and ```` ``` ````.
    GraphQl(GraphQl),
    /// Between `` ` ``.
    Oneline(Template),
    /// `base64,…;` or `hex,…;`.
    Bytes(Vec<u8>),
    /// `file,…;`, relative to the flow's folder.
    File(String),
}

impl Body {
    /// Whether what follows can only be a body.
    pub(crate) fn begins(rest: &str) -> bool {
        rest.starts_with(['`', '<'])
            || ["base64,", "hex,", "file,"]
                .iter()
                .any(|kind| rest.starts_with(kind))
            || JsonText::begins(rest)
    }

    /// A body if one comes next.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Option<Body>, Fault> {
        if cursor.rest().starts_with("```") {
            return parse_multiline(cursor).map(Some);
        }
        if cursor.take("`") {
            let template = Template::parse(cursor, Style::Backtick)?;
            cursor.expect("`")?;
            return Ok(Some(Body::Oneline(template)));
        }
        if let Some(bytes) = parse_bytes(cursor)? {
            return Ok(Some(Body::Bytes(bytes)));
        }
        if let Some(file) = parse_file(cursor)? {
            return Ok(Some(Body::File(file)));
        }
        if cursor.peek() == Some('<') {
            return xml::parse(cursor).map(|text| Some(Body::Xml(text)));
        }
        if JsonText::begins(cursor.rest()) {
            return JsonText::parse(cursor).map(|json| Some(Body::Json(json)));
        }
        Ok(None)
    }

    /// Returns the default content type, used without a header.
    pub(crate) fn content_type(&self) -> Option<&'static str> {
        match self {
            Body::Json(_) | Body::GraphQl(_) | Body::Multiline(Language::Json, _) => {
                Some("application/json")
            }
            Body::Xml(_) | Body::Multiline(Language::Xml, _) => Some("application/xml"),
            _ => None,
        }
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Body::Json(json) => json.exprs().collect(),
            Body::Multiline(_, template) | Body::Oneline(template) => template.exprs().collect(),
            Body::GraphQl(graph) => graph.exprs(),
            Body::Xml(_) | Body::Bytes(_) | Body::File(_) => Vec::new(),
        }
    }

    /// Returns the body as the operand of a predicate; `at` is the offset of the body.
    pub(crate) fn into_operand(self, at: usize) -> Result<Operand, Fault> {
        match self {
            Body::Multiline(_, template) => Ok(Operand::Text(template)),
            Body::Bytes(bytes) => Ok(Operand::Value(Value::Bytes(bytes))),
            _ => Err(Fault::new(
                at,
                "this kind of text is not run in a predicate",
            )),
        }
    }
}

/// The bytes of `base64,…;` or `hex,…;` if such comes next.
pub(crate) fn parse_bytes(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let start = cursor.at();
    let decode = if cursor.take("base64,") {
        encode::from_base64
    } else if cursor.take("hex,") {
        encode::from_hex
    } else {
        return Ok(None);
    };
    let text = cursor.take_while(|c| c != ';');
    let bytes = decode(text).ok_or_else(|| Fault::new(start, "these are not encoded bytes"))?;
    cursor.expect(";")?;
    Ok(Some(bytes))
}

/// The path of `file,…;` if such comes next.
pub(crate) fn parse_file(cursor: &mut Cursor<'_>) -> Result<Option<String>, Fault> {
    if !cursor.take("file,") {
        return Ok(None);
    }
    cursor.spaces();
    let start = cursor.at();
    let template = Template::parse(cursor, Style::FileName)?;
    cursor.expect(";")?;
    match template.as_static() {
        Some("") => Err(Fault::new(start, "expected a file name")),
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(Fault::new(start, "a template is not run in a file name")),
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Json(json) => json.fmt(f),
            Body::Xml(text) => f.write_str(text),
            Body::Multiline(language, template) => multiline::print(*language, template, f),
            Body::GraphQl(graph) => graph.fmt(f),
            Body::Oneline(template) => write!(f, "`{}`", template.print(Style::Backtick)),
            Body::Bytes(bytes) => write!(f, "hex,{};", encode::hex(bytes)),
            Body::File(path) => {
                write!(f, "file,{};", Template::text(path).print(Style::FileName))
            }
        }
    }
}
