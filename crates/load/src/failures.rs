//! One example of each kind of failed request, with its secrets taken out.

use recording::{Failure, Outcome, TextId};

use crate::FAILURES_MAX;

/// Bytes of a request or an answer that an example keeps.
const EXAMPLE_BYTES_MAX: usize = 2048;
const REDACTED: &str = "[redacted]";
/// Headers whose value is a secret.
const SECRET_HEADERS: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
];
/// A field of a form or query whose name holds one of these has a secret value.
const SECRET_FIELDS: [&str; 5] = ["pass", "pwd", "secret", "token", "csrf"];

/// Collects failures; at most [`FAILURES_MAX`] kinds.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    kinds: Vec<Kind>,
}

#[derive(Debug)]
struct Kind {
    step: u32,
    /// The reason without what differs from case to case.
    reason_kind: String,
    failure: Failure,
}

/// A failed request, still in the connection's buffers.
pub(crate) struct Failed<'a> {
    pub(crate) step: u32,
    pub(crate) outcome: Outcome,
    pub(crate) line: TextId,
    pub(crate) place: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) request: &'a [u8],
    pub(crate) response_head: &'a [u8],
    pub(crate) response_body: &'a [u8],
}

impl Failures {
    /// Counts a failure; the first of its kind becomes the example.
    pub(crate) fn count(&mut self, failed: &Failed<'_>) {
        // A reason begins with the flow's line, or says all in one sentence without a colon.
        let reason_kind = failed.reason.split(':').next().unwrap_or("");
        match self.position(failed.step, failed.outcome, reason_kind) {
            Some(known) => self.kinds[known].failure.count += 1,
            None if self.kinds.len() == FAILURES_MAX => {}
            None => self.keep(Kind {
                step: failed.step,
                reason_kind: reason_kind.to_owned(),
                failure: example(failed),
            }),
        }
    }

    /// Adds what another thread collected.
    pub(crate) fn merge(&mut self, other: Failures) {
        for kind in other.kinds {
            match self.position(kind.step, kind.failure.outcome, &kind.reason_kind) {
                Some(known) => self.kinds[known].failure.count += kind.failure.count,
                None => self.keep(kind),
            }
        }
    }

    fn position(&self, step: u32, outcome: Outcome, reason_kind: &str) -> Option<usize> {
        self.kinds.iter().position(|kind| {
            kind.step == step && kind.failure.outcome == outcome && kind.reason_kind == reason_kind
        })
    }

    fn keep(&mut self, kind: Kind) {
        if self.kinds.len() < FAILURES_MAX {
            self.kinds.push(kind);
        }
    }

    /// The failures, the most frequent first.
    pub(crate) fn into_vec(self) -> Vec<Failure> {
        let mut failures: Vec<Failure> = self.kinds.into_iter().map(|kind| kind.failure).collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
        failures
    }
}

/// An answer for people, its secrets taken out and its body shortened.
pub(crate) fn shown_answer(head: &[u8], body: &[u8]) -> String {
    let mut text = redact_head(head);
    text.push_str(&shorten(body));
    text
}

fn example(failed: &Failed<'_>) -> Failure {
    Failure {
        outcome: failed.outcome,
        line: failed.line,
        place: failed.place.to_owned(),
        reason: failed.reason.to_owned(),
        request: shown_request(failed.request),
        response: shown_answer(failed.response_head, failed.response_body),
        count: 1,
    }
}

/// A request for people, its secrets taken out.
pub(crate) fn shown_request(request: &[u8]) -> String {
    let end = find(request, b"\r\n\r\n").map_or(request.len(), |end| end + 4);
    let (head, body) = request.split_at(end);
    let mut text = redact_head(head);
    if body.is_empty() {
        return text;
    }
    let is_form = find(
        &head.to_ascii_lowercase(),
        b"application/x-www-form-urlencoded",
    )
    .is_some();
    if is_form {
        text.push_str(&redact_fields(&shorten(body)));
    } else {
        // What is secret in other kinds of bodies cannot be told, so that none of it is kept.
        text.push_str(&format!("[{} bytes of body]", body.len()));
    }
    text
}

fn redact_head(head: &[u8]) -> String {
    let mut text = String::new();
    for line in shorten(head).split_inclusive('\n') {
        let name = line.split(':').next().unwrap_or("");
        if SECRET_HEADERS
            .iter()
            .any(|secret| name.eq_ignore_ascii_case(secret))
        {
            text.push_str(&format!("{name}: {REDACTED}\r\n"));
        } else if let Some((path, query)) = line.split_once('?').filter(|_| text.is_empty()) {
            let (query, version) = query.split_once(' ').unwrap_or((query, ""));
            text.push_str(&format!("{path}?{} {version}", redact_fields(query)));
        } else {
            text.push_str(line);
        }
    }
    text
}

/// Takes secret values out of `name=value&…`.
fn redact_fields(fields: &str) -> String {
    let redacted: Vec<String> = fields
        .split('&')
        .map(|field| match field.split_once('=') {
            Some((name, _)) if is_secret(name) => format!("{name}={REDACTED}"),
            _ => field.to_owned(),
        })
        .collect();
    redacted.join("&")
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_FIELDS.iter().any(|secret| name.contains(secret))
}

fn shorten(bytes: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(EXAMPLE_BYTES_MAX)]);
    if bytes.len() > EXAMPLE_BYTES_MAX {
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
    use super::*;

    fn failed<'a>(reason: &'a str, request: &'a [u8]) -> Failed<'a> {
        Failed {
            step: 1,
            outcome: Outcome::CheckFailed,
            line: TextId::NONE,
            place: "a.hurl:1",
            reason,
            request,
            response_head: b"HTTP/1.1 200 OK\r\nSet-Cookie: s=1\r\n\r\n",
            response_body: b"hello",
        }
    }

    #[test]
    fn secrets_are_taken_out() {
        let mut failures = Failures::default();
        failures.count(&failed(
            "why",
            b"POST /login?token=abc&a=1 HTTP/1.1\r\nCookie: s=1\r\nauthorization: Basic x\r\n\
              Content-Type: application/x-www-form-urlencoded\r\n\r\nname=a&password=b&x=1",
        ));
        let failure = failures.into_vec().remove(0);
        assert_eq!(
            failure.request,
            "POST /login?token=[redacted]&a=1 HTTP/1.1\r\nCookie: [redacted]\r\n\
             authorization: [redacted]\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n\
             name=a&password=[redacted]&x=1"
        );
        assert_eq!(
            failure.response,
            "HTTP/1.1 200 OK\r\nSet-Cookie: [redacted]\r\n\r\nhello"
        );
    }

    #[test]
    fn other_bodies_are_not_kept() {
        assert_eq!(
            shown_request(b"POST / HTTP/1.1\r\n\r\n{\"password\":\"x\"}"),
            "POST / HTTP/1.1\r\n\r\n[16 bytes of body]"
        );
    }

    #[test]
    fn kinds_are_counted_and_bounded() {
        let mut failures = Failures::default();
        failures.count(&failed("line 3: expected 1, came 2", b""));
        failures.count(&failed("line 3: expected 1, came 3", b""));
        failures.count(&failed("line 4: expected 1, came 3", b""));
        let mut other = Failures::default();
        other.count(&failed("line 3: expected 1, came 4", b""));
        failures.merge(other);
        for line in 0..100 {
            failures.count(&failed(&format!("line 1{line}: x"), b""));
        }
        let failures = failures.into_vec();
        assert_eq!(failures.len(), FAILURES_MAX);
        assert_eq!(failures[0].count, 3);
        assert_eq!(failures[0].reason, "line 3: expected 1, came 2");
    }
}
