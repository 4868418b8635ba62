//! Trust in a server's own certificate in a file of authorities, as in OpenSSL and curl.
//!
//! `webpki` takes a certificate of such a file for an authority alone. What `openssl req -x509`
//! makes for a server is both, and a file may have the server's certificate without the issuer's:
//! whoever names exactly that certificate trusts it. Name and dates count as they do for others.

use std::sync::Arc;

use chrono::NaiveDateTime;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

const SEQUENCE: u8 = 0x30;
/// Tag of the version, `[0]`, left out in certificates of version 1.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Verifier by authorities, and by the certificates themselves.
#[derive(Debug)]
pub(super) struct NamedOrIssued {
    /// Certificates of the file.
    pub(super) named: Vec<CertificateDer<'static>>,
    pub(super) issued: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for NamedOrIssued {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self
            .named
            .iter()
            .any(|named| named.as_ref() == own.as_ref())
        {
            true => check(own, name, now).map(|()| ServerCertVerified::assertion()),
            false => (self.issued).verify_server_cert(own, chain, name, ocsp, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls12_signature(message, own, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls13_signature(message, own, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.issued.supported_verify_schemes()
    }
}

/// Checks dates and name of a certificate trusted itself.
fn check(own: &CertificateDer<'_>, name: &ServerName<'_>, now: UnixTime) -> Result<(), Error> {
    let (from, to) = validity(own).ok_or(CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now < from {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > to {
        return Err(CertificateError::Expired.into());
    }
    verify_server_name(&ParsedCertificate::try_from(own)?, name)
}

/// Returns the first and the last second of a certificate, since 1970.
fn validity(certificate: &[u8]) -> Option<(i64, i64)> {
    let (_, certificate, _) = element(certificate)?;
    let (_, fields, _) = element(certificate)?;
    let (first, _, after) = element(fields)?;
    // The serial number, and before it maybe the version.
    let fields = match first {
        VERSION => element(after)?.2,
        _ => after,
    };
    let (_, _algorithm, fields) = element(fields)?;
    let (_, _issuer, fields) = element(fields)?;
    let (tag, dates, _) = element(fields)?;
    if tag != SEQUENCE {
        return None;
    }
    let (tag, from, rest) = element(dates)?;
    let from = seconds(tag, from)?;
    let (tag, to, _) = element(rest)?;
    Some((from, seconds(tag, to)?))
}

/// Returns tag, content and what follows of the first element in DER.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        // Up to four bytes of length: certificates are a few kB.
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            let add = |sum: usize, digit: &u8| sum << 8 | usize::from(*digit);
            (digits.iter().fold(0, add), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// Returns the seconds since 1970 of a time such as `261121163325Z`, RFC 5280 4.1.2.5: always with
/// seconds and in UTC.
fn seconds(tag: u8, text: &[u8]) -> Option<i64> {
    let digits = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let century = match (tag, digits.len()) {
        (UTC_TIME, 12) if digits < "50" => "20",
        (UTC_TIME, 12) => "19",
        (GENERALIZED_TIME, 14) => "",
        _ => return None,
    };
    let whole = format!("{century}{digits}");
    let time = NaiveDateTime::parse_from_str(&whole, "%Y%m%d%H%M%S");
    is_number.then(|| Some(time.ok()?.and_utc().timestamp()))?
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        let check = |tag: u8, text: &str, expected: Option<i64>| {
            assert_eq!(seconds(tag, text.as_bytes()), expected, "{text}");
        };
        check(UTC_TIME, "700101000000Z", Some(0));
        check(UTC_TIME, "000229120000Z", Some(951_825_600));
        check(UTC_TIME, "491231235959Z", Some(2_524_607_999));
        check(UTC_TIME, "500101000000Z", Some(-631_152_000));
        check(GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000));
        check(GENERALIZED_TIME, "21261028163325Z", Some(4_948_878_805));
        check(GENERALIZED_TIME, "99991231235959Z", Some(253_402_300_799));
        check(UTC_TIME, "7001010000Z", None);
        check(UTC_TIME, "700101000000+0000", None);
        check(GENERALIZED_TIME, "x0500101000000Z", None);
    }

    /// Checks a certificate of 2020, its own issuer or none, at the start of a year.
    fn checked(is_ca: IsCa, year: i64, name: &str) -> Result<(), Error> {
        let mut params = CertificateParams::new(vec!["app.test".to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2061, 1, 1);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let now = seconds(GENERALIZED_TIME, format!("{year}0601000000Z").as_bytes()).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(now as u64));
        let name = ServerName::try_from(name).unwrap();
        check(certificate.der(), &name, now)
    }

    #[test]
    fn name_and_dates_of_a_named_certificate_count() {
        let authority = || IsCa::Ca(BasicConstraints::Unconstrained);
        assert_eq!(checked(IsCa::NoCa, 2026, "app.test"), Ok(()));
        assert_eq!(checked(authority(), 2060, "app.test"), Ok(()));
        let over = checked(authority(), 2061, "app.test");
        assert_eq!(over, Err(CertificateError::Expired.into()));
        let early = checked(IsCa::NoCa, 2019, "app.test");
        assert_eq!(early, Err(CertificateError::NotValidYet.into()));
        let other = checked(IsCa::NoCa, 2026, "other.test").unwrap_err();
        assert!(other.to_string().contains("not valid for name"), "{other}");
    }

    #[test]
    fn what_is_no_certificate_has_no_dates() {
        for bytes in [
            &b""[..],
            b"\x30",
            b"\x30\x05ab",
            b"\x30\x85\0\0\0\0\0",
            b"\x30\x02\x30\0",
        ] {
            assert_eq!(validity(bytes), None, "{bytes:?}");
        }
    }
}
