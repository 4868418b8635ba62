//! The cases: what of a flow is varied, by value, from tables.

mod bytes;
mod cookies;
mod exchanges;
mod markup;
mod paths;
mod syntax;
mod values;

use super::random::Random;
use super::server::{BASE, hex};

/// `--variable` of both programs.
pub(super) const VARIABLES: [&str; 8] = [
    "abc=abc",
    "two=2",
    "half=1.70",
    "yes=true",
    "none=null",
    "quoted=\"123\"",
    "spaced=a b&c",
    "path=x",
];

/// Files beside the flows.
pub(super) const FILES: [(&str, &[u8]); 8] = [
    ("hello.txt", b"hello\n"),
    ("data.json", b"{\"a\": [1, 2]}\n"),
    ("cat.bin", b"\0\xffcat"),
    (
        "ca.pem",
        include_bytes!("../../../../crates/load/tests/servers/tls/ca.pem"),
    ),
    (
        "cert.pem",
        include_bytes!("../../../../crates/load/tests/servers/tls/cert.pem"),
    ),
    (
        "key.pem",
        include_bytes!("../../../../crates/load/tests/servers/tls/key.pem"),
    ),
    (
        "both.pem",
        concat!(
            include_str!("../../../../crates/load/tests/servers/tls/cert.pem"),
            include_str!("../../../../crates/load/tests/servers/tls/key.pem"),
        )
        .as_bytes(),
    ),
    (
        "netrc.txt",
        b"machine other.test login no password no\nmachine 127.0.0.1 login ann password \"p w\"\n",
    ),
];

/// A flow, and the feature under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// The varied feature, such as `filter nth 9`: differences are counted by cause.
    pub(super) cause: String,
    /// The flow; [`BASE`] stands for the start of URLs.
    pub(super) text: String,
    /// Whether the server is asked over TLS.
    pub(super) is_tls: bool,
}

impl Case {
    fn new(cause: impl Into<String>, text: impl Into<String>) -> Case {
        Case {
            cause: cause.into(),
            text: text.into(),
            is_tls: false,
        }
    }
}

/// All cases of a seed, always in the same order.
pub(super) fn all(seed: u64) -> Vec<Case> {
    let mut random = Random::new(seed);
    let mut cases = Vec::new();
    cases.extend(random.some(values::predicates(), 2400));
    cases.extend(random.some(values::filters(), 1500));
    cases.extend(values::chains(&mut random, 500));
    cases.extend(paths::all());
    cases.extend(exchanges::all());
    cases.extend(cookies::all(&mut random, 250));
    cases.extend(markup::all(&mut random));
    cases.extend(bytes::all());
    cases.extend(bytes::over_tls());
    cases.extend(syntax::written());
    cases.extend(syntax::damaged(&mut random, 700));
    cases
}

/// Returns a URL serving the given response. Headers are lines.
fn answer(status: u16, headers: &str, body: &str) -> String {
    answer_bytes(status, headers, body.as_bytes())
}

fn answer_bytes(status: u16, headers: &str, body: &[u8]) -> String {
    let (headers, body) = (hex(headers.as_bytes()), hex(body));
    format!("{BASE}/a/{status}/{headers}/{body}")
}

/// Returns a URL serving JSON.
fn json(body: &str) -> String {
    answer(200, "Content-Type: application/json", body)
}
