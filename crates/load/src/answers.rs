//! Common facts of a load's responses, from a sample of heads and bodies.
//!
//! The hot path pays a count per request. Only the first responses of a line and one in sixteen
//! later are looked at: their headers, and, for a GET, whether another user got the same body from
//! the same URL. The state is bounded in lines and in URLs; what does not fit is not looked at.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hasher;

use fnv::FnvHasher;
use recording::{AnswerFacts, TextId};

use crate::repeatable::Repeatables;

/// Number of first responses of a line to examine; then one in [`SAMPLE_EVERY`].
const SAMPLE_FIRST: u64 = 16;
const SAMPLE_EVERY: u64 = 16;
/// Greatest number of pairs of line and status in the facts of a thread.
const FACTS_MAX: usize = 4_096;
/// Greatest number of URLs of one line with compared bodies: a path with parameters may have any
/// number.
const URLS_PER_LINE_MAX: usize = 8;
/// URLs of all lines.
const URLS_MAX: usize = 16_384;
/// Bytes of a body to compare, so a large one costs the generator 0.3 ms at most.
const BODY_BYTES_COMPARED: u64 = 256 * 1024;

/// Hash of the length and the first bytes of a body (FNV-1a, 64 bits), computed while reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyHash {
    hash: u64,
    bytes: u64,
}

/// Responses counted by one thread, with the first answer to each URL.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    facts: HashMap<(TextId, u16), AnswerFacts>,
    urls: HashMap<u64, FirstAnswer>,
    urls_of_line: HashMap<TextId, usize>,
    texts: HashMap<TextId, String>,
    pub(crate) repeatables: Repeatables,
}

/// Who asked for a URL first, and what came.
#[derive(Clone, Copy, Debug)]
struct FirstAnswer {
    connection: u32,
    /// Hash of the request's cookies and authorization; [`ANONYMOUS`] without.
    credentials: u64,
    body: BodyHash,
}

/// Hash of the credentials of a request without any.
const ANONYMOUS: u64 = 0;

/// A sampled response, with the request.
pub(crate) struct Seen<'a> {
    pub(crate) line: TextId,
    pub(crate) connection: u32,
    /// Number of the way to the server.
    pub(crate) link: u16,
    /// The request as sent.
    pub(crate) request: &'a [u8],
    pub(crate) answer: scenario::Answer<'a>,
    pub(crate) body: Option<BodyHash>,
    pub(crate) keeps_alive: bool,
}

/// Whether the answer to the `count`th request of a line, counted from one, is looked at.
pub(crate) fn is_sampled(count: u64) -> bool {
    count <= SAMPLE_FIRST || count.is_multiple_of(SAMPLE_EVERY)
}

impl Default for BodyHash {
    fn default() -> Self {
        BodyHash {
            hash: FnvHasher::default().finish(),
            bytes: 0,
        }
    }
}

impl BodyHash {
    /// Takes the next bytes of the body.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let room = BODY_BYTES_COMPARED.saturating_sub(self.bytes);
        let compared = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.hash = fnv(self.hash, &bytes[..compared]);
        self.bytes += bytes.len() as u64;
    }
}

impl Answers {
    /// Looks at an answer.
    pub(crate) fn look_at(&mut self, seen: &Seen<'_>) {
        let key = (seen.line, seen.answer.status);
        if self.facts.len() >= FACTS_MAX && !self.facts.contains_key(&key) {
            return;
        }
        let same = self.same_as_first(seen);
        self.repeatables.look_at(seen);
        let facts = self.facts.entry(key).or_insert_with(|| AnswerFacts {
            line: key.0,
            status: key.1,
            ..AnswerFacts::default()
        });
        let mut asked_to_close = false;
        for (name, value) in fields(seen.request) {
            if name.eq_ignore_ascii_case(b"accept-encoding") {
                facts.offered_compression += 1;
            } else if name.eq_ignore_ascii_case(b"cookie")
                || name.eq_ignore_ascii_case(b"authorization")
            {
                facts.with_credentials += 1;
            } else if name.eq_ignore_ascii_case(b"connection") {
                asked_to_close |= value.eq_ignore_ascii_case(b"close");
            }
        }
        facts.seen += 1;
        facts.closed += u64::from(!seen.keeps_alive && !asked_to_close);
        facts.repeated += u64::from(same.is_some());
        facts.repeated_equal += u64::from(same == Some(true));
        let texts = &mut self.texts;
        for (name, value) in seen.answer.fields() {
            take_header(facts, texts, name, value);
        }
    }

    /// Returns whether the body equals the first response of the same URL, when another user got
    /// the first.
    fn same_as_first(&mut self, seen: &Seen<'_>) -> Option<bool> {
        let body = seen.body?;
        let target = seen.request.strip_prefix(b"GET ")?;
        let end = target.iter().position(|byte| *byte == b' ')?;
        // Answers of another status are of another kind.
        let url = fnv(u64::from(seen.answer.status), &target[..end]);
        let credentials = credentials(seen.request);
        if let Some(first) = self.urls.get(&url) {
            // Two connections of one user show nothing about another one.
            let is_another = first.connection != seen.connection
                && (first.credentials != credentials || credentials == ANONYMOUS);
            return is_another.then_some(first.body == body);
        }
        let urls = self.urls_of_line.entry(seen.line).or_default();
        if *urls < URLS_PER_LINE_MAX && self.urls.len() < URLS_MAX {
            *urls += 1;
            let connection = seen.connection;
            let first = FirstAnswer {
                connection,
                credentials,
                body,
            };
            self.urls.insert(url, first);
        }
        None
    }

    /// Adds the records of another thread.
    pub(crate) fn merge(&mut self, other: Answers) {
        self.texts.extend(other.texts);
        self.repeatables.merge(other.repeatables);
        for (key, more) in other.facts {
            match self.facts.entry(key) {
                Entry::Occupied(mut facts) => add_counts(facts.get_mut(), &more),
                Entry::Vacant(place) => {
                    place.insert(more);
                }
            }
        }
    }

    /// Returns all facts in the order of the lines, and the texts named.
    pub(crate) fn into_parts(self) -> (Vec<AnswerFacts>, Vec<(TextId, String)>) {
        let mut facts: Vec<AnswerFacts> = self.facts.into_values().collect();
        facts.sort_by_key(|facts| (facts.line, facts.status));
        (facts, self.texts.into_iter().collect())
    }
}

fn credentials(request: &[u8]) -> u64 {
    let is_one = |name: &[u8]| {
        name.eq_ignore_ascii_case(b"cookie") || name.eq_ignore_ascii_case(b"authorization")
    };
    let values = fields(request).filter(|(name, _)| is_one(name));
    values.fold(ANONYMOUS, |hash, (_, value)| fnv(hash, value).max(1))
}

fn add_counts(facts: &mut AnswerFacts, more: &AnswerFacts) {
    for (count, more) in [
        (&mut facts.seen, more.seen),
        (&mut facts.with_cache_control, more.with_cache_control),
        (&mut facts.with_etag, more.with_etag),
        (&mut facts.with_last_modified, more.with_last_modified),
        (&mut facts.with_set_cookie, more.with_set_cookie),
        (&mut facts.closed, more.closed),
        (&mut facts.offered_compression, more.offered_compression),
        (&mut facts.with_credentials, more.with_credentials),
        (&mut facts.repeated, more.repeated),
        (&mut facts.repeated_equal, more.repeated_equal),
    ] {
        *count += more;
    }
    if facts.cache_control == TextId::NONE {
        facts.cache_control = more.cache_control;
    }
}

fn take_header(
    facts: &mut AnswerFacts,
    texts: &mut HashMap<TextId, String>,
    name: &[u8],
    value: &[u8],
) {
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
    let first = facts.seen == 1;
    let mut keep = |place: &mut TextId| {
        let value = String::from_utf8_lossy(&value[..value.len().min(200)]).into_owned();
        *place = TextId::of(value.as_bytes());
        texts.entry(*place).or_insert(value);
    };
    if is("content-type") {
        if first {
            keep(&mut facts.content_type);
        }
    } else if is("content-encoding") {
        if first {
            keep(&mut facts.content_encoding);
        }
    } else if is("cache-control") || is("expires") {
        if facts.cache_control == TextId::NONE {
            keep(&mut facts.cache_control);
        }
        facts.with_cache_control += 1;
    } else if is("etag") {
        facts.with_etag += 1;
    } else if is("last-modified") {
        facts.with_last_modified += 1;
    } else if is("set-cookie") {
        facts.with_set_cookie += 1;
    }
}

/// Returns the header fields of a request as sent.
pub(crate) fn fields(request: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    request
        .split(|byte| *byte == b'\n')
        .skip(1)
        .map(<[u8]>::trim_ascii)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((&line[..colon], line[colon + 1..].trim_ascii()))
        })
}

/// FNV-1a, 64 bits, going on from `start`.
fn fnv(start: u64, bytes: &[u8]) -> u64 {
    let mut hash = FnvHasher::with_key(start);
    hash.write(bytes);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::{AnswerReader, Limits};

    const LIMITS: Limits = Limits {
        head_bytes: 4_096,
        body_bytes: 10_000,
    };

    fn look(answers: &mut Answers, connection: u32, request: &str, answer: &str) {
        let mut reader = AnswerReader::new(LIMITS);
        reader.expect(false, 0, true);
        reader.feed(answer.as_bytes()).expect("an answer");
        assert!(reader.is_complete());
        answers.look_at(&Seen {
            line: TextId::of(b"GET /a"),
            connection,
            link: 0,
            request: request.as_bytes(),
            answer: reader.answer(0),
            body: reader.body_hash(),
            keeps_alive: reader.keeps_alive(),
        });
    }

    fn ok(headers: &str, body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
    }

    fn only(answers: Answers) -> (AnswerFacts, HashMap<TextId, String>) {
        let (mut facts, texts) = answers.into_parts();
        assert_eq!(facts.len(), 1);
        (facts.remove(0), texts.into_iter().collect())
    }

    #[test]
    fn headers_are_counted_and_the_first_values_kept() {
        let mut answers = Answers::default();
        let request = "GET /a HTTP/1.1\r\ncookie: x\r\nAccept-Encoding: gzip\r\n\r\nETag: body";
        let first = ok(
            "Content-Type: text/css\r\nETag: 1\r\nSet-Cookie: a\r\n",
            "x",
        );
        let second = ok(
            "content-type: text/plain\r\ncache-control: no-store\r\nConnection: close\r\n",
            "x",
        );
        look(&mut answers, 1, request, &first);
        look(&mut answers, 1, "GET /a HTTP/1.1\r\n\r\n", &second);
        let asking = "GET /a HTTP/1.1\r\nConnection: close\r\n\r\n";
        look(&mut answers, 1, asking, &second);
        let (facts, texts) = only(answers);
        assert_eq!(facts.seen, 3);
        assert_eq!((facts.with_etag, facts.with_set_cookie), (1, 1));
        assert_eq!((facts.with_credentials, facts.offered_compression), (1, 1));
        assert_eq!((facts.with_cache_control, facts.closed), (2, 1));
        assert_eq!(texts[&facts.content_type], "text/css");
        assert_eq!(texts[&facts.cache_control], "no-store");
        assert_eq!(facts.content_encoding, TextId::NONE);
    }

    #[test]
    fn bodies_of_one_url_are_compared_between_users() {
        let get = |url: &str| format!("GET {url} HTTP/1.1\r\n\r\n");
        let mut answers = Answers::default();
        for (connection, url, body) in [
            (1, "/a?x=1", "same"),
            (1, "/a?x=1", "the same user again"),
            (2, "/a?x=1", "same"),
            (3, "/a?x=1", "other"),
            (3, "/a?x=2", "another URL"),
        ] {
            look(&mut answers, connection, &get(url), &ok("", body));
        }
        let (facts, _) = only(answers);
        assert_eq!((facts.repeated, facts.repeated_equal), (2, 1));
    }

    #[test]
    fn one_user_on_two_connections_is_no_proof() {
        let get = |credentials: &str| format!("GET /a HTTP/1.1\r\n{credentials}\r\n");
        let mut answers = Answers::default();
        for (connection, credentials) in [
            (1, "Cookie: id=ana\r\n"),
            (2, "Cookie: id=ana\r\n"),
            (3, "cookie: id=ben\r\n"),
            (4, "Authorization: Basic eA==\r\n"),
            (5, ""),
        ] {
            look(&mut answers, connection, &get(credentials), &ok("", "same"));
        }
        let (facts, _) = only(answers);
        assert_eq!((facts.repeated, facts.repeated_equal), (3, 3));
    }

    #[test]
    fn what_is_not_fetched_is_not_compared() {
        let mut answers = Answers::default();
        for connection in 1..3 {
            let post = "POST /a HTTP/1.1\r\n\r\n";
            look(&mut answers, connection, post, &ok("", "same"));
        }
        assert_eq!(only(answers).0.repeated, 0);
    }

    #[test]
    fn threads_are_added_up() {
        let mut all = Answers::default();
        for headers in ["", "Cache-Control: no-cache\r\n"] {
            let mut answers = Answers::default();
            look(&mut answers, 1, "GET /a HTTP/1.1\r\n\r\n", &ok(headers, ""));
            all.merge(answers);
        }
        let (facts, texts) = only(all);
        assert_eq!((facts.seen, facts.with_cache_control), (2, 1));
        assert_eq!(texts[&facts.cache_control], "no-cache");
    }

    #[test]
    fn state_is_bounded() {
        let mut answers = Answers::default();
        for number in 0..1_000 {
            let request = format!("GET /a?{number} HTTP/1.1\r\n\r\n");
            look(&mut answers, number, &request, &ok("", ""));
        }
        assert_eq!(answers.urls.len(), URLS_PER_LINE_MAX);
        assert_eq!((1..=64).filter(|count| is_sampled(*count)).count(), 19);
    }

    #[test]
    fn a_body_in_pieces_is_the_same_body() {
        let long = vec![7; 300 * 1024];
        let hash = |pieces: &[&[u8]]| {
            let mut hash = BodyHash::default();
            pieces.iter().for_each(|piece| hash.add(piece));
            hash
        };
        assert_eq!(hash(&[&long]), hash(&[&long[..1000], &long[1000..]]));
        assert_ne!(hash(&[&long]), hash(&[&long[1..]]));
    }
}
