//! One example of each kind of failed request, without secrets.

use std::io;

use recording::{Failure, Outcome, TextId};
use rustix::io::Errno;

use crate::FAILURES_MAX;
use crate::redact::{self, Shown};

/// Collects failures; at most [`FAILURES_MAX`] kinds.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    pub(crate) shown: Shown,
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
    /// Counts a failure; the first of a kind becomes the example.
    pub(crate) fn count(&mut self, failed: &Failed<'_>) {
        let reason_kind = reason_kind(failed.reason);
        match self.position(failed.step, failed.outcome, reason_kind) {
            Some(known) => self.kinds[known].failure.count += 1,
            None if self.kinds.len() == FAILURES_MAX => {}
            None => self.keep(Kind {
                step: failed.step,
                reason_kind: reason_kind.to_owned(),
                failure: example(failed, self.shown),
            }),
        }
    }

    /// Adds what another thread collected.
    pub(crate) fn merge(&mut self, other: Failures) {
        other.kinds.into_iter().for_each(|kind| self.add(kind));
    }

    fn add(&mut self, kind: Kind) {
        match self.position(kind.step, kind.failure.outcome, &kind.reason_kind) {
            Some(known) => self.kinds[known].failure.count += kind.failure.count,
            None => self.keep(kind),
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

/// Returns the reason of a failed connection, which may be a limit of the generator's own.
pub(crate) fn not_connected(error: &io::Error) -> String {
    let own = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    match error.raw_os_error().is_some_and(|code| own.contains(&code)) {
        true => format!(
            "no connection for want of open files: {error}; raise `ulimit -n` of the load generator, or take fewer connections (-c)"
        ),
        false => format!("no connection: {error}"),
    }
}

/// Merges the failures of several generators, as of several threads, by place, outcome and kind of
/// reason; the most frequent first.
pub fn merged_failures(failures: impl Iterator<Item = Failure>) -> Vec<Failure> {
    let (mut all, mut places) = (Failures::default(), Vec::<String>::new());
    for failure in failures {
        let known = places.iter().position(|place| *place == failure.place);
        let step = known.unwrap_or(places.len());
        if known.is_none() {
            places.push(failure.place.clone());
        }
        all.add(Kind {
            step: step as u32,
            reason_kind: reason_kind(&failure.reason).to_owned(),
            failure,
        });
    }
    all.into_vec()
}

/// Returns the constant part of a reason: up to the first colon, which is the flow's line, or a
/// whole sentence without a colon.
fn reason_kind(reason: &str) -> &str {
    reason.split(':').next().unwrap_or("")
}

fn example(failed: &Failed<'_>, shown: Shown) -> Failure {
    Failure {
        outcome: failed.outcome,
        line: failed.line,
        place: failed.place.to_owned(),
        reason: redact::plain(failed.reason),
        request: redact::request(failed.request, shown),
        response: redact::answer(failed.response_head, failed.response_body, shown),
        count: 1,
    }
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
    fn an_example_keeps_a_body_only_when_it_is_asked_for() {
        let example = |shown| {
            let mut failures = Failures {
                shown,
                ..Failures::default()
            };
            failures.count(&failed("why", b"GET / HTTP/1.1\r\nCookie: s=1\r\n\r\n"));
            failures.into_vec().remove(0)
        };
        let failure = example(Shown::Kept);
        assert_eq!(
            failure.request,
            "GET / HTTP/1.1\r\nCookie: [redacted]\r\n\r\n"
        );
        assert!(!failure.response.contains("hello"), "{}", failure.response);
        assert!(example(Shown::KeptWithBodies).response.contains("hello"));
    }

    #[test]
    fn a_generator_without_files_is_told_from_a_server_that_refuses() {
        let reason = |errno: Errno| not_connected(&io::Error::from(errno));
        assert!(reason(Errno::CONNREFUSED).starts_with("no connection: "));
        for errno in [Errno::MFILE, Errno::NFILE] {
            let reason = reason(errno);
            assert!(
                reason.contains("`ulimit -n` of the load generator"),
                "{reason}"
            );
            assert_ne!(reason_kind(&reason), "no connection");
        }
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
