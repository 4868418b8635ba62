//! Loads over TLS. The certificates in `tls/` are for these tests alone and hold for a hundred
//! years.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned};

use crate::common::{millis, ok, on_each_engine, plan, serve};
use load::{Checked, Measured, Plan, Trust, Via, check_once, measure};
use recording::Outcome;
use scenario::Scenario;

pub fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/servers/tls")
        .join(name)
}

pub fn trusting() -> Trust {
    Trust {
        authorities: Some(file("ca.pem")),
        insecure: false,
    }
}

/// A server's observations of clients.
#[derive(Default)]
struct SeenByServer {
    names: Mutex<Vec<Option<String>>>,
    resumed: AtomicU64,
}

/// Starts a server with the given protocols and a thread for each TLS connection.
pub fn serve_over_tls(
    protocols: &[&[u8]],
    handle: impl Fn(StreamOwned<ServerConnection, TcpStream>) + Send + Sync + 'static,
) -> SocketAddr {
    let certificates = CertificateDer::pem_file_iter(file("cert.pem")).expect("a file");
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            certificates
                .map(|one| one.expect("a certificate"))
                .collect(),
            key,
        );
    let mut config = config.expect("a configuration");
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let config = Arc::new(config);
    serve(move |stream| {
        let session = ServerConnection::new(Arc::clone(&config)).expect("a session");
        handle(StreamOwned::new(session, stream));
    })
}

/// Starts a server with `per_connection` responses on each connection, then a close without notice.
fn serve_tls(per_connection: usize, body: &'static str) -> (SocketAddr, Arc<SeenByServer>) {
    let seen = Arc::new(SeenByServer::default());
    let told = Arc::clone(&seen);
    let address = serve_over_tls(&[], move |stream| {
        answer(stream, per_connection, body, &told)
    });
    (address, seen)
}

fn answer(
    mut stream: StreamOwned<ServerConnection, TcpStream>,
    per_connection: usize,
    body: &str,
    seen: &SeenByServer,
) {
    let mut buffer = [0; 4096];
    for number in 0..per_connection {
        if !stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
            return;
        }
        if number == 0 {
            let name = stream.conn.server_name().map(str::to_owned);
            seen.names.lock().expect("no panic").push(name);
            let resumed = stream.conn.handshake_kind() == Some(HandshakeKind::Resumed);
            seen.resumed
                .fetch_add(u64::from(resumed), Ordering::Relaxed);
        }
        if stream
            .write_all(&ok(body))
            .and_then(|()| stream.flush())
            .is_err()
        {
            return;
        }
    }
}

fn load(plan: &Plan, url: &str) -> Measured {
    let scenario = Scenario::single(url).expect("a URL");
    let stop = AtomicBool::new(false);
    measure(plan, &scenario, &stop, millis(50), &mut |_| {}).expect("the load runs")
}

fn check(trust: Trust, url: impl Fn(SocketAddr) -> String, failure: Option<&str>) {
    let (address, _) = serve_tls(usize::MAX, "hello");
    let plan = Plan {
        trust,
        via: Some(Via::parse(&address.to_string()).expect("an address")),
        ..plan(3)
    };
    for plan in on_each_engine(&plan) {
        let measured = load(&plan, &url(address));
        let outcomes = &measured.figures.outcomes;
        let Some(part) = failure else {
            assert_eq!(
                outcomes.failed(),
                0,
                "{} {:?}",
                plan.engine,
                measured.failures
            );
            assert!(outcomes.of(Outcome::Ok) > 3);
            assert_eq!(measured.figures.handshakes.len(), 3);
            assert_eq!(measured.figures.body_bytes, 5 * outcomes.of(Outcome::Ok));
            continue;
        };
        assert_eq!(outcomes.failed(), outcomes.of(Outcome::ConnectFailed));
        let reason = &measured.failures[0].reason;
        assert!(reason.contains(part), "{} {reason}", plan.engine);
    }
}

#[test]
fn certificates_are_checked_unless_told_otherwise() {
    let anyone = || Trust {
        insecure: true,
        ..Trust::default()
    };
    check(trusting(), |_| "https://app.test/".to_owned(), None);
    check(trusting(), |address| format!("https://{address}/"), None);
    check(anyone(), |_| "https://other.test/".to_owned(), None);
    let wrong_name = Some("not valid for name");
    check(trusting(), |_| "https://other.test/".to_owned(), wrong_name);
    // The file has the server's own certificate: whoever names exactly that trusts it, by its name.
    let own = || Trust {
        authorities: Some(file("cert.pem")),
        insecure: false,
    };
    check(own(), |_| "https://app.test/".to_owned(), None);
    check(own(), |_| "https://other.test/".to_owned(), wrong_name);
    // The system's authorities know nothing of this one.
    let stranger = Trust::default();
    check(stranger, |_| "https://app.test/".to_owned(), Some("TLS: "));
}

#[test]
fn a_new_connection_resumes_the_session_of_an_old_one() {
    let (address, seen) = serve_tls(1, "x");
    let plan = Plan {
        trust: trusting(),
        via: Some(Via::parse(&address.to_string()).expect("an address")),
        keep_alive: false,
        ..plan(1)
    };
    for plan in on_each_engine(&plan) {
        let before = seen.resumed.load(Ordering::Relaxed);
        let measured = load(&plan, "https://app.test/");
        let failed = measured.figures.outcomes.failed();
        assert_eq!(failed, 0, "{} {:?}", plan.engine, measured.failures);
        let resumed = seen.resumed.load(Ordering::Relaxed) - before;
        assert!(resumed > 0, "no session was resumed");
    }
    let names = seen.names.lock().unwrap();
    assert!(
        names.iter().all(|name| name.as_deref() == Some("app.test")),
        "{names:?}"
    );
}

#[test]
fn large_answers_and_a_server_that_speaks_no_tls() {
    let large: &'static str = "x".repeat(500_000).leak();
    let (address, _) = serve_tls(usize::MAX, large);
    let trust = trusting();
    let tls = Plan { trust, ..plan(2) };
    let plain = serve(|mut stream| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    for tls in on_each_engine(&tls) {
        let measured = load(&tls, &format!("https://{address}/"));
        let outcomes = &measured.figures.outcomes;
        assert_eq!(
            outcomes.failed(),
            0,
            "{} {:?}",
            tls.engine,
            measured.failures
        );
        let answered = outcomes.of(Outcome::Ok);
        assert!(answered > 0 && measured.figures.body_bytes >= answered * 500_000);
        let measured = load(&tls, &format!("https://{plain}/"));
        let outcomes = &measured.figures.outcomes;
        let refused = outcomes.of(Outcome::ConnectFailed);
        assert!(refused > 0, "{} {:?}", tls.engine, measured.failures);
        assert_eq!(outcomes.failed(), refused);
    }
}

#[test]
fn a_single_pass_over_tls() {
    let (address, _) = serve_tls(1, "hello");
    let plan = Plan {
        trust: trusting(),
        ..plan(1)
    };
    let scenario = Scenario::single(&format!("https://{address}/a")).expect("a URL");
    let mut all: Vec<Checked> = Vec::new();
    check_once(&plan, &scenario, &mut |checked| all.push(checked)).expect("it runs");
    let [only] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(
        (only.outcome, only.status, only.body_bytes),
        (Outcome::Ok, 200, 5)
    );
}
