//! The table of `docs/load.md`: what servers do over HTTP/1.1, and how requests end. Each row is
//! a server of its own, asked by a single pass and by a load.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::common::{millis, ok, plan, read_request, serve};
use crate::web_sockets::opening;
use load::{Checked, Engine, Plan, Trust, check_once, run};
use scenario::{Expectation, FlowSpec, MessageSpec, Payload, Scenario, SocketSpec, Spec};

type Handler = Box<dyn Fn(TcpStream) + Send + Sync>;

/// A row of the table, and the server.
struct Row {
    does: &'static str,
    outcome: &'static str,
    said: &'static str,
    asks: Asks,
    /// Whether the server is spoken to by TLS.
    tls: bool,
    serve: Handler,
}

/// What the client asks.
#[derive(Clone, Copy)]
enum Asks {
    /// A flow.
    Flow(&'static str),
    /// A WebSocket, and a message.
    Message,
}

/// Rows tried at once.
const THREADS: usize = 8;

const PLAIN: Asks = Asks::Flow("GET /a\nHTTP 200\n");
const WHOLE: &str = "complete";

fn row(does: &'static str, (outcome, said): (&'static str, &'static str), serve: Handler) -> Row {
    Row {
        does,
        outcome,
        said,
        asks: PLAIN,
        tls: false,
        serve,
    }
}

impl Row {
    fn asking(self, flow: &'static str) -> Row {
        Row {
            asks: Asks::Flow(flow),
            ..self
        }
    }

    fn scenario(&self, address: SocketAddr) -> Scenario {
        let scheme = if self.tls { "https" } else { "http" };
        let message = MessageSpec {
            send: Some(Payload::Text("a".to_owned())),
            expect: vec![Expectation::Equals("hello".to_owned())],
            ..MessageSpec::default()
        };
        let socket = SocketSpec {
            connect: "/room".to_owned(),
            rounds: 1,
            steps: vec![message],
            ..SocketSpec::default()
        };
        let (text, socket) = match self.asks {
            Asks::Flow(text) => (text, None),
            Asks::Message => ("", Some(socket)),
        };
        let spec = Spec {
            base_url: format!("{scheme}://{address}"),
            flows: vec![FlowSpec {
                file: socket.is_none().then(|| "test.hurl".into()),
                weight: 1,
                socket,
                ..FlowSpec::default()
            }],
            ..Spec::default()
        };
        let mut read = |_: &Path| Ok(text.as_bytes().to_vec());
        Scenario::build(&spec, &mut read).unwrap_or_else(|error| panic!("{}: {error}", self.does))
    }

    /// Returns whether an exchange ended as the row says.
    fn fits(&self, outcome: &str, said: &str) -> bool {
        outcome == self.outcome && (said.contains(self.said) || self.outcome == "ok")
    }

    fn pass(&self, scenario: &Scenario) -> Option<String> {
        let mut last: Option<Checked> = None;
        let ran = check_once(&limited(), scenario, &mut |checked| last = Some(checked));
        ran.expect("an address");
        let last = last.expect("a request");
        let said = last.faults.join("; ");
        let outcome = last.outcome.name();
        let raw = said.contains(char::is_control);
        let fits = self.fits(outcome, &said) && !raw;
        (!fits).then(|| format!("{}: a pass ends with {outcome}: {said}", self.does))
    }

    /// A load until something has ended as the row says; all other ends are wrong, but for
    /// what opens a WebSocket.
    fn load(&self, scenario: &Scenario, engine: Engine) -> Option<String> {
        let plan = Plan {
            engine,
            ..limited()
        };
        let stop = AtomicBool::new(false);
        let mut ended = Vec::new();
        let result = run(&plan, scenario, &stop, &mut |batch| {
            let names = batch.exchanges.iter().map(|one| one.outcome.name());
            ended.extend(names);
            stop.store(ended.contains(&self.outcome), Ordering::Relaxed);
        });
        let failures = result.expect("the load runs").failures;
        let wrong = |name: &&&str| ![self.outcome, "ok", "unanswered"].contains(*name);
        if let Some(outcome) = ended.iter().find(wrong) {
            return Some(format!(
                "{}: a load ends with {outcome}: {failures:?}",
                self.does
            ));
        }
        let said = failures
            .iter()
            .any(|one| self.fits(one.outcome.name(), &one.reason));
        let fits = said || self.outcome == "ok" && failures.is_empty();
        (!fits).then(|| format!("{}: a load says {failures:?}", self.does))
    }
}

/// Limits reached soon where a server never ends, and by nobody else.
fn limited() -> Plan {
    Plan {
        duration: millis(60_000),
        answer_timeout: millis(1_000),
        body_bytes_max: 1 << 20,
        trust: Trust {
            authorities: Some(authority().folder.path().join("ca.pem")),
            insecure: false,
        },
        ..plan(1)
    }
}

const FINE: (&str, &str) = ("ok", WHOLE);

fn bad(said: &'static str) -> (&'static str, &'static str) {
    ("bad answer", said)
}

fn lost(said: &'static str) -> (&'static str, &'static str) {
    ("disconnected", said)
}

fn late() -> (&'static str, &'static str) {
    ("timed out", "no complete answer within the limit")
}

/// Sends the bytes in response to each request.
fn says(bytes: impl Into<Vec<u8>>) -> Handler {
    let bytes = bytes.into();
    Box::new(
        move |mut stream| {
            while read_request(&mut stream).is_some() && stream.write_all(&bytes).is_ok() {}
        },
    )
}

/// Responds with the bytes and shuts down writing; what the client still says is read.
fn ends(bytes: impl Into<Vec<u8>>) -> Handler {
    let bytes = bytes.into();
    Box::new(move |mut stream| {
        if read_request(&mut stream).is_some() && stream.write_all(&bytes).is_ok() {
            let _ = stream.shutdown(Shutdown::Write);
            while stream.read(&mut [0; 64]).is_ok_and(|bytes| bytes > 0) {}
        }
    })
}

/// Responds with `begin`, then with `more` for as long as the client reads.
fn goes_on(begin: &'static str, more: Vec<u8>, pause: Duration) -> Handler {
    Box::new(move |mut stream| {
        let asked = read_request(&mut stream).is_some();
        let mut taken = asked && stream.write_all(begin.as_bytes()).is_ok();
        while taken {
            std::thread::sleep(pause);
            taken = stream.write_all(&more).is_ok();
        }
    })
}

/// A head of status 200 with header lines, and what follows.
fn head(lines: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{lines}\r\n{body}")
}

fn chunked(body: &str) -> String {
    head("Transfer-Encoding: chunked\r\n", body)
}

const NO_HTTP: &str = "the answer is not HTTP/1";
const LENGTH: &str = "bad Content-Length";
const CHUNK: &str = "the length of a chunk is not a number";
const CUT: &str = "closed before the answer was complete";

fn heads() -> Vec<Row> {
    vec![
        row(
            "says anything but HTTP",
            bad(NO_HTTP),
            says("hello\r\n\r\n"),
        ),
        row("speaks SSH", bad(NO_HTTP), says("SSH-2.0-OpenSSH\r\n")),
        row(
            "sends a body without a head (HTTP/0.9)",
            bad(NO_HTTP),
            says("<html>hello"),
        ),
        row(
            "names another version (HTTP/2.0)",
            bad(NO_HTTP),
            says("HTTP/2.0 200 OK\r\n\r\n"),
        ),
        row(
            "has a status below 100",
            bad("the answer's status is not a number of three digits"),
            says("HTTP/1.1 099 x\r\n\r\n"),
        ),
        row(
            "has a status of four digits",
            bad(NO_HTTP),
            says("HTTP/1.1 2000 OK\r\n\r\n"),
        ),
        row(
            "gives no reason behind the status",
            FINE,
            says("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
        ),
        row(
            "ends its lines with LF alone",
            FINE,
            says("HTTP/1.1 200 OK\nContent-Length: 2\n\nab"),
        ),
        row(
            "sends an empty line first",
            FINE,
            says("\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ),
        row(
            "sends a header without a colon",
            bad(NO_HTTP),
            says(head("Oops\r\n", "")),
        ),
    ]
}

fn headers() -> Vec<Row> {
    let long = "x".repeat(100_000);
    vec![
        row(
            "sends a space before the colon of a header",
            bad(NO_HTTP),
            says(head("X : 1\r\n", "")),
        ),
        row(
            "folds a header over two lines",
            bad(NO_HTTP),
            says(head("X: a\r\n b\r\n", "")),
        ),
        row(
            "sends a header without a name",
            bad(NO_HTTP),
            says(head(": a\r\n", "")),
        ),
        row(
            "sends a NUL in a header",
            bad(NO_HTTP),
            says(head("X: a\0b\r\n", "")),
        ),
        row(
            "sends terminal escapes in the reason",
            bad(NO_HTTP),
            says("HTTP/1.1 200 \x1b[2J\r\n\r\n"),
        ),
        row(
            "sends terminal escapes in a header",
            bad(NO_HTTP),
            says(head("X: \x1b[2J\r\n", "")),
        ),
        row(
            "sends terminal escapes in the body",
            FINE,
            says(ok("\x1b[2J\x1b]0;x\x07")),
        ),
        row(
            "sends a header of 100,000 bytes",
            bad("the head is larger than the limit"),
            says(head(&format!("X: {long}\r\n"), "")),
        ),
        row(
            "sends 200 headers",
            bad("the answer has too many headers"),
            says(head(&"X: 1\r\n".repeat(200), "")),
        ),
        row(
            "sends 100,000 headers",
            bad("the answer has too many headers"),
            says(head(&"X: 1\r\n".repeat(100_000), "")),
        ),
        row(
            "sends a header without end",
            bad("the head is larger than the limit"),
            goes_on("HTTP/1.1 200 OK\r\nX: ", vec![b'x'; 10_000], Duration::ZERO),
        ),
    ]
}

fn lengths() -> Vec<Row> {
    let of = |length: &str| says(head(&format!("Content-Length: {length}\r\n"), "hello"));
    vec![
        row("says a negative length", bad(LENGTH), of("-1")),
        row("says a length with a sign", bad(LENGTH), of("+5")),
        row("says a length in hexadecimal", bad(LENGTH), of("0x5")),
        row("says a length of two words", bad(LENGTH), of("5 5")),
        row("says a list of equal lengths", bad(LENGTH), of("5, 5")),
        row(
            "says a length beyond 64 bits",
            bad(LENGTH),
            of("99999999999999999999999"),
        ),
        row(
            "says two different lengths",
            bad("two different Content-Length headers"),
            says(head("Content-Length: 1\r\nContent-Length: 2\r\n", "ab")),
        ),
        row(
            "says the same length twice",
            FINE,
            says(head("Content-Length: 2\r\nContent-Length: 2\r\n", "ab")),
        ),
        row(
            "says a length above the limit",
            bad("the body is larger than the limit"),
            of("99999999999999"),
        ),
        row("says no length and closes", FINE, ends(head("", "hello"))),
    ]
}

fn framings() -> Vec<Row> {
    vec![
        row(
            "says no length and never ends",
            bad("the body is larger than the limit"),
            goes_on(
                "HTTP/1.1 200 OK\r\n\r\n",
                vec![b'x'; 100_000],
                Duration::ZERO,
            ),
        ),
        row(
            "sends less than it says, and closes",
            lost(CUT),
            ends(head("Content-Length: 10\r\n", "hello")),
        ),
        row(
            "sends more than it says",
            FINE,
            says(head("Content-Length: 2\r\n", "hello")),
        ),
        row(
            "sends a second answer unasked",
            FINE,
            says([ok("one"), ok("two")].concat()),
        ),
        row(
            "sends a body with 204",
            FINE,
            Box::new(|mut stream| {
                if read_request(&mut stream).is_some() {
                    let _ =
                        stream.write_all(b"HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\nhello");
                    let _ = stream.read(&mut [0; 64]);
                }
            }),
        )
        .asking("GET /a\nHTTP 204\n"),
        row(
            "sends a length with 304",
            FINE,
            says("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        )
        .asking("GET /a\nHTTP 304\n"),
    ]
}

fn codings() -> Vec<Row> {
    let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
    vec![
        row("answers HEAD with a body", FINE, says(ok("hello"))).asking("HEAD /a\nHTTP 200\n"),
        row(
            "says both a length and chunks",
            FINE,
            says(head(both, "5\r\nhello\r\n0\r\n\r\n")),
        ),
        row(
            "names a coding that is not chunked",
            bad("a Transfer-Encoding other than chunked"),
            says(head("Transfer-Encoding: gzip\r\n", "")),
        ),
        row(
            "names chunked twice",
            bad("a Transfer-Encoding other than chunked"),
            says(head("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")),
        ),
        row(
            "misspells chunked",
            bad("a Transfer-Encoding other than chunked"),
            says(head("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")),
        ),
        row(
            "hides Transfer-Encoding by a space",
            bad(NO_HTTP),
            says(head("Transfer-Encoding : chunked\r\n", "0\r\n\r\n")),
        ),
        row(
            "hides Transfer-Encoding by a tab in its value",
            FINE,
            says(head(
                "Transfer-Encoding:\tchunked\r\n",
                "5\r\nhello\r\n0\r\n\r\n",
            )),
        ),
    ]
}

fn chunks() -> Vec<Row> {
    vec![
        row(
            "sends chunks",
            FINE,
            says(chunked("5\r\nhello\r\n0\r\n\r\n")),
        ),
        row(
            "sends no chunk but the last",
            FINE,
            says(chunked("0\r\n\r\n")),
        ),
        row(
            "sends chunks with extensions",
            FINE,
            says(chunked("5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n")),
        ),
        row(
            "sends trailers",
            FINE,
            says(chunked(
                "5\r\nhello\r\n0\r\nX: 1\r\nContent-Length: 9\r\n\r\n",
            )),
        ),
        row(
            "sends trailers without end",
            bad("the trailer is larger than the limit"),
            goes_on(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                b"X: 1\r\n".repeat(1_000),
                Duration::ZERO,
            ),
        ),
        row(
            "sends an extension without end",
            bad("the line before a chunk is larger than the limit"),
            goes_on(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;",
                b"a".repeat(10_000),
                Duration::ZERO,
            ),
        ),
        row(
            "sends chunks without end",
            bad("the body is larger than the limit"),
            goes_on(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"a\r\n0123456789\r\n".repeat(10_000),
                Duration::ZERO,
            ),
        ),
    ]
}

fn wrong_chunks() -> Vec<Row> {
    vec![
        row(
            "sends a chunk whose length is no number",
            bad(CHUNK),
            says(chunked("xyz\r\n")),
        ),
        row(
            "sends a chunk whose length has a sign",
            bad(CHUNK),
            says(chunked("+5\r\nhello\r\n0\r\n\r\n")),
        ),
        row(
            "sends a chunk whose length begins with 0x",
            bad(CHUNK),
            says(chunked("0x5\r\nhello\r\n0\r\n\r\n")),
        ),
        row(
            "sends a chunk whose length is too large",
            bad(CHUNK),
            says(chunked("fffffffffffffffff\r\n")),
        ),
        row(
            "sends a chunk without a length",
            bad(CHUNK),
            says(chunked("\r\nhello\r\n0\r\n\r\n")),
        ),
        row(
            "sends a chunk that is longer than it says",
            bad("a chunk is longer than it says"),
            says(chunked("1\r\nabc\r\n0\r\n\r\n")),
        ),
        row(
            "leaves the last chunk out, and closes",
            lost(CUT),
            ends(chunked("5\r\nhello\r\n")),
        ),
        row(
            "sends chunks by HTTP/1.0",
            FINE,
            ends("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        ),
    ]
}

fn times() -> Vec<Row> {
    let slow = Duration::from_millis(1);
    vec![
        row(
            "says 100 before the answer",
            FINE,
            says(
                [
                    "HTTP/1.1 100 Continue\r\n\r\n",
                    &head("Content-Length: 0\r\n", ""),
                ]
                .concat(),
            ),
        ),
        row(
            "says 102 and 103 before the answer",
            FINE,
            says(
                [
                    "HTTP/1.1 102 Processing\r\n\r\n",
                    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                    &head("Content-Length: 0\r\n", ""),
                ]
                .concat(),
            ),
        ),
        row(
            "says 100 without end",
            late(),
            goes_on("", b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), slow),
        ),
        row(
            "changes the protocol unasked (101)",
            bad("the server switched to another protocol"),
            says("HTTP/1.1 101 x\r\n\r\n"),
        ),
    ]
}

fn ends_of_connections() -> Vec<Row> {
    let slow = Duration::from_millis(1);
    vec![
        row(
            "closes before the answer",
            lost("closed before the answer began"),
            ends(""),
        ),
        row(
            "closes within the head",
            lost("closed before the answer began"),
            ends("HTTP/1.1 200 OK\r\nX:"),
        ),
        row("says nothing", late(), says("")),
        row(
            "sends the head byte by byte, slowly",
            late(),
            goes_on("HTTP/1.1 200 OK\r\nX: ", b"x".to_vec(), slow),
        ),
        row(
            "sends the body byte by byte, slowly",
            late(),
            goes_on(
                "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n",
                b"x".to_vec(),
                slow,
            ),
        ),
        row(
            "closes with every answer",
            FINE,
            ends(head("Connection: close\r\nContent-Length: 2\r\n", "ab")),
        ),
        row(
            "resets the connection",
            lost("closed before the answer began"),
            Box::new(|mut stream| {
                // Closing with bytes unread makes the kernel send a reset.
                let _ = stream.read(&mut [0; 5]);
            }),
        ),
    ]
}

fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..65 {
        encoder.write_all(&zeros).expect("memory");
    }
    let body = encoder.finish().expect("memory");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}

fn contents() -> Vec<Row> {
    const READS: &str = "GET /a\nHTTP 200\n[Asserts]\nbody contains \"x\"\n";
    const FOLLOWS: &str = "GET /a\n[Options]\nlocation: true\nHTTP 200\n";
    let failed = |said| ("check failed", said);
    let coded = |coding: &str| {
        says(head(
            &format!("Content-Encoding: {coding}\r\nContent-Length: 3\r\n"),
            "abc",
        ))
    };
    let leads = |to: &str| {
        says(format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
        ))
    };
    vec![
        row(
            "sends a compressed body of 65 MiB in 64 KiB",
            failed("the decompressed body is larger than the limit of 64 MiB"),
            says(bomb()),
        )
        .asking(READS),
        row(
            "sends a body that is not compressed as it says",
            failed("the body is not gzip: "),
            coded("gzip"),
        )
        .asking(READS),
        row(
            "compresses in a way that was not asked for",
            failed("the body is compressed (compress)"),
            coded("compress"),
        )
        .asking(READS),
        row(
            "redirects in a circle",
            failed("more than 50 redirects; the last leads to /a"),
            leads("/a"),
        )
        .asking(FOLLOWS),
        row(
            "redirects to another host",
            failed("points to another host"),
            leads("http://other.test/"),
        )
        .asking(FOLLOWS),
        row(
            "redirects to another protocol",
            failed("points to another host"),
            leads("file:///etc/passwd"),
        )
        .asking(FOLLOWS),
        row(
            "redirects without saying where",
            failed("expected status 200, came 302"),
            says("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
        )
        .asking(FOLLOWS),
        row(
            "fails with a status of 500",
            ("server error", "expected status 200, came 500"),
            says("HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n"),
        ),
    ]
}

/// Speaks TLS with a self-signed certificate.
fn tls(change: impl Fn(&mut CertificateParams), protocols: &[&[u8]]) -> Handler {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    change(&mut params);
    let certificate = params.self_signed(&key).expect("a certificate");
    trusted(certificate.der().clone(), &key, protocols)
}

/// Speaks TLS with a certificate signed by the client's authority.
fn vouched(change: impl Fn(&mut CertificateParams)) -> Handler {
    let authority = authority();
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    change(&mut params);
    let issuer = Issuer::from_params(&authority.params, &authority.key);
    let certificate = params.signed_by(&key, &issuer).expect("a certificate");
    trusted(certificate.der().clone(), &key, &[])
}

/// Whom the client trusts.
struct Authority {
    params: CertificateParams,
    key: KeyPair,
    folder: tempfile::TempDir,
}

fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let name = &mut params.distinguished_name;
        name.push(DnType::CommonName, "authority of these tests");
        let folder = tempfile::tempdir().expect("a folder");
        let own = params.self_signed(&key).expect("a certificate");
        std::fs::write(folder.path().join("ca.pem"), own.pem()).expect("written");
        Authority {
            params,
            key,
            folder,
        }
    })
}

fn trusted(certificate: CertificateDer<'static>, key: &KeyPair, protocols: &[&[u8]]) -> Handler {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    let mut config = config.expect("a configuration");
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let config = Arc::new(config);
    Box::new(move |stream| {
        let session = ServerConnection::new(Arc::clone(&config)).expect("a session");
        let mut stream = StreamOwned::new(session, stream);
        while read_request(&mut stream).is_some() {
            let answered = stream.write_all(&ok("hello"));
            if answered.and_then(|()| stream.flush()).is_err() {
                return;
            }
        }
    })
}

fn handshakes() -> Vec<Row> {
    let refused = |said| ("connect failed", said);
    let row = |does, end, serve| Row {
        tls: true,
        ..row(does, end, serve)
    };
    let plain = |bytes: &'static [u8]| -> Handler {
        Box::new(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes);
        })
    };
    vec![
        row(
            "shows a certificate that the client trusts",
            FINE,
            vouched(|_| {}),
        ),
        row(
            "shows a certificate that nobody vouches for",
            refused("UnknownIssuer"),
            tls(|_| {}, &[]),
        ),
        row(
            "shows a certificate that is over",
            refused("expired"),
            vouched(|params| {
                params.not_before = date_time_ymd(2001, 1, 1);
                params.not_after = date_time_ymd(2002, 1, 1);
            }),
        ),
        row(
            "shows a certificate that is not valid yet",
            refused("not valid yet"),
            vouched(|params| {
                params.not_before = date_time_ymd(2901, 1, 1);
                params.not_after = date_time_ymd(2902, 1, 1);
            }),
        ),
        row(
            "shows a certificate of another name",
            refused("not valid for name"),
            vouched(|params| {
                *params = CertificateParams::new(vec!["other.test".to_owned()]).expect("a name");
            }),
        ),
        row(
            "speaks none of the protocols offered by ALPN",
            refused("NoApplicationProtocol"),
            tls(|_| {}, &[b"h3"]),
        ),
        row(
            "speaks HTTP where TLS is meant",
            refused("no connection: "),
            plain(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        ),
        row(
            "closes during the handshake",
            refused("no connection: "),
            plain(b""),
        ),
        row(
            "sends a fatal alert in the handshake",
            refused("HandshakeFailure"),
            plain(b"\x15\x03\x03\x00\x02\x02\x28"),
        ),
    ]
}

/// Opens a WebSocket, and sends the frames when the client has said something.
fn frames(said: impl Into<Vec<u8>>) -> Handler {
    let said = said.into();
    Box::new(move |mut stream| {
        let opened = |stream: &mut TcpStream| -> io::Result<()> {
            let request = read_request(stream).ok_or(io::ErrorKind::UnexpectedEof)?;
            stream.write_all(opening(&request).as_bytes())?;
            // The client's message is one byte, masked.
            stream.read_exact(&mut [0; 7])?;
            stream.write_all(&said)?;
            while stream.read(&mut [0; 64])? > 0 {}
            Ok(())
        };
        // A client that goes away in between is no concern of the server.
        let _ = opened(&mut stream);
    })
}

fn sockets() -> Vec<Row> {
    let row = |does, end, said: Vec<u8>| Row {
        asks: Asks::Message,
        ..row(does, end, frames(said))
    };
    let join = |frames: &[&[u8]]| frames.concat();
    vec![
        row(
            "sends a message in fragments",
            FINE,
            join(&[b"\x01\x02he", b"\x00\x01l", b"\x80\x02lo"]),
        ),
        row(
            "sends a ping between fragments",
            FINE,
            join(&[b"\x01\x02he", b"\x89\x01p", b"\x80\x03llo"]),
        ),
        row(
            "sends a pong unasked",
            FINE,
            join(&[b"\x8a\x00", b"\x81\x05hello"]),
        ),
        row(
            "begins a message within another",
            bad("a message begins inside another"),
            join(&[b"\x01\x02he", b"\x81\x05hello"]),
        ),
        row(
            "goes on with a message that never began",
            bad("a message goes on that never began"),
            join(&[b"\x80\x05hello"]),
        ),
        row(
            "masks its frames",
            bad("the server masks its frames"),
            join(&[b"\x81\x80\0\0\0\0"]),
        ),
        row(
            "uses reserved bits",
            bad("a frame uses an extension that was not agreed on"),
            join(&[b"\xc1\x05hello"]),
        ),
    ]
}

fn wrong_frames() -> Vec<Row> {
    let row = |does, end, said: Vec<u8>| Row {
        asks: Asks::Message,
        ..row(does, end, frames(said))
    };
    let join = |frames: &[&[u8]]| frames.concat();
    vec![
        row(
            "sends a frame of an unknown kind",
            bad("a frame of a kind that is not known"),
            join(&[b"\x83\x00"]),
        ),
        row(
            "sends a ping in fragments",
            bad("a control frame is too long, or in pieces"),
            join(&[b"\x09\x01p"]),
        ),
        row(
            "sends a ping above 125 bytes",
            bad("a control frame is too long, or in pieces"),
            join(&[b"\x89\x7e\x00\x7e", &[b'p'; 126]]),
        ),
        row(
            "sends text that is not UTF-8",
            bad("a text message is not UTF-8"),
            join(&[b"\x81\x01\xff"]),
        ),
        row(
            "says a length above the limit",
            bad("the message is larger than the limit"),
            join(&[b"\x82\x7f\0\0\x01\0\0\0\0\0"]),
        ),
        row(
            "closes with 1001 (going away)",
            lost("the server closed the WebSocket: 1001"),
            join(&[b"\x88\x02\x03\xe9"]),
        ),
        row(
            "closes with 1011 and a reason with escapes",
            lost("the server closed the WebSocket: 1011"),
            join(&[b"\x88\x06\x03\xf3\x1b[2J"]),
        ),
        row(
            "closes without a code",
            lost("the server closed the WebSocket: without a reason"),
            join(&[b"\x88\x00"]),
        ),
        row(
            "closes with half a code",
            bad("a close frame has half a code"),
            join(&[b"\x88\x01\x03"]),
        ),
        row(
            "closes with a code that nobody may send (1005)",
            bad("a close frame has a code that is not allowed"),
            join(&[b"\x88\x02\x03\xed"]),
        ),
    ]
}

fn rows() -> Vec<Row> {
    [
        heads(),
        headers(),
        lengths(),
        framings(),
        codings(),
        chunks(),
        wrong_chunks(),
        times(),
        ends_of_connections(),
        contents(),
        handshakes(),
        sockets(),
        wrong_frames(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn each_misbehaviour_ends_as_the_table_says() {
    let rows = rows();
    assert!(rows.len() >= 60, "{}", rows.len());
    let jobs: Vec<(usize, Row)> = rows.into_iter().enumerate().collect();
    let jobs = Mutex::new(jobs);
    let wrong = Mutex::new(Vec::new());
    // They wait for servers most of their time.
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let next = || jobs.lock().expect("no panic").pop();
                while let Some((number, mut row)) = next() {
                    let handler = std::mem::replace(&mut row.serve, Box::new(|_| {}));
                    let scenario = row.scenario(serve(handler));
                    let engine = [Engine::Epoll, Engine::IoUring][number % 2];
                    let found = [row.pass(&scenario), row.load(&scenario, engine)];
                    let mut wrong = wrong.lock().expect("no panic");
                    wrong.extend(found.into_iter().flatten());
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares the table with the documentation.
#[test]
fn the_documentation_has_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/load.md");
    let text = std::fs::read_to_string(path).expect("docs/load.md");
    let cell = |text: &str| text.replace('|', "\\|");
    let line = |row: &Row| {
        format!(
            "| {} | {} | {} |",
            cell(row.does),
            row.outcome,
            cell(row.said)
        )
    };
    let table: Vec<String> = rows().iter().map(line).collect();
    let table = table.join("\n");
    assert!(text.contains(&table), "docs/load.md has not:\n{table}");
}
