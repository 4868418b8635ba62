//! What a line of an access log looks like.

use super::entry::{Entry, Field};
use super::json;
pub use super::pattern::Pattern;

/// Formats tried where none is given, the most informative first. A number behind `combined` is the
/// time that the request took, as teams add it: with a point in seconds (nginx), without one in
/// microseconds (Apache's `%D`). Behind `common` a number with a point is, as `Rack::CommonLogger`
/// adds it.
const USUAL: [&str; 2] = [
    "$remote_addr $ident $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\"",
    "$remote_addr $ident $remote_user [$time_local] \"$request\" $status $body_bytes_sent",
];
const TIMED: [&str; 2] = [" $request_time", " $duration_us"];

/// What a line looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `label:value`, separated by tabs.
    Ltsv,
    /// An object on each line.
    Json,
    /// As nginx and Apache write a format.
    Pattern(Pattern),
}

impl Format {
    /// Reads what `--format` says: `ltsv`, `json`, `combined`, `common`, or a format of nginx or
    /// Apache, in which `\"`, `\\` and `\t` are as in the config file.
    ///
    /// # Errors
    /// When the format names no request, or two fields without a text between them.
    pub fn parse(text: &str) -> Result<Format, String> {
        match text {
            "ltsv" => Ok(Format::Ltsv),
            "json" => Ok(Format::Json),
            "combined" => Pattern::compile(USUAL[0]).map(Format::Pattern),
            "common" => Pattern::compile(USUAL[1]).map(Format::Pattern),
            format => Pattern::compile(&unescaped(format)).map(Format::Pattern),
        }
    }

    /// Returns the format of a line; `None` for an unknown one.
    pub fn of_line(line: &[u8]) -> Option<Format> {
        if line.first() == Some(&b'{') {
            return Format::Json.fits(line).then_some(Format::Json);
        }
        if line.contains(&b'\t') && Format::Ltsv.fits(line) {
            return Some(Format::Ltsv);
        }
        let last = line.rsplit(|byte| *byte == b' ').next().unwrap_or(line);
        let is_time = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let (is_number, has_point) = (last.iter().all(is_time), last.contains(&b'.'));
        let mut formats = Vec::new();
        for (usual, is_combined) in USUAL.iter().zip([true, false]) {
            if is_number && (is_combined || has_point) {
                let timed = TIMED[usize::from(!has_point)];
                formats.push(format!("{usual}{timed}"));
            }
            formats.push((*usual).to_owned());
        }
        formats
            .iter()
            .filter_map(|format| Format::parse(format).ok())
            .find(|format| format.fits(line))
    }

    /// Whether a line has the format and a request.
    pub(crate) fn fits(&self, line: &[u8]) -> bool {
        let mut entry = Entry::default();
        self.read(line, &mut entry) && !entry.uri.is_empty()
    }

    /// Reads a line; returns whether the line has the format.
    pub(super) fn read(&self, line: &[u8], entry: &mut Entry) -> bool {
        match self {
            Format::Ltsv => read_ltsv(line, entry),
            Format::Json => json::read(line, entry),
            Format::Pattern(pattern) => pattern.read(line, entry),
        }
    }
}

/// Returns a format without the escapes of a config file.
fn unescaped(format: &str) -> String {
    let mut text = String::with_capacity(format.len());
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = match (letter, letters.peek()) {
            ('\\', Some('"')) => Some('"'),
            ('\\', Some('\\')) => Some('\\'),
            ('\\', Some('t')) => Some('\t'),
            _ => None,
        };
        if escaped.is_some() {
            letters.next();
        }
        text.push(escaped.unwrap_or(letter));
    }
    text
}

fn read_ltsv(line: &[u8], entry: &mut Entry) -> bool {
    let mut is_ltsv = false;
    for field in line.split(|byte| *byte == b'\t') {
        if let Some(colon) = memchr::memchr(b':', field) {
            is_ltsv = true;
            entry.set(Field::of_label(&field[..colon]), &field[colon + 1..]);
        }
    }
    is_ltsv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, micros: Option<u32>) {
        let format = Format::of_line(line.as_bytes()).expect("a known format");
        let mut entry = Entry::default();
        assert!(format.read(line.as_bytes(), &mut entry));
        assert_eq!(
            (entry.uri.as_slice(), entry.status),
            (b"/a".as_slice(), 200)
        );
        assert_eq!(entry.micros, micros);
    }

    #[test]
    fn usual_formats_are_told_by_a_line() {
        let combined = "1.2.3.4 - - [10/Oct/2026:13:55:36 +0900] \"GET /a HTTP/1.1\" 200 5 \"-\" \"curl/8 (x)\"";
        check(combined, None);
        check(&format!("{combined} 0.012"), Some(12_000));
        check(&format!("{combined} 1500"), Some(1_500));
        check(
            "1.2.3.4 - - [10/Oct/2026:13:55:36 +0900] \"GET /a HTTP/1.1\" 200 5",
            None,
        );
        check(
            "time:x\treq:GET /a HTTP/1.1\tstatus:200\treqtime:0.5",
            Some(500_000),
        );
        check(
            "{\"uri\":\"\\/a\",\"status\":200,\"response_time\":0.25,\"x\":{\"y\":[1]}}",
            Some(250_000),
        );
        check(
            "{\"uri\":\"/a\",\"status\":\"200\",\"request_time\":\"0.25\"}",
            Some(250_000),
        );
        let common = "1.2.3.4 - - [10/Oct/2026:13:55:36 +0900] \"GET /a HTTP/1.1\" 200 5";
        check(&format!("{common} 0.0123"), Some(12_300));
        check(&format!("{common} 17"), None);
        let lograge = "{\"method\":\"GET\",\"path\":\"/a\",\"controller\":\"X\",\"status\":200,\"duration\":58.33,\"view\":40.4,\"db\":15.3}";
        check(lograge, Some(58_330));
        check(
            "{\"uri\":\"/a\",\"status\":200,\"duration\":5000,\"controller\":\"X\"}",
            Some(5_000_000),
        );
        check(
            "{\"uri\":\"/a\",\"status\":200,\"duration\":0.0009}",
            Some(900),
        );
        assert_eq!(Format::of_line(b"hello world"), None);
        assert_eq!(Format::of_line(b""), None);
    }

    #[test]
    fn a_format_may_be_copied_as_the_config_file_has_it() {
        let check = |format: &str, line: &str| {
            let format = Format::parse(format).expect("a format");
            let mut entry = Entry::default();
            assert!(format.read(line.as_bytes(), &mut entry), "{line}");
            let read = (entry.uri.as_slice(), entry.micros);
            assert_eq!(read, (b"/a".as_slice(), Some(250)));
        };
        check(
            r#"%h %l %u %t \"%r\" %>s %b %D"#,
            "::1 - - [10/Oct/2026:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 5 250",
        );
        check(
            r"$time_iso8601\t$request_uri\t\\$request_time",
            "2026-10-10T13:55:36+09:00\t/a\t\\0.00025",
        );
    }
}
