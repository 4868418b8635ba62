//! One request, for finding out whether a server answers.

use std::fmt;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use scenario::{BaseUrl, Link, Scenario};

use crate::http1::{AnswerReader, Limits};
use crate::outcome::LoadError;
use crate::plan::Plan;
use crate::stream::{Address, Blocking};
use crate::tls::{TlsClient, Trust};

const LIMITS: Limits = Limits {
    head_bytes: 64 * 1024,
    body_bytes: 64 * 1024 * 1024,
};

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
    let end = Instant::now() + limit;
    let (base, path) = BaseUrl::split(url).map_err(ProbeError::Url)?;
    let address = Address::find(&base, None).map_err(ProbeError::Resolve)?;
    let anyone = Trust {
        insecure: true,
        ..Trust::default()
    };
    // It asks whether the server answers, not who it is.
    let tls = base
        .tls
        .then(|| TlsClient::new(&base.host, &anyone, &Link::default(), false));
    let tls = tls.transpose().map_err(ProbeError::Resolve)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let request = format!(
        "GET {slash}{path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hakaru/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        base.authority,
        env!("CARGO_PKG_VERSION"),
    );
    let mut stream =
        Blocking::connect(&address, tls.as_ref(), left(end)?).map_err(ProbeError::Io)?;
    stream.limit(left(end)?).map_err(ProbeError::Io)?;
    stream
        .write_all(request.as_bytes())
        .map_err(ProbeError::Io)?;
    let mut reader = AnswerReader::new(LIMITS);
    reader.expect(false, 0, false);
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
    Ok(reader.status())
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
