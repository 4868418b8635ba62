//! The base URL of the target.

/// A base URL, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    /// Name or address, without the brackets of IPv6.
    pub host: String,
    /// Port; 80 when not written, 443 with TLS.
    pub port: u16,
    /// Whether the scheme is `https`.
    pub tls: bool,
    /// Host and port as in the `Host` header.
    pub authority: String,
    /// Path before every path of the flows, without a trailing slash; often empty.
    pub prefix: String,
}

impl BaseUrl {
    /// Takes `http://host[:port][/prefix]`, or the same with `https`, apart. The error is a
    /// sentence for the user.
    pub fn parse(url: &str) -> Result<BaseUrl, String> {
        let (base, path) = BaseUrl::split(url)?;
        if path.contains(['?', '#']) {
            return Err(format!(
                "the base URL {url} has a query; leave it to the flows"
            ));
        }
        Ok(BaseUrl {
            prefix: path.trim_end_matches('/').to_owned(),
            ..base
        })
    }

    /// Takes a full URL apart into a base without prefix, and path with query.
    pub fn split(url: &str) -> Result<(BaseUrl, &str), String> {
        let (tls, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => {
                let meant = match url.contains("://") || url.starts_with('/') {
                    true => "http://127.0.0.1:3000".to_owned(),
                    false => format!("http://{url}"),
                };
                return Err(format!("{url}: expected a URL such as {meant}"));
            }
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err("a URL with a user in it is not run; use [BasicAuth] in a flow".to_owned());
        }
        let (host, port) = host_and_port(authority, if tls { "443" } else { "80" })
            .ok_or_else(|| format!("{url}: expected a host and maybe a port behind ://"))?;
        Ok((
            BaseUrl {
                host: host.to_owned(),
                port,
                tls,
                authority: authority.to_owned(),
                prefix: String::new(),
            },
            path,
        ))
    }

    /// The URL itself.
    pub fn url(&self) -> String {
        format!("{}{}{}", self.scheme(), self.authority, self.prefix)
    }

    /// The URL without a path.
    pub(crate) fn origin(&self) -> String {
        format!("{}{}", self.scheme(), self.authority)
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls { "https://" } else { "http://" }
    }

    /// Returns the part behind the host in an absolute URL; `None` for another host. Scheme and
    /// host in any case, and a port that is the scheme's own, are the same (RFC 3986, 6.2).
    pub(crate) fn strip<'a>(&self, url: &'a str) -> Option<&'a str> {
        let (scheme, rest) = url.split_at_checked(self.scheme().len())?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at(end);
        let (host, port) = host_and_port(authority, self.default_port())?;
        let is_same = scheme.eq_ignore_ascii_case(self.scheme())
            && host.eq_ignore_ascii_case(&self.host)
            && port == self.port;
        is_same.then_some(behind)
    }

    fn default_port(&self) -> &'static str {
        if self.tls { "443" } else { "80" }
    }
}

fn host_and_port<'a>(authority: &'a str, port: &'a str) -> Option<(&'a str, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            match after {
                "" => (host, port),
                _ => (host, after.strip_prefix(':')?),
            }
        }
        None => authority.split_once(':').unwrap_or((authority, port)),
    };
    let sane = !host.is_empty() && host.bytes().all(|b| b.is_ascii_graphic());
    sane.then_some((host, port.parse().ok().filter(|port| *port > 0)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let check = |url: &str, expected: Option<(&str, u16, &str)>| {
            let base = BaseUrl::parse(url).ok();
            let parts = base
                .as_ref()
                .map(|b| (b.host.as_str(), b.port, b.prefix.as_str()));
            assert_eq!(parts, expected, "{url}");
        };
        check("http://127.0.0.1:5000", Some(("127.0.0.1", 5000, "")));
        check("http://localhost/app/", Some(("localhost", 80, "/app")));
        check("http://[::1]:81", Some(("::1", 81, "")));
        check("http://[::1]", Some(("::1", 80, "")));
        check("https://localhost", Some(("localhost", 443, "")));
        check("https://[::1]/x", Some(("::1", 443, "/x")));
        check("ftp://localhost", None);
        check("localhost:3000", None);
        check("http://", None);
        check("http://a:0", None);
        check("http://a:70000", None);
        check("http://a/?q=1", None);
    }

    #[test]
    fn a_host_is_the_same_in_any_spelling() {
        let check = |base: &str, url: &str, expected: Option<&str>| {
            let base = BaseUrl::parse(base).expect("a URL");
            assert_eq!(base.strip(url), expected, "{url}");
        };
        let plain = "http://app.test";
        check(plain, "http://app.test", Some(""));
        check(plain, "HTTP://App.Test/x?y#z", Some("/x?y#z"));
        check(plain, "http://app.test:80/x", Some("/x"));
        check(plain, "http://app.test:8080/x", None);
        check(plain, "http://app.test#z", Some("#z"));
        check(plain, "https://app.test/x", None);
        check(plain, "http://app.test.evil/x", None);
        check(plain, "http://app.test@evil/x", None);
        check(plain, "http://app.test:80@evil/x", None);
        check(plain, "/x", None);
        check("https://[::1]", "https://[::1]:443/", Some("/"));
        check("https://[::1]:443", "https://[::1]/x", Some("/x"));
        check("http://app.test:81", "http://app.test/x", None);
    }
}
