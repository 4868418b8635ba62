//! Address of the app: the part of a URL needed for readiness.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use crate::error::TargetError;

/// Host, port and path of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Whether the app speaks TLS there: the scheme is `https`.
    pub tls: bool,
    /// Name or address; an IPv6 address without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path with query, beginning with `/`.
    pub path: String,
}

impl Endpoint {
    /// Reads `http://host[:port][/path]`, or `https`.
    ///
    /// # Errors
    /// [`TargetError::Url`] for another scheme, a missing host, a user name, or a port that is no
    /// number.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let wrong = |why| TargetError::Url {
            url: url.to_owned(),
            why,
        };
        let (tls, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(wrong("it does not begin with http:// or https://")),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        if authority.contains('@') {
            return Err(wrong("it holds a user name"));
        }
        let (host, port) =
            split_port(authority, tls).ok_or_else(|| wrong("its port is not a number"))?;
        if host.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong("it has no usable host"));
        }
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        Ok(Self {
            tls,
            host: host.to_owned(),
            port,
            path,
        })
    }

    /// `host:port`, as in a `Host` header.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// The socket addresses behind the name, in the resolver's order.
    ///
    /// # Errors
    /// When the name cannot be resolved.
    pub fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.path)
    }
}

fn split_port(authority: &str, tls: bool) -> Option<(&str, u16)> {
    let default = if tls { 443 } else { 80 };
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, tail) = rest.split_once(']')?;
        return match tail.strip_prefix(':') {
            Some(port) => Some((host, port.parse().ok()?)),
            None if tail.is_empty() => Some((host, default)),
            None => None,
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, port.parse().ok()?)),
        None => Some((authority, default)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(url: &str, expected: Option<(&str, u16, &str)>) {
        let got = Endpoint::parse(url).ok();
        let expected = expected.map(|(host, port, path)| Endpoint {
            tls: url.starts_with("https"),
            host: host.into(),
            port,
            path: path.into(),
        });
        assert_eq!(got, expected, "{url}");
    }

    #[test]
    fn reads_urls() {
        check("http://localhost:9292", Some(("localhost", 9292, "/")));
        check(
            "http://localhost:9292/a?b=c#d",
            Some(("localhost", 9292, "/a?b=c")),
        );
        check("http://example.org", Some(("example.org", 80, "/")));
        check("http://[::1]:3000/x", Some(("::1", 3000, "/x")));
        check("http://h?q", Some(("h", 80, "/?q")));
        check("https://localhost", Some(("localhost", 443, "/")));
        check("https://[::1]:8443/x", Some(("::1", 8443, "/x")));
        check("ftp://localhost", None);
        check("http://:80", None);
        check("http://u:p@h:80/", None);
        check("http://h:port/", None);
        check("http://h:99999/", None);
        check("http://h/ x", None);
        check("localhost:3000", None);
    }

    proptest! {
        #[test]
        fn never_panics(url in "\\PC{0,60}") {
            let _ = Endpoint::parse(&url);
            let _ = Endpoint::parse(&format!("http://{url}"));
        }

        #[test]
        fn what_is_written_is_read_again(tls: bool, host in "[a-z]{1,9}", port: u16, path in "/[a-z0-9?=/]{0,9}") {
            let endpoint = Endpoint { tls, host, port, path };
            prop_assert_eq!(Endpoint::parse(&endpoint.to_string()).unwrap(), endpoint);
        }
    }
}
