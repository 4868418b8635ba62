//! Options of a flow about the connection, in a single pass and under load.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::common::{load, millis, ok, on_each_engine, plan, read_request, serve, serve_answers};
use crate::tls::{serve_over_tls, trusting};
use load::{Checked, LoadError, Plan, check_once};
use recording::Outcome;
use scenario::{FlowSpec, Scenario, Spec};

/// A scenario of one flow; files are `extra` and the certificates for tests of TLS.
fn flow(url: &str, text: &str, extra: &[(&str, &str)]) -> Scenario {
    let spec = Spec {
        base_url: url.to_owned(),
        flows: vec![FlowSpec {
            file: Some("test.hurl".into()),
            weight: 1,
            ..FlowSpec::default()
        }],
        ..Spec::default()
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/servers/tls");
    let mut read = |path: &Path| {
        let name = path.to_str().unwrap_or("");
        let given = extra.iter().find(|(known, _)| *known == name);
        match (name, given) {
            ("test.hurl", _) => Ok(text.as_bytes().to_vec()),
            (_, Some((_, content))) => Ok(content.as_bytes().to_vec()),
            _ => std::fs::read(folder.join(name)),
        }
    };
    Scenario::build(&spec, &mut read).unwrap_or_else(|error| panic!("{error}"))
}

fn pass(plan: &Plan, scenario: &Scenario) -> Result<Vec<Checked>, LoadError> {
    let mut all = Vec::new();
    check_once(plan, scenario, &mut |checked| all.push(checked))?;
    Ok(all)
}

/// Runs the flow once and under load on each engine; all goes well, or fails for the reason.
fn check(url: &str, options: &str, extra: &[(&str, &str)], failure: Option<&str>) {
    let text = format!("GET /a\n[Options]\n{options}\nHTTP 200\n[Asserts]\nbody == \"hello\"\n");
    let scenario = flow(url, &text, extra);
    let passed = pass(&plan(1), &scenario).expect("a server");
    let faults: Vec<&String> = passed.iter().flat_map(|one| &one.faults).collect();
    for plan in on_each_engine(&plan(2)) {
        let (exchanges, _, result) = load(&plan, &scenario);
        let Some(part) = failure else {
            assert!(faults.is_empty(), "{options}: {faults:?}");
            let well = exchanges.iter().all(|one| one.outcome == Outcome::Ok);
            assert!(
                well && exchanges.len() > 2,
                "{options}: {:?}",
                result.failures
            );
            continue;
        };
        assert!(faults[0].contains(part), "{options}: {faults:?}");
        let reason = &result.failures[0].reason;
        assert!(reason.contains(part), "{options}: {reason}");
    }
}

fn hello(mut stream: impl Read + Write) {
    while read_request(&mut stream).is_some() {
        let answered = stream.write_all(&ok("hello"));
        if answered.and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}

#[test]
fn certificates_are_trusted_as_an_entry_says() {
    let url = format!("https://{}", serve_over_tls(&[], hello));
    check(&url, "insecure: true", &[], None);
    check(&url, "cacert: ca.pem", &[], None);
    check(&url, "cacert: ca.pem\ninsecure: false", &[], None);
    check(&url, "insecure: false", &[], Some("no connection: "));
    // The server's own certificate, without the one that signed it.
    check(&url, "cacert: cert.pem", &[], None);
}

#[test]
fn an_entry_says_less_or_more_than_the_command() {
    let url = format!("https://{}", serve_over_tls(&[], hello));
    let text = "GET /a\n[Options]\ninsecure: false\nHTTP 200\n";
    let insecure = Plan {
        trust: load::Trust {
            insecure: true,
            ..load::Trust::default()
        },
        ..plan(1)
    };
    let passed = pass(&insecure, &flow(&url, text, &[])).expect("a server");
    assert_eq!(passed[0].outcome, Outcome::ConnectFailed);
    let trusted = Plan {
        trust: trusting(),
        ..plan(1)
    };
    let passed = pass(&trusted, &flow(&url, text, &[])).expect("a server");
    assert_eq!(passed[0].outcome, Outcome::Ok, "{:?}", passed[0].faults);
}

/// A server wanting a client's certificate; and such a certificate with the key.
fn serve_known() -> (SocketAddr, String, String) {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).expect("a certificate");
    let issuer = Issuer::from_params(&params, &key);
    let own_key = KeyPair::generate().expect("a key");
    let own = CertificateParams::new(vec!["client".to_owned()]).expect("a name");
    let own = own.signed_by(&own_key, &issuer).expect("a certificate");
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .expect("a verifier");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/servers/tls");
    let chain = CertificateDer::pem_file_iter(folder.join("cert.pem")).expect("a file");
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            chain.map(|one| one.expect("a certificate")).collect(),
            PrivateKeyDer::from_pem_file(folder.join("key.pem")).expect("a key"),
        )
        .expect("a configuration");
    let config = Arc::new(config);
    let address = serve(move |stream| {
        let session = ServerConnection::new(Arc::clone(&config)).expect("a session");
        hello(StreamOwned::new(session, stream));
    });
    (address, own.pem(), own_key.serialize_pem())
}

#[test]
fn a_client_shows_its_certificate() {
    let (address, certificate, key) = serve_known();
    let url = format!("https://{address}");
    let both = format!("{key}{certificate}");
    let files = [
        ("client.pem", certificate.as_str()),
        ("client.key", key.as_str()),
        ("both.pem", both.as_str()),
    ];
    let ca = "cacert: ca.pem\n";
    check(
        &url,
        &format!("{ca}cert: client.pem\nkey: client.key"),
        &files,
        None,
    );
    check(&url, &format!("{ca}cert: both.pem:password"), &files, None);
    let text = |options: &str| format!("GET /a\n[Options]\n{ca}{options}\nHTTP 200\n");
    // The server's refusal comes behind the handshake in TLS 1.3.
    let passed = pass(&plan(1), &flow(&url, &text("insecure: false"), &files)).expect("a server");
    assert_ne!(passed[0].outcome, Outcome::Ok);
    for (options, part) in [
        ("cert: client.pem", "private key in client.pem"),
        (
            "cert: client.key\nkey: client.key",
            "certificate in client.key",
        ),
        ("cert: client.pem\nkey: key.pem", "cannot use client.pem"),
    ] {
        let error = pass(&plan(1), &flow(&url, &text(options), &files));
        let error = error.expect_err("no key").to_string();
        assert!(error.contains(part), "{options}: {error}");
    }
}

#[test]
fn an_entry_goes_elsewhere() {
    let address = serve_over_tls(&[], hello);
    let port = address.port();
    let ca = "cacert: ca.pem";
    let to = |line: &str| format!("{ca}\n{line}");
    let by_name = "https://app.test";
    check(
        by_name,
        &to(&format!("connect-to: app.test:443:127.0.0.1:{port}")),
        &[],
        None,
    );
    check(by_name, &to(&format!("connect-to: ::{address}")), &[], None);
    let with_port = format!("https://app.test:{port}");
    check(
        &with_port,
        &to(&format!("resolve: app.test:{port}:127.0.0.1")),
        &[],
        None,
    );
    // The certificate is not that of the name in the URL.
    let other = format!("https://other.test:{port}");
    let resolved = format!("{ca}\nresolve: *:{port}:127.0.0.1");
    check(&other, &resolved, &[], Some("not valid for name"));
}

/// Each entry of a flow is answered by the right server, also when users come back.
#[test]
fn entries_of_one_flow_go_different_ways() {
    let first = serve_answers(|_| ok("first"));
    let second = serve_answers(|_| ok("second"));
    let entry = |options: &str, body: &str| {
        format!("GET /a\n{options}HTTP 200\n[Asserts]\nbody == \"{body}\"\n\n")
    };
    let elsewhere = format!("[Options]\nconnect-to: ::{second}\n");
    let text = [
        entry("", "first"),
        entry("", "first"),
        entry(&elsewhere, "second"),
        entry(&elsewhere, "second"),
    ]
    .concat();
    let scenario = flow(&format!("http://{first}"), &text, &[]);
    let passed = pass(&plan(1), &scenario).expect("servers");
    assert!(passed.iter().all(|one| one.faults.is_empty()), "{passed:?}");
    assert_eq!(passed.len(), 4);
    for plan in on_each_engine(&plan(3)) {
        let (exchanges, _, result) = load(&plan, &scenario);
        assert!(
            exchanges.len() > 8 && result.failures.is_empty(),
            "{:?}",
            result.failures
        );
    }
}

#[test]
fn an_entry_may_have_http_2_where_the_server_speaks_it() {
    let url = format!("https://{}", serve_over_tls(&[b"http/1.1"], hello));
    let text = "GET /a\n[Options]\nhttp2: true\ncacert: ca.pem\nHTTP/1.1 200\n";
    let passed = pass(&plan(1), &flow(&url, text, &[])).expect("a server");
    assert!(passed[0].faults.is_empty(), "{passed:?}");
}

#[test]
fn what_a_load_cannot_obey_is_refused_before_it_begins() {
    let address = serve_answers(|_| ok("hello"));
    let url = format!("http://{address}");
    let http2 = Plan {
        connections: 2,
        streams: 1,
        ..plan(2)
    };
    for (plan, options, part) in [
        (plan(1), "http2: true", "--http2"),
        (http2.clone(), "http2: false", "--http2"),
    ] {
        let text = format!("GET /a\n[Options]\n{options}\nHTTP 200\n");
        let error = plan.check(&flow(&url, &text, &[])).expect_err(options);
        assert!(error.to_string().contains(part), "{options}: {error}");
    }
    let agreed = flow(&url, "GET /a\n[Options]\nhttp2: true\nHTTP 200\n", &[]);
    assert!(http2.check(&agreed).is_ok());
}

/// A flow with 2,000 bytes to send and 4,000 to receive, at 20,000 bytes per second.
fn slow_flow(url: &str, options: &str) -> Scenario {
    let text = format!(
        "POST /a\n[Options]\nlimit-rate: 20000\n{options}`{}`\nHTTP 200\n[Asserts]\nbytes count == 4000\n",
        "y".repeat(2_000)
    );
    flow(url, &text, &[])
}

/// What is sent and what comes each take as long as the rate says.
#[test]
fn a_single_pass_is_slowed() {
    let address = serve_answers(|_| ok(&"x".repeat(4_000)));
    let scenario = slow_flow(&format!("http://{address}"), "");
    let passed = pass(&plan(1), &scenario).expect("a server");
    assert!(passed[0].faults.is_empty(), "{passed:?}");
    assert!(passed[0].time >= millis(300), "{:?}", passed[0].time);
}

/// Of each direction a tenth of a second may pass at once: the piece now due, and a late one.
#[test]
fn a_load_is_slowed() {
    let body = || ok(&"x".repeat(4_000));
    let plain = serve_answers(move |_| body());
    let over_tls = serve_over_tls(&[b"http/1.1"], move |mut stream| {
        while read_request(&mut stream).is_some() && stream.write_all(&body()).is_ok() {}
    });
    for (url, options) in [
        (format!("http://{plain}"), ""),
        (format!("https://{over_tls}"), "cacert: ca.pem\n"),
    ] {
        let scenario = slow_flow(&url, options);
        for plan in on_each_engine(&plan(3)) {
            let (exchanges, _, result) = load(&plan, &scenario);
            assert!(result.failures.is_empty(), "{:?}", result.failures);
            let answered = exchanges.iter().filter(|one| one.outcome == Outcome::Ok);
            let times: Vec<_> = answered.map(|one| one.answered.since(one.sent)).collect();
            assert!(!times.is_empty(), "{url}: nothing was answered");
            assert!(
                times.iter().all(|time| *time >= millis(190)),
                "{url}: {times:?}"
            );
        }
    }
}

/// Starts a proxy with tunnels to any port of the machine; returns the address.
fn serve_proxy(answer: &'static str) -> SocketAddr {
    serve(move |mut stream| {
        let Some(request) = read_request(&mut stream) else {
            return;
        };
        let _ = stream.write_all(answer.as_bytes());
        let target = request.split(' ').nth(1).unwrap_or_default().to_owned();
        if !request.starts_with("CONNECT ") || !answer.starts_with("HTTP/1.1 200") {
            return;
        }
        let Ok(server) = std::net::TcpStream::connect(target) else {
            return;
        };
        let (Ok(mut down), Ok(mut back)) = (server.try_clone(), stream.try_clone()) else {
            return;
        };
        let copying = std::thread::spawn(move || {
            let _ = std::io::copy(&mut down, &mut back);
            let _ = back.shutdown(std::net::Shutdown::Both);
        });
        let mut up = server;
        let _ = std::io::copy(&mut stream, &mut up);
        let _ = up.shutdown(std::net::Shutdown::Both);
        let _ = copying.join();
    })
}

#[test]
fn a_load_goes_through_a_tunnel_of_a_proxy() {
    let plain = format!("http://{}", serve_answers(|_| ok("hello")));
    let over_tls = format!("https://{}", serve_over_tls(&[], hello));
    let closed = "HTTP/1.1 403 Forbidden\u{1b}\r\n\r\n";
    let open = "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n";
    for (url, options) in [(&plain, ""), (&over_tls, "[Options]\ncacert: ca.pem\n")] {
        let text = format!("GET /a\n{options}HTTP 200\n[Asserts]\nbody == \"hello\"\n");
        let scenario = flow(url, &text, &[]);
        for (answer, refusal) in [
            (open, None),
            (closed, Some("the proxy refused: HTTP/1.1 403")),
        ] {
            let proxy = serve_proxy(answer).to_string();
            let plan = Plan {
                via: Some(load::Via::parse_proxy(&proxy).expect("an address")),
                ..plan(2)
            };
            let passed = pass(&plan, &scenario).expect("an address");
            for plan in on_each_engine(&plan) {
                let (exchanges, _, result) = load(&plan, &scenario);
                let Some(refusal) = refusal else {
                    assert!(passed[0].faults.is_empty(), "{passed:?}");
                    assert!(result.failures.is_empty(), "{:?}", result.failures);
                    assert!(exchanges.iter().any(|one| one.outcome == Outcome::Ok));
                    continue;
                };
                let reasons = [&passed[0].faults[0], &result.failures[0].reason];
                for reason in reasons {
                    assert!(
                        reason.contains(refusal) && !reason.contains('\u{1b}'),
                        "{reason}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_request_that_may_change_data_is_sent_once() {
    let posts = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&posts);
    // The app dies of the second request on a connection.
    let address = serve(move |mut stream| {
        while let Some(request) = read_request(&mut stream) {
            if request.starts_with("POST") {
                seen.fetch_add(1, Ordering::SeqCst);
                return;
            }
            if stream.write_all(&ok("hello")).is_err() {
                return;
            }
        }
    });
    let url = format!("http://{address}");
    let text = "GET /a\nHTTP 200\n\nPOST /b\n[Form]\na: 1\nHTTP 200\n";
    let passed = pass(&plan(1), &flow(&url, text, &[])).expect("a server");
    let outcomes: Vec<Outcome> = passed.iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Disconnected]);
    assert_eq!(posts.load(Ordering::SeqCst), 1);
}

#[test]
fn an_answer_to_a_request_that_is_still_being_sent_is_read() {
    let address = serve(|mut stream| {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_exact(&mut byte).is_err() {
                return;
            }
            head.push(byte[0]);
        }
        let _ = stream.write_all(b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
        // Closed with most of the body unread, so that the client cannot write on.
    });
    // More than sockets take in by themselves.
    let body = "x".repeat(32 << 20);
    let text = "POST /a\nfile,large.txt;\nHTTP 413\n\nPOST /b\nHTTP 413\n";
    let scenario = flow(&format!("http://{address}"), text, &[("large.txt", &body)]);
    let passed = pass(&plan(1), &scenario).expect("an address");
    // The second one goes over a connection of its own.
    let all: Vec<_> = passed.iter().map(|one| (one.outcome, one.status)).collect();
    let expected = [(Outcome::Ok, 413), (Outcome::Ok, 413)];
    assert_eq!(all, expected, "{:?}", passed[0].faults);
}
