//! TLS by rustls: trusted authorities, and one session over a non-blocking socket.

mod named;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use scenario::{Link, PemFile};

use crate::outcome::LoadError;
use named::NamedOrIssued;

/// Whom to trust.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// PEM file of authorities to trust instead of the system's.
    pub authorities: Option<PathBuf>,
    /// Whether any certificate is taken, of whatever name.
    pub insecure: bool,
}

/// Shared state of all sessions of a load: settings, including the tickets for resuming, and the
/// server's name.
#[derive(Clone, Debug)]
pub(crate) struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsClient {
    /// Returns a client for the server `host`, whose name goes into the handshake (SNI) unless
    /// `host` is an address. With `http2` that is offered first, and HTTP/1.1 only to learn whether
    /// the server would rather have it.
    pub(crate) fn new(
        host: &str,
        trust: &Trust,
        link: &Link,
        http2: bool,
    ) -> Result<TlsClient, LoadError> {
        let wrong = |what: String| LoadError::Plan(what);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| wrong(format!("{host} cannot be a server's name in TLS: {error}")))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(format!("TLS cannot be set up: {error}")))?;
        let builder = match link.insecure.unwrap_or(trust.insecure) {
            true => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Anyone(provider))),
            false => match authorities(trust, link)? {
                Some(file) => builder
                    .dangerous()
                    .with_custom_certificate_verifier(file.verifier(provider)?),
                None => builder.with_root_certificates(system_roots()?),
            },
        };
        let mut config = match &link.certificate {
            None => builder.with_no_client_auth(),
            Some(file) => {
                let (chain, key) = identity(file, link.key.as_ref().unwrap_or(file))?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| wrong(format!("cannot use {}: {error}", file.name)))?
            }
        };
        let offered: &[&[u8]] = match http2 {
            true => &[b"h2", b"http/1.1"],
            false => &[b"http/1.1"],
        };
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        Ok(TlsClient {
            config: Arc::new(config),
            name,
        })
    }

    /// Returns a session before the handshake.
    pub(crate) fn session(&self) -> io::Result<ClientConnection> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|error| io::Error::other(format!("TLS: {error}")))
    }
}

/// Reads the client's certificates and private key.
fn identity(
    certificate: &PemFile,
    key: &PemFile,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), LoadError> {
    let unusable = |what: &str, file: &PemFile, why: &dyn std::fmt::Display| {
        LoadError::Plan(format!("cannot use the {what} in {}: {why}", file.name))
    };
    let read = CertificateDer::pem_slice_iter(&certificate.bytes);
    let chain: Result<Vec<_>, _> = read.collect();
    let chain = chain.map_err(|error| unusable("certificate", certificate, &error))?;
    if chain.is_empty() {
        return Err(unusable(
            "certificate",
            certificate,
            &"there is none in PEM",
        ));
    }
    let key = PrivateKeyDer::from_pem_slice(&key.bytes).map_err(|error| {
        let why = format!("{error}; one with a password must be decrypted first");
        unusable("private key", key, &why)
    })?;
    Ok((chain, key))
}

/// Certificates of a PEM file, trusted instead of the system's authorities.
struct Authorities {
    name: String,
    certificates: Vec<CertificateDer<'static>>,
}

impl Authorities {
    fn read(
        name: String,
        read: impl Iterator<Item = Result<CertificateDer<'static>, pem::Error>>,
    ) -> Result<Authorities, LoadError> {
        let certificates = read.collect::<Result<Vec<_>, _>>();
        let certificates = certificates.map_err(|error| unusable(&name, &error))?;
        match certificates.is_empty() {
            true => Err(unusable(&name, &"there is none in PEM")),
            false => Ok(Authorities { name, certificates }),
        }
    }

    fn verifier(self, provider: Arc<CryptoProvider>) -> Result<Arc<NamedOrIssued>, LoadError> {
        let mut roots = RootCertStore::empty();
        for certificate in &self.certificates {
            let added = roots.add(certificate.clone());
            added.map_err(|error| unusable(&self.name, &error))?;
        }
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let issued = builder.build();
        Ok(Arc::new(NamedOrIssued {
            named: self.certificates,
            issued: issued.map_err(|error| unusable(&self.name, &error))?,
        }))
    }
}

fn unusable(name: &str, error: &dyn std::fmt::Display) -> LoadError {
    LoadError::Plan(format!("cannot use the authorities in {name}: {error}"))
}

/// Returns the authorities named by the entry, or else by the command; `None` for the system's.
fn authorities(trust: &Trust, link: &Link) -> Result<Option<Authorities>, LoadError> {
    if let Some(file) = &link.authorities {
        let read = CertificateDer::pem_slice_iter(&file.bytes);
        return Authorities::read(file.name.clone(), read).map(Some);
    }
    let Some(path) = &trust.authorities else {
        return Ok(None);
    };
    let name = path.display().to_string();
    let read = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&name, &error))?;
    Authorities::read(name, read).map(Some)
}

fn system_roots() -> Result<RootCertStore, LoadError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    match roots.is_empty() {
        true => Err(LoadError::Plan(
            "no certificate authority is known; name a PEM file with --ca, or trust anyone with --insecure"
                .to_owned(),
        )),
        false => Ok(roots),
    }
}

/// Sends as many of the session's bytes as the socket accepts.
pub(crate) fn flush(session: &mut ClientConnection, socket: &mut dyn Write) -> io::Result<()> {
    while session.wants_write() {
        match session.write_tls(&mut &mut *socket) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes records from the socket. `Ok(false)`: the other side closed.
fn take(session: &mut ClientConnection, socket: &mut dyn Read) -> io::Result<bool> {
    if session.read_tls(&mut &mut *socket)? == 0 {
        return Ok(false);
    }
    match session.process_new_packets() {
        Ok(_) => Ok(true),
        Err(error) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("TLS: {error}"),
        )),
    }
}

/// Continues the handshake as far as the socket allows; returns whether the handshake is done.
pub(crate) fn shake_hands<S: Read + Write>(
    session: &mut ClientConnection,
    socket: &mut S,
) -> io::Result<bool> {
    loop {
        flush(session, socket)?;
        if !session.is_handshaking() {
            return Ok(!session.wants_write());
        }
        if session.wants_write() {
            return Ok(false);
        }
        match take(session, socket) {
            Ok(true) => {}
            Ok(false) => return Err(io::Error::other("TLS: closed during the handshake")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                // The alert that tells the other side why.
                let _ = flush(session, socket);
                return Err(error);
            }
        }
    }
}

/// Reads plain bytes; 0 when the other side closed, with or without a word.
pub(crate) fn read<S: Read + Write>(
    session: &mut ClientConnection,
    socket: &mut S,
    buffer: &mut [u8],
) -> io::Result<usize> {
    loop {
        match session.reader().read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            other => return other,
        }
        take(session, socket)?;
        flush(session, socket)?;
    }
}

/// Writes as many plain bytes as the session accepts, and sends as much as the socket accepts.
pub(crate) fn write<S: Read + Write>(
    session: &mut ClientConnection,
    socket: &mut S,
    bytes: &[u8],
) -> io::Result<usize> {
    flush(session, socket)?;
    let taken = session.writer().write(bytes)?;
    flush(session, socket)?;
    match taken {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        taken => Ok(taken),
    }
}

/// Verifier for any certificate: checks only the server's possession of the key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
