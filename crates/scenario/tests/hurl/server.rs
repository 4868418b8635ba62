//! A server with responses demanded by the request.
//!
//! `/tries/NAME/N` answers 404 to the first N - 1 requests, then 200.
//! `/answer?status=…&type=…&header=Name: value&body=…&hex=…&coding=gzip` answers just that; any
//! other path answers with JSON that says how it was asked: `method`, `target`, `headers` by name,
//! `body`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use md5::Digest as _;

struct Request {
    method: String,
    target: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

#[derive(Default)]
struct Reply {
    status: Option<String>,
    headers: String,
    body: Vec<u8>,
}

/// Starts a server, running until the process ends; returns the URL.
pub(crate) fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away in between is no concern of the server.
            let _ = serve(stream);
        }
    });
    format!("http://{address}")
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let request = read(&stream)?;
    let target = request.target.as_str();
    let reply = if let Some(query) = target.strip_prefix("/answer") {
        asked_for(query.trim_start_matches('?'))?
    } else if let Some((_, enough)) = target
        .strip_prefix("/tries/")
        .and_then(|rest| rest.split_once('/'))
    {
        tried(target, enough)
    } else if let Some(algorithm) = target.strip_prefix("/digest/") {
        challenged(&request, algorithm)
    } else {
        echo(&request)
    };
    let status = reply.status.as_deref().unwrap_or("200");
    let length = reply.body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n{}\r\n",
        reply.headers
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&reply.body)
}

fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next(), words.next());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap_or(0))];
    reader.read_exact(&mut body)?;
    Ok(Request {
        method: method.unwrap_or_default(),
        target: target.unwrap_or_default(),
        headers,
        body,
    })
}

/// Counts the requests for a target, until there are enough.
fn tried(target: &str, enough: &str) -> Reply {
    static TRIES: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut tries = TRIES.lock().expect("no thread panics with it");
    let count = tries.entry(target.to_owned()).or_default();
    *count += 1;
    Reply {
        status: (count.to_string() != enough).then(|| "404".to_owned()),
        body: count.to_string().into_bytes(),
        ..Reply::default()
    }
}

/// Asks for digest authentication of Ann, and echoes the request of a right answer.
fn challenged(request: &Request, algorithm: &str) -> Reply {
    let challenge = Reply {
        status: Some("401".to_owned()),
        headers: format!(
            "WWW-Authenticate: Basic realm=\"r\"\r\n\
             WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", opaque=\"o\", algorithm={algorithm}\r\n"
        ),
        ..Reply::default()
    };
    let given = request.headers.get("authorization");
    let Some(given) = given.and_then(|given| given.strip_prefix("Digest ")) else {
        assert!(request.body.is_empty(), "a body is sent in vain");
        return challenge;
    };
    let part = |name: &str| {
        let mut parts = given.split(", ").filter_map(|part| part.split_once('='));
        let found = parts.find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value.trim_matches('"'))
    };
    let hash = |text: String| -> String {
        let bytes = match algorithm {
            "MD5" => md5::Md5::digest(text).to_vec(),
            _ => sha2::Sha256::digest(text).to_vec(),
        };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let secret = hash("ann:r:secret".to_owned());
    let asked = hash(format!("{}:{}", request.method, request.target));
    let expected = hash(format!(
        "{secret}:n:00000001:{}:auth:{asked}",
        part("cnonce")
    ));
    match part("response") == expected && part("opaque") == "o" {
        true => echo(request),
        false => challenge,
    }
}

fn echo(request: &Request) -> Reply {
    let body = serde_json::json!({
        "method": request.method,
        "target": request.target,
        "headers": request.headers,
        "body": String::from_utf8_lossy(&request.body),
    });
    Reply {
        headers: "Content-Type: application/json\r\n".to_owned(),
        body: body.to_string().into_bytes(),
        ..Reply::default()
    }
}

fn asked_for(query: &str) -> io::Result<Reply> {
    let mut reply = Reply::default();
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    for (name, value) in pairs {
        let bytes = percent_decoded(value);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name {
            "status" => reply.status = Some(text),
            "type" => reply.headers += &format!("Content-Type: {text}\r\n"),
            "header" => reply.headers += &format!("{text}\r\n"),
            "body" => reply.body = bytes,
            "hex" => reply.body = bytes_of(&text),
            "coding" => {
                reply.headers += &format!("Content-Encoding: {text}\r\n");
                reply.body = compressed(&text, &reply.body)?;
            }
            other => panic!("a case asks the server for `{other}`"),
        }
    }
    Ok(reply)
}

fn compressed(coding: &str, body: &[u8]) -> io::Result<Vec<u8>> {
    if coding == "deflate" {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(body)?;
        return encoder.finish();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body)?;
    encoder.finish()
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or("").as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at(2);
        bytes.extend(bytes_of(code));
        bytes.extend(rest.as_bytes());
    }
    bytes
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
    (0..digits.len()).step_by(2).map(pair).collect()
}
