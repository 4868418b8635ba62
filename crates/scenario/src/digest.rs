//! Digest access authentication (RFC 7616): from a server's challenge to the answer.

use md5::{Digest as _, Md5};
use sha2::{Sha256, Sha512_256};

use crate::encode::hex;

/// A server's challenge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Option<String>,
    /// Whether the server takes the quality `auth`.
    has_auth: bool,
}

/// What a request adds to the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    /// Path and query.
    pub(crate) uri: &'a str,
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    /// Random text of the client.
    pub(crate) cnonce: &'a str,
}

impl Challenge {
    /// Reads the value of a `WWW-Authenticate`; nothing for another scheme, and for an unknown hash
    /// or quality.
    pub(crate) fn parse(value: &str) -> Option<Challenge> {
        let (scheme, mut rest) = value.trim().split_once(char::is_whitespace)?;
        if !scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let mut challenge = Challenge::default();
        let (mut has_nonce, mut has_quality) = (false, false);
        while let Some((name, value, behind)) = parameter(rest) {
            rest = behind;
            match name.to_ascii_lowercase().as_str() {
                "realm" => challenge.realm = value,
                "nonce" => (challenge.nonce, has_nonce) = (value, true),
                "opaque" => challenge.opaque = Some(value),
                "algorithm" => challenge.algorithm = Some(value),
                "qop" => {
                    has_quality = true;
                    let mut qualities = value.split(',').map(str::trim);
                    challenge.has_auth = qualities.any(|one| one.eq_ignore_ascii_case("auth"));
                }
                _ => {}
            }
        }
        let is_known = challenge.hash("").is_some() && (challenge.has_auth || !has_quality);
        (has_nonce && is_known).then_some(challenge)
    }

    /// Returns the value of `Authorization`.
    pub(crate) fn answer(&self, asked: Asked<'_>) -> String {
        let response = self.response(asked);
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = format!(
            "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\"",
            quoted(asked.user),
            quoted(&self.realm),
            quoted(&self.nonce),
            asked.uri
        );
        if self.has_auth {
            text.push_str(&format!(
                ", cnonce=\"{}\", nc={COUNT}, qop=auth",
                asked.cnonce
            ));
        }
        text.push_str(&format!(", response=\"{response}\""));
        if let Some(opaque) = &self.opaque {
            text.push_str(&format!(", opaque=\"{}\"", quoted(opaque)));
        }
        if let Some(algorithm) = &self.algorithm {
            text.push_str(&format!(", algorithm={algorithm}"));
        }
        text
    }

    fn response(&self, asked: Asked<'_>) -> String {
        let hash = |text: String| self.hash(&text).unwrap_or_default();
        let (nonce, cnonce) = (&self.nonce, asked.cnonce);
        let mut secret = hash(format!("{}:{}:{}", asked.user, self.realm, asked.password));
        if self.algorithm().ends_with("-sess") {
            secret = hash(format!("{secret}:{nonce}:{cnonce}"));
        }
        let request = hash(format!("{}:{}", asked.method, asked.uri));
        hash(match self.has_auth {
            true => format!("{secret}:{nonce}:{COUNT}:{cnonce}:auth:{request}"),
            false => format!("{secret}:{nonce}:{request}"),
        })
    }

    fn algorithm(&self) -> String {
        let named = self.algorithm.as_deref();
        named.unwrap_or("MD5").to_ascii_lowercase()
    }

    /// Returns the hash in hexadecimal digits; nothing for an unknown algorithm.
    fn hash(&self, text: &str) -> Option<String> {
        let algorithm = self.algorithm();
        Some(match algorithm.trim_end_matches("-sess") {
            "md5" => hex(&Md5::digest(text)),
            "sha-256" => hex(&Sha256::digest(text)),
            "sha-512-256" => hex(&Sha512_256::digest(text)),
            _ => return None,
        })
    }
}

/// Count of requests made with one nonce, always the first: each nonce serves one request.
const COUNT: &str = "00000001";

/// Splits `name=value` or `name="value"` off, and the comma behind.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let text = text.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    let (name, rest) = text.split_once('=')?;
    let rest = rest.trim_start();
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find(',').unwrap_or(rest.len());
        return Some((name.trim(), rest[..end].trim().to_owned(), &rest[end..]));
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((name.trim(), value, &quoted[at + 1..])),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked<'_> = Asked {
        method: "GET",
        uri: "/dir/index.html",
        user: "Mufasa",
        password: "Circle Of Life",
        cnonce: "0a4f113b",
    };

    /// The example of RFC 2617, section 3.5; with SHA-256, as Python's hashlib computes.
    #[test]
    fn the_example_of_the_standard() {
        for (algorithm, response) in [
            ("MD5", "6629fae49393a05397450978507c4ef1"),
            (
                "SHA-256",
                "5abdd07184ba512a22c53f41470e5eea7dcaa3a93a59b630c13dfe0a5dc6e38b",
            ),
        ] {
            let challenge = format!(
                "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", algorithm={algorithm}, \
                 nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"FQhe\""
            );
            let challenge = Challenge::parse(&challenge).expect("a challenge");
            let answer = challenge.answer(ASKED);
            assert!(
                answer.contains(&format!("response=\"{response}\"")),
                "{answer}"
            );
            assert!(answer.contains("nc=00000001, qop=auth") && answer.contains("opaque=\"FQhe\""));
        }
    }

    /// The same without a quality (RFC 2069).
    #[test]
    fn a_server_without_qualities() {
        let text =
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"";
        let challenge = Challenge::parse(text).expect("a challenge");
        let answer = challenge.answer(ASKED);
        assert!(
            answer.contains("response=\"670fd8c2df070c60b045671b8b24ff02\""),
            "{answer}"
        );
        assert!(!answer.contains("cnonce"));
    }

    #[test]
    fn what_is_no_challenge_is_passed_over() {
        for text in [
            "Basic realm=\"a\"",
            "Digest realm=\"a\"",
            "Digest realm=\"a\", nonce=\"b\", algorithm=SHA3",
            "Digest realm=\"a\", nonce=\"b\", qop=\"auth-int\"",
            "Digest realm=\"a",
            "",
        ] {
            assert_eq!(Challenge::parse(text), None, "{text}");
        }
    }
}
