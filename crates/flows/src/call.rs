//! One request of a flow, and the text of the request.

use std::fmt::Write;
use std::ops::Range;

use crate::{is_safe, query};

/// A text with variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template(pub(crate) Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// The name of a variable.
    Variable(String),
}

/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Url,
    Key,
    Value,
    /// Between backticks.
    Line,
    /// Between quotes.
    Quoted,
}

/// What a request carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Body {
    #[default]
    None,
    Form(Vec<(String, Template)>),
    /// Fields of a form with files.
    Multipart(Vec<(String, Template)>),
    Text(Template),
    /// The bytes of a variable in base64.
    Bytes(String),
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Lines of the comment above the request.
    pub(crate) comments: Vec<String>,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) url: Template,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) cookies: Vec<(String, Template)>,
    pub(crate) user: Option<(Template, Template)>,
    pub(crate) body: Body,
    /// Whether the request is written into the flow with `skip`, and not sent.
    pub(crate) is_off: bool,
    /// Demanded status.
    pub(crate) status: Option<u16>,
    /// Names of captures, with the query behind each colon.
    pub(crate) captures: Vec<(String, String)>,
}

impl Template {
    pub(crate) fn text(text: &str) -> Template {
        Template(vec![Piece::Text(text.to_owned())])
    }

    pub(crate) fn variable(name: &str) -> Template {
        Template(vec![Piece::Variable(name.to_owned())])
    }

    /// Returns a text with variables in some places, which are in order and apart.
    pub(crate) fn with(text: &str, places: &[(Range<usize>, String)]) -> Template {
        let mut pieces = Vec::new();
        let mut done = 0;
        for (place, name) in places {
            if done < place.start {
                pieces.push(Piece::Text(text[done..place.start].to_owned()));
            }
            pieces.push(Piece::Variable(name.clone()));
            done = place.end;
        }
        if done < text.len() {
            pieces.push(Piece::Text(text[done..].to_owned()));
        }
        Template(pieces)
    }

    pub(crate) fn print(&self, style: Style) -> String {
        let mut out = String::new();
        let last = self.0.len().saturating_sub(1);
        for (position, piece) in self.0.iter().enumerate() {
            match piece {
                Piece::Variable(name) => {
                    let _ = write!(out, "{{{{{name}}}}}");
                }
                Piece::Text(text) => {
                    print_text(text, style, [position == 0, position == last], &mut out);
                }
            }
        }
        out
    }
}

/// Prints a text; `edges` says whether beginning and end are a value's, where readers strip spaces.
fn print_text(text: &str, style: Style, edges: [bool; 2], out: &mut String) {
    let last = text.chars().count().saturating_sub(1);
    for (position, letter) in text.chars().enumerate() {
        let is_edge = (edges[0] && position == 0) || (edges[1] && position == last);
        match (style, letter) {
            (Style::Url, _) if is_of_url(letter) => out.push(letter),
            (Style::Url, _) => percent(letter, out),
            (_, '\n') => out.push_str("\\n"),
            (_, '\r') => out.push_str("\\r"),
            (_, '\t') => out.push_str("\\t"),
            (_, '\\') => out.push_str("\\\\"),
            (Style::Line, '`') => out.push_str("\\`"),
            (Style::Quoted, '"') => out.push_str("\\\""),
            (Style::Key | Style::Value, '#') => out.push_str("\\#"),
            (Style::Key, ':') => out.push_str("\\:"),
            (Style::Key, ',' | '"' | '`' | '<' | '[') => unicode(letter, out),
            (Style::Key | Style::Value, ' ') if is_edge => unicode(letter, out),
            (_, '{' | '}') => unicode(letter, out),
            (_, letter) if letter.is_control() => unicode(letter, out),
            (_, letter) => out.push(letter),
        }
    }
}

fn unicode(letter: char, out: &mut String) {
    let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
}

pub(crate) fn is_of_url(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:@%?[]|".contains(letter)
}

/// Returns a text for a query, percent-encoded but for the letters accepted by `is_kept`.
pub(crate) fn percent_encoded(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match is_kept(letter) {
            true => out.push(letter),
            false => percent(letter, &mut out),
        }
    }
    out
}

fn percent(letter: char, out: &mut String) {
    let mut bytes = [0; 4];
    for byte in letter.encode_utf8(&mut bytes).bytes() {
        let _ = write!(out, "%{byte:02X}");
    }
}

/// A text as a part of a comment: one line without what a terminal would obey.
pub(crate) fn comment(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// Returns whether a content type is for a form without files.
pub(crate) fn is_form(kind: &str) -> bool {
    kind.to_ascii_lowercase()
        .starts_with("application/x-www-form-urlencoded")
}

/// Turns off the calls in need of a capture of a call turned off; returns the position of each,
/// and the name of the capture.
pub(crate) fn turn_off_dependents(calls: &mut [Call]) -> Vec<(usize, String)> {
    let mut missing: Vec<String> = Vec::new();
    let mut turned = Vec::new();
    for (position, call) in calls.iter_mut().enumerate() {
        if let Some(name) = missing.iter().find(|name| call.needs(name))
            && !call.is_off
        {
            call.is_off = true;
            turned.push((position, name.clone()));
        }
        if call.is_off {
            missing.extend(call.captures.iter().map(|(name, _)| name.clone()));
        }
    }
    turned
}

impl Call {
    /// Returns whether the request changes data, by the method or by one in place of the method.
    pub(crate) fn changes_data(&self) -> bool {
        const OVERRIDES: [&str; 3] = [
            "x-http-method-override",
            "x-http-method",
            "x-method-override",
        ];
        let overrides = |(name, value): &(String, Template)| {
            let method = value.print(Style::Url).to_ascii_uppercase();
            OVERRIDES.contains(&name.to_ascii_lowercase().as_str()) && !is_safe(&method)
        };
        let is_changing = |field: &query::Field| match field.name.as_str() {
            "_method" => !is_safe(&field.value.to_ascii_uppercase()),
            // An operation of GraphQL.
            "query" => field.value.trim_start().starts_with("mutation"),
            _ => false,
        };
        let url = self.url.print(Style::Url);
        !is_safe(&self.method)
            || self.headers.iter().any(overrides)
            || query::fields(&url).iter().any(is_changing)
    }

    /// Returns whether the request has the variable.
    fn needs(&self, variable: &str) -> bool {
        let text = self.print();
        text.contains(&format!("{{{{{variable}}}}}")) || text.contains(&format!("{{{{{variable} "))
    }

    /// Leaves the content type of a form to the sender of the fields, and names `kind` with the
    /// text of a form.
    pub(crate) fn settle_content_type(&mut self, kind: &str) {
        let is_named = |(name, _): &(String, Template)| name.eq_ignore_ascii_case("content-type");
        match self.body {
            Body::Form(_) | Body::Multipart(_) => self.headers.retain(|pair| !is_named(pair)),
            Body::Text(_) if is_form(kind) && !self.headers.iter().any(is_named) => {
                let value = Template::text(kind);
                self.headers.push(("Content-Type".to_owned(), value));
            }
            _ => {}
        }
    }

    /// Returns the request in Hurl's format.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        for line in &self.comments {
            let _ = writeln!(out, "# {}", comment(line));
        }
        let url = self.url.print(Style::Url);
        let _ = writeln!(out, "{} {{{{base_url}}}}{url}", self.method);
        pairs(&mut out, &self.headers);
        if self.is_off {
            out.push_str("[Options]\nskip: true\n");
        }
        if let Some((name, password)) = &self.user {
            let (name, password) = (name.print(Style::Key), password.print(Style::Value));
            let _ = writeln!(out, "[BasicAuth]\n{name}: {password}");
        }
        if !self.cookies.is_empty() {
            out.push_str("[Cookies]\n");
            pairs(&mut out, &self.cookies);
        }
        match &self.body {
            Body::None => {}
            Body::Form(form) => {
                out.push_str("[Form]\n");
                pairs(&mut out, form);
            }
            Body::Multipart(fields) => {
                out.push_str("[Multipart]\n");
                parts(&mut out, fields);
            }
            Body::Text(text) => {
                let _ = writeln!(out, "`{}`", text.print(Style::Line));
            }
            Body::Bytes(variable) => {
                let _ = writeln!(out, "`{{{{{variable} base64Decode}}}}`");
            }
        }
        if let Some(status) = self.status {
            let _ = writeln!(out, "HTTP {status}");
        } else if !self.captures.is_empty() {
            out.push_str("HTTP *\n");
        }
        if !self.captures.is_empty() {
            out.push_str("[Captures]\n");
            for (name, query) in &self.captures {
                let _ = writeln!(out, "{name}: {query}");
            }
        }
        out
    }
}

fn pairs(out: &mut String, pairs: &[(String, Template)]) {
    for (name, value) in pairs {
        pair(out, name, &value.print(Style::Value));
    }
}

/// Prints the fields of a form with files. A text that begins as the name of a file does is none.
fn parts(out: &mut String, parts: &[(String, Template)]) {
    for (name, value) in parts {
        let value = value.print(Style::Value);
        match value.strip_prefix("file,") {
            Some(rest) => pair(out, name, &format!("\\u{{66}}ile,{rest}")),
            None => pair(out, name, &value),
        }
    }
}

fn pair(out: &mut String, name: &str, value: &str) {
    let mut key = String::new();
    print_text(name, Style::Key, [true; 2], &mut key);
    let line = format!("{key}: {value}");
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Returns a text as a name for files and variables: lower-case letters, digits and `separator`.
pub(crate) fn name_of(text: &str, separator: char) -> String {
    let mut name = String::new();
    for letter in text.chars() {
        match letter.is_ascii_alphanumeric() {
            true => name.push(letter.to_ascii_lowercase()),
            false if !name.is_empty() && !name.ends_with(separator) => name.push(separator),
            false => {}
        }
    }
    let name = name.trim_end_matches(separator);
    name.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, url: &str) -> Call {
        Call {
            method: method.to_owned(),
            url: Template::text(url),
            ..Call::default()
        }
    }

    #[test]
    fn a_method_in_place_of_the_method_counts() {
        let check = |method: &str, url: &str, header: Option<(&str, &str)>, expected: bool| {
            let headers = header.into_iter();
            let header = |(name, value): (&str, &str)| (name.to_owned(), Template::text(value));
            let call = Call {
                headers: headers.map(header).collect(),
                ..call(method, url)
            };
            assert_eq!(call.changes_data(), expected, "{method} {url}");
        };
        check("GET", "/a?query=mutation", Some(("Accept", "*/*")), true);
        check("GET", "/a?query=%7Ba%7D", None, false);
        check("POST", "/a", None, true);
        check("GET", "/a?_method=delete", None, true);
        check("GET", "/a?_method=get", None, false);
        let header = |value| Some(("X-HTTP-Method-Override", value));
        check("GET", "/a", header("PATCH"), true);
        check("GET", "/a", header("GET"), false);
    }

    #[test]
    fn what_needs_a_capture_of_a_call_that_is_off_is_off_too() {
        let mut calls = [call("POST", "/a"), call("GET", "/b"), call("GET", "/c")];
        calls[0].is_off = true;
        calls[0].captures = vec![("place".to_owned(), "header \"Location\"".to_owned())];
        calls[2].url = Template::variable("place urlEncode");
        assert_eq!(turn_off_dependents(&mut calls), [(2, "place".to_owned())]);
        assert!(!calls[1].is_off && calls[2].is_off);
    }
}
