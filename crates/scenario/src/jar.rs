//! Cookies: one jar a user, for one host.
//!
//! What a browser would do with them (RFC 6265bis, 5.6 and 5.7) is followed as far as it can matter
//! for one host over HTTP: names, values, paths, prefixes, expiry. `Domain`, `Secure` and
//! `SameSite` keep no cookie back on purpose: an app behind a proxy with TLS is often measured
//! without either.

use std::time::{Duration, Instant};

use crate::date::Date;

/// The cookies of one user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<Cookie>,
}

#[derive(Clone, Debug)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: String,
    /// Expiry; `None`: at the end of the iteration.
    over_at: Option<Instant>,
}

/// One `Set-Cookie` header. Bytes, since servers set some that are no text, and browsers return
/// them as they came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
    attributes: &'a [u8],
}

/// Cookies stored per user, a bound on the jar's memory; more are ignored.
const COOKIES_MAX: usize = 64;
/// Bytes of name and value together, and of an attribute's value; more are ignored (RFC 6265bis,
/// 5.6).
const COOKIE_BYTES_MAX: usize = 4_096;
const ATTRIBUTE_BYTES_MAX: usize = 1_024;

impl<'a> SetCookie<'a> {
    pub(crate) fn parse(header: &'a [u8]) -> Option<SetCookie<'a>> {
        let (pair, attributes) = cut(header, b';');
        let (name, value) = cut(pair, b'=');
        let name = name.trim_ascii();
        (!name.is_empty()).then_some(SetCookie {
            name,
            value: value?.trim_ascii(),
            attributes: attributes.unwrap_or_default(),
        })
    }

    /// Returns names and values of the attributes.
    pub(crate) fn attributes(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&'a [u8], Option<&'a [u8]>)> + use<'a> {
        self.attributes
            .split(|byte| *byte == b';')
            .map(<[u8]>::trim_ascii)
            .filter(|attribute| !attribute.is_empty())
            .map(|attribute| {
                let (name, value) = cut(attribute, b'=');
                (name.trim_ascii(), value.map(<[u8]>::trim_ascii))
            })
    }

    /// Returns the last readable value of an attribute; an empty one for an attribute
    /// without a value.
    fn last<T>(&self, wanted: &str, read: impl Fn(&'a [u8]) -> Option<T>) -> Option<T> {
        self.attributes()
            .rev()
            .filter(|(name, _)| name.eq_ignore_ascii_case(wanted.as_bytes()))
            .map(|(_, value)| value.unwrap_or_default())
            .filter(|value| value.len() <= ATTRIBUTE_BYTES_MAX)
            .find_map(read)
    }

    /// Returns the path of the cookie in a response to a request for `request_path`.
    fn path(&self, request_path: &'a str) -> &'a str {
        let path = self.last("path", |path| Some(std::str::from_utf8(path)));
        match path {
            Some(Ok(path)) if path.starts_with('/') => path,
            _ => default_path(request_path),
        }
    }

    /// Returns the expiry: by `Max-Age`, else by `Expires`, compared with the response's `date`;
    /// not after `came` for a cookie removed by the header. `None`: the end of the iteration, or
    /// an irrelevantly distant one.
    fn over_at(&self, date: Option<Date>, came: Instant) -> Option<Instant> {
        let age_s = self.last("max-age", seconds).or_else(|| {
            // Without a `Date` only the customary date of deletion, 1970, is past for sure.
            const LONG_AGO_S: i64 = 365 * 24 * 3600;
            let expires_s = self.last("expires", Date::parse_http)?.unix_seconds();
            match date {
                Some(date) => Some((expires_s - date.unix_seconds()).max(0) as u64),
                None => (expires_s <= LONG_AGO_S).then_some(0),
            }
        })?;
        came.checked_add(Duration::from_secs(age_s))
    }

    /// Returns whether a browser takes the cookie: not too large, without control characters, and
    /// with the attributes promised by the name.
    fn is_acceptable(&self, path: &str) -> bool {
        let begins = |prefix: &str| {
            let begin = self.name.get(..prefix.len()).unwrap_or_default();
            begin.eq_ignore_ascii_case(prefix.as_bytes())
        };
        let has = |wanted| self.last(wanted, |_| Some(())).is_some();
        let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        let parts = [self.name, self.value, self.attributes];
        let names_domain = self
            .last("domain", Some)
            .is_some_and(|name| !name.is_empty());
        self.name.len() + self.value.len() <= COOKIE_BYTES_MAX
            && !parts.iter().any(|part| part.iter().any(is_control))
            && (has("secure") || !(begins("__Secure-") || begins("__Host-")))
            && (!begins("__Host-") || (has("path") && path == "/" && !names_domain))
    }
}

/// Reads a `Max-Age` in seconds; 0 for the past, and the greatest number for more.
fn seconds(age: &[u8]) -> Option<u64> {
    let digits = age.strip_prefix(b"-").unwrap_or(age);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: u64, digit: &u8| {
        sum.saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'))
    };
    match digits.len() == age.len() {
        true => Some(digits.iter().fold(0, add)),
        false => Some(0),
    }
}

/// Cuts a text at the first separator.
fn cut(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == separator) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
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
        header: &[u8],
        request_path: &str,
        date: Option<Date>,
        came: Instant,
    ) {
        let Some(set) = SetCookie::parse(header) else {
            return;
        };
        let path = set.path(request_path);
        if !set.is_acceptable(path) {
            return;
        }
        let position = self
            .cookies
            .iter()
            .position(|cookie| cookie.name == set.name && cookie.path == path);
        let over_at = set.over_at(date, came);
        let deletes = over_at.is_some_and(|over_at| over_at <= came);
        match (position, deletes) {
            (Some(position), true) => {
                self.cookies.remove(position);
            }
            (Some(position), false) => {
                let cookie = &mut self.cookies[position];
                cookie.value.clear();
                cookie.value.extend_from_slice(set.value);
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
    pub(crate) fn for_path(
        &self,
        path: &str,
        now: Instant,
    ) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.cookies
            .iter()
            .filter(move |cookie| cookie.over_at.is_none_or(|over_at| now < over_at))
            .filter(move |cookie| path_belongs(path, &cookie.path))
            .map(|cookie| (cookie.name.as_slice(), cookie.value.as_slice()))
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
            let date = Date::parse_http(b"Fri, 21 Nov 2025 09:00:00 GMT");
            jar.take(header.as_bytes(), "/login/form", date, came);
        }
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let sent: Vec<String> = jar
            .for_path(path, came + Duration::from_secs(seconds))
            .map(|(name, value)| format!("{}={}", text(name), text(value)))
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

    // What follows is from RFC 6265bis, with its sections.

    /// 5.1.1: dates in any order of the parts, as in asctime too.
    #[test]
    fn expires_is_read_in_each_usual_form_and_watched() {
        for date in [
            "Fri Nov 21 09:00:10 2025",
            "Fri, 21 Nov 2025 09:00:10 GMT",
            "Friday, 21-Nov-25 09:00:10 GMT",
            "21 november 2025 9:0:10",
        ] {
            let header = format!("a=1; path=/; expires={date}");
            check_after(&[&header], 9, "/", "a=1");
            check_after(&[&header], 10, "/", "");
        }
        check(&["a=1; path=/; expires=Thu Jan  1 00:00:00 1970"], "/", "");
        // What is no date counts as not there.
        for date in [
            "tomorrow",
            "Fri, 32 Nov 2024 09:00:00 GMT",
            "Fri, 21 Nov 2024 24:00:00 GMT",
            "Fri, 21 Nov 1600 09:00:00 GMT",
        ] {
            check(&[&format!("a=1; path=/; expires={date}")], "/", "a=1");
        }
    }

    /// 5.6.3: `Max-Age` has the last word, and what is no number is passed over.
    #[test]
    fn the_last_valid_age_counts() {
        let past = "expires=Thu, 01 Jan 1970 00:00:00 GMT";
        check(&[&format!("a=1; path=/; max-age=9; {past}")], "/", "a=1");
        check(&[&format!("a=1; path=/; max-age=x; {past}")], "/", "");
        check(&["a=1; path=/; max-age=0; max-age=9"], "/", "a=1");
        check(&["a=1; path=/; max-age=9; max-age=-1"], "/", "");
        check(&["a=1; path=/; max-age=9; max-age=+0"], "/", "a=1");
    }

    /// 5.7, step 9: the last `Path`, and the request's folder where the path does not begin with /.
    #[test]
    fn the_last_of_two_paths_counts() {
        check(&["a=1; path=/x; path=/y"], "/y", "a=1");
        check(&["a=1; path=/x; path=/y"], "/x", "");
        check(&["a=1; path=/x; path"], "/x", "");
        check(&["a=1; path=/x; path"], "/login", "a=1");
        check(&["a=1; path=/x; path=y"], "/login", "a=1");
        let long = format!("a=1; path=/x; path=/{}", "y".repeat(1_024));
        check(&[&long], "/x", "a=1");
    }

    /// 5.7, steps 21 and 22: names with a promise of attributes.
    #[test]
    fn a_prefix_of_the_name_demands_its_attributes() {
        check(&["__Secure-a=1; path=/"], "/", "");
        check(&["__Secure-a=1; path=/; Secure"], "/", "__Secure-a=1");
        check(&["__secure-a=1; path=/"], "/", "");
        check(&["__Host-a=1; path=/; Secure"], "/", "__Host-a=1");
        check(&["__host-a=1; path=/"], "/", "");
        check(&["__Host-a=1; Secure"], "/login", "");
        check(&["__Host-a=1; path=/login; Secure"], "/login", "");
        check(&["__Host-a=1; path=/; Secure; Domain=app.test"], "/", "");
        check(&["__Host-a=1; path=/; Secure; Domain="], "/", "__Host-a=1");
    }

    /// 5.6, step 5: 4,096 bytes of name and value.
    #[test]
    fn a_cookie_that_is_too_large_is_ignored() {
        let sized = |bytes: usize| format!("a={}", "x".repeat(bytes - 1));
        let (most, more) = (sized(4_096), sized(4_097));
        check(&[&format!("{most}; path=/")], "/", &most);
        check(&[&format!("{more}; path=/")], "/", "");
        // The cookie that is there stays.
        check(&["a=1; path=/", &format!("{more}; path=/")], "/", "a=1");
    }

    /// 5.6, step 1: control characters; other bytes go back unchanged.
    #[test]
    fn bytes_beyond_ascii_go_back_as_they_came() {
        check(&["a=\u{1}; path=/", "b=1\t2; path=/"], "/", "b=1\t2");
        check(&["a=1; path=/; x=\u{7f}"], "/", "");
        let mut jar = Jar::default();
        let came = Instant::now();
        jar.take(b"n\xe4me=\xff\xe3\x81; Path=/", "/", None, came);
        let sent: Vec<(&[u8], &[u8])> = jar.for_path("/", came).collect();
        assert_eq!(sent, [(&b"n\xe4me"[..], &b"\xff\xe3\x81"[..])]);
    }
}
