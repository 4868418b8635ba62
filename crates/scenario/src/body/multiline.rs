//! Texts between ```` ``` ```` lines.

use std::fmt::{self, Write};

use super::{Body, JsonText};
use crate::cursor::Cursor;
use crate::encode;
use crate::error::Fault;
use crate::template::{Expr, Piece, Template, escape};
use crate::variables::Variables;

const FENCE: &str = "```";
/// Begins the variables of a GraphQL text, at the start of a line.
const VARIABLES: &str = "variables";

/// What a backslash may stand before where the opening line says `,escape`.
const ESCAPABLE: &str = "\"\\#:;` /{}";

/// The word after the opening ```` ``` ````.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Plain,
    Json,
    Xml,
}

/// A GraphQL request: the query, and the variables below.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GraphQl {
    pub(crate) query: Template,
    pub(crate) variables: Option<JsonText>,
}

/// What the opening line says.
#[derive(Clone, Copy, Debug, Default)]
struct Opening<'a> {
    language: &'a str,
    /// Whether a backslash means something.
    escapes: bool,
    /// Whether `{{` means nothing.
    no_variables: bool,
}

/// From the opening ```` ``` ```` to the closing one.
pub(crate) fn parse_multiline(cursor: &mut Cursor<'_>) -> Result<Body, Fault> {
    let start = cursor.at();
    cursor.expect(FENCE)?;
    let mut opening = opening(cursor)?;
    let language = match opening.language {
        "" => Language::Plain,
        "json" => Language::Json,
        "xml" => Language::Xml,
        "graphql" => return graph(cursor, start, opening).map(Body::GraphQl),
        "raw" => {
            opening.no_variables = true;
            Language::Plain
        }
        code => {
            let decode = match code {
                "base64" => encode::from_base64,
                _ => encode::from_hex_text,
            };
            opening.no_variables = true;
            let text = content(cursor, start, opening, |_| false)?;
            let bytes = decode(text.as_static().unwrap_or_default());
            cursor.expect(FENCE)?;
            let fault = || Fault::new(start, "these are not encoded bytes");
            return bytes.map(Body::Bytes).ok_or_else(fault);
        }
    };
    let text = content(cursor, start, opening, |_| false)?;
    cursor.expect(FENCE)?;
    Ok(Body::Multiline(language, text))
}

fn opening<'a>(cursor: &mut Cursor<'a>) -> Result<Opening<'a>, Fault> {
    const LANGUAGES: [&str; 7] = ["", "base64", "graphql", "hex", "json", "raw", "xml"];
    let at = cursor.at();
    let mut opening = Opening {
        language: cursor.word(),
        ..Opening::default()
    };
    if !LANGUAGES.contains(&opening.language) {
        return Err(Fault::new(
            at,
            "this kind of text is not run; known are base64, graphql, hex, json, raw, xml and none",
        ));
    }
    cursor.spaces();
    while cursor.take(",") {
        cursor.spaces();
        let at = cursor.at();
        match cursor.word() {
            "escape" => opening.escapes = true,
            "novariable" | "novariables" => opening.no_variables = true,
            _ => return Err(Fault::new(at, "expected `escape` or `novariable`")),
        }
        cursor.spaces();
    }
    cursor.take("\r");
    match cursor.take("\n") {
        true => Ok(opening),
        false => Err(cursor.fault("expected the end of the line")),
    }
}

/// The text up to the closing line, or up to a line for whose beginning `ends` holds.
fn content(
    cursor: &mut Cursor<'_>,
    start: usize,
    opening: Opening<'_>,
    ends: impl Fn(&str) -> bool,
) -> Result<Template, Fault> {
    let mut template = Template::default();
    let mut line_begins = true;
    loop {
        let rest = cursor.rest();
        if rest.starts_with(FENCE) || (line_begins && ends(rest)) {
            return Ok(template);
        }
        line_begins = false;
        if !opening.no_variables && rest.starts_with("{{") {
            template.pieces.push(Piece::Expr(Expr::parse(cursor)?));
            continue;
        }
        let character = match cursor.peek() {
            Some('\\') if opening.escapes => escape(cursor, ESCAPABLE)?,
            Some(character) => {
                line_begins = character == '\n';
                cursor.next();
                character
            }
            None => return Err(Fault::new(start, "this ``` has no closing ```")),
        };
        template.push_text(character.encode_utf8(&mut [0; 4]));
    }
}

fn begins_variables(rest: &str) -> bool {
    rest.strip_prefix(VARIABLES)
        .is_some_and(|rest| rest.trim_start().starts_with('{'))
}

fn graph(cursor: &mut Cursor<'_>, start: usize, opening: Opening<'_>) -> Result<GraphQl, Fault> {
    let mut query = content(cursor, start, opening, begins_variables)?;
    // White space at the end means nothing, and varies with the layout.
    if let Some(Piece::Text(last)) = query.pieces.last_mut() {
        last.truncate(last.trim_end().len());
        if last.is_empty() {
            query.pieces.pop();
        }
    }
    let variables = match cursor.take(VARIABLES) {
        false => None,
        true => {
            cursor.take_while(char::is_whitespace);
            let variables = JsonText::parse(cursor)?;
            cursor.take_while(char::is_whitespace);
            Some(variables)
        }
    };
    cursor.expect(FENCE)?;
    Ok(GraphQl { query, variables })
}

impl GraphQl {
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        let variables = self.variables.iter().flat_map(JsonText::exprs);
        self.query.exprs().chain(variables).collect()
    }

    /// Returns the JSON to send (GraphQL over HTTP, "POST").
    pub(crate) fn render(&self, variables: &mut Variables) -> Result<String, String> {
        let query = serde_json::Value::from(self.query.render(variables)?);
        match &self.variables {
            None => Ok(format!("{{\"query\":{query}}}")),
            Some(json) => {
                let json = compact(&json.render(variables)?);
                Ok(format!("{{\"query\":{query},\"variables\":{json}}}"))
            }
        }
    }
}

/// Returns JSON without white space between tokens.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in json.chars() {
        if in_string || !character.is_ascii_whitespace() {
            out.push(character);
        }
        if character == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = character == '\\' && !escaped;
    }
    out
}

impl fmt::Display for GraphQl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_content("graphql", &self.query, f)?;
        if let Some(variables) = &self.variables {
            write!(f, "\n{VARIABLES} {variables}")?;
        }
        write!(f, "\n{FENCE}")
    }
}

pub(super) fn print(
    language: Language,
    template: &Template,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let name = match language {
        Language::Plain => "",
        Language::Json => "json",
        Language::Xml => "xml",
    };
    print_content(name, template, f)?;
    f.write_str(FENCE)
}

/// Prints the opening line and the text: verbatim, or with escapes where the text would be read
/// otherwise.
fn print_content(language: &str, template: &Template, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let last = template.pieces.len().saturating_sub(1);
    let plain = template.pieces.iter().enumerate().all(|(at, piece)| {
        let Piece::Text(text) = piece else {
            return true;
        };
        let opens = text.contains("{{") || (at < last && text.ends_with('{'));
        !opens && !text.contains(['`', '\r']) && !text.contains(VARIABLES)
    });
    writeln!(f, "{FENCE}{language}{}", if plain { "" } else { ",escape" })?;
    for piece in &template.pieces {
        match piece {
            Piece::Expr(expr) => write!(f, "{expr}")?,
            Piece::Text(text) if plain => f.write_str(text)?,
            Piece::Text(text) => {
                for character in text.chars() {
                    match character {
                        '\\' | '`' | '{' => write!(f, "\\{character}")?,
                        '\r' => f.write_str("\\r")?,
                        'v' => f.write_str("\\u{76}")?,
                        other => f.write_char(other)?,
                    }
                }
            }
        }
    }
    Ok(())
}
