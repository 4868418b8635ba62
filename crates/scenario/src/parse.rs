//! From the text of a `.hurl` file to a [`FlowText`].
//!
//! Written by hand after the documented grammar. What the grammar has and Hakaru does not run is an
//! error with its place, never skipped.

mod options;

use crate::answer::HTTP2;
use crate::ast::{Assert, Capture, Entry, FlowText, KeyValue, Part, Response};
use crate::body::{Body, parse_file};
use crate::cursor::Cursor;
use crate::error::{Fault, ParseError};
use crate::filter::Filter;
use crate::nearest;
use crate::predicate::Predicate;
use crate::query::Query;
use crate::template::{Style, Template};
use crate::variables::is_variable_name;

impl FlowText {
    /// Parses the text of a flow; errors name `file`.
    pub fn parse(file: &str, text: &str) -> Result<FlowText, ParseError> {
        let mut cursor = Cursor::new(text);
        flow(&mut cursor).map_err(|fault| fault.locate(file, text))
    }
}

fn flow(cursor: &mut Cursor<'_>) -> Result<FlowText, Fault> {
    let mut flow = FlowText::default();
    loop {
        cursor.blank();
        cursor.no_command()?;
        if cursor.at_end() {
            return Ok(flow);
        }
        flow.entries.push(entry(cursor)?);
    }
}

fn entry(cursor: &mut Cursor<'_>) -> Result<Entry, Fault> {
    let start = cursor.at();
    let place = cursor.place();
    let method = cursor.take_while(|c| c.is_ascii_uppercase());
    if method.is_empty() || !cursor.rest().starts_with([' ', '\t']) {
        return Err(Fault::new(
            start,
            "expected a request, such as `GET /path`, or a section known in this place",
        ));
    }
    if method == "HTTP" {
        return Err(Fault::new(start, "this answer has no request before it"));
    }
    if method == "CONNECT" {
        return Err(Fault::new(
            start,
            "CONNECT is not run: there are no proxies here",
        ));
    }
    cursor.spaces();
    let url_at = cursor.at();
    let url = Template::parse(cursor, Style::Url)?;
    if url.pieces.is_empty() {
        return Err(Fault::new(url_at, "expected a URL or a path"));
    }
    cursor.end_of_line()?;
    let mut entry = Entry {
        place,
        method: method.to_owned(),
        url,
        headers: key_values(cursor)?,
        ..Entry::default()
    };
    request_sections(cursor, &mut entry)?;
    cursor.blank();
    let body_at = cursor.at();
    entry.body = Body::parse(cursor)?;
    if entry.body.is_some() {
        if !entry.form.is_empty() || !entry.multipart.is_empty() {
            return Err(Fault::new(
                body_at,
                "a request has a form or a body, not both",
            ));
        }
        cursor.end_of_line()?;
    }
    entry.response = response(cursor)?;
    Ok(entry)
}

/// The sections of a request by the names of today.
const REQUEST_SECTIONS: [&str; 6] = [
    "Query",
    "Form",
    "Multipart",
    "Cookies",
    "Options",
    "BasicAuth",
];
/// From here on a word is taken for a misspelt one of ours; equal words have 1.
const LIKENESS_MIN: f64 = 0.85;

/// Refuses a repeated section.
fn only_once<'a>(seen: &mut Vec<&'a str>, name: &'a str, at: usize) -> Result<(), Fault> {
    if seen.contains(&name) {
        return Err(Fault::new(
            at,
            format!(
                "the section `[{name}]` stands here a second time; write its lines into the first"
            ),
        ));
    }
    seen.push(name);
    Ok(())
}

fn request_sections(cursor: &mut Cursor<'_>, entry: &mut Entry) -> Result<(), Fault> {
    let mut seen = Vec::new();
    while let Some((name, at)) = section_name(cursor)? {
        only_once(&mut seen, name, at)?;
        match name {
            "Query" | "QueryStringParams" => entry.query.extend(key_values(cursor)?),
            "Form" | "FormParams" => entry.form.extend(key_values(cursor)?),
            "Multipart" | "MultipartFormData" => entry.multipart.extend(parts(cursor)?),
            "Cookies" => entry.cookies.extend(key_values(cursor)?),
            "Options" => options::parse(cursor, &mut entry.options)?,
            "BasicAuth" => {
                let mut users = key_values(cursor)?;
                if users.len() > 1 {
                    return Err(Fault::new(at, "expected one line `user: password` below"));
                }
                entry.basic_auth = users.pop();
            }
            _ => return Err(unknown_section(name, at, &REQUEST_SECTIONS)),
        }
        if !entry.form.is_empty() && !entry.multipart.is_empty() {
            return Err(Fault::new(at, "a request has one form, not two"));
        }
    }
    Ok(())
}

fn response(cursor: &mut Cursor<'_>) -> Result<Option<Response>, Fault> {
    cursor.blank();
    let place = cursor.place();
    let start = cursor.at();
    if !cursor.take("HTTP") {
        return Ok(None);
    }
    let version = cursor.take_while(|c| !c.is_whitespace());
    let minor_version = match version {
        "" | "/*" => None,
        "/1.0" => Some(0),
        "/1.1" => Some(1),
        "/2" => Some(HTTP2),
        _ => {
            return Err(Fault::new(
                start,
                "only HTTP, HTTP/1.0, HTTP/1.1 and HTTP/2 are run",
            ));
        }
    };
    cursor.spaces();
    let status = status(cursor)?;
    cursor.end_of_line()?;
    let mut response = Response {
        place,
        minor_version,
        status,
        headers: key_values(cursor)?,
        ..Response::default()
    };
    let mut seen = Vec::new();
    while let Some((name, at)) = section_name(cursor)? {
        only_once(&mut seen, name, at)?;
        match name {
            "Captures" => items(cursor, |cursor| {
                response.captures.push(capture(cursor)?);
                Ok(())
            })?,
            "Asserts" => items(cursor, |cursor| {
                response.asserts.push(assert(cursor)?);
                Ok(())
            })?,
            _ => return Err(unknown_section(name, at, &["Asserts", "Captures"])),
        }
    }
    cursor.blank();
    response.body = Body::parse(cursor)?;
    if response.body.is_some() {
        cursor.end_of_line()?;
    }
    Ok(Some(response))
}

fn status(cursor: &mut Cursor<'_>) -> Result<Option<u16>, Fault> {
    let start = cursor.at();
    if cursor.take("*") {
        return Ok(None);
    }
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    match digits.parse() {
        Ok(status @ 100..=999) => Ok(Some(status)),
        _ => Err(Fault::new(start, "expected a status such as 200, or `*`")),
    }
}

/// Returns the name and offset of a section beginning at the cursor. A JSON array may begin in the
/// same way; sections begin with a capital letter.
fn section_name<'a>(cursor: &mut Cursor<'a>) -> Result<Option<(&'a str, usize)>, Fault> {
    cursor.blank();
    let start = cursor.at();
    if !cursor.take("[") || !cursor.peek().is_some_and(|c| c.is_ascii_uppercase()) {
        cursor.back_to(start);
        return Ok(None);
    }
    let name = cursor.word();
    cursor.expect("]")?;
    cursor.end_of_line()?;
    Ok(Some((name, start)))
}

fn unknown_section(name: &str, at: usize, known: &[&str]) -> Fault {
    let others = known.iter().copied().filter(|known| *known != name);
    let hint = match nearest(name, others, LIKENESS_MIN) {
        Some(known) => format!("; did you mean `[{known}]`?"),
        None => String::new(),
    };
    Fault::new(
        at,
        format!("the section `[{name}]` is not run in this place{hint}"),
    )
}

/// Lines of `name: value` as long as some come next.
fn key_values(cursor: &mut Cursor<'_>) -> Result<Vec<KeyValue>, Fault> {
    let mut found = Vec::new();
    loop {
        cursor.blank();
        let place = cursor.place();
        let Some(key) = key(cursor)? else {
            return Ok(found);
        };
        let value = Template::parse(cursor, Style::Value)?;
        cursor.end_of_line()?;
        found.push(KeyValue { place, key, value });
    }
}

/// Reads `name:` and the following spaces; returns `None`, and consumes nothing, for any other
/// line.
pub(crate) fn key(cursor: &mut Cursor<'_>) -> Result<Option<Template>, Fault> {
    let start = cursor.at();
    let rest = cursor.rest();
    let block = rest.starts_with('{') && !rest.starts_with("{{");
    let bytes = ["base64,", "hex,", "file,"]
        .iter()
        .any(|kind| rest.starts_with(kind));
    if block || bytes || rest.starts_with(['[', '`', '"', '<']) {
        return Ok(None);
    }
    let key = Template::parse(cursor, Style::Key)?;
    // A request line such as `GET http://…` has a colon too, but not as the first thing behind a
    // word.
    cursor.spaces();
    if key.pieces.is_empty() || !cursor.take(":") {
        cursor.back_to(start);
        return Ok(None);
    }
    cursor.spaces();
    Ok(Some(key))
}

fn parts(cursor: &mut Cursor<'_>) -> Result<Vec<Part>, Fault> {
    let mut found = Vec::new();
    loop {
        cursor.blank();
        let place = cursor.place();
        let Some(key) = key(cursor)? else {
            return Ok(found);
        };
        if let Some(file) = parse_file(cursor)? {
            cursor.spaces();
            let content_type = cursor
                .take_while(|c| !matches!(c, '\n' | '\r' | '#'))
                .trim();
            found.push(Part::File {
                place,
                key,
                file,
                content_type: (!content_type.is_empty()).then(|| content_type.to_owned()),
            });
        } else {
            let value = Template::parse(cursor, Style::Value)?;
            found.push(Part::Text(KeyValue { place, key, value }));
        }
        cursor.end_of_line()?;
    }
}

/// Lines of a section of the answer, up to the next section, request or body.
fn items<'a>(
    cursor: &mut Cursor<'a>,
    mut item: impl FnMut(&mut Cursor<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    loop {
        cursor.blank();
        let rest = cursor.rest();
        let capitals = rest
            .find(|c: char| !c.is_ascii_uppercase())
            .unwrap_or(rest.len());
        let request = capitals > 0 && rest[capitals..].starts_with([' ', '\t']);
        let other = rest.is_empty() || rest.starts_with('[') || Body::begins(rest);
        if request || other {
            return Ok(());
        }
        item(cursor)?;
        cursor.end_of_line()?;
    }
}

pub(crate) fn capture(cursor: &mut Cursor<'_>) -> Result<Capture, Fault> {
    let place = cursor.place();
    let start = cursor.at();
    let key = key(cursor)?;
    let name = match key.as_ref().and_then(Template::as_static) {
        Some(name) if is_variable_name(name) => name.to_owned(),
        _ => {
            return Err(Fault::new(
                start,
                "expected `name: query`, the name of letters, digits, _ and -",
            ));
        }
    };
    let query = Query::parse(cursor)?;
    let filters = Filter::parse_all(cursor)?;
    cursor.spaces();
    Ok(Capture {
        place,
        name,
        query,
        filters,
        redact: cursor.take_word("redact"),
    })
}

pub(crate) fn assert(cursor: &mut Cursor<'_>) -> Result<Assert, Fault> {
    let place = cursor.place();
    let query = Query::parse(cursor)?;
    let filters = Filter::parse_all(cursor)?;
    cursor.space_between()?;
    let predicate = Predicate::parse(cursor)?;
    Ok(Assert {
        place,
        query,
        filters,
        predicate,
    })
}
