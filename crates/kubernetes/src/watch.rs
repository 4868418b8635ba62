//! A pod's wait before the start: one watch of one ConfigMap.
//!
//! A watch without a version begins with the present state, so that a late pod misses nothing. It
//! is asked for over HTTP/1.0, whose responses have no chunks: each line is an event.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

/// Folder of a pod's service account.
pub const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Key of the ConfigMap for the start of all generators.
pub const GO: &str = "go";
/// Key of the ConfigMap for the early end of all generators, each with a result.
pub const STOP: &str = "stop";
/// Longest wait in a read, after which the stop flag is checked.
const LOOK: Duration = Duration::from_millis(100);
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Bytes of the longest line: an event of a ConfigMap is a few kB.
const LINE_MAX: usize = 2 << 20;

/// Address of the API server, and the pod's account.
#[derive(Debug)]
pub struct Api {
    host: String,
    port: u16,
    namespace: String,
    token: String,
    config: Arc<ClientConfig>,
}

/// Why nobody can be asked.
#[derive(Debug)]
pub struct WatchError(String);

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WatchError {}

/// End of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// The sign is there.
    Go,
    /// The server ended the watch, as servers do from time to time: watch again.
    Ended,
    /// The generator was stopped.
    Stopped,
}

impl Api {
    /// Returns the API server of a pod: the account is in `folder` ([`ACCOUNT`]), `host` and `port`
    /// are the variables `KUBERNETES_SERVICE_HOST` and `_PORT`.
    ///
    /// # Errors
    /// This is no pod, or its account is not mounted.
    pub fn of_pod(
        folder: &Path,
        host: Option<String>,
        port: Option<String>,
    ) -> Result<Api, WatchError> {
        let read = |name: &str| {
            std::fs::read_to_string(folder.join(name)).map_err(|error| {
                WatchError(format!(
                    "cannot read {}/{name}: {error}; a pod needs its service account",
                    folder.display()
                ))
            })
        };
        let missing =
            || WatchError("KUBERNETES_SERVICE_HOST is not set: this is no pod".to_owned());
        Ok(Api {
            host: host.ok_or_else(missing)?,
            port: port.and_then(|port| port.parse().ok()).unwrap_or(443),
            namespace: read("namespace")?.trim().to_owned(),
            token: read("token")?.trim().to_owned(),
            config: tls(&read("ca.crt")?)?,
        })
    }

    /// Watches a ConfigMap until the data has the key `sign`.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    pub fn watch(
        &self,
        name: &str,
        sign: &str,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Watched, WatchError> {
        let failed = |what: &str, error: io::Error| {
            WatchError(format!("{what} {}:{}: {error}", self.host, self.port))
        };
        let mut stream = self
            .connect()
            .map_err(|error| failed("cannot reach", error))?;
        let request = format!(
            "GET /api/v1/namespaces/{}/configmaps?watch=true&fieldSelector=metadata.name%3D{name} HTTP/1.0\r\n\
             Host: {}\r\nAuthorization: Bearer {}\r\nAccept: application/json\r\n\r\n",
            self.namespace, self.host, self.token
        );
        stream
            .write_all(request.as_bytes())
            .map_err(|error| failed("cannot ask", error))?;
        let mut lines = Lines::default();
        let mut buffer = [0; 16 * 1024];
        loop {
            if stopped() {
                return Ok(Watched::Stopped);
            }
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(Watched::Ended),
                Ok(bytes) => lines.feed(&buffer[..bytes])?,
                Err(error) if is_pause(&error) => continue,
                // A server that goes does not always say so.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(Watched::Ended);
                }
                Err(error) => return Err(failed("cannot read from", error)),
            }
            if lines.take()?.iter().any(|event| has_sign(event, sign)) {
                return Ok(Watched::Go);
            }
        }
    }

    fn connect(&self) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        use std::net::ToSocketAddrs;
        let mut addresses = (self.host.as_str(), self.port).to_socket_addrs()?;
        let address = addresses.next().ok_or(io::ErrorKind::NotFound)?;
        let socket = TcpStream::connect_timeout(&address, CONNECT_MAX)?;
        socket.set_read_timeout(Some(CONNECT_MAX))?;
        socket.set_nodelay(true)?;
        let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
        let session =
            ClientConnection::new(Arc::clone(&self.config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(session, socket);
        // The handshake, before waits become short.
        stream.flush()?;
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        stream.sock.set_read_timeout(Some(LOOK))?;
        Ok(stream)
    }
}

fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn tls(authorities: &str) -> Result<Arc<ClientConfig>, WatchError> {
    let wrong = |error: &dyn fmt::Display| {
        WatchError(format!(
            "ca.crt of the service account cannot be used: {error}"
        ))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authorities.as_bytes()) {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?;
    Ok(Arc::new(
        builder.with_root_certificates(roots).with_no_client_auth(),
    ))
}

/// Whether the event shows a ConfigMap with the sign.
fn has_sign(event: &str, sign: &str) -> bool {
    let event: Value = serde_json::from_str(event).unwrap_or_default();
    event["object"]["data"][sign].is_string() && event["type"] != "DELETED"
}

/// A response in pieces: the head once, then the lines.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    has_head: bool,
}

impl Lines {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WatchError> {
        self.bytes.extend_from_slice(bytes);
        match self.bytes.len() > LINE_MAX {
            true => Err(WatchError(
                "the API server sent a line without an end".to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Removes and returns the complete lines.
    fn take(&mut self) -> Result<Vec<String>, WatchError> {
        if !self.has_head {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            let parsed = head.parse(&self.bytes);
            let parsed = parsed.map_err(|error| {
                WatchError(format!("the API server answered strangely: {error}"))
            })?;
            let httparse::Status::Complete(length) = parsed else {
                return Ok(Vec::new());
            };
            match head.code {
                Some(200) => {}
                code => return Err(refused(code.unwrap_or(0), &self.bytes[length..])),
            }
            self.bytes.drain(..length);
            self.has_head = true;
        }
        let Some(end) = self.bytes.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let whole: Vec<u8> = self.bytes.drain(..=end).collect();
        let whole = String::from_utf8_lossy(&whole).into_owned();
        Ok(whole.lines().map(str::to_owned).collect())
    }
}

fn refused(code: u16, body: &[u8]) -> WatchError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let told = body["message"].as_str().unwrap_or("no reason is told");
    WatchError(format!("the API server refuses the watch ({code}): {told}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n";

    #[test]
    fn events_are_lines_however_they_are_cut() {
        let waiting = r#"{"type":"ADDED","object":{"kind":"ConfigMap","metadata":{"name":"run"}}}"#;
        let go = r#"{"type":"MODIFIED","object":{"data":{"go":"1"}}}"#;
        let text = format!("{HEAD}{waiting}\n{go}\n");
        for cut in 0..text.len() {
            let mut lines = Lines::default();
            let mut events = Vec::new();
            for piece in [&text[..cut], &text[cut..]] {
                lines.feed(piece.as_bytes()).expect("it is short");
                events.extend(lines.take().expect("an answer"));
            }
            let signs: Vec<bool> = events.iter().map(|event| has_sign(event, GO)).collect();
            assert_eq!(signs, [false, true], "cut at {cut}");
        }
    }

    #[test]
    fn a_refusal_is_told() {
        let mut lines = Lines::default();
        let text = "HTTP/1.0 403 Forbidden\r\n\r\n{\"message\":\"configmaps is forbidden\"}";
        lines.feed(text.as_bytes()).expect("it is short");
        let error = lines.take().expect_err("it is refused").to_string();
        assert_eq!(
            error,
            "the API server refuses the watch (403): configmaps is forbidden"
        );
    }

    #[test]
    fn a_config_map_that_was_deleted_is_no_sign() {
        assert!(!has_sign(
            r#"{"type":"DELETED","object":{"data":{"go":"1"}}}"#,
            GO
        ));
        assert!(!has_sign("not JSON", GO));
    }
}
