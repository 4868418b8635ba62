//! Requests and responses in a form for people to read and pass on, without secrets.
//!
//! In what stays in files, what is shown is listed, since what is secret cannot be known: values of
//! headers that say how HTTP is spoken, names of query parameters and form fields, and bodies only
//! when the user asks for them. On the terminal of whoever mends a flow everything is shown but
//! what is secret by its name.

use figures::line::steers;
use secrets::is_secret;

/// Bytes of a request or a response to show.
const BYTES_MAX: usize = 2048;
const REDACTED: &str = "[redacted]";
/// Headers whose value is shown (RFC 9110, 9111, 6455; what servers add about themselves). A URL in
/// one keeps the names of its query only.
const SHOWN_HEADERS: [&str; 43] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "age",
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-range",
    "content-type",
    "date",
    "expect",
    "expires",
    "hakaru-request",
    "host",
    "keep-alive",
    "last-modified",
    "location",
    "origin",
    "pragma",
    "range",
    "referer",
    "referrer-policy",
    "retry-after",
    "sec-websocket-version",
    "server",
    "server-timing",
    "strict-transport-security",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "vary",
    "via",
    "x-content-type-options",
    "x-frame-options",
    "x-powered-by",
    "x-runtime",
];

/// Headers with a secret value for every reader and without a secret's name.
const SECRET_HEADERS: [&str; 2] = ["cookie", "set-cookie"];
/// Error messages of databases and drivers: no secrets, and helpful for a repair.
const KNOWN_ERRORS: [&str; 9] = [
    "database is locked",
    "BusyException",
    "Deadlock found",
    "deadlock detected",
    "Lock wait timeout exceeded",
    "Too many connections",
    "too many clients already",
    "could not obtain a connection from the pool",
    "connection refused",
];

/// Place of a shown request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shown {
    /// In files, with the length of bodies.
    #[default]
    Kept,
    /// In files, with the first bytes of bodies unchanged.
    KeptWithBodies,
    /// On the terminal only.
    Once,
}

impl Shown {
    pub(crate) fn kept(with_bodies: bool) -> Shown {
        match with_bodies {
            true => Shown::KeptWithBodies,
            false => Shown::Kept,
        }
    }

    fn shows_header(self, name: &str) -> bool {
        let is_in = |list: &[&str]| list.iter().any(|one| name.eq_ignore_ascii_case(one));
        match self {
            Shown::Once => !is_in(&SECRET_HEADERS) && !is_secret(name),
            Shown::Kept | Shown::KeptWithBodies => is_in(&SHOWN_HEADERS),
        }
    }

    fn shows_field(self, name: &str) -> bool {
        self == Shown::Once && !is_secret(name)
    }
}

/// Returns a reason with escapes for letters able to steer a terminal or to turn text around: a
/// server's words may be part of a reason.
pub fn plain(reason: &str) -> String {
    let mut text = String::with_capacity(reason.len());
    for letter in reason.chars() {
        match letter != '\n' && steers(letter) {
            true => text.extend(letter.escape_unicode()),
            false => text.push(letter),
        }
    }
    text
}

/// Returns an answer for people.
pub(crate) fn answer(head: &[u8], body: &[u8], shown: Shown) -> String {
    let mut text = redact_head(head, shown);
    match shown {
        Shown::Kept => text.push_str(&measured(body, "; --keep-bodies keeps them")),
        Shown::Once if is_json(head) => text.push_str(&redact_json(&shorten(body))),
        Shown::KeptWithBodies | Shown::Once => text.push_str(&shorten(body)),
    }
    text
}

fn is_json(head: &[u8]) -> bool {
    let head = head.to_ascii_lowercase();
    let mut lines = head.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(b"content-type:") && find(line, b"json").is_some())
}

/// Takes the texts out of fields of JSON named like secrets; the text may be cut off.
fn redact_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        let end = open + string_length(&rest[open..]);
        let name = &rest[open..end];
        out.push_str(&rest[..end]);
        rest = &rest[end..];
        let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
        if let Some(value) = value
            && value.starts_with('"')
            && is_secret(name)
        {
            let gap = rest.len() - value.len();
            out.push_str(&rest[..gap]);
            out.push_str(&format!("\"{REDACTED}\""));
            rest = &value[string_length(value)..];
        }
    }
    out.push_str(rest);
    out
}

/// Returns the length of the string at the begin of a text, quotes included; of one without end,
/// all.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find_map(|(at, letter)| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(at + 1)
    });
    end.unwrap_or(text.len())
}

/// Returns a request for people. Of a form, the names of its fields are shown.
pub(crate) fn request(request: &[u8], shown: Shown) -> String {
    let end = find(request, b"\r\n\r\n").map_or(request.len(), |end| end + 4);
    let (head, body) = request.split_at(end);
    let mut text = redact_head(head, shown);
    let form = b"application/x-www-form-urlencoded";
    let is_form = find(&head.to_ascii_lowercase(), form).is_some();
    match (shown, is_form) {
        (Shown::KeptWithBodies, _) => text.push_str(&shorten(body)),
        (_, true) => text.push_str(&redact_fields(&shorten(body), shown)),
        (_, false) => text.push_str(&measured(body, "")),
    }
    text
}

fn measured(body: &[u8], hint: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    let known = KNOWN_ERRORS
        .iter()
        .find(|error| find(body, error.as_bytes()).is_some());
    let known = known.map_or_else(String::new, |error| format!(", with \"{error}\""));
    format!("[{} bytes of body{known}{hint}]", body.len())
}

fn redact_head(head: &[u8], shown: Shown) -> String {
    let text = shorten(head);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().map(|line| redact_urls(line, shown));
    let mut head = first.unwrap_or_default();
    for line in lines {
        let end = line.trim_end_matches(['\r', '\n']);
        match end.split_once(':') {
            _ if end.is_empty() => head.push_str(line),
            Some((name, value)) if shown.shows_header(name) => {
                head.push_str(&format!("{name}:{}\r\n", redact_urls(value, shown)));
            }
            Some((name, _)) => head.push_str(&format!("{name}: {REDACTED}\r\n")),
            // Part of a folded header, or of one that was cut off.
            None => head.push_str(&format!("{REDACTED}\r\n")),
        }
    }
    head
}

/// Removes values from the queries and fragments of URLs in a line, and names and passwords from
/// before the hosts.
fn redact_urls(line: &str, shown: Shown) -> String {
    // A comma may be part of a value.
    let words = line.split_inclusive([' ', '\r', '\n']);
    words.map(|word| redact_url(word, shown)).collect()
}

fn redact_url(word: &str, shown: Shown) -> String {
    let end = word.trim_end_matches([' ', ',', '\r', '\n']);
    let after = &word[end.len()..];
    let (end, fragment) = match end.split_once('#') {
        Some((url, fragment)) if url.contains('/') || fragment.contains('=') => {
            (url, format!("#{}", redact_fields(fragment, shown)))
        }
        _ => (end, String::new()),
    };
    let (path, query) = match end.split_once('?') {
        Some((path, query)) => (path, format!("?{}", redact_fields(query, shown))),
        None => (end, String::new()),
    };
    format!("{}{query}{fragment}{after}", without_user(path))
}

fn without_user(url: &str) -> String {
    if let Some((scheme, rest)) = url.split_once("://") {
        let host_end = rest.find('/').unwrap_or(rest.len());
        if let Some(at) = rest[..host_end].rfind('@') {
            return format!("{scheme}://{REDACTED}{}", &rest[at..]);
        }
    }
    url.to_owned()
}

/// Takes the values out of `name=value&…`.
fn redact_fields(fields: &str, shown: Shown) -> String {
    let redacted: Vec<String> = fields
        .split('&')
        .map(|field| match field.split_once('=') {
            Some((name, value)) if value.is_empty() || shown.shows_field(name) => field.to_owned(),
            Some((name, _)) => format!("{name}={REDACTED}"),
            // A value without a name.
            None if field.is_empty() || shown == Shown::Once => field.to_owned(),
            None => REDACTED.to_owned(),
        })
        .collect();
    redacted.join("&")
}

fn shorten(bytes: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(BYTES_MAX)]);
    if bytes.len() > BYTES_MAX {
        format!("{shown}…")
    } else {
        shown.into_owned()
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOGIN: &[u8] =
        b"POST /login?token=abc&a=1&raw HTTP/1.1\r\nCookie: s=1\r\nX-Api-Key: k\r\n\
        Referer: http://u:p@h.example/a?b=c\r\n\
        Content-Type: application/x-www-form-urlencoded\r\n\r\nname=a&password=b&x=";

    #[test]
    fn of_a_request_names_are_shown_and_values_are_not() {
        let head = "POST /login?token=[redacted]&a=[redacted]&[redacted] HTTP/1.1\r\nCookie: [redacted]\r\n\
            X-Api-Key: [redacted]\r\nReferer: http://[redacted]@h.example/a?b=[redacted]\r\n\
            Content-Type: application/x-www-form-urlencoded\r\n\r\n";
        assert_eq!(
            request(LOGIN, Shown::Kept),
            format!("{head}name=[redacted]&password=[redacted]&x=")
        );
        assert_eq!(
            request(LOGIN, Shown::KeptWithBodies),
            format!("{head}name=a&password=b&x=")
        );
    }

    #[test]
    fn the_terminal_shows_what_is_no_secret_by_its_name() {
        assert_eq!(
            request(LOGIN, Shown::Once),
            "POST /login?token=[redacted]&a=1&raw HTTP/1.1\r\nCookie: [redacted]\r\nX-Api-Key: [redacted]\r\n\
             Referer: http://[redacted]@h.example/a?b=c\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\nname=a&password=[redacted]&x="
        );
    }

    #[test]
    fn values_with_commas_and_fragments_are_redacted_whole() {
        let head =
            b"HTTP/1.1 302 Found\r\nLocation: /cb?ids=1,SECRET&b=2#access_token=SECRET&x=1\r\n\r\n";
        assert_eq!(
            answer(head, b"", Shown::Kept),
            "HTTP/1.1 302 Found\r\nLocation: /cb?ids=[redacted]&b=[redacted]#access_token=[redacted]&x=[redacted]\r\n\r\n"
        );
        assert_eq!(
            answer(head, b"", Shown::Once),
            "HTTP/1.1 302 Found\r\nLocation: /cb?ids=1,SECRET&b=2#access_token=[redacted]&x=1\r\n\r\n"
        );
        let request_line = b"GET /near?at=35.6,SECRET HTTP/1.1\r\n\r\n";
        let shown = "GET /near?at=[redacted] HTTP/1.1\r\n\r\n";
        assert_eq!(request(request_line, Shown::Kept), shown);
    }

    #[test]
    fn secrets_of_json_are_taken_out_on_the_terminal() {
        let check = |body: &str, expected: &str| {
            let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
            let shown = answer(head, body.as_bytes(), Shown::Once);
            let body = shown.rsplit("\r\n").next();
            assert_eq!(body, Some(expected));
        };
        check(
            r#"{"id": "a", "access_token" : "S\"ECRET", "n": {"password":"SECRET"}}"#,
            r#"{"id": "a", "access_token" : "[redacted]", "n": {"password":"[redacted]"}}"#,
        );
        check(
            r#"{"token": 5, "tokens": ["a"]}"#,
            r#"{"token": 5, "tokens": ["a"]}"#,
        );
        // Cut off.
        check(r#"{"token": "SECR"#, r#"{"token": "[redacted]""#);
        check(r#"["a\"#, r#"["a\"#);
    }

    #[test]
    fn other_bodies_are_measured() {
        assert_eq!(
            request(b"POST / HTTP/1.1\r\n\r\n{\"password\":\"x\"}", Shown::Kept),
            "POST / HTTP/1.1\r\n\r\n[16 bytes of body]"
        );
        let head = b"HTTP/1.1 302 Found\r\nSet-Cookie: s=1\r\nLocation: /a?t=1\r\n\r\n";
        let shown =
            "HTTP/1.1 302 Found\r\nSet-Cookie: [redacted]\r\nLocation: /a?t=[redacted]\r\n\r\n";
        assert_eq!(
            answer(head, b"hello", Shown::Kept),
            format!("{shown}[5 bytes of body; --keep-bodies keeps them]")
        );
        assert_eq!(answer(head, b"", Shown::Kept), shown);
        assert_eq!(
            answer(head, b"hello", Shown::KeptWithBodies),
            format!("{shown}hello")
        );
    }

    #[test]
    fn an_error_that_is_known_is_named_without_the_rest() {
        let body = b"SQLite3::BusyException: database is locked: SELECT 'SECRET'";
        assert_eq!(
            answer(b"", body, Shown::Kept),
            "[59 bytes of body, with \"database is locked\"; --keep-bodies keeps them]"
        );
    }

    #[test]
    fn a_folded_or_a_cut_off_header_shows_nothing() {
        let folded = b"HTTP/1.1 200 OK\r\nX-A: b\r\n SECRET\r\n\r\n";
        assert!(!answer(folded, b"", Shown::Kept).contains("SECRET"));
        let long = format!(
            "HTTP/1.1 200 OK\r\nX-A: {}SECRET\r\n\r\n",
            "a".repeat(BYTES_MAX)
        );
        assert!(!answer(long.as_bytes(), b"", Shown::Kept).contains("SECRET"));
    }

    proptest! {
        #[test]
        fn a_canary_is_in_nothing_that_is_shown(
            header in "[A-Za-z-]{1,12}",
            field in "[a-z]{0,5}",
            fold in any::<bool>(),
            is_form in any::<bool>(),
        ) {
            prop_assume!(!Shown::Kept.shows_header(&header));
            let fold = if fold { "\r\n " } else { "" };
            let kind = if is_form { "application/x-www-form-urlencoded" } else { "application/json" };
            let sent = format!(
                "POST /a?{field}=CANARY&CANARY HTTP/1.1\r\n{header}: {fold}CANARY\r\nContent-Type: {kind}\r\n\r\n{field}=CANARY"
            );
            let shown = request(sent.as_bytes(), Shown::Kept);
            prop_assert!(!shown.contains("CANARY"), "{shown}");
            let shown = answer(sent.as_bytes(), b"CANARY", Shown::Kept);
            prop_assert!(!shown.contains("CANARY"), "{shown}");
        }
    }
}
