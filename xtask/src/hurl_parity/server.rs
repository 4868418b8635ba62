//! The server for both programs. A path begins with who asks and the number of the case, `/h/12` or
//! `/k/12`; below that, `/a/STATUS/HEADERS/BODY` answers just that (the last two in hexadecimal
//! digits), `/tries/N` answers 404 to the first N - 1 requests of a case, and any other path
//! answers 200 and what it got.
//!
//! What came is kept, in a form in which requests that mean the same are the same.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::run::Outcome;

/// In a header of an answer, stands for the begin of the paths of the one who asks.
pub(super) const BASE: char = '§';
/// Longer heads and bodies are no small case.
const SIZE_MAX: u64 = 1 << 20;

/// Requests by asker and case, as `h/12`.
type Seen = Arc<Mutex<HashMap<String, Vec<String>>>>;

pub(super) struct Server {
    pub(super) port: u16,
    seen: Seen,
}

impl Server {
    pub(super) fn start() -> Outcome<Server> {
        let failed = |error| format!("cannot listen on 127.0.0.1: {error}");
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let seen = Seen::default();
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                // A client that goes away in between is no concern of the server.
                thread::spawn(move || drop(serve(&stream, &seen)));
            }
        });
        Ok(Server { port, seen })
    }

    /// Takes what came from one asker in one case.
    pub(super) fn take(&self, key: &str) -> Vec<String> {
        let mut seen = self.seen.lock().expect("no thread panics with it");
        seen.remove(key).unwrap_or_default()
    }
}

struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn serve(stream: &TcpStream, seen: &Seen) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader)? {
        let mut parts = request.target.splitn(4, '/');
        let key = format!(
            "{}/{}",
            parts.nth(1).unwrap_or(""),
            parts.next().unwrap_or("")
        );
        let rest = format!("/{}", parts.next().unwrap_or(""));
        let shown = shown(&request, &rest);
        let base = format!("/{key}");
        let mut count = 0;
        if let Ok(mut seen) = seen.lock() {
            let of_case = seen.entry(key).or_default();
            of_case.push(shown.clone());
            count = of_case.len();
        }
        let enough = rest.strip_prefix("/tries/");
        let reply = match enough.and_then(|enough| enough.parse::<usize>().ok()) {
            Some(enough) if count < enough => {
                b"HTTP/1.1 404 X\r\nContent-Length: 5\r\n\r\nagain".to_vec()
            }
            _ => reply(&request, &rest, &base, &shown),
        };
        let mut stream = stream;
        stream.write_all(&reply)?;
    }
    Ok(())
}

fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Request>> {
    let mut lines = Vec::new();
    let mut head = reader.take(SIZE_MAX);
    loop {
        let mut line = Vec::new();
        if head.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line: String = line.iter().map(|byte| char::from(*byte)).collect();
        match line.trim_end_matches(['\r', '\n']) {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut words = lines.first().map_or("", String::as_str).splitn(3, ' ');
    let word = |word: Option<&str>| word.unwrap_or("").to_owned();
    let (method, target) = (word(words.next()), word(words.next()));
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let value = |wanted: &str| headers.iter().find(|(name, _)| name == wanted);
    let length = value("content-length").and_then(|(_, value)| value.parse::<u64>().ok());
    let mut body = Vec::new();
    reader
        .take(length.unwrap_or(0).min(SIZE_MAX))
        .read_to_end(&mut body)?;
    Ok(Some(Request {
        method,
        target,
        headers,
        body,
    }))
}

/// Headers without meaning for the case.
const LEFT_OUT: [&str; 11] = [
    "host",
    "user-agent",
    "accept",
    "connection",
    "content-length",
    "accept-encoding",
    "hakaru-request",
    // They hold the time.
    "x-amz-date",
    "x-osc-date",
    // Asks for HTTP/2 without TLS, which nobody answers.
    "upgrade",
    "http2-settings",
];

fn shown(request: &Request, rest: &str) -> String {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut headers: Vec<String> = request
        .headers
        .iter()
        .filter(|(name, value)| {
            !LEFT_OUT.contains(&name.as_str()) || name == "accept" && value != "*/*"
        })
        .map(|(name, value)| format!("{name}: {}", unsigned(value)))
        .collect();
    headers.sort();
    let mut body: String = match String::from_utf8(request.body.clone()) {
        Ok(text) => text,
        Err(_) => request.body.escape_ascii().to_string(),
    };
    let boundary = headers
        .iter()
        .find_map(|header| Some(header.split_once("boundary=")?.1.to_owned()));
    let mut headers = headers.join("\n");
    if let Some(boundary) = boundary {
        body = body.replace(boundary.trim_matches('"'), "BOUNDARY");
        headers = headers.replace(&boundary, "BOUNDARY");
    }
    if headers.contains("x-www-form-urlencoded") {
        body = plain(&body);
    }
    format!(
        "{} {path}?{}\n{headers}\n\n{body}",
        request.method,
        plain(query)
    )
}

/// Returns a header's value without what each program signs in its own way.
fn unsigned(value: &str) -> &str {
    match value.split_once(" Credential=") {
        Some((algorithm, _)) => algorithm,
        None => value,
    }
}

/// Percent escapes of what needs none are taken back, as both spellings mean the same.
fn plain(query: &str) -> String {
    let mut out = Vec::new();
    let bytes = query.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%')
            .then(|| query.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .filter(|byte| !b"&=+%# ".contains(byte));
        out.push(escape.unwrap_or(bytes[at]));
        at += if escape.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn reply(request: &Request, rest: &str, base: &str, shown: &str) -> Vec<u8> {
    let (status, extra, body) = match rest.strip_prefix("/a/") {
        Some(asked) => {
            let asked = asked.split('?').next().unwrap_or("");
            let mut parts = asked.split('/');
            let status = parts.next().unwrap_or("200").to_owned();
            let headers = unhex(parts.next().unwrap_or(""));
            let body = unhex(parts.next().unwrap_or(""));
            (status, headers, body)
        }
        None => ("200".to_owned(), Vec::new(), shown.as_bytes().to_vec()),
    };
    let mut head =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len()).into_bytes();
    let base_bytes = BASE.to_string().into_bytes();
    for line in extra
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        match line
            .windows(base_bytes.len())
            .position(|part| part == base_bytes)
        {
            Some(at) => {
                head.extend_from_slice(&line[..at]);
                head.extend_from_slice(base.as_bytes());
                head.extend_from_slice(&line[at + base_bytes.len()..]);
            }
            None => head.extend_from_slice(line),
        }
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    if request.method != "HEAD" {
        head.extend_from_slice(&body);
    }
    head
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unhex(text: &str) -> Vec<u8> {
    let digits = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    text.as_bytes().chunks(2).filter_map(digits).collect()
}
