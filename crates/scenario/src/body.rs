//! Bodies: of requests, and as a demand on answers.

use std::fmt;

use crate::cursor::Cursor;
use crate::encode;
use crate::error::Fault;
use crate::template::{Expr, Style, Template};
use crate::variables::Variables;

/// How deep JSON may be nested; deeper text is refused rather than overflowing the stack.
const JSON_DEPTH_MAX: u32 = 128;

/// A body as written in a flow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// JSON with expressions, layout kept as written.
    Json(JsonText),
    /// Between ```` ``` ```` lines.
    Multiline(Language, Template),
    /// Between `` ` ``.
    Oneline(Template),
    /// `base64,…;` or `hex,…;`.
    Bytes(Vec<u8>),
    /// `file,…;`, relative to the flow's folder.
    File(String),
}

/// The word after the opening ```` ``` ````.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Plain,
    Json,
    Xml,
    /// No expressions inside.
    Raw,
}

/// JSON with expressions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JsonText {
    pub(crate) pieces: Vec<JsonPiece>,
}

/// A part of a [`JsonText`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonPiece {
    Text(String),
    /// Stands for a whole value.
    Value(Expr),
    /// Stands within a string, where the value must be escaped.
    InString(Expr),
}

impl Language {
    const ALL: [(&'static str, Language); 4] = [
        ("", Language::Plain),
        ("json", Language::Json),
        ("xml", Language::Xml),
        ("raw", Language::Raw),
    ];

    fn name(self) -> &'static str {
        let row = Language::ALL.iter().find(|(_, language)| *language == self);
        row.map_or("", |(name, _)| name)
    }
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
        let start = cursor.at();
        if cursor.take("```") {
            return multiline(cursor, start).map(Some);
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
            return Err(cursor.fault("an XML body is not run; put it between ```xml and ```"));
        }
        if JsonText::begins(cursor.rest()) {
            let mut json = JsonText::default();
            json.parse_value(cursor, 0)?;
            return Ok(Some(Body::Json(json)));
        }
        Ok(None)
    }

    /// The content type it has unless a header says otherwise.
    pub(crate) fn content_type(&self) -> Option<&'static str> {
        match self {
            Body::Json(_) | Body::Multiline(Language::Json, _) => Some("application/json"),
            Body::Multiline(Language::Xml, _) => Some("application/xml"),
            _ => None,
        }
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Body::Json(json) => json.exprs().collect(),
            Body::Multiline(_, template) | Body::Oneline(template) => template.exprs().collect(),
            Body::Bytes(_) | Body::File(_) => Vec::new(),
        }
    }
}

impl JsonText {
    fn begins(rest: &str) -> bool {
        let word = rest
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next();
        rest.starts_with(|c: char| matches!(c, '{' | '[' | '"' | '-') || c.is_ascii_digit())
            || matches!(word, Some("true" | "false" | "null"))
    }

    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.pieces.iter().filter_map(|piece| match piece {
            JsonPiece::Text(_) => None,
            JsonPiece::Value(expr) | JsonPiece::InString(expr) => Some(expr),
        })
    }

    pub(crate) fn render(&self, variables: &mut Variables) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                JsonPiece::Text(part) => text.push_str(part),
                JsonPiece::Value(expr) => text.push_str(&expr.value(variables)?.to_string()),
                JsonPiece::InString(expr) => {
                    let quoted =
                        serde_json::Value::String(expr.value(variables)?.to_string()).to_string();
                    text.push_str(&quoted[1..quoted.len() - 1]);
                }
            }
        }
        Ok(text)
    }

    fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(JsonPiece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(JsonPiece::Text(text.to_owned())),
        }
    }

    fn push_space(&mut self, cursor: &mut Cursor<'_>) {
        let space = cursor.take_while(|c| c.is_ascii_whitespace());
        self.push_text(space);
    }

    fn push_token(&mut self, cursor: &mut Cursor<'_>, token: &str) -> Result<(), Fault> {
        cursor.expect(token)?;
        self.push_text(token);
        Ok(())
    }

    fn parse_value(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> Result<(), Fault> {
        if depth > JSON_DEPTH_MAX {
            return Err(cursor.fault("this JSON is nested too deeply"));
        }
        if cursor.rest().starts_with("{{") {
            let expr = Expr::parse(cursor)?;
            self.pieces.push(JsonPiece::Value(expr));
            return Ok(());
        }
        match cursor.peek() {
            Some('"') => self.parse_string(cursor),
            Some('{') => self.parse_items(cursor, ("{", "}"), |json, cursor| {
                json.parse_string(cursor)?;
                json.push_space(cursor);
                json.push_token(cursor, ":")?;
                json.push_space(cursor);
                json.parse_value(cursor, depth + 1)
            }),
            Some('[') => self.parse_items(cursor, ("[", "]"), |json, cursor| {
                json.parse_value(cursor, depth + 1)
            }),
            _ => self.parse_scalar(cursor),
        }
    }

    fn parse_items(
        &mut self,
        cursor: &mut Cursor<'_>,
        (open, close): (&str, &str),
        mut item: impl FnMut(&mut JsonText, &mut Cursor<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.push_token(cursor, open)?;
        self.push_space(cursor);
        if cursor.rest().starts_with(close) {
            return self.push_token(cursor, close);
        }
        loop {
            item(self, cursor)?;
            self.push_space(cursor);
            if !cursor.rest().starts_with(',') {
                return self.push_token(cursor, close);
            }
            self.push_token(cursor, ",")?;
            self.push_space(cursor);
        }
    }

    fn parse_string(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let start = cursor.at();
        self.push_token(cursor, "\"")?;
        loop {
            if cursor.rest().starts_with("{{") {
                let expr = Expr::parse(cursor)?;
                self.pieces.push(JsonPiece::InString(expr));
                continue;
            }
            let from = cursor.at();
            match cursor.next() {
                None | Some('\n') => return Err(Fault::new(start, "this string has no end")),
                Some('\\') => {
                    cursor.next();
                }
                Some(_) => {}
            }
            let taken = cursor.since(from);
            self.push_text(taken);
            if taken == "\"" {
                return Ok(());
            }
        }
    }

    fn parse_scalar(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let start = cursor.at();
        let text = cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        if serde_json::from_str::<serde_json::Value>(text).is_err() {
            return Err(Fault::new(start, "expected a JSON value"));
        }
        self.push_text(text);
        Ok(())
    }
}

/// From behind the opening ```` ``` ```` to behind the closing one.
fn multiline(cursor: &mut Cursor<'_>, start: usize) -> Result<Body, Fault> {
    let language_at = cursor.at();
    let word = cursor.take_while(|c| c != '\n' && c != '`' && c != '\r');
    let row = Language::ALL.iter().find(|(name, _)| *name == word.trim());
    let Some((_, language)) = row else {
        return Err(Fault::new(
            language_at,
            "this kind of text is not run; known are json, xml, raw and none",
        ));
    };
    cursor.take("\r");
    cursor.take("\n");
    let mut template = Template::default();
    loop {
        if cursor.take("```") {
            return Ok(Body::Multiline(*language, template));
        }
        if *language != Language::Raw && cursor.rest().starts_with("{{") {
            let expr = Expr::parse(cursor)?;
            template.pieces.push(crate::template::Piece::Expr(expr));
            continue;
        }
        match cursor.next() {
            None => return Err(Fault::new(start, "this ``` has no closing ```")),
            Some(character) => template.push_text(character.encode_utf8(&mut [0; 4])),
        }
    }
}

/// The bytes of `base64,…;` or `hex,…;` if such comes next.
pub(crate) fn parse_bytes(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let start = cursor.at();
    let decode = if cursor.take("base64,") {
        encode::from_base64
    } else if cursor.take("hex,") {
        |text: &str| encode::from_hex(&text.replace(char::is_whitespace, ""))
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
            Body::Multiline(language, template) => {
                writeln!(f, "```{}", language.name())?;
                for piece in &template.pieces {
                    match piece {
                        crate::template::Piece::Text(text) => f.write_str(text)?,
                        crate::template::Piece::Expr(expr) => expr.fmt(f)?,
                    }
                }
                f.write_str("```")
            }
            Body::Oneline(template) => write!(f, "`{}`", template.print(Style::Backtick)),
            Body::Bytes(bytes) => write!(f, "hex,{};", encode::hex(bytes)),
            Body::File(path) => {
                write!(f, "file,{};", Template::text(path).print(Style::FileName))
            }
        }
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                JsonPiece::Text(text) => f.write_str(text)?,
                JsonPiece::Value(expr) | JsonPiece::InString(expr) => expr.fmt(f)?,
            }
        }
        Ok(())
    }
}
