//! One request outside of any load: whether a server answers, or a document for a receiver.

use std::fmt;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use scenario::{BaseUrl, Link, Scenario};

use crate::address::Address;
use crate::http1::{AnswerReader, Limits};
use crate::outcome::LoadError;
use crate::plan::Plan;
use crate::stream::Blocking;
use crate::tls::{TlsClient, Trust};

const LIMITS: Limits = Limits {
    head_bytes: 64 * 1024,
    body_bytes: 64 * 1024 * 1024,
};

/// Bytes kept of a response's body: a receiver says in a few lines what is wrong.
const BODY_KEPT: usize = 64 * 1024;

/// Why a probe got no answer.
#[derive(Debug)]
pub enum ProbeError {
    /// A URL unusable for requests.
    Url(String),
    /// The host's name has no address.
    Resolve(LoadError),
    /// No connection, a broken one, or a timeout.
    Io(io::Error),
    /// What came is not an HTTP answer.
    BadAnswer(&'static str),
}

/// Whether where a load would go takes a connection within `limit`.
///
/// # Errors
/// The name has no address, or what the system said of the connection.
pub fn can_connect(plan: &Plan, scenario: &Scenario, limit: Duration) -> Result<(), ProbeError> {
    let address = Address::find(scenario.base_url(), plan.via.as_ref());
    let address = address.map_err(ProbeError::Resolve)?;
    let connected = Blocking::connect(&address, None, limit);
    connected.map(drop).map_err(ProbeError::Io)
}

/// Sends `GET url` and returns the answer's status. Waits no longer than `limit` in all.
pub fn probe(url: &str, limit: Duration) -> Result<u16, ProbeError> {
    // The question is whether the server answers, not who it is.
    let anyone = Trust {
        insecure: true,
        ..Trust::default()
    };
    let request = Request {
        method: "GET",
        url,
        headers: &[],
        body: &[],
    };
    request.send(&anyone, limit).map(|reader| reader.status())
}

/// Response to [`post`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Status code.
    pub status: u16,
    /// Value of the header `Retry-After`.
    pub retry_after: Option<String>,
    /// Beginning of the body.
    pub body: Vec<u8>,
}

/// Sends `POST url` once with a body. Waits no longer than `limit` in all; nothing is tried again.
///
/// # Errors
/// There was no complete response, or a header has a line break.
pub fn post(
    url: &str,
    headers: &[(String, String)],
    body: &[u8],
    trust: &Trust,
    limit: Duration,
) -> Result<Posted, ProbeError> {
    let request = Request {
        method: "POST",
        url,
        headers,
        body,
    };
    let reader = request.send(trust, limit)?;
    let answer = reader.answer(0);
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    Ok(Posted {
        status: answer.status,
        retry_after: answer.values("retry-after").next().map(text),
        body: answer.body.to_vec(),
    })
}

/// A request by itself.
struct Request<'a> {
    method: &'a str,
    url: &'a str,
    headers: &'a [(String, String)],
    body: &'a [u8],
}

impl Request<'_> {
    /// Sends the request on a connection of its own and reads the whole response.
    fn send(&self, trust: &Trust, limit: Duration) -> Result<AnswerReader, ProbeError> {
        let end = Instant::now() + limit;
        let (base, path) = BaseUrl::split(self.url).map_err(ProbeError::Url)?;
        let bytes = self.bytes(&base, path)?;
        let address = Address::find(&base, None).map_err(ProbeError::Resolve)?;
        let tls = base
            .tls
            .then(|| TlsClient::new(&base.host, trust, &Link::default(), false));
        let tls = tls.transpose().map_err(ProbeError::Resolve)?;
        let mut stream =
            Blocking::connect(&address, tls.as_ref(), left(end)?).map_err(ProbeError::Io)?;
        stream.limit(left(end)?).map_err(ProbeError::Io)?;
        stream.write_all(&bytes).map_err(ProbeError::Io)?;
        let mut reader = AnswerReader::new(LIMITS);
        reader.expect(false, BODY_KEPT, false);
        let mut buffer = vec![0; 16 * 1024];
        while !reader.is_complete() {
            stream.limit(left(end)?).map_err(ProbeError::Io)?;
            match stream.read(&mut buffer).map_err(ProbeError::Io)? {
                0 if reader.close() => {}
                0 => return Err(ProbeError::Io(io::ErrorKind::UnexpectedEof.into())),
                bytes => {
                    let fed = reader.feed(&buffer[..bytes]);
                    fed.map_err(|bad| ProbeError::BadAnswer(bad.0))?;
                }
            }
        }
        Ok(reader)
    }

    fn bytes(&self, base: &BaseUrl, path: &str) -> Result<Vec<u8>, ProbeError> {
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut head = format!(
            "{} {slash}{path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hakaru/{}\r\nAccept: */*\r\nConnection: close\r\n",
            self.method,
            base.authority,
            env!("CARGO_PKG_VERSION"),
        );
        for (name, value) in self.headers {
            if [name, value].iter().any(|text| text.contains(['\r', '\n'])) {
                let why = format!("the header {name:?} has a line break");
                return Err(ProbeError::Url(why));
            }
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        Ok([head.as_bytes(), self.body].concat())
    }
}

fn left(end: Instant) -> Result<Duration, ProbeError> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ProbeError::Io(io::ErrorKind::TimedOut.into()));
    }
    Ok(left)
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeError::Url(what) => f.write_str(what),
            ProbeError::Resolve(error) => error.fmt(f),
            ProbeError::Io(error) => write!(f, "no answer: {error}"),
            ProbeError::BadAnswer(what) => write!(f, "no HTTP answer: {what}"),
        }
    }
}

impl std::error::Error for ProbeError {}
