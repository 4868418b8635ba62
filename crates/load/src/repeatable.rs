//! GET requests of a load, stored in memory to be sent again afterwards.
//!
//! Of each line, requests of one URL are stored, with the sessions of the last users. Cookies and
//! other secrets are in them: nothing here is written or shown.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::Hasher;

use fnv::FnvHasher;
use recording::TextId;

use crate::answers::{BodyHash, Seen, fields};

/// Lines with stored requests.
const LINES_MAX: usize = 512;
/// Users with a stored request of a line.
const USERS_MAX: usize = 2;
/// Longest stored request.
const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// Status of a response to be had again.
const OK: u16 = 200;

/// Headers without a word on who asks.
const IMPERSONAL: [&str; 15] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "connection",
    "content-type",
    "dnt",
    "host",
    "origin",
    "referer",
    "upgrade-insecure-requests",
    "user-agent",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-requested-with",
];
/// Headers for the load alone: the number of the request, and the state of the user's cache.
const LEFT_OUT: [&str; 6] = [
    "hakaru-request",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "range",
];

/// Requests of one URL, to be sent again.
#[derive(Clone)]
pub struct Repeatable {
    line: TextId,
    pub(crate) link: u16,
    /// Of different users, the last one at the end.
    users: Vec<Stored>,
}

#[derive(Clone)]
struct Stored {
    /// Hash of the headers with a word on who asks; [`IMPERSONAL_ONLY`] without any.
    identity: u64,
    request: Vec<u8>,
    /// The body of the load's response.
    body: BodyHash,
}

/// Identity of a request without a word on who asks.
const IMPERSONAL_ONLY: u64 = 0;

/// Stored requests of one thread.
#[derive(Default)]
pub(crate) struct Repeatables(HashMap<TextId, Repeatable>);

impl fmt::Debug for Repeatables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repeatables of {} lines", self.0.len())
    }
}

impl fmt::Debug for Repeatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let users = self.users.len();
        write!(f, "Repeatable {{ line: {:?}, users: {users} }}", self.line)
    }
}

impl Repeatables {
    /// Stores a sampled request fit to be sent again.
    pub(crate) fn look_at(&mut self, seen: &Seen<'_>) {
        let is_repeatable = seen.answer.status == OK
            && seen.request.len() <= REQUEST_BYTES_MAX
            && target(seen.request).is_some()
            && seen.request.ends_with(b"\r\n\r\n");
        let Some(body) = seen.body.filter(|_| is_repeatable) else {
            return;
        };
        let has_room = self.0.len() < LINES_MAX;
        let repeatable = match self.0.entry(seen.line) {
            Entry::Occupied(place) => place.into_mut(),
            Entry::Vacant(place) if has_room => place.insert(Repeatable {
                line: seen.line,
                link: seen.link,
                users: Vec::new(),
            }),
            Entry::Vacant(_) => return,
        };
        repeatable.take(seen.link, identity(seen.request), seen.request, body);
    }

    /// Adds the requests of another thread.
    pub(crate) fn merge(&mut self, other: Repeatables) {
        for (line, more) in other.0 {
            match self.0.entry(line) {
                Entry::Occupied(mut place) => {
                    let own = place.get_mut();
                    for stored in more.users {
                        own.take(more.link, stored.identity, &stored.request, stored.body);
                    }
                }
                Entry::Vacant(place) => {
                    place.insert(more);
                }
            }
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Repeatable> {
        let mut all: Vec<Repeatable> = self.0.into_values().collect();
        all.sort_by_key(|repeatable| repeatable.line);
        all
    }
}

impl Repeatable {
    /// Line of the requests.
    pub fn line(&self) -> TextId {
        self.line
    }

    /// Returns the request without a word on who asks, as by a new visitor.
    pub fn anonymous(&self) -> Vec<u8> {
        let request = self.users.last().map(|stored| stored.request.as_slice());
        rewritten(request.unwrap_or_default(), |name| is_in(&IMPERSONAL, name))
    }

    /// Returns the requests of users with sessions: at most two.
    pub fn sessions(&self) -> Vec<Vec<u8>> {
        let with_session = self
            .users
            .iter()
            .filter(|stored| stored.identity != IMPERSONAL_ONLY);
        with_session
            .map(|stored| rewritten(&stored.request, |name| !is_in(&LEFT_OUT, name)))
            .collect()
    }

    /// Whether a request has an `Authorization`.
    pub fn has_authorization(&self) -> bool {
        let mut requests = self.users.iter().map(|stored| &stored.request);
        requests.any(|request| {
            fields(request).any(|(name, _)| name.eq_ignore_ascii_case(b"authorization"))
        })
    }

    /// Whether a body equals the last user's in the load.
    pub(crate) fn is_body(&self, body: Option<BodyHash>) -> bool {
        let last = self.users.last();
        last.is_some_and(|stored| Some(stored.body) == body)
    }

    /// Takes a request of the same URL by a user not stored yet; the last users are the ones whose
    /// sessions are likely to last.
    fn take(&mut self, link: u16, identity: u64, request: &[u8], body: BodyHash) {
        let is_known = |stored: &Stored| stored.identity == identity;
        if self.users.iter().any(is_known) {
            return;
        }
        if let Some(first) = self.users.first() {
            let is_other = link != self.link || target(&first.request) != target(request);
            if is_other || identity == IMPERSONAL_ONLY {
                return;
            }
        }
        self.users
            .retain(|stored| stored.identity != IMPERSONAL_ONLY);
        if self.users.len() == USERS_MAX {
            self.users.remove(0);
        }
        self.users.push(Stored {
            identity,
            request: request.to_vec(),
            body,
        });
    }
}

/// Returns path and query of a GET.
fn target(request: &[u8]) -> Option<&[u8]> {
    let target = request.strip_prefix(b"GET ")?;
    let end = target.iter().position(|byte| *byte == b' ')?;
    Some(&target[..end])
}

fn identity(request: &[u8]) -> u64 {
    let personal =
        fields(request).filter(|(name, _)| !is_in(&IMPERSONAL, name) && !is_in(&LEFT_OUT, name));
    personal.fold(IMPERSONAL_ONLY, |hash, (name, value)| {
        let mut hasher = FnvHasher::with_key(hash);
        hasher.write(name);
        hasher.write(value);
        hasher.finish().max(1)
    })
}

fn is_in(names: &[&str], name: &[u8]) -> bool {
    let mut names = names.iter();
    names.any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns a request with some of the headers.
fn rewritten(request: &[u8], keeps: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let end = request.iter().position(|byte| *byte == b'\n');
    let mut new = request[..end.map_or(0, |end| end + 1)].to_vec();
    for (name, value) in fields(request).filter(|(name, _)| keeps(name)) {
        new.extend_from_slice(name);
        new.extend_from_slice(b": ");
        new.extend_from_slice(value);
        new.extend_from_slice(b"\r\n");
    }
    new.extend_from_slice(b"\r\n");
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen<'a>(request: &'a str, status: u16, link: u16) -> Seen<'a> {
        Seen {
            line: TextId::of(b"GET /a"),
            connection: 1,
            link,
            request: request.as_bytes(),
            answer: scenario::Answer {
                status,
                minor_version: 1,
                head: b"",
                headers: &[],
                body: b"",
                duration_ns: 0,
            },
            body: Some(BodyHash::default()),
            keeps_alive: true,
        }
    }

    fn get(headers: &str) -> String {
        format!("GET /a?x=1 HTTP/1.1\r\nHost: app.test\r\n{headers}\r\n")
    }

    fn stored(requests: &[String]) -> Vec<Repeatable> {
        let mut repeatables = Repeatables::default();
        for request in requests {
            repeatables.look_at(&seen(request, 200, 0));
        }
        repeatables.into_vec()
    }

    fn texts(requests: Vec<Vec<u8>>) -> Vec<String> {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        requests.into_iter().map(text).collect()
    }

    #[test]
    fn the_last_two_users_of_a_url_are_stored() {
        let all = stored(&[
            get(""),
            get("Cookie: s=ana\r\n"),
            get("Cookie: s=ben\r\nHakaru-Request: 1\r\nIf-None-Match: x\r\n"),
            get("Cookie: s=ben\r\nHakaru-Request: 2\r\n"),
            get("X-Token: cleo\r\n"),
            get("").replace("x=1", "x=2"),
        ]);
        assert_eq!(all.len(), 1);
        let ben_and_cleo = [get("Cookie: s=ben\r\n"), get("X-Token: cleo\r\n")];
        assert_eq!(texts(all[0].sessions()), ben_and_cleo);
        assert_eq!(texts(vec![all[0].anonymous()]), [get("")]);
        assert!(!all[0].has_authorization());
        assert!(!format!("{all:?}").contains("cleo"));
    }

    #[test]
    fn a_flow_without_sessions_has_an_anonymous_request_alone() {
        let all = stored(&[
            get("Accept: text/html\r\nIf-None-Match: \"1\"\r\n"),
            get(""),
        ]);
        assert_eq!(
            texts(vec![all[0].anonymous()]),
            [get("Accept: text/html\r\n")]
        );
        assert!(all[0].sessions().is_empty());
        let all = stored(&[get("Authorization: Basic eA==\r\n")]);
        assert!(all[0].has_authorization());
    }

    #[test]
    fn only_a_get_without_a_body_and_with_a_page_is_stored() {
        let mut repeatables = Repeatables::default();
        repeatables.look_at(&seen(&get(""), 302, 0));
        repeatables.look_at(&seen(&get("").replace("GET", "POST"), 200, 0));
        repeatables.look_at(&seen(&get("").replace("GET", "HEAD"), 200, 0));
        repeatables.look_at(&seen(&(get("") + "body"), 200, 0));
        let long = get(&format!("Cookie: {}\r\n", "x".repeat(REQUEST_BYTES_MAX)));
        repeatables.look_at(&seen(&long, 200, 0));
        assert!(repeatables.into_vec().is_empty());
    }

    #[test]
    fn threads_add_their_users() {
        let mut all = Repeatables::default();
        for user in ["ana", "ben"] {
            let mut one = Repeatables::default();
            one.look_at(&seen(&get(&format!("Cookie: {user}\r\n")), 200, 0));
            all.merge(one);
        }
        let mut elsewhere = Repeatables::default();
        elsewhere.look_at(&seen(&get("Cookie: cleo\r\n"), 200, 1));
        all.merge(elsewhere);
        assert_eq!(all.into_vec()[0].sessions().len(), 2);
    }
}
