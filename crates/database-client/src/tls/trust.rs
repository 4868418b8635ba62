//! Whose certificates are taken.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::{Tls, TlsMode};

/// The settings of a session; an error is a sentence.
pub(super) fn config(tls: &Tls) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let mode = tls.resolved();
    let authorities = match mode >= TlsMode::Authority {
        true => Some(verifier(tls, &provider)?),
        false => None,
    };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Check {
            authorities,
            host: mode == TlsMode::Host,
            provider,
        }));
    match (&tls.certificate, &tls.key) {
        (Some(certificate), Some(key)) => builder
            .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
            .map_err(|error| {
                format!(
                    "the certificate {} cannot be used: {error}",
                    certificate.display()
                )
            }),
        _ => Ok(builder.with_no_client_auth()),
    }
}

fn verifier(
    tls: &Tls,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let mut roots = RootCertStore::empty();
    match &tls.authorities {
        // The word that libpq has for them.
        Some(path) if path.as_os_str() != "system" => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|error| {
                    format!(
                        "{} holds no authority that can be trusted: {error}",
                        path.display()
                    )
                })?;
            }
        }
        _ => {
            let found = rustls_native_certs::load_native_certs().certs;
            roots.add_parsable_certificates(found);
        }
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| {
            format!("there are no authorities to trust ({error}); name a file with them")
        })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error: &dyn std::fmt::Display| {
        format!(
            "cannot read the certificates in {}: {error}",
            path.display()
        )
    };
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path)
        .map_err(|error| unreadable(&error))?
        .collect();
    let all = all.map_err(|error| unreadable(&error))?;
    match all.is_empty() {
        true => Err(unreadable(&"there is none in PEM form")),
        false => Ok(all),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path)
        .map_err(|error| format!("cannot read the key in {}: {error}", path.display()))
}

/// What a server's certificate has to stand up to. Signatures are always checked: whoever answers
/// holds the key of the certificate that was shown.
#[derive(Debug)]
struct Check {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    host: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Check {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        let checked = authorities.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match checked {
            // The name is looked at after everything else.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.host => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
