//! TLS to database servers: requirements, and the resulting driver settings.
//!
//! PostgreSQL's driver takes a stream secured elsewhere (`stream::Connector`); MySQL's has a
//! TLS of its own and takes settings.

pub(crate) mod stream;
mod trust;

use std::path::PathBuf;

use ::mysql::SslOpts;

/// How much is asked of a connection. What a server's certificate has to stand up to grows from one
/// to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    /// No TLS.
    Off,
    /// TLS with any certificate where supported by the server; otherwise none.
    Preferred,
    /// TLS with whatever certificate: nobody listens in, but the server may be another one.
    Required,
    /// The certificate must come from a trusted authority.
    Authority,
    /// Also, the certificate must be for the requested host.
    Host,
}

/// TLS settings; `None` for unspecified ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// How much is asked for.
    pub mode: Option<TlsMode>,
    /// PEM file of trusted authorities; without one the usual public ones are trusted.
    pub authorities: Option<PathBuf>,
    /// PEM files of the client certificate and key, where required by the server.
    pub certificate: Option<PathBuf>,
    /// The key.
    pub key: Option<PathBuf>,
}

impl TlsMode {
    /// `sslmode` of libpq.
    pub fn of_libpq(name: &str) -> Option<TlsMode> {
        match name {
            "disable" => Some(TlsMode::Off),
            "allow" | "prefer" => Some(TlsMode::Preferred),
            "require" => Some(TlsMode::Required),
            "verify-ca" => Some(TlsMode::Authority),
            "verify-full" => Some(TlsMode::Host),
            _ => None,
        }
    }

    /// `--ssl-mode` of MySQL's clients.
    pub fn of_mysql(name: &str) -> Option<TlsMode> {
        match name.to_ascii_uppercase().replace('-', "_").as_str() {
            "DISABLED" => Some(TlsMode::Off),
            "PREFERRED" => Some(TlsMode::Preferred),
            "REQUIRED" => Some(TlsMode::Required),
            "VERIFY_CA" => Some(TlsMode::Authority),
            "VERIFY_IDENTITY" => Some(TlsMode::Host),
            _ => None,
        }
    }
}

impl Tls {
    /// Fills unspecified settings from another value.
    pub fn or(self, other: Tls) -> Tls {
        Tls {
            mode: self.mode.or(other.mode),
            authorities: self.authorities.or(other.authorities),
            certificate: self.certificate.or(other.certificate),
            key: self.key.or(other.key),
        }
    }

    /// Takes a setting of libpq (`sslmode`, `sslrootcert`, `sslcert`, `sslkey`); returns whether
    /// the key is one.
    ///
    /// # Errors
    /// A mode that is not known, as a sentence.
    pub fn take_libpq(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "sslmode" => {
                let mode = TlsMode::of_libpq(value).ok_or_else(|| {
                    format!("sslmode={value} is not known; disable, prefer, require, verify-ca and verify-full are")
                })?;
                self.mode = Some(mode);
            }
            "sslrootcert" => self.authorities = Some(PathBuf::from(value)),
            "sslcert" => self.certificate = Some(PathBuf::from(value)),
            "sslkey" => self.key = Some(PathBuf::from(value)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes a setting behind a MySQL URL, in the spellings of frameworks: `ssl-mode`, `ssl_mode`,
    /// `sslca` and so on.
    ///
    /// # Errors
    /// A mode that is not known, as a sentence.
    pub fn take_mysql(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key.replace(['-', '_'], "").as_str() {
            "sslmode" => {
                let mode = TlsMode::of_mysql(value).ok_or_else(|| {
                    format!("ssl-mode={value} is not known; DISABLED, PREFERRED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY are")
                })?;
                self.mode = Some(mode);
            }
            "sslca" => self.authorities = Some(PathBuf::from(value)),
            "sslcert" => self.certificate = Some(PathBuf::from(value)),
            "sslkey" => self.key = Some(PathBuf::from(value)),
            _ => {}
        }
        Ok(())
    }

    /// Returns what is to be done. Who names authorities wants the server's certificate checked
    /// against them.
    pub fn resolved(&self) -> TlsMode {
        match (self.mode, &self.authorities) {
            (None, Some(_)) => TlsMode::Host,
            (Some(TlsMode::Preferred | TlsMode::Required), Some(_)) => TlsMode::Authority,
            (mode, _) => mode.unwrap_or(TlsMode::Preferred),
        }
    }

    /// The settings of MySQL's driver; `None`: no TLS.
    pub(crate) fn mysql(&self) -> Option<SslOpts> {
        let mode = self.resolved();
        if mode == TlsMode::Off {
            return None;
        }
        let identity = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => Some(::mysql::ClientIdentity::new(
                certificate.clone(),
                key.clone(),
            )),
            _ => None,
        };
        Some(
            SslOpts::default()
                .with_client_identity(identity)
                .with_root_cert_path(self.authorities.clone())
                .with_danger_accept_invalid_certs(mode < TlsMode::Authority)
                .with_danger_skip_domain_validation(mode < TlsMode::Host),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_authorities_wants_them_asked() {
        let check = |mode, authorities: Option<&str>, expected| {
            let authorities = authorities.map(PathBuf::from);
            let tls = Tls {
                mode,
                authorities,
                ..Tls::default()
            };
            assert_eq!(tls.resolved(), expected, "{tls:?}");
        };
        check(None, None, TlsMode::Preferred);
        check(None, Some("ca.pem"), TlsMode::Host);
        check(Some(TlsMode::Required), Some("ca.pem"), TlsMode::Authority);
        check(Some(TlsMode::Off), Some("ca.pem"), TlsMode::Off);
        check(Some(TlsMode::Host), None, TlsMode::Host);
    }

    #[test]
    fn modes_of_both_worlds() {
        assert_eq!(TlsMode::of_libpq("verify-full"), Some(TlsMode::Host));
        assert_eq!(TlsMode::of_libpq("REQUIRE"), None);
        assert_eq!(TlsMode::of_mysql("verify-identity"), Some(TlsMode::Host));
        assert_eq!(TlsMode::of_mysql("verify_ca"), Some(TlsMode::Authority));
        let mut tls = Tls::default();
        assert_eq!(tls.take_libpq("sslmode", "prefer"), Ok(true));
        assert_eq!(tls.take_libpq("port", "1"), Ok(false));
        assert!(tls.take_libpq("sslmode", "x").is_err());
        tls.take_mysql("ssl_ca", "a.pem").unwrap();
        assert_eq!(tls.authorities, Some(PathBuf::from("a.pem")));
    }
}
