//! Servers inside the test process, well-behaved and not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use load::{Batch, Engine, LoadResult, Numbered, Plan, run};
use recording::{Exchange, Nanos, Texts};
use scenario::{FlowSpec, Scenario, ScoreSpec, Spec};

/// Listens on a free port of the loopback, with one thread per connection. The threads end with
/// their connections, the listening one with the test process.
pub fn serve(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("the port");
    let handle = Arc::new(handle);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = Arc::clone(&handle);
            std::thread::spawn(move || handle(stream));
        }
    });
    address
}

/// Starts a server responding to every request, head and body as text, with the result of `answer`.
pub fn serve_answers(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> SocketAddr {
    serve(move |mut stream| {
        while let Some(request) = read_request(&mut stream) {
            if stream.write_all(&answer(&request)).is_err() {
                return;
            }
        }
    })
}

/// Reads one request; nothing when the connection ends.
pub fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        request.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().expect("a length"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    request.extend_from_slice(&body);
    Some(String::from_utf8_lossy(&request).into_owned())
}

/// An answer with a body.
pub fn ok(body: &str) -> Vec<u8> {
    answer("200 OK", "", body)
}

/// An answer with status, further header lines and a body.
pub fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

/// A scenario of one flow, without touching a disk.
pub fn flow(address: SocketAddr, text: &str, score: ScoreSpec) -> Scenario {
    let spec = Spec {
        base_url: format!("http://{address}"),
        flows: vec![FlowSpec {
            file: Some("test.hurl".into()),
            weight: 1,
            feed: None,
            ..FlowSpec::default()
        }],
        score,
        run_token: "run".to_owned(),
        ..Spec::default()
    };
    let mut read = |path: &Path| match path.to_str() {
        Some("test.hurl") => Ok(text.as_bytes().to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    Scenario::build(&spec, &mut read).unwrap_or_else(|error| panic!("{error}"))
}

pub fn single(address: SocketAddr) -> Scenario {
    Scenario::single(&format!("http://{address}/path?q=1")).expect("a URL")
}

/// A short load. Its limits are such that a busy machine reaches none; tests of limits set their
/// own.
pub fn plan(connections: u32) -> Plan {
    Plan {
        connections,
        duration: millis(150),
        drain: millis(20_000),
        connect_timeout: millis(20_000),
        answer_timeout: millis(20_000),
        numbered: Numbered::All,
        ..Plan::default()
    }
}

/// The plan on each engine, one after the other.
pub fn on_each_engine(plan: &Plan) -> impl Iterator<Item = Plan> + use<> {
    let plan = plan.clone();
    [Engine::Epoll, Engine::IoUring]
        .into_iter()
        .map(move |engine| Plan {
            engine,
            ..plan.clone()
        })
}

pub fn millis(millis: u64) -> Nanos {
    Nanos(millis * 1_000_000)
}

/// Runs a load to the end; returns exchanges, texts and result.
pub fn load(plan: &Plan, scenario: &Scenario) -> (Vec<Exchange>, Texts, LoadResult) {
    load_until(plan, scenario, |_| false)
}

/// Runs a load to the end, or until the exchanges so far are enough; returns exchanges, texts and
/// result.
pub fn load_until(
    plan: &Plan,
    scenario: &Scenario,
    is_enough: impl Fn(&[Exchange]) -> bool,
) -> (Vec<Exchange>, Texts, LoadResult) {
    let stop = AtomicBool::new(false);
    let mut exchanges = Vec::new();
    let mut texts = Texts::default();
    let result = run(plan, scenario, &stop, &mut |batch: Batch| {
        exchanges.extend(batch.exchanges);
        stop.store(is_enough(&exchanges), Ordering::Relaxed);
        for (id, text) in batch.texts {
            texts.keep_as(id, &text);
        }
    });
    (exchanges, texts, result.expect("the load runs"))
}
