//! Delivery to a receiver with scripted answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use otlp::{Delivery, Receiver, SendError, TRIES, send};

/// A request as received.
struct Seen {
    head: String,
    body: String,
}

/// Serves one connection per answer; the thread returns all requests.
fn serve(answers: Vec<String>) -> (Receiver, JoinHandle<Vec<Seen>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = thread::spawn(move || {
        let answer = |text: String| {
            let (stream, _) = listener.accept().expect("a connection");
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a line");
                if let Some(digits) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = digits.trim().parse().expect("a number");
                }
                if line == "\r\n" {
                    break;
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let mut stream = reader.into_inner();
            stream.write_all(text.as_bytes()).expect("written");
            Seen {
                head,
                body: String::from_utf8(body).expect("text"),
            }
        };
        answers.into_iter().map(answer).collect()
    });
    let variable =
        |name: &str| (name == "OTEL_EXPORTER_OTLP_HEADERS").then(|| "x-token=a%20b".to_owned());
    let receiver = Receiver::new(&format!("http://{address}"), variable).expect("a receiver");
    (receiver, serving)
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

/// Sends to a receiver; returns the end, the waits in milliseconds, and the requests.
fn check(answers: Vec<String>) -> (Result<Delivery, SendError>, Vec<u128>, Vec<Seen>) {
    let (receiver, serving) = serve(answers);
    let mut waits = Vec::new();
    let mut wait = |time: Duration| {
        waits.push(time.as_millis());
        true
    };
    let sent = send(&receiver, "{\"a\":1}", &AtomicBool::new(false), &mut wait);
    (sent, waits, serving.join().expect("all answers given"))
}

#[test]
fn a_document_is_posted_once_with_the_headers() {
    let (sent, waits, seen) = check(vec![answer("200 OK", "", "{}")]);
    let all = Delivery {
        rejected: 0,
        message: String::new(),
    };
    assert_eq!(sent.expect("sent"), all);
    assert_eq!(waits, []);
    let head = &seen[0].head;
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    for line in ["Content-Type: application/json\r\n", "x-token: a b\r\n"] {
        assert!(head.contains(line), "{head}");
    }
    assert_eq!(seen[0].body, "{\"a\":1}");
}

#[test]
fn a_busy_receiver_is_asked_again_when_it_says() {
    let busy = answer("503 Busy", "Retry-After: 7\r\n", "");
    let late = answer("429 Later", "Retry-After: 3600\r\n", "");
    let (sent, waits, seen) = check(vec![busy, late, answer("200 OK", "", "")]);
    assert!(sent.is_ok(), "{sent:?}");
    assert_eq!(waits, [7_000, 10_000]);
    assert!(seen.iter().all(|one| one.body == "{\"a\":1}"));
}

#[test]
fn tries_end() {
    let busy = || answer("502 Bad Gateway", "", "no\u{1b}[2J upstream\nmore");
    let (sent, waits, seen) = check((0..TRIES).map(|_| busy()).collect());
    let error = sent.expect_err("refused").to_string();
    assert_eq!(
        error,
        "the receiver responds with 502: no\\u{1b}[2J upstream"
    );
    assert_eq!(waits, [1_000, 2_000]);
    assert_eq!(seen.len(), TRIES as usize);
}

#[test]
fn a_wait_that_is_called_off_is_the_last() {
    let busy = answer("503 Busy", "Retry-After: 9\r\n", "");
    let (receiver, serving) = serve(vec![busy]);
    let stop = AtomicBool::new(false);
    let sent = send(&receiver, "{}", &stop, &mut |time| {
        assert_eq!(time, Duration::from_secs(9));
        false
    });
    let error = sent.expect_err("busy").to_string();
    assert_eq!(error, "the receiver responds with 503");
    assert_eq!(serving.join().expect("one answer").len(), 1);
}

#[test]
fn a_refusal_is_final() {
    let status = answer("400 Bad Request", "", r#"{"code":3,"message":"bad point"}"#);
    let (sent, waits, _) = check(vec![status]);
    let error = sent.expect_err("refused").to_string();
    assert_eq!(error, "the receiver responds with 400: bad point");
    assert_eq!(waits, []);
}

#[test]
fn nobody_there_is_an_error_with_the_reason() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let receiver = Receiver::new(&format!("http://{address}"), |_| None).expect("a receiver");
    let stop = AtomicBool::new(false);
    let sent = send(&receiver, "{}", &stop, &mut |_| panic!("no second try"));
    let error = sent.expect_err("nobody").to_string();
    assert!(error.contains("refused"), "{error}");
}

#[test]
fn a_try_under_way_is_called_off() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let serving = thread::spawn(move || {
        let (stream, _) = silent.accept().expect("a connection");
        asked.store(true, Ordering::Relaxed);
        stream
    });
    let receiver = Receiver::new(&format!("http://{address}"), |_| None).expect("a receiver");
    let begin = Instant::now();
    let sent = send(&receiver, "{}", &stop, &mut |_| panic!("no second try"));
    assert!(matches!(sent, Err(SendError::Interrupted)), "{sent:?}");
    assert!(begin.elapsed() < Duration::from_secs(8), "a try takes 10 s");
    // Open until here.
    drop(serving.join());
}
