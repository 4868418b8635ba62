//! Regular expressions and JSONPath, compiled when the flow is read.

use std::fmt;

use regex::Regex;
use serde_json_path::JsonPath;

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::template::{plain_quoted, print_quoted};
use crate::value::Value;

/// A regular expression. Two are equal when their texts are.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
}

/// A JSONPath (RFC 9535).
#[derive(Clone, Debug)]
pub(crate) struct Path {
    text: String,
    path: JsonPath,
    /// Whether it names at most one node, so that its result is that node and not a list.
    singular: bool,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Pattern, String> {
        // The first line of the library's message only says that there is an error.
        let regex = Regex::new(text).map_err(|error| {
            let detail = error.to_string();
            let detail = detail.lines().last().unwrap_or("").trim().to_owned();
            format!("not a regular expression: {detail}")
        })?;
        Ok(Pattern { regex })
    }

    /// `"text"` or `/text/`.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Pattern, Fault> {
        let start = cursor.at();
        let text = if cursor.take("/") {
            slashed(cursor).ok_or_else(|| Fault::new(start, "this pattern has no closing `/`"))?
        } else {
            plain_quoted(cursor)?
        };
        Pattern::new(&text).map_err(|message| Fault::new(start, message))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The first group of the first match; without groups, the match.
    pub(crate) fn find(&self, text: &str) -> Option<String> {
        let captures = self.regex.captures(text)?;
        let found = if captures.len() > 1 {
            captures.get(1)?
        } else {
            captures.get(0)?
        };
        Some(found.as_str().to_owned())
    }

    pub(crate) fn replace(&self, text: &str, by: &str) -> String {
        self.regex.replace_all(text, by).into_owned()
    }
}

/// The text up to an unescaped `/`; `\/` stands for `/`, other escapes are the pattern's own.
fn slashed(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut text = String::new();
    loop {
        match cursor.next()? {
            '/' => return Some(text),
            '\n' => return None,
            '\\' => match cursor.next()? {
                '/' => text.push('/'),
                other => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
}

impl Path {
    /// `"$.path"`.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Path, Fault> {
        let start = cursor.at();
        let text = plain_quoted(cursor)?;
        let path = JsonPath::parse(&text)
            .map_err(|error| Fault::new(start, format!("not a JSONPath (RFC 9535): {error}")))?;
        let singular = is_singular(&text);
        Ok(Path {
            text,
            path,
            singular,
        })
    }

    /// The node, or the list of nodes when the path can name several.
    pub(crate) fn find(&self, json: &serde_json::Value) -> Option<Value> {
        let nodes = self.path.query(json);
        if self.singular {
            return nodes.first().map(Value::from_json);
        }
        Some(Value::List(
            nodes.iter().map(|node| Value::from_json(node)).collect(),
        ))
    }
}

/// Whether a path consists of names and indexes only: no wildcard, slice, filter, union or descent.
fn is_singular(path: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    for character in path.chars() {
        match (quote, character) {
            (Some(open), close) if open == close && before != '\\' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '*' | ':' | '?' | ',') => return false,
            (None, '.') if before == '.' => return false,
            (None, _) => {}
        }
        before = character;
    }
    true
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.regex.as_str() == other.regex.as_str()
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Within quotes, since there every character can be written.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_quoted(self.regex.as_str()))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_quoted(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_names_and_indexes_is_singular() {
        for (path, expected) in [
            ("$", true),
            ("$.a.b[0]", true),
            ("$['a*b:c,d..e']", true),
            ("$[*]", false),
            ("$..a", false),
            ("$[0:2]", false),
            ("$[?@.a == 1]", false),
            ("$['a','b']", false),
        ] {
            assert_eq!(is_singular(path), expected, "{path}");
        }
    }
}
