//! Redirects: where an answer leads, and what is asked there.
//!
//! A redirect that is followed is a request of its own, with its own times. Only within the base
//! URL's host: the load goes nowhere else.

use crate::answer::Answer;
use crate::base::BaseUrl;
use crate::value::Value;

/// Redirects taken by the requests of one entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// The URL asked last.
    pub(crate) url: String,
    /// Status and target of each redirect followed.
    followed: Vec<(u16, String)>,
    /// The request of the last redirect, until sent.
    next: Option<Hop>,
    /// Whether the last request answered a challenge already.
    is_authorized: bool,
}

/// A request caused by a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Whether the entry's body is sent again.
    pub(crate) keeps_body: bool,
    /// Value of `Authorization` answering a challenge.
    pub(crate) authorization: Option<String>,
}

impl Trail {
    /// Begins the next entry.
    pub(crate) fn clear(&mut self) {
        self.url.clear();
        self.followed.clear();
        self.next = None;
        self.is_authorized = false;
    }

    pub(crate) fn is_authorized(&self) -> bool {
        self.is_authorized
    }

    /// Repeats the last request, with the given `Authorization`.
    pub(crate) fn authorize(&mut self, method: &str, target: &str, authorization: String) {
        self.is_authorized = true;
        self.next = Some(Hop {
            method: method.to_owned(),
            target: target.to_owned(),
            keeps_body: true,
            authorization: Some(authorization),
        });
    }

    /// Takes the next request caused by a redirect.
    pub(crate) fn take_next(&mut self) -> Option<Hop> {
        self.next.take()
    }

    pub(crate) fn has_next(&self) -> bool {
        self.next.is_some()
    }

    /// The redirects as a value, for the query `redirects`.
    pub(crate) fn redirects(&self) -> Value {
        let redirect = |(status, url): &(u16, String)| {
            Value::Object(vec![
                ("status".to_owned(), Value::Integer(i64::from(*status))),
                ("location".to_owned(), Value::Text(url.clone())),
            ])
        };
        Value::List(self.followed.iter().map(redirect).collect())
    }

    /// Follows the response to `method`, when a redirect; returns whether one. The error says why
    /// following fails.
    pub(crate) fn follow(
        &mut self,
        answer: &Answer<'_>,
        method: &str,
        base: &BaseUrl,
        most: u64,
    ) -> Result<bool, String> {
        let Some(location) = location(answer) else {
            return Ok(false);
        };
        if self.followed.len() as u64 >= most {
            let place = shown(location);
            return Err(format!(
                "more than {most} redirects; the last leads to {place}"
            ));
        }
        let target = resolve(base, &self.url, location)?;
        // As `hurl` and curl do, where browsers keep other methods than POST (RFC 9110, 15.4).
        let keeps = !matches!(answer.status, 301..=303) || method == "GET";
        self.followed
            .push((answer.status, format!("{}{target}", base.origin())));
        self.next = Some(Hop {
            method: if keeps { method } else { "GET" }.to_owned(),
            target,
            keeps_body: keeps,
            authorization: None,
        });
        self.is_authorized = false;
        Ok(true)
    }
}

/// Returns the target of the response, when a redirect.
fn location<'a>(answer: &Answer<'a>) -> Option<&'a str> {
    let redirects = matches!(answer.status, 300..=399);
    let location = answer.values("location").next().filter(|_| redirects)?;
    std::str::from_utf8(location).ok()
}

/// Returns an address for a message, without what may be secret: name and password before the host,
/// values of the query, and the fragment.
pub(crate) fn shown(location: &str) -> String {
    let bare = location.split(['?', '#']).next().unwrap_or_default();
    let rest = if bare.len() < location.len() {
        "…"
    } else {
        ""
    };
    let Some(at) = bare.find("//") else {
        return format!("{bare}{rest}");
    };
    let (scheme, place) = bare.split_at(at + 2);
    let host_end = place.find('/').unwrap_or(place.len());
    let host = place[..host_end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}{}{rest}", &place[host..])
}

/// Path and query of `location`, relative to `url` (RFC 3986, section 5).
fn resolve(base: &BaseUrl, url: &str, location: &str) -> Result<String, String> {
    let location = location.split('#').next().unwrap_or("");
    let elsewhere = || {
        format!(
            "the redirect to {} points to another host than {}",
            shown(location),
            base.url()
        )
    };
    let has_scheme = location
        .split(['/', '?'])
        .next()
        .is_some_and(|first| first.contains(':'));
    if has_scheme || location.starts_with("//") {
        let whole = match location.starts_with("//") {
            true => format!("{}:{location}", base.scheme().trim_end_matches("://")),
            false => location.to_owned(),
        };
        let rest = base.strip(&whole).ok_or_else(elsewhere)?;
        let slash = if rest.starts_with('/') { "" } else { "/" };
        return Ok(format!("{slash}{rest}"));
    }
    let current = base.strip(url).unwrap_or("/");
    let path = current.split('?').next().unwrap_or("/");
    let (to, query) = match location.find('?') {
        Some(at) => location.split_at(at),
        None => (location, ""),
    };
    let joined = match to {
        // Of an empty reference, or one of a fragment alone, the query is the base's (5.2.2).
        "" if query.is_empty() => return Ok(current.to_owned()),
        "" => return Ok(format!("{path}{query}")),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => {
            let folder = path.rfind('/').map_or("/", |slash| &path[..=slash]);
            format!("{folder}{relative}")
        }
    };
    Ok(format!("{}{query}", without_dots(&joined)))
}

/// A path without `.` and `..` (RFC 3986, 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (position, segment) in segments.iter().enumerate() {
        let last = position + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_no_values_of_a_location() {
        let base = BaseUrl::parse("http://localhost:5000").expect("a URL");
        let location = "https://ann:hush@idp.test/login?code=s3cr3t#id_token=s3cr3t";
        let why = resolve(&base, "http://localhost:5000/", location);
        let expected = "the redirect to https://idp.test/login… points to another host than http://localhost:5000";
        assert_eq!(why, Err(expected.to_owned()));
        assert_eq!(shown("/a"), "/a");
        assert_eq!(shown("/a?b=1"), "/a…");
        assert_eq!(shown("//ann@b.test"), "//b.test");
        assert_eq!(shown("mailto:ann@b.test"), "mailto:ann@b.test");
    }

    #[test]
    fn locations_are_resolved() {
        let base = BaseUrl::parse("http://localhost:5000/app").expect("a URL");
        for (location, expected) in [
            ("/x?y=1", Some("/x?y=1")),
            ("http://localhost:5000/x#top", Some("/x")),
            ("http://localhost:5000", Some("/")),
            ("http://LocalHost:5000/x", Some("/x")),
            ("//localhost:5000/x", Some("/x")),
            ("c", Some("/app/a/c")),
            ("../c?d", Some("/app/c?d")),
            ("../../../..", Some("/")),
            ("./", Some("/app/a/")),
            ("?p=2", Some("/app/a/b?p=2")),
            ("#top", Some("/app/a/b?q")),
            ("c?u=http://x/", Some("/app/a/c?u=http://x/")),
            ("http://example.org/", None),
            ("//example.org/", None),
            ("mailto:a@b", None),
        ] {
            let found = resolve(&base, "http://localhost:5000/app/a/b?q", location).ok();
            assert_eq!(found.as_deref(), expected, "{location}");
        }
    }
}
