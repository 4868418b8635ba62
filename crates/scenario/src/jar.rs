//! Cookies: one jar a user, for one host.
//!
//! What a browser would do with them is followed as far as it can matter for one host over HTTP: names,
//! values, paths, deletion. `Domain`, `Secure` and `SameSite` are ignored on purpose.

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
}

/// One `Set-Cookie` header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    attributes: &'a str,
}

/// Cookies kept a user; a server that sets more is not believed, so that a jar stays bounded.
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

    /// Names and values of its attributes.
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

    /// Whether it takes the cookie away. `Max-Age` has the last word; a date counts as past when it is
    /// not after `now`, the answer's own `Date`.
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

    /// Takes a `Set-Cookie` header of an answer to a request for `path`.
    pub(crate) fn take(&mut self, header: &str, request_path: &str, now: Option<&str>) {
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
        match (position, set.deletes(now)) {
            (Some(position), true) => {
                self.cookies.remove(position);
            }
            (Some(position), false) => {
                let value = &mut self.cookies[position].value;
                value.clear();
                value.push_str(set.value);
            }
            (None, false) if self.cookies.len() < COOKIES_MAX => self.cookies.push(Cookie {
                name: set.name.to_owned(),
                value: set.value.to_owned(),
                path: path.to_owned(),
            }),
            (None, _) => {}
        }
    }

    /// The cookies to send with a request for `path`.
    pub(crate) fn for_path(&self, path: &str) -> impl Iterator<Item = (&str, &str)> {
        self.cookies
            .iter()
            .filter(move |cookie| path_belongs(path, &cookie.path))
            .map(|cookie| (cookie.name.as_str(), cookie.value.as_str()))
    }
}

/// The folder of the request's path, without the slash at its end.
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

    /// Takes headers in order; compares what is sent for `path`.
    fn check(headers: &[&str], path: &str, expected: &str) {
        let mut jar = Jar::default();
        for header in headers {
            jar.take(header, "/login/form", Some("Fri, 21 Nov 2025 09:00:00 GMT"));
        }
        let sent: Vec<String> = jar
            .for_path(path)
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
    fn paths_are_folders() {
        check(&["a=1"], "/login", "a=1");
        check(&["a=1"], "/login/other", "a=1");
        check(&["a=1"], "/loginx", "");
        check(&["a=1"], "/", "");
        check(&["a=1; path=/admin/"], "/admin/x", "a=1");
        check(&["a=1; path=/admin"], "/administrator", "");
    }
}
