//! A user's cache of responses to GET, like a browser's: validators, freshness, and the response
//! itself where checks need one.
//!
//! By RFC 9111 as far as it concerns a cache of one user for one host. `Vary` is taken as "only for
//! the same user", which holds here, but for `Vary: *`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::answer::{Answer, HeaderSpan};
use crate::date::Date;

/// Responses stored for one user; more are requested again, which bounds the memory.
const ANSWERS_MAX: usize = 64;
/// Bytes of heads and bodies stored for one user.
const BYTES_MAX: usize = 1024 * 1024;

/// The responses stored for one user, by path and query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache {
    kept: HashMap<String, Kept>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Kept {
    /// Header lines of a conditional request; empty for a response without a validator.
    conditions: Vec<u8>,
    /// End of the freshness, on the session's clock.
    fresh_until_ns: u64,
    answer: Arc<Stored>,
}

/// A stored response.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    status: u16,
    minor_version: u8,
    head: Vec<u8>,
    headers: Vec<HeaderSpan>,
    body: Vec<u8>,
}

impl Stored {
    /// Returns the response again, as if received after `duration_ns`.
    pub(crate) fn answer(&self, duration_ns: u64) -> Answer<'_> {
        Answer {
            status: self.status,
            minor_version: self.minor_version,
            head: &self.head,
            headers: &self.headers,
            body: &self.body,
            duration_ns,
        }
    }
}

impl Cache {
    /// Returns the header lines for a conditional GET of `target`.
    pub(crate) fn conditions(&self, target: &str) -> &[u8] {
        let kept = self.kept.get(target);
        kept.map_or(&[], |kept| kept.conditions.as_slice())
    }

    /// Returns the response to a GET of `target`, while fresh.
    pub(crate) fn fresh(&self, target: &str, now_ns: u64) -> Option<Arc<Stored>> {
        let kept = self.kept.get(target)?;
        (now_ns < kept.fresh_until_ns).then(|| Arc::clone(&kept.answer))
    }

    /// Removes the response to a GET of `target`.
    pub(crate) fn forget(&mut self, target: &str) {
        if let Some(old) = self.kept.remove(target) {
            self.bytes -= old.answer.head.len() + old.answer.body.len();
        }
    }

    /// Stores the response to a GET of `target`; for "not modified" returns the stored response.
    pub(crate) fn take(
        &mut self,
        target: &str,
        answer: &Answer<'_>,
        now_ns: u64,
    ) -> Option<Arc<Stored>> {
        let fresh_ns = freshness_ns(answer);
        if answer.status == 304 {
            let kept = self.kept.get_mut(target)?;
            kept.fresh_until_ns = now_ns + fresh_ns.unwrap_or(0);
            return Some(Arc::clone(&kept.answer));
        }
        self.forget(target);
        let conditions = conditions(answer);
        let useful = !conditions.is_empty() || fresh_ns.is_some_and(|fresh| fresh > 0);
        let bytes = answer.head.len() + answer.body.len();
        let room = self.kept.len() < ANSWERS_MAX && self.bytes + bytes <= BYTES_MAX;
        if answer.status == 200 && useful && room && !must_not_be_kept(answer) {
            self.bytes += bytes;
            let kept = Kept {
                conditions,
                fresh_until_ns: now_ns + fresh_ns.unwrap_or(0),
                answer: Arc::new(Stored {
                    status: answer.status,
                    minor_version: answer.minor_version,
                    head: answer.head.to_vec(),
                    headers: answer.headers.to_vec(),
                    body: answer.body.to_vec(),
                }),
            };
            self.kept.insert(target.to_owned(), kept);
        }
        None
    }
}

fn text<'a>(answer: &Answer<'a>, name: &str) -> Option<&'a str> {
    let value = answer.values(name).next()?;
    std::str::from_utf8(value).ok()
}

fn conditions(answer: &Answer<'_>) -> Vec<u8> {
    let mut lines = Vec::new();
    for (validator, condition) in [
        ("etag", "If-None-Match"),
        ("last-modified", "If-Modified-Since"),
    ] {
        if let Some(value) = text(answer, validator) {
            lines.extend_from_slice(format!("{condition}: {value}\r\n").as_bytes());
        }
    }
    lines
}

/// The directives of `Cache-Control`, in small letters.
fn directives(answer: &Answer<'_>) -> Vec<String> {
    let values = answer.values("cache-control");
    let texts = values.filter_map(|value| std::str::from_utf8(value).ok());
    texts
        .flat_map(|text| text.split(','))
        .map(|directive| directive.trim().to_ascii_lowercase())
        .collect()
}

fn must_not_be_kept(answer: &Answer<'_>) -> bool {
    directives(answer).iter().any(|word| word == "no-store")
        || answer.values("vary").any(|value| value == b"*")
}

/// Returns how long the response is fresh, where stated.
fn freshness_ns(answer: &Answer<'_>) -> Option<u64> {
    const NS_PER_S: u64 = 1_000_000_000;
    let directives = directives(answer);
    if directives.iter().any(|word| word == "no-cache") {
        return None;
    }
    let age = text(answer, "age").and_then(|age| age.parse::<u64>().ok());
    let max_age = directives
        .iter()
        .find_map(|word| word.strip_prefix("max-age="));
    let seconds = match max_age {
        Some(seconds) => seconds.trim_matches('"').parse::<u64>().ok()?,
        None => {
            let expires = Date::parse_http(text(answer, "expires")?.as_bytes())?;
            let date = Date::parse_http(text(answer, "date")?.as_bytes())?;
            u64::try_from(expires.unix_seconds() - date.unix_seconds()).ok()?
        }
    };
    let left = seconds.saturating_sub(age.unwrap_or(0));
    Some(left.saturating_mul(NS_PER_S).min(u64::MAX / 2))
}
