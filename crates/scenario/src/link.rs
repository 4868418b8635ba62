//! Ways to the server by the options of an entry: TLS, another address, the protocol's version.
//!
//! All of it is known before the run, so that a load can prepare its connections: expressions see
//! the variables of the configuration and the entry's own, not captures and feeds.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::ast::Entry;
use crate::base::BaseUrl;
use crate::netrc;
use crate::options::Options;
use crate::template::Template;
use crate::value::Value;
use crate::variables::Variables;

/// One way to the server; the default is what the command says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// `insecure`: whether any certificate is trusted.
    pub insecure: Option<bool>,
    /// `cacert`: authorities in PEM, trusted instead of all others.
    pub authorities: Option<PemFile>,
    /// `cert`: the client's certificate and the issuers', in PEM.
    pub certificate: Option<PemFile>,
    /// `key`: the private key of the certificate, in PEM.
    pub key: Option<PemFile>,
    /// `connect-to` and `resolve`: host and port to connect to instead of the URL's.
    pub to: Option<(String, u16)>,
    /// `http2`: whether HTTP/2 is asked for.
    pub http2: Option<bool>,
    /// `limit-rate`: bytes per second in each direction, above zero.
    pub bytes_per_second: Option<u64>,
}

/// A file with keys or certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PemFile {
    /// Name in the flow.
    pub name: String,
    /// Content of the file.
    pub bytes: Arc<Vec<u8>>,
}

/// Reads a file named by a flow; the error says which and why.
pub(crate) type ReadNamed<'a> = dyn FnMut(&Path) -> io::Result<Vec<u8>> + 'a;

impl Link {
    /// Returns the way of an entry. The error is a sentence about an option.
    pub(crate) fn of(
        options: &Options,
        base: &BaseUrl,
        variables: &mut Variables,
        read: &mut ReadNamed<'_>,
    ) -> Result<Link, String> {
        if options.lines.is_empty() {
            return Ok(Link::default());
        }
        let cert = match options.text("cert") {
            Some(cert) => Some(certificate_name(&known(cert, variables)?)),
            None => None,
        };
        let mut pem = |name: Option<String>| -> Result<Option<PemFile>, String> {
            // Without TLS nobody looks into them: a flow for `https` runs over `http` too.
            let Some(name) = name.filter(|_| base.tls) else {
                return Ok(None);
            };
            let bytes = read(Path::new(&name)).map_err(|error| format!("{name}: {error}"))?;
            let bytes = Arc::new(bytes);
            Ok(Some(PemFile { name, bytes }))
        };
        let mut named = |option: &str| {
            let text = options.text(option);
            text.map(|text| known(text, variables)).transpose()
        };
        let (authorities, key) = (named("cacert")?, named("key")?);
        let link = Link {
            authorities: pem(authorities)?,
            certificate: pem(cert)?,
            key: pem(key)?,
            insecure: options.switch("insecure", variables)?,
            to: destination(options, base, variables)?,
            http2: options.switch("http2", variables)?,
            bytes_per_second: options.limit_rate(variables)?,
        };
        match link.key.is_some() && link.certificate.is_none() {
            true => Err("`key` belongs to a certificate; name that by `cert`".to_owned()),
            false => Ok(link),
        }
    }
}

/// Returns the value of an option of the connection.
fn known(text: &Template, variables: &mut Variables) -> Result<String, String> {
    let value = text.render(variables);
    value.map_err(|why| format!("what says how to connect is known before the run: {why}"))
}

/// Returns the file of `file:password`. A colon that is part of the name is escaped by a backslash.
fn certificate_name(text: &str) -> String {
    let mut name = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(':' | '\\')) => name.extend(letters.next()),
            (':', _) => break,
            _ => name.push(letter),
        }
    }
    name
}

/// Returns where to connect to by `connect-to` and `resolve`, where either is about the URL.
fn destination(
    options: &Options,
    base: &BaseUrl,
    variables: &mut Variables,
) -> Result<Option<(String, u16)>, String> {
    let mut at = (base.host.clone(), base.port);
    let mut found = false;
    for text in options.texts("connect-to") {
        let text = known(text, variables)?;
        let to = connect_to(&text, &at).ok_or_else(|| {
            format!("`connect-to: {text}` is not HOST:PORT:OTHER_HOST:OTHER_PORT")
        })?;
        if let Some(to) = to.filter(|_| !found) {
            (at, found) = (to, true);
        }
    }
    let mut resolved = None;
    for text in options.texts("resolve") {
        let text = known(text, variables)?;
        let to = resolve(&text, &at)
            .ok_or_else(|| format!("`resolve: {text}` is not HOST:PORT:ADDRESS"))?;
        resolved = to.or(resolved);
    }
    let port = at.1;
    let resolved = resolved.map(|address| (address, port));
    Ok(resolved.or(found.then_some(at)))
}

/// Returns where `at` leads by `HOST1:PORT1:HOST2:PORT2`; an empty part of the first two stands for
/// any, of the last two for no change. Outer `None`: the text is wrong.
#[expect(
    clippy::option_option,
    reason = "unreadable and about another host are two things"
)]
fn connect_to(text: &str, at: &(String, u16)) -> Option<Option<(String, u16)>> {
    let (from_host, rest) = host(text)?;
    let (from_port, rest) = rest.split_once(':')?;
    let (to_host, to_port) = host(rest)?;
    let port = |text: &str| match text {
        "" => Some(at.1),
        text => text.parse().ok(),
    };
    let is_it = |name: &str| name.is_empty() || name.eq_ignore_ascii_case(&at.0);
    let to = match to_host {
        "" => at.0.clone(),
        name => name.to_owned(),
    };
    let to = (to, port(to_port)?);
    Some((is_it(from_host) && port(from_port)? == at.1).then_some(to))
}

/// Returns the host's first address by `HOST:PORT:ADDRESS[,ADDRESS]`. Outer `None`: unreadable.
#[expect(
    clippy::option_option,
    reason = "unreadable and about another host are two things"
)]
fn resolve(text: &str, at: &(String, u16)) -> Option<Option<String>> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if text.starts_with('-') {
        // Takes an address out of a memory that is not kept here.
        return Some(None);
    }
    let (name, rest) = host(text)?;
    let (port, addresses) = rest.split_once(':')?;
    let port: u16 = port.parse().ok()?;
    let address = addresses.split(',').next().filter(|one| !one.is_empty())?;
    let bare = address
        .strip_prefix('[')
        .and_then(|address| address.strip_suffix(']'));
    let is_it = name == "*" || name.eq_ignore_ascii_case(&at.0);
    let address = bare.unwrap_or(address);
    address.parse::<std::net::IpAddr>().ok()?;
    Some((is_it && port == at.1).then(|| address.to_owned()))
}

/// Splits a host off, in brackets or not, and the colon behind.
fn host(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => text.split_once(':'),
    }
}

/// What an entry needs to know of the way before the run.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// Number among the links of the scenario.
    pub(crate) link: u16,
    /// Name and password from a `.netrc` file.
    pub(crate) netrc: Option<(String, String)>,
}

/// Ways of the entries of one flow, in order.
pub(crate) struct Ways<'a> {
    base: &'a BaseUrl,
    folder: &'a Path,
    links: &'a mut Vec<Link>,
    variables: Variables,
}

impl<'a> Ways<'a> {
    /// Begins with the variables of the configuration.
    pub(crate) fn of(
        base: &'a BaseUrl,
        variables: &HashMap<String, Value>,
        flow: &'a Path,
        links: &'a mut Vec<Link>,
    ) -> Self {
        Ways {
            base,
            folder: flow.parent().unwrap_or(Path::new("")),
            links,
            variables: Variables::new(Arc::new(variables.clone()), 0),
        }
    }

    /// Returns the way of the next entry. The error is a sentence about an option.
    pub(crate) fn of_entry(
        &mut self,
        entry: &Entry,
        read: &mut ReadNamed<'_>,
    ) -> Result<Way, String> {
        let options = &entry.options;
        if options.lines.is_empty() {
            return self.plain();
        }
        // A value that needs an answer is told of by the option that needs the value.
        let _ = options.set_variables(&mut self.variables);
        let folder = self.folder;
        let mut near = |name: &Path| read(&folder.join(name));
        let link = Link::of(options, self.base, &mut self.variables, &mut near)?;
        let netrc = credentials(options, &self.base.host, &mut self.variables, &mut near)?;
        let link = self.number_of(link)?;
        Ok(Way { link, netrc })
    }

    /// Returns the way of an entry without options.
    pub(crate) fn plain(&mut self) -> Result<Way, String> {
        let link = self.number_of(Link::default())?;
        Ok(Way { link, netrc: None })
    }

    fn number_of(&mut self, link: Link) -> Result<u16, String> {
        let known = self.links.iter().position(|known| *known == link);
        let number = known.unwrap_or_else(|| {
            self.links.push(link);
            self.links.len() - 1
        });
        u16::try_from(number).map_err(|_| "there are too many ways to the server".to_owned())
    }
}

/// Returns name and password for the host by `netrc`, `netrc-file` and `netrc-optional`.
fn credentials(
    options: &Options,
    host: &str,
    variables: &mut Variables,
    read: &mut ReadNamed<'_>,
) -> Result<Option<(String, String)>, String> {
    let mut switch = |name| options.switch(name, variables).map(|on| on == Some(true));
    let (is_asked, is_optional) = (switch("netrc")?, switch("netrc-optional")?);
    let file = match options.text("netrc-file") {
        Some(file) => known(file, variables)?,
        None if is_asked || is_optional => home_netrc(),
        None => return Ok(None),
    };
    let text = read(Path::new(&file)).map_err(|error| format!("{file}: {error}"));
    let found = text.and_then(|bytes| {
        let found = netrc::find(&String::from_utf8_lossy(&bytes), host);
        found.map_err(|why| format!("{file}: {why}"))
    });
    match found {
        Err(_) if is_optional => Ok(None),
        other => other,
    }
}

/// Returns the user's own file: named by `NETRC`, or `.netrc` in the home folder.
fn home_netrc() -> String {
    std::env::var("NETRC").unwrap_or_else(|_| {
        let home = std::env::var("HOME").unwrap_or_default();
        format!("{home}/.netrc")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> (String, u16) {
        ("app.test".to_owned(), 443)
    }

    #[test]
    fn connect_to_is_read_as_curl_reads_it() {
        let to = |host: &str, port| Some(Some((host.to_owned(), port)));
        for (text, expected) in [
            ("app.test:443:127.0.0.1:8443", to("127.0.0.1", 8443)),
            ("APP.test:443:other:80", to("other", 80)),
            ("::127.0.0.1:8443", to("127.0.0.1", 8443)),
            ("::[::1]:8443", to("::1", 8443)),
            ("app.test:443::8443", to("app.test", 8443)),
            ("app.test:443:other:", to("other", 443)),
            ("other.test:443:127.0.0.1:8443", Some(None)),
            ("app.test:80:127.0.0.1:8443", Some(None)),
            ("app.test:443", None),
            ("app.test:x:other:80", None),
            ("app.test:443:other:x", None),
            ("", None),
        ] {
            assert_eq!(connect_to(text, &at()), expected, "{text}");
        }
    }

    #[test]
    fn resolve_is_read_as_curl_reads_it() {
        let to = |address: &str| Some(Some(address.to_owned()));
        for (text, expected) in [
            ("app.test:443:127.0.0.1", to("127.0.0.1")),
            ("+app.test:443:127.0.0.1", to("127.0.0.1")),
            ("*:443:127.0.0.2,127.0.0.1", to("127.0.0.2")),
            ("app.test:443:[::1]", to("::1")),
            ("app.test:443:::1", to("::1")),
            ("-app.test:443", Some(None)),
            ("other.test:443:127.0.0.1", Some(None)),
            ("app.test:80:127.0.0.1", Some(None)),
            ("app.test:443", None),
            ("app.test:443:", None),
            ("app.test:443:nowhere", None),
        ] {
            assert_eq!(resolve(text, &at()), expected, "{text}");
        }
    }

    #[test]
    fn a_certificate_may_have_a_password_behind_it() {
        for (text, name) in [
            ("client.pem", "client.pem"),
            ("client.pem:secret", "client.pem"),
            ("a\\:b.pem:x", "a:b.pem"),
            ("a\\b.pem", "a\\b.pem"),
        ] {
            assert_eq!(certificate_name(text), name);
        }
    }
}
