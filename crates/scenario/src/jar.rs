//! Cookies: one jar a user, for one host.
//!
//! What a browser would do with them is followed as far as it can matter for one host over HTTP:
//! names, values, paths, deletion. `Domain`, `Secure` and `SameSite` are ignored on purpose.

use std::time::{Duration, Instant};

use crate::date::Date;

/// The cookies of one user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<Cookie>,
}

#[derive(Clone, Debug)]
struct Cookie {
    name: String,
    value: String,
    path: String,
    /// Expiry; `None`: at the end of the iteration.
    over_at: Option<Instant>,
}

/// One `Set-Cookie` header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    attributes: &'a str,
}

/// Cookies stored per user, a bound on the jar's memory; more are ignored.
const COOKIES_MAX: usize = 64;

impl<'a> SetCookie<'a> {
    pub(crate) fn parse(header: &'a str) -> Option<SetCookie<'a>> {
        let (pair, attributes) = header.split_once(';').unwrap_or((header, ""));
        let (name, value) = pair.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then_some(SetCookie {
            name,
            value: value.trim(),
            attributes,
        })
    }

    /// Returns names and values of the attributes.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'a str, Option<&'a str>)> + use<'a> {
        self.attributes
            .split(';')
            .map(str::trim)
            .filter(|attribute| !attribute.is_empty())
            .map(|attribute| match attribute.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim())),
                None => (attribute, None),
            })
    }

    fn attribute(&self, wanted: &str) -> Option<&'a str> {
        self.attributes()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .and_then(|(_, value)| value)
    }

    /// Returns the expiry by `Max-Age`, which overrides `Expires`; `None` also for an irrelevantly
    /// distant one.
    fn over_at(&self, now: Instant) -> Option<Instant> {
        let seconds: u64 = self.attribute("max-age")?.parse().ok()?;
        now.checked_add(Duration::from_secs(seconds))
    }

    /// Returns whether the header removes the cookie. `Max-Age` overrides a date; a date counts as
    /// past when not after `now`, the response's own `Date`.
    fn deletes(&self, now: Option<&str>) -> bool {
        if let Some(seconds) = self
            .attribute("max-age")
            .and_then(|age| age.parse::<i64>().ok())
        {
            return seconds <= 0;
        }
        // Without a `Date` only the customary date of deletion, 1970, is past for sure.
        const LONG_AGO_S: i64 = 365 * 24 * 3600;
        match self.attribute("expires").and_then(Date::parse_http) {
            Some(expires) => match now.and_then(Date::parse_http) {
                Some(now) => expires <= now,
                None => expires.unix_seconds() <= LONG_AGO_S,
            },
            None => false,
        }
    }
}

impl Jar {
    pub(crate) fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Takes a `Set-Cookie` header of a response to a request for `path`, received at `came`;
    /// `date` is the response's own.
    pub(crate) fn take(
        &mut self,
        header: &str,
        request_path: &str,
        date: Option<&str>,
        came: Instant,
    ) {
        let Some(set) = SetCookie::parse(header) else {
            return;
        };
        let path = match set.attribute("path") {
            Some(path) if path.starts_with('/') => path,
            _ => default_path(request_path),
        };
        let position = self
            .cookies
            .iter()
            .position(|cookie| cookie.name == set.name && cookie.path == path);
        let over_at = set.over_at(came);
        match (position, set.deletes(date)) {
            (Some(position), true) => {
                self.cookies.remove(position);
            }
            (Some(position), false) => {
                let cookie = &mut self.cookies[position];
                cookie.value.clear();
                cookie.value.push_str(set.value);
                cookie.over_at = over_at;
            }
            (None, false) if self.cookies.len() < COOKIES_MAX => {
                // Longest paths first, and of the same length the oldest: a server takes the first
                // of a name.
                let at = (self.cookies).partition_point(|cookie| cookie.path.len() >= path.len());
                let cookie = Cookie {
                    name: set.name.to_owned(),
                    value: set.value.to_owned(),
                    path: path.to_owned(),
                    over_at,
                };
                self.cookies.insert(at, cookie);
            }
            (None, _) => {}
        }
    }

    /// Returns the cookies for a request for `path` at `now`.
    pub(crate) fn for_path(&self, path: &str, now: Instant) -> impl Iterator<Item = (&str, &str)> {
        self.cookies
            .iter()
            .filter(move |cookie| cookie.over_at.is_none_or(|over_at| now < over_at))
            .filter(move |cookie| path_belongs(path, &cookie.path))
            .map(|cookie| (cookie.name.as_str(), cookie.value.as_str()))
    }
}

/// Returns the folder of the request's path, without a trailing slash.
fn default_path(request_path: &str) -> &str {
    match request_path.rfind('/') {
        None | Some(0) => "/",
        Some(slash) => &request_path[..slash],
    }
}

fn path_belongs(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes headers in order; compares what is sent for `path` at once.
    fn check(headers: &[&str], path: &str, expected: &str) {
        check_after(headers, 0, path, expected);
    }

    /// The same, so many seconds later.
    fn check_after(headers: &[&str], seconds: u64, path: &str, expected: &str) {
        let (mut jar, came) = (Jar::default(), Instant::now());
        for header in headers {
            let date = Some("Fri, 21 Nov 2025 09:00:00 GMT");
            jar.take(header, "/login/form", date, came);
        }
        let sent: Vec<String> = jar
            .for_path(path, came + Duration::from_secs(seconds))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(sent.join("; "), expected, "{headers:?} for {path}");
    }

    #[test]
    fn cookies_are_kept_replaced_and_deleted() {
        check(&["a=1; path=/; HttpOnly", "b=2; Path=/"], "/x", "a=1; b=2");
        check(&["a=1; path=/", "a=2=3; path=/"], "/", "a=2=3");
        check(&["a=1; path=/", "a=; path=/; max-age=0"], "/", "");
        check(
            &[
                "a=1; path=/",
                "a=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT",
            ],
            "/",
            "",
        );
        check(
            &["a=1; path=/; expires=Thu, 20-Nov-2025 09:00:00 GMT"],
            "/",
            "",
        );
        check(
            &["a=1; path=/; expires=Sat, 22 Nov 2025 09:00:00 GMT"],
            "/",
            "a=1",
        );
        check(&["nonsense", "=x", "ok="], "/login", "ok=");
    }

    #[test]
    fn a_cookie_is_over_after_its_max_age() {
        check_after(&["a=1; path=/; max-age=2"], 1, "/", "a=1");
        check_after(&["a=1; path=/; max-age=2"], 2, "/", "");
        let renewed = ["a=1; path=/; max-age=2", "a=2; path=/"];
        check_after(&renewed, 9, "/", "a=2");
        check_after(
            &["a=1; path=/; max-age=18446744073709551615"],
            9,
            "/",
            "a=1",
        );
    }

    #[test]
    fn the_longest_path_comes_first() {
        let headers = ["a=1; path=/", "a=2; path=/x", "b=3; path=/", "c=4; path=/x"];
        check(&headers, "/x", "a=2; c=4; a=1; b=3");
    }

    #[test]
    fn paths_are_folders() {
        check(&["a=1"], "/login", "a=1");
        check(&["a=1"], "/login/other", "a=1");
        check(&["a=1"], "/loginx", "");
        check(&["a=1"], "/", "");
        check(&["a=1; path=/admin/"], "/admin/x", "a=1");
        check(&["a=1; path=/admin"], "/administrator", "");
    }
}
