//! Regular expressions and JSONPath, compiled when the flow is read. Those with expressions in them
//! are compiled each time they are used.

use std::borrow::Cow;
use std::fmt;

use regex::Regex;
use serde_json_path::JsonPath;

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::template::{Expr, Style, Template, print_quoted, print_quoted_template, quoted};
use crate::value::Value;
use crate::variables::Variables;

/// A regular expression. Two are equal when their texts are.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Fixed(Regex),
    Written(Template),
}

/// A JSONPath (RFC 9535).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Path {
    Fixed(FixedPath),
    Written(Template),
}

/// A path known when the flow is read.
#[derive(Clone, Debug)]
pub(crate) struct FixedPath {
    text: String,
    path: JsonPath,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Pattern, String> {
        compile(text).map(Pattern::Fixed)
    }

    /// `"text"` or `/text/`.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Pattern, Fault> {
        let start = cursor.at();
        let text = if cursor.take("/") {
            let text = slashed(cursor);
            text.ok_or_else(|| Fault::new(start, "this pattern has no closing `/`"))?
        } else {
            let template = quoted(cursor)?;
            match template.as_static() {
                Some(text) => text.to_owned(),
                None => return Ok(Pattern::Written(template)),
            }
        };
        Pattern::new(&text).map_err(|message| Fault::new(start, message))
    }

    /// The same, or `` `text` ``.
    pub(crate) fn parse_operand(cursor: &mut Cursor<'_>) -> Result<Pattern, Fault> {
        let start = cursor.at();
        if !cursor.rest().starts_with("```") && cursor.take("`") {
            let template = Template::parse(cursor, Style::Backtick)?;
            cursor.expect("`")?;
            return match template.as_static() {
                Some(text) => Pattern::new(text).map_err(|message| Fault::new(start, message)),
                None => Ok(Pattern::Written(template)),
            };
        }
        Pattern::parse(cursor)
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Pattern::Fixed(_) => Vec::new(),
            Pattern::Written(template) => template.exprs().collect(),
        }
    }

    fn regex(&self, variables: &mut Variables) -> Result<Cow<'_, Regex>, String> {
        match self {
            Pattern::Fixed(regex) => Ok(Cow::Borrowed(regex)),
            Pattern::Written(template) => compile(&template.render(variables)?).map(Cow::Owned),
        }
    }

    pub(crate) fn is_match(&self, text: &str, variables: &mut Variables) -> Result<bool, String> {
        Ok(self.regex(variables)?.is_match(text))
    }

    /// The first group of the first match; nothing for a pattern without groups.
    pub(crate) fn find(
        &self,
        text: &str,
        variables: &mut Variables,
    ) -> Result<Option<String>, String> {
        let regex = self.regex(variables)?;
        let found = regex
            .captures(text)
            .and_then(|captures| captures.get(1).map(|found| found.as_str().to_owned()));
        Ok(found)
    }

    pub(crate) fn replace(
        &self,
        text: &str,
        by: &str,
        variables: &mut Variables,
    ) -> Result<String, String> {
        Ok(self.regex(variables)?.replace_all(text, by).into_owned())
    }
}

fn compile(text: &str) -> Result<Regex, String> {
    // The first line of the library's message only says that there is an error.
    Regex::new(text).map_err(|error| {
        let detail = error.to_string();
        let detail = detail.lines().last().unwrap_or("").trim().to_owned();
        format!("not a regular expression: {detail}")
    })
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
        let template = quoted(cursor)?;
        match template.as_static() {
            None => Ok(Path::Written(template)),
            Some(text) => FixedPath::new(text)
                .map(Path::Fixed)
                .map_err(|message| Fault::new(start, message)),
        }
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Path::Fixed(_) => Vec::new(),
            Path::Written(template) => template.exprs().collect(),
        }
    }

    /// Nothing, the node, or the list of nodes when there are several.
    pub(crate) fn find(
        &self,
        json: &serde_json::Value,
        variables: &mut Variables,
    ) -> Result<Option<Value>, String> {
        match self {
            Path::Fixed(path) => Ok(path.find(json)),
            Path::Written(template) => Ok(FixedPath::new(&template.render(variables)?)?.find(json)),
        }
    }
}

impl FixedPath {
    fn new(text: &str) -> Result<FixedPath, String> {
        let path =
            JsonPath::parse(text).map_err(|error| format!("not a JSONPath (RFC 9535): {error}"))?;
        Ok(FixedPath {
            text: text.to_owned(),
            path,
        })
    }

    fn find(&self, json: &serde_json::Value) -> Option<Value> {
        let nodes = self.path.query(json);
        let mut found: Vec<Value> = nodes.iter().map(|node| Value::from_json(node)).collect();
        match found.len() {
            0 | 1 => found.pop(),
            _ => Some(Value::List(found)),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Pattern::Fixed(one), Pattern::Fixed(other)) => one.as_str() == other.as_str(),
            (Pattern::Written(one), Pattern::Written(other)) => one == other,
            _ => false,
        }
    }
}

impl PartialEq for FixedPath {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Within quotes, since there every character can be written.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Pattern::Fixed(regex) => print_quoted(regex.as_str()),
            Pattern::Written(template) => print_quoted_template(template),
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Path::Fixed(path) => print_quoted(&path.text),
            Path::Written(template) => print_quoted_template(template),
        })
    }
}
