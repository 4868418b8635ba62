//! Texts with `{{expressions}}`, in the forms allowed at different places of the grammar.

use std::fmt;

use crate::cursor::Cursor;
use crate::date::Date;
use crate::error::Fault;
use crate::filter::Filter;
use crate::value::Value;
use crate::variables::Variables;
use crate::vocabulary::{WordKind, refusal};

/// A text with expressions. Neighbouring pieces are never both text, and no text is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<Piece>,
}

/// A part of a [`Template`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Expr(Expr),
}

/// What stands between `{{` and `}}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) source: Source,
    pub(crate) filters: Vec<Filter>,
}

/// Where an expression's value comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    Variable(String),
    NewDate,
    NewUuid,
}

/// Context of a template, with an end and characters to escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A URL: to the next white space or comment; knows no escapes.
    Url,
    /// Name of a header, parameter, cookie or capture: ends at `:` or a preceding space.
    Key,
    /// The text after the `:`: to the end of the line or a comment, without surrounding spaces.
    Value,
    /// Within `"`.
    Quoted,
    /// Within `` ` ``.
    Backtick,
    /// A file name: to the `;`.
    FileName,
}

impl Style {
    fn ends_before(self, character: char) -> bool {
        match self {
            Style::Url => character.is_whitespace() || character == '#',
            Style::Key => matches!(character, ':' | ' ' | '\t' | '\n' | '\r' | '#'),
            Style::Value => matches!(character, '\n' | '\r' | '#'),
            Style::Quoted => character == '"',
            Style::Backtick => matches!(character, '`' | '\n'),
            Style::FileName => matches!(character, ';' | '\n' | '\r' | '#'),
        }
    }

    /// Returns the characters escaped by a backslash, besides the ones given a meaning.
    fn escapable(self) -> &'static str {
        match self {
            Style::Url => "",
            Style::Key | Style::Value => "#:\\/",
            Style::Quoted | Style::Backtick => "#\"`\\/",
            Style::FileName => "#; {}\\",
        }
    }

    fn trims(self) -> bool {
        matches!(self, Style::Value | Style::FileName)
    }
}

impl Template {
    /// A template without expressions.
    pub(crate) fn text(text: &str) -> Template {
        let mut template = Template::default();
        template.push_text(text);
        template
    }

    /// A whole text in which nothing but `{{` has a meaning.
    pub(crate) fn of_whole(text: &str) -> Result<Template, Fault> {
        let mut template = Template::default();
        let mut cursor = Cursor::new(text);
        while !cursor.at_end() {
            let rest = cursor.rest();
            match rest.find("{{") {
                Some(0) => template.pieces.push(Piece::Expr(Expr::parse(&mut cursor)?)),
                found => {
                    let length = found.unwrap_or(rest.len());
                    template.push_text(&rest[..length]);
                    cursor.back_to(cursor.at() + length);
                }
            }
        }
        Ok(template)
    }

    /// Returns the text, when free of expressions.
    pub(crate) fn as_static(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Expr(expr) => Some(expr),
        })
    }

    pub(crate) fn parse(cursor: &mut Cursor<'_>, style: Style) -> Result<Template, Fault> {
        let mut template = Template::default();
        let mut text = String::new();
        // Length of `text` that trimming must not touch: escaped characters are meant.
        let mut kept = 0;
        while let Some(character) = cursor.peek() {
            if style.ends_before(character) {
                break;
            }
            if cursor.rest().starts_with("{{") {
                template.push_text(&std::mem::take(&mut text));
                kept = 0;
                template.pieces.push(Piece::Expr(Expr::parse(cursor)?));
            } else if character == '\\' && style != Style::Url {
                text.push(escape(cursor, style.escapable())?);
                kept = text.len();
            } else {
                text.push(character);
                cursor.next();
            }
        }
        if style.trims() {
            let end = text.trim_end_matches([' ', '\t']).len();
            text.truncate(end.max(kept));
        }
        template.push_text(&text);
        Ok(template)
    }

    /// The text with all expressions replaced.
    pub(crate) fn render(&self, variables: &mut Variables) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Expr(expr) => {
                    text.push_str(&expr.text(variables)?);
                }
            }
        }
        Ok(text)
    }

    /// The same for a body, where filters may leave any bytes.
    pub(crate) fn render_bytes(&self, variables: &mut Variables) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => bytes.extend_from_slice(part.as_bytes()),
                Piece::Expr(expr) => bytes.extend(expr.bytes(variables)?),
            }
        }
        Ok(bytes)
    }

    pub(crate) fn print(&self, style: Style) -> String {
        let mut out = String::new();
        let last = self.pieces.len().saturating_sub(1);
        for (position, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => {
                    let edges = (position == 0, position == last);
                    print_text(text, style, edges, &mut out);
                }
                Piece::Expr(expr) => out.push_str(&expr.to_string()),
            }
        }
        out
    }
}

impl Expr {
    /// From `{{` to `}}`.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Expr, Fault> {
        let start = cursor.at();
        cursor.expect("{{")?;
        cursor.spaces();
        let name_at = cursor.at();
        let source = match cursor.word() {
            "" => return Err(cursor.fault("expected the name of a variable after `{{`")),
            "newDate" => Source::NewDate,
            "newUuid" => Source::NewUuid,
            name => match refusal(WordKind::Function, name) {
                Some(why) => return Err(Fault::new(name_at, format!("the function {why}"))),
                None => Source::Variable(name.to_owned()),
            },
        };
        let filters = Filter::parse_all(cursor)?;
        cursor.spaces();
        if !cursor.take("}}") {
            return Err(Fault::new(start, "this `{{` has no matching `}}`"));
        }
        Ok(Expr { source, filters })
    }

    /// Returns the current value, as text.
    pub(crate) fn text(&self, variables: &mut Variables) -> Result<String, String> {
        let value = self.value(variables)?;
        self.rendered(&value)
    }

    /// Returns the current value as text, or the bytes left by filters.
    fn bytes(&self, variables: &mut Variables) -> Result<Vec<u8>, String> {
        match self.value(variables)? {
            Value::Bytes(bytes) if !self.filters.is_empty() => Ok(bytes),
            value => self.rendered(&value).map(String::into_bytes),
        }
    }

    fn rendered(&self, value: &Value) -> Result<String, String> {
        value.rendered().map_err(|why| format!("{self}: {why}"))
    }

    /// Returns the current value.
    pub(crate) fn value(&self, variables: &mut Variables) -> Result<Value, String> {
        let value = match &self.source {
            Source::NewDate => Value::Date(Date::now()),
            Source::NewUuid => Value::Text(variables.new_uuid()),
            Source::Variable(name) => variables
                .get(name)
                .cloned()
                .ok_or_else(|| format!("variable `{name}` has no value"))?,
        };
        if self.filters.is_empty() {
            return Ok(value);
        }
        Filter::apply_all(&self.filters, value, variables)?
            .ok_or_else(|| format!("the filters of {self} leave nothing"))
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Variable(name) => write!(f, "{{{{{name}")?,
            Source::NewDate => f.write_str("{{newDate")?,
            Source::NewUuid => f.write_str("{{newUuid")?,
        }
        for filter in &self.filters {
            write!(f, " {filter}")?;
        }
        f.write_str("}}")
    }
}

/// Returns the character after a backslash: one of `plain`, or the one meant by a letter.
pub(crate) fn escape(cursor: &mut Cursor<'_>, plain: &str) -> Result<char, Fault> {
    let start = cursor.at();
    cursor.expect("\\")?;
    match cursor.next() {
        Some(character) if plain.contains(character) => Ok(character),
        Some('b') => Ok('\u{8}'),
        Some('f') => Ok('\u{c}'),
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some('t') => Ok('\t'),
        Some('u') => {
            cursor.expect("{")?;
            let digits = cursor.take_while(|c| c.is_ascii_hexdigit());
            let code = u32::from_str_radix(digits, 16)
                .ok()
                .and_then(char::from_u32);
            cursor.expect("}")?;
            code.ok_or_else(|| Fault::new(start, "this is not the number of a Unicode character"))
        }
        _ => Err(Fault::new(
            start,
            format!(
                "unknown escape; known are here \\b \\f \\n \\r \\t \\u{{…}} and the backslash before one of {plain}"
            ),
        )),
    }
}

/// Prints `text` so reading yields the same text. `edges` says whether it begins and ends the
/// template.
fn print_text(text: &str, style: Style, edges: (bool, bool), out: &mut String) {
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let edge = at == 0 && edges.0;
        // Spaces around the whole would be trimmed.
        let trimmed =
            (edges.0 && text[..at].trim().is_empty()) || (edges.1 && text[at..].trim().is_empty());
        let special = style.ends_before(character)
            || character == '\\'
            || character.is_control()
            // Two braces would open an expression, also across a piece's end.
            || (character == '{' && (before == '{' || at + 1 == text.len()))
            || (trimmed && style.trims() && matches!(character, ' ' | '\t'))
            // These would be read as a body, such as `hex,…;`, or a section instead of a key.
            || (style == Style::Key && character == ',')
            || (edge && style == Style::Key && matches!(character, '[' | '{' | '`' | '<' | '"'));
        before = character;
        if special && style != Style::Url {
            push_escaped(character, style, out);
        } else {
            out.push(character);
        }
    }
}

fn push_escaped(character: char, style: Style, out: &mut String) {
    match character {
        plain if style.escapable().contains(plain) => out.extend(['\\', plain]),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other => out.push_str(&format!("\\u{{{:x}}}", u32::from(other))),
    }
}

/// A template in `"`.
pub(crate) fn quoted(cursor: &mut Cursor<'_>) -> Result<Template, Fault> {
    let start = cursor.at();
    if !cursor.take("\"") {
        return Err(cursor.fault("expected a text in double quotes"));
    }
    let template = Template::parse(cursor, Style::Quoted)?;
    if !cursor.take("\"") {
        return Err(Fault::new(start, "this text has no closing quote"));
    }
    Ok(template)
}

/// Prints a text in `"`.
pub(crate) fn print_quoted(text: &str) -> String {
    print_quoted_template(&Template::text(text))
}

/// Prints a template in `"`.
pub(crate) fn print_quoted_template(template: &Template) -> String {
    format!("\"{}\"", template.print(Style::Quoted))
}
