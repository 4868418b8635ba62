//! Signatures of AWS, version 4, as requested by the option `aws-sigv4` and made by curl.

use sha2::{Digest, Sha256};

use crate::date::Date;
use crate::encode::hex;

/// Bytes mixed at a time by HMAC with SHA-256.
const BLOCK_BYTES: usize = 64;
/// Headers changed on the way by clients and proxies, which are not signed.
const UNSIGNED: [&str; 6] = [
    "user-agent",
    "accept",
    "accept-encoding",
    "content-length",
    "connection",
    "expect",
];

/// Scope of a signature: `provider:header provider:region:service`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// As in `AWS4-HMAC-SHA256`, in lower case.
    provider: String,
    /// As in `X-Amz-Date`, in lower case.
    header: String,
    region: String,
    service: String,
}

/// A request to sign.
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'a str,
    /// Path and query, as sent.
    pub(crate) target: &'a str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: &'a [u8],
}

impl Scope {
    /// Reads the option's value; parts left out come from the host's name, as in
    /// `service.region.example.com`. The error is a sentence.
    pub(crate) fn parse(text: &str, host: &str) -> Result<Scope, String> {
        let mut parts = text.splitn(4, ':').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        let (provider, header, region, service) = (part(), part(), part(), part());
        if provider.is_empty() {
            return Err(
                "`aws-sigv4` begins with a provider, such as aws:amz:REGION:SERVICE".to_owned(),
            );
        }
        let mut of_host = host.split('.').map(str::to_owned);
        let missing = |what: &str| {
            format!(
                "`aws-sigv4` names no {what}, and neither does the host; write aws:amz:REGION:SERVICE"
            )
        };
        let mut given = |value: String, what: &str| match value.is_empty() {
            false => Ok(value),
            true => of_host
                .next()
                .filter(|_| host.contains('.'))
                .ok_or_else(|| missing(what)),
        };
        let service = given(service, "service")?;
        let region = given(region, "region")?;
        let provider = provider.to_ascii_lowercase();
        Ok(Scope {
            header: match header.is_empty() {
                true => provider.clone(),
                false => header.to_ascii_lowercase(),
            },
            provider,
            region,
            service,
        })
    }

    fn is_s3(&self) -> bool {
        self.provider == "aws" && self.service.eq_ignore_ascii_case("s3")
    }

    /// Returns the headers for signing a request by `credentials`, an id and a secret separated
    /// by a colon. A date that the request has already is the signature's.
    pub(crate) fn sign(&self, request: Unsigned<'_>, credentials: &str) -> Vec<(String, String)> {
        let (id, secret) = credentials.split_once(':').unwrap_or((credentials, ""));
        let date_name = format!("x-{}-date", self.header);
        let hash_name = format!("x-{}-content-sha256", self.header);
        let mut headers: Vec<(String, String)> = request
            .headers
            .into_iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), one_spaced(&value)))
            .filter(|(name, _)| !UNSIGNED.contains(&name.as_str()))
            .collect();
        let mut added = Vec::new();
        let mut value_of = |name: &str, make: &dyn Fn() -> String| {
            let given = headers.iter().find(|(known, _)| known == name);
            let value = given.map(|(_, value)| value.clone());
            value.unwrap_or_else(|| {
                let value = make();
                headers.push((name.to_owned(), value.clone()));
                added.push((name.to_owned(), value.clone()));
                value
            })
        };
        let date = value_of(&date_name, &now);
        let hash = || hex(&Sha256::digest(request.body));
        let hash = match self.is_s3() {
            true => value_of(&hash_name, &hash),
            false => {
                let given = headers.iter().find(|(known, _)| *known == hash_name);
                given.map_or_else(hash, |(_, value)| value.clone())
            }
        };
        // Stable: values of one name stay in order.
        headers.sort_by(|one, other| one.0.cmp(&other.0));
        let names = joined(&headers);
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((request.target, ""));
        let lines: String = headers_lines(&headers);
        let canonical = format!(
            "{}\n{}\n{}\n{lines}\n{names}\n{hash}",
            request.method,
            self.path(path),
            sorted_query(query),
        );
        let day = date.get(..8).unwrap_or(&date);
        let end = format!("{}4_request", self.provider);
        let place = format!("{day}/{}/{}/{end}", self.region, self.service);
        let algorithm = format!("{}4-HMAC-SHA256", self.provider.to_ascii_uppercase());
        let hashed = hex(&Sha256::digest(&canonical));
        let to_sign = format!("{algorithm}\n{date}\n{place}\n{hashed}");
        let first = format!("{}4{secret}", self.provider.to_ascii_uppercase());
        let key = [day, &self.region, &self.service, &end]
            .iter()
            .fold(first.into_bytes(), |key, part| {
                hmac(&key, part.as_bytes()).to_vec()
            });
        let signature = hex(&hmac(&key, to_sign.as_bytes()));
        let value = format!(
            "{algorithm} Credential={id}/{place}, SignedHeaders={names}, Signature={signature}"
        );
        added.push(("Authorization".to_owned(), value));
        added
    }

    /// The path as signed: escaped once more than sent, but for S3.
    fn path(&self, path: &str) -> String {
        match self.is_s3() {
            true => path.to_owned(),
            false => path
                .split('/')
                .map(|part| escaped(part, false))
                .collect::<Vec<_>>()
                .join("/"),
        }
    }
}

fn now() -> String {
    Date::now().format("%Y%m%dT%H%M%SZ").unwrap_or_default()
}

fn one_spaced(value: &str) -> String {
    value
        .split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns each name once, separated by semicolons.
fn joined(headers: &[(String, String)]) -> String {
    let mut names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names.join(";")
}

/// Returns a line a name, with the values of a repeated name in the order of sending.
fn headers_lines(headers: &[(String, String)]) -> String {
    let mut lines = String::new();
    for group in headers.chunk_by(|one, other| one.0 == other.0) {
        let values: Vec<&str> = group.iter().map(|(_, value)| value.as_str()).collect();
        lines.push_str(&format!("{}:{}\n", group[0].0, values.join(",")));
    }
    lines
}

/// Returns the query in order, each part with an equals sign.
fn sorted_query(query: &str) -> String {
    let mut pairs: Vec<(String, String)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (escaped(name, true), escaped(value, true)))
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// Escapes all but letters, digits and `-._~`; with `keeps_escapes` existing escapes are kept.
fn escaped(text: &str, keeps_escapes: bool) -> String {
    let mut out = String::new();
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_escape = || {
            let digits = bytes.get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        match byte {
            b'-' | b'.' | b'_' | b'~' => out.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(*byte)),
            b'%' if keeps_escapes && is_escape() => out.push('%'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// HMAC with SHA-256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK_BYTES];
    match key.len() {
        ..=BLOCK_BYTES => block[..key.len()].copy_from_slice(key),
        _ => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let mixed = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new()
        .chain_update(mixed(0x36))
        .chain_update(message)
        .finalize();
    Sha256::new()
        .chain_update(mixed(0x5c))
        .chain_update(inner)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn signature(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> String {
        let scope =
            Scope::parse("aws:amz:us-east-1:service", "example.amazonaws.com").expect("a scope");
        let always = [
            ("Host", "example.amazonaws.com"),
            ("X-Amz-Date", "20150830T123600Z"),
        ];
        let headers = headers.iter().chain(&always);
        let request = Unsigned {
            method,
            target,
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: body.as_bytes(),
        };
        let added = scope.sign(request, CREDENTIALS);
        let (name, value) = added.last().expect("a header");
        assert_eq!(name, "Authorization");
        let (_, signature) = value.split_once("Signature=").expect("a signature");
        signature.to_owned()
    }

    /// RFC 4231, cases 1, 2 and 6.
    #[test]
    fn hmac_is_as_published() {
        for (key, message, expected) in [
            (
                vec![0x0b; 20],
                "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe".to_vec(),
                "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&hmac(&key, message.as_bytes())), expected);
        }
    }

    /// AWS's published test suite of version 4, by the names of the tests.
    #[test]
    fn signatures_are_as_published() {
        for (name, method, target, headers, body, expected) in [
            (
                "get-vanilla",
                "GET",
                "/",
                &[][..],
                "",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "get-vanilla-query-order-key-case",
                "GET",
                "/?Param2=value2&Param1=value1",
                &[],
                "",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "post-vanilla",
                "POST",
                "/",
                &[],
                "",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "post-x-www-form-urlencoded",
                "POST",
                "/",
                &[("Content-Type", "application/x-www-form-urlencoded")],
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
            (
                "get-header-value-trim",
                "GET",
                "/",
                &[("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
                "",
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ),
            (
                "get-header-key-duplicate",
                "GET",
                "/",
                &[
                    ("My-Header1", "value2"),
                    ("My-Header1", "value2"),
                    ("My-Header1", "value1"),
                ],
                "",
                "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
            ),
        ] {
            assert_eq!(signature(method, target, headers, body), expected, "{name}");
        }
    }

    #[test]
    fn the_host_says_what_the_option_leaves_out() {
        let scope = |text: &str, host: &str| {
            let scope = Scope::parse(text, host)?;
            Ok::<_, String>(format!(
                "{}:{}:{}:{}",
                scope.provider, scope.header, scope.region, scope.service
            ))
        };
        let check = |text: &str, host: &str, expected: &str| {
            assert_eq!(scope(text, host).as_deref(), Ok(expected), "{text} {host}");
        };
        check("aws:amz:eu:s3", "127.0.0.1", "aws:amz:eu:s3");
        check(
            "AWS",
            "sqs.eu-west-1.amazonaws.com",
            "aws:aws:eu-west-1:sqs",
        );
        check("aws:amz:eu", "sqs.other.com", "aws:amz:eu:sqs");
        check("osc", "service.region.test", "osc:osc:region:service");
        assert!(scope("", "a.b.c").is_err_and(|why| why.contains("provider")));
        assert!(scope("aws:amz", "localhost").is_err_and(|why| why.contains("service")));
    }

    #[test]
    fn s3_wants_the_hash_and_a_path_as_it_is() {
        let scope = Scope::parse("aws:amz:eu:s3", "h").expect("a scope");
        let request = Unsigned {
            method: "PUT",
            target: "/a%20b",
            headers: vec![("Host".to_owned(), "h".to_owned())],
            body: b"x",
        };
        let added = scope.sign(request, CREDENTIALS);
        let names: Vec<&str> = added.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["x-amz-date", "x-amz-content-sha256", "Authorization"]
        );
        assert_eq!(added[1].1, hex(&Sha256::digest(b"x")));
        assert!(
            added[2]
                .1
                .contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date,")
        );
        assert_eq!(
            (scope.path("/a%20b"), sorted_query("b=2&a=%20&c")),
            ("/a%20b".to_owned(), "a=%20&b=2&c=".to_owned())
        );
        let other = Scope::parse("aws:amz:eu:sqs", "h").expect("a scope");
        assert_eq!(other.path("/a%20b"), "/a%2520b");
    }
}
