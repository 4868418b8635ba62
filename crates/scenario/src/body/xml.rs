//! Finds the end of an XML document: the body of a flow extends to the end of the outermost
//! element.
//!
//! Only as much of XML is read as that takes. Whether names and entities are right is for the
//! server.

use crate::cursor::Cursor;
use crate::error::Fault;

/// How deep elements may be nested; nobody writes more by hand.
const DEPTH_MAX: usize = 1_000;

/// Markup between `<` and `>` other than elements, with beginning and end.
const OTHERS: [(&str, &str); 4] = [
    ("<!--", "-->"),
    ("<![CDATA[", "]]>"),
    ("<?", "?>"),
    ("<!", ">"),
];

/// Takes a document.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let start = cursor.at();
    let mut open: Vec<&str> = Vec::new();
    loop {
        let between_at = cursor.at();
        let between = cursor.take_while(|c| c != '<');
        if let Some(at) = bare_ampersand(between) {
            let at = between_at + at;
            return Err(Fault::new(
                at,
                "this `&` begins no reference; write `&amp;`",
            ));
        }
        if cursor.at_end() || (open.is_empty() && !between.trim().is_empty()) {
            let what = open.last().map_or("an element", |name| name);
            let message = format!("this XML does not end: `{what}` is not closed");
            return Err(Fault::new(start, message));
        }
        let at = cursor.at();
        if let Some((begin, end)) = OTHERS.iter().find(|(begin, _)| cursor.take(begin)) {
            skip_other(cursor, at, begin, end)?;
            continue;
        }
        cursor.expect("<")?;
        let closes = cursor.take("/");
        let name = cursor.take_while(|c| !c.is_whitespace() && !matches!(c, '>' | '/' | '<'));
        let tag_at = cursor.at();
        let empty = attributes(cursor, at)?;
        let tag = cursor.since(tag_at).trim_end_matches('>');
        if !closes && !are_attributes(tag.strip_suffix('/').unwrap_or(tag)) {
            return Err(Fault::new(at, "this tag has an attribute that is no XML"));
        }
        if name.is_empty() || (closes && open.pop() != Some(name)) {
            return Err(Fault::new(at, "this does not fit the XML before it"));
        }
        if !closes && !empty {
            open.push(name);
        }
        if open.len() > DEPTH_MAX {
            return Err(Fault::new(at, "this XML is nested too deeply"));
        }
        if open.is_empty() {
            return Ok(cursor.since(start).to_owned());
        }
    }
}

fn skip_other(cursor: &mut Cursor<'_>, at: usize, begin: &str, end: &str) -> Result<(), Fault> {
    // The declarations inside a document type hold `>` themselves.
    let rest = cursor.rest();
    let bracket = rest
        .find('[')
        .filter(|bracket| begin == "<!" && rest.find('>').is_some_and(|close| *bracket < close));
    let from = match bracket {
        Some(bracket) => rest[bracket..].find(']').map(|close| bracket + close),
        None => Some(0),
    };
    let length = from.and_then(|from| Some(from + rest[from..].find(end)? + end.len()));
    match length {
        Some(length) => {
            cursor.back_to(cursor.at() + length);
            Ok(())
        }
        None => Err(Fault::new(at, format!("expected `{end}` behind this"))),
    }
}

/// Reads the rest of a tag; returns whether the element is empty.
fn attributes(cursor: &mut Cursor<'_>, at: usize) -> Result<bool, Fault> {
    let mut before = ' ';
    loop {
        match cursor.next() {
            Some('>') => return Ok(before == '/'),
            Some(quote @ ('"' | '\'')) => {
                cursor.take_while(|c| c != quote);
                cursor.next();
                before = quote;
            }
            Some('<') | None => return Err(Fault::new(at, "this tag has no `>`")),
            Some(other) => before = other,
        }
    }
}

/// Whether a tag holds nothing but `name="value"` pairs.
fn are_attributes(tag: &str) -> bool {
    let mut rest = tag;
    loop {
        let trimmed = rest.trim_start();
        if trimmed.is_empty() {
            return true;
        }
        let Some((name, value)) = trimmed.split_once('=') else {
            return false;
        };
        let name = name.trim_end();
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || "_:".contains(c))
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_:.-".contains(c));
        let value = value.trim_start();
        let end = value
            .chars()
            .next()
            .filter(|quote| matches!(quote, '"' | '\''))
            .and_then(|quote| value[1..].find(quote));
        let (true, true, Some(end)) = (is_name, trimmed.len() < rest.len(), end) else {
            return false;
        };
        rest = &value[end + 2..];
    }
}

/// Returns the offset of the first `&` not beginning a reference such as `&amp;` or `&#65;`.
fn bare_ampersand(text: &str) -> Option<usize> {
    let is_bare = |(at, _): &(usize, &str)| {
        let name = text[at + 1..].split_once(';').map_or("", |(name, _)| name);
        let name = name.strip_prefix('#').unwrap_or(name);
        name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_alphanumeric() || "._-".contains(c))
    };
    text.match_indices('&').find(is_bare).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let mut cursor = Cursor::new(text);
        let found = parse(&mut cursor).map_err(|fault| fault.message);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn a_document_ends_with_its_outermost_element() {
        check("<a/>\nHTTP 200", Ok("<a/>"));
        check(
            "<a><b x='>'>t</b><b/></a> rest",
            Ok("<a><b x='>'>t</b><b/></a>"),
        );
        check(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY b \"c\">]>\n<!-- <x> --><a><![CDATA[</a>]]></a>x",
            Ok(
                "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY b \"c\">]>\n<!-- <x> --><a><![CDATA[</a>]]></a>",
            ),
        );
        check("<a><b></a>", Err("this does not fit the XML before it"));
        check("<a>", Err("this XML does not end: `a` is not closed"));
        check("<a", Err("this tag has no `>`"));
        check("<!-- x", Err("expected `-->` behind this"));
        check(
            "<?x?> text <a/>",
            Err("this XML does not end: `an element` is not closed"),
        );
    }
}
