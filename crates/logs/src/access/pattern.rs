//! Formats of lines as written for nginx (`log_format`) and Apache (`LogFormat`).

use memchr::memmem;

use super::entry::{Entry, Field, Unit};

/// A compiled format: a text, then fields, each up to the next text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    begin: Vec<u8>,
    fields: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    field: Field,
    /// The text behind the field; empty for the last, which takes the rest of the line.
    until: Vec<u8>,
    /// Whether the field has one value for each server asked by nginx.
    is_list: bool,
}

/// A part of a format as written.
enum Part<'a> {
    Text(String),
    Field(&'a str, Field),
}

impl Pattern {
    /// Compiles a format.
    ///
    /// # Errors
    /// When it holds no request, or two fields without a text between them.
    pub fn compile(format: &str) -> Result<Pattern, String> {
        let parts = match format.contains('$') {
            true => nginx(format),
            false => apache(format),
        };
        let mut pattern = Pattern {
            begin: Vec::new(),
            fields: Vec::new(),
        };
        let mut before: Option<&str> = None;
        for part in parts {
            match part {
                Part::Text(text) => {
                    before = None;
                    let last = pattern.fields.last_mut().map(|piece| &mut piece.until);
                    last.unwrap_or(&mut pattern.begin)
                        .extend_from_slice(text.as_bytes());
                }
                Part::Field(name, field) => {
                    if let Some(before) = before.replace(name) {
                        return Err(format!(
                            "`{before}{name}`: where the first ends cannot be told; put a text between them"
                        ));
                    }
                    let bare = name.trim_start_matches(['$', '{']);
                    pattern.fields.push(Piece {
                        field,
                        until: Vec::new(),
                        is_list: bare.starts_with("upstream_"),
                    });
                }
            }
        }
        let has = |field| pattern.fields.iter().any(|piece| piece.field == field);
        match has(Field::Request) || has(Field::Uri) {
            true => Ok(pattern),
            false => Err(format!(
                "`{format}` names no request; it needs $request or $request_uri, or %r or %U"
            )),
        }
    }

    /// Reads a line; returns whether the line has the format.
    pub(super) fn read(&self, line: &[u8], entry: &mut Entry) -> bool {
        let Some(mut rest) = line.strip_prefix(self.begin.as_slice()) else {
            return false;
        };
        for piece in &self.fields {
            let Some(end) = end_of(rest, piece) else {
                return false;
            };
            entry.set(piece.field, &rest[..end]);
            rest = &rest[end + piece.until.len()..];
        }
        // What stands behind the format was added to it.
        true
    }
}

/// Where a field ends. A quote that Apache escaped by a backslash is a part of the field, and so
/// are the blanks between the servers that nginx asked: `10.0.0.2:80, 10.0.0.3:80 : unix:/run/app`.
fn end_of(text: &[u8], piece: &Piece) -> Option<usize> {
    let until = piece.until.as_slice();
    if until.is_empty() {
        return Some(text.len());
    }
    let mut from = 0;
    loop {
        let end = from + memmem::find(&text[from..], until)?;
        let is_escaped = until[0] == b'"' && end > 0 && text[end - 1] == b'\\';
        let is_inside = piece.is_list && until == b" " && is_between(&text[..end], &text[end..]);
        if !is_escaped && !is_inside {
            return Some(end);
        }
        from = end + 1;
    }
}

/// Whether a blank, with which `after` begins, stands between two servers.
fn is_between(before: &[u8], after: &[u8]) -> bool {
    before.ends_with(b",") || before.ends_with(b" :") || after.starts_with(b" : ")
}

fn nginx(format: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('$') {
        push_text(&mut parts, &rest[..at]);
        let after = &rest[at + 1..];
        let (name, end) = match after.strip_prefix('{') {
            Some(inner) => {
                let end = inner.find('}').unwrap_or(inner.len());
                (&inner[..end], (end + 2).min(after.len()))
            }
            None => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        parts.push(Part::Field(
            &rest[at..at + 1 + end],
            Field::of_label(name.as_bytes()),
        ));
        rest = &after[end..];
    }
    push_text(&mut parts, rest);
    parts
}

fn apache(format: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        push_text(&mut parts, &rest[..at]);
        let end = at + 1 + directive_len(&rest[at + 1..]);
        match &rest[at..end] {
            "%%" => push_text(&mut parts, "%"),
            // Its brackets are part of it, and it holds a blank.
            name @ "%t" => {
                push_text(&mut parts, "[");
                parts.push(Part::Field(name, Field::Began));
                push_text(&mut parts, "]");
            }
            name => parts.push(Part::Field(name, field_of(name))),
        }
        rest = &rest[end..];
    }
    push_text(&mut parts, rest);
    parts
}

/// Returns the bytes of a directive behind the `%`: conditions and `<`, `>`, a name in braces, a
/// letter.
fn directive_len(text: &str) -> usize {
    let conditions = text.find(|c: char| !(c.is_ascii_digit() || "!,<>".contains(c)));
    let mut at = conditions.unwrap_or(text.len());
    if text[at..].starts_with('{') {
        at += text[at..].find('}').map_or(text.len() - at, |end| end + 1);
    }
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

fn field_of(directive: &str) -> Field {
    let bare = directive.trim_start_matches(|c: char| c.is_ascii_digit() || "%!,<>".contains(c));
    match bare {
        "r" => Field::Request,
        "h" | "a" => Field::Client,
        "m" => Field::Method,
        "U" => Field::Uri,
        "s" => Field::Status,
        "b" | "B" | "O" => Field::Bytes,
        "D" | "{us}T" => Field::Time(Unit::Micros),
        "{ms}T" => Field::Time(Unit::Millis),
        // H2O's is in seconds, with a fraction.
        "T" | "{s}T" | "{duration}x" => Field::Time(Unit::Seconds),
        "{Cookie}i" | "{cookie}i" => Field::Cookie,
        "{Content-Type}i" | "{Content-type}i" | "{content-type}i" => Field::ContentType,
        _ => Field::Ignored,
    }
}

/// Two texts in a row become one.
fn push_text(parts: &mut Vec<Part<'_>>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(format: &str, line: &str, expected: (&str, &str, u16, Option<u64>, Option<u32>)) {
        let pattern = Pattern::compile(format).expect("a format");
        let mut entry = Entry::default();
        assert!(pattern.read(line.as_bytes(), &mut entry), "{line}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (method, uri) = (text(&entry.method), text(&entry.uri));
        let found = (
            method.as_str(),
            uri.as_str(),
            entry.status,
            entry.bytes,
            entry.micros,
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_of_nginx_and_apache_are_read() {
        check(
            "$remote_addr - [$time_local] \"$request\" $status ${body_bytes_sent} $request_time",
            "10.0.0.1 - [10/Oct/2026:13:55:36 +0900] \"GET /a?b HTTP/1.1\" 200 512 0.250",
            ("GET", "/a?b", 200, Some(512), Some(250_000)),
        );
        check(
            "%h %l %u %t \"%r\" %>s %b \"%{User-agent}i\" %D",
            "::1 - - [10/Oct/2026:13:55:36 -0700] \"POST /x HTTP/1.1\" 404 - \"a \\\"b\\\" c\" 1234",
            ("POST", "/x", 404, Some(0), Some(1_234)),
        );
        check(
            "%m %U %{ms}T 100%%",
            "GET /y 5 100%",
            ("GET", "/y", 0, None, Some(5_000)),
        );
    }

    #[test]
    fn several_servers_are_one_field_without_quotes_too() {
        let format = "$request_uri $status $upstream_addr $upstream_status $upstream_response_time $request_time";
        let pattern = Pattern::compile(format).expect("a format");
        let check = |line: &str, upstream: Option<u32>, address: &str, micros: u32| {
            let mut entry = Entry::default();
            assert!(pattern.read(line.as_bytes(), &mut entry), "{line}");
            assert_eq!(
                (entry.upstream_micros, entry.micros),
                (upstream, Some(micros)),
                "{line}"
            );
            assert_eq!(entry.upstream_address, address.as_bytes(), "{line}");
        };
        check(
            "/a 502 10.0.0.2:80, 10.0.0.3:80 502, 502 0.010, 0.020 0.031",
            Some(30_000),
            "10.0.0.3:80",
            31_000,
        );
        check(
            "/a 200 10.0.0.2:80 : unix:/run/app.sock 302 : 200 0.010 : - 0.011",
            Some(10_000),
            "unix:/run/app.sock",
            11_000,
        );
        check("/a 200 - - - 0.001", None, "", 1_000);
    }

    #[test]
    fn formats_that_say_too_little_are_refused() {
        let why = |format| Pattern::compile(format).expect_err("it is refused");
        assert!(why("$status").contains("names no request"));
        assert!(why("$request$status").contains("`$request$status`"));
    }

    proptest! {
        #[test]
        fn no_format_and_no_line_panics(format in "[$%{}a-zA-Z \">]{0,20}", line in "\\PC{0,40}") {
            if let Ok(pattern) = Pattern::compile(&format) {
                pattern.read(line.as_bytes(), &mut Entry::default());
            }
        }
    }
}
