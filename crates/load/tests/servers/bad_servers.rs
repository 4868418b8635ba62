//! Misbehaving servers: every request still ends with an outcome, and the load goes on.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{
    answer, load, millis, ok, on_each_engine, plan, read_request, serve, serve_answers, single,
};
use load::{Engine, Pace, Plan};
use recording::{Exchange, Outcome};

/// Runs a load on each engine against a server with `handle` for each connection; all exchanges
/// ended otherwise than unanswered must have the given outcome and reason.
fn check(
    change: impl Fn(&mut Plan),
    handle: impl Fn(TcpStream) + Send + Sync + 'static,
    outcome: Outcome,
    reason: &str,
) -> Vec<Exchange> {
    let mut plan = plan(2);
    change(&mut plan);
    let scenario = single(serve(handle));
    let each = on_each_engine(&plan).flat_map(|plan| {
        let (exchanges, _, result) = load(&plan, &scenario);
        assert!(!exchanges.is_empty());
        for exchange in &exchanges {
            let expected = [outcome, Outcome::Unanswered];
            assert!(
                expected.contains(&exchange.outcome),
                "{} {exchange:?} {:?}",
                plan.engine,
                result.failures
            );
            assert!(exchange.due <= exchange.sent && exchange.sent <= exchange.answered);
        }
        if outcome != Outcome::Ok {
            let failure = result.failures.first().expect("an example");
            let told = (failure.outcome, failure.reason.as_str());
            assert_eq!(told, (outcome, reason), "{}", plan.engine);
        }
        exchanges
    });
    each.collect()
}

/// Responds to each request with `bytes`, and closes on request.
fn raw(bytes: Vec<u8>, close: bool) -> impl Fn(TcpStream) + Send + Sync {
    move |mut stream| {
        while read_request(&mut stream).is_some() {
            if stream.write_all(&bytes).is_err() || close {
                return;
            }
        }
    }
}

fn bad(bytes: impl Into<Vec<u8>>, reason: &str) {
    check(|_| {}, raw(bytes.into(), false), Outcome::BadAnswer, reason);
}

#[test]
fn garbage() {
    bad("hello\r\n\r\n", "the answer is not HTTP/1");
    bad("SSH-2.0-OpenSSH\r\n", "the answer is not HTTP/1");
    bad(vec![0xff; 4096], "the answer is not HTTP/1");
    bad(
        "HTTP/1.1 099 x\r\n\r\n",
        "the answer's status is not a number of three digits",
    );
    bad(
        "HTTP/1.1 101 x\r\n\r\n",
        "the server switched to another protocol",
    );
}

#[test]
fn wrong_lengths() {
    bad(
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "bad Content-Length",
    );
    bad(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "two different Content-Length headers",
    );
    bad(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "a Transfer-Encoding other than chunked",
    );
    bad(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "the length of a chunk is not a number",
    );
    bad(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        "a chunk is longer than it says",
    );
    bad(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "the length of a chunk is not a number",
    );
    bad(
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
        "the body is larger than the limit",
    );
}

#[test]
fn heads_without_end() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    bad(long, "the head is larger than the limit");
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: 1\r\n".repeat(200));
    bad(many, "the answer has too many headers");
}

#[test]
fn a_body_without_end() {
    let handle = |mut stream: TcpStream| {
        if read_request(&mut stream).is_some()
            && stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").is_ok()
        {
            while stream.write_all(&[b'x'; 1000]).is_ok() {}
        }
    };
    let limit = |plan: &mut Plan| plan.body_bytes_max = 10_000;
    check(
        limit,
        handle,
        Outcome::BadAnswer,
        "the body is larger than the limit",
    );
}

#[test]
fn half_answers() {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".to_vec();
    let reason = "closed before the answer was complete";
    check(|_| {}, raw(half, true), Outcome::Disconnected, reason);
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n".to_vec();
    check(|_| {}, raw(chunk, true), Outcome::Disconnected, reason);
    let reason = "closed before the answer began";
    check(
        |_| {},
        raw(b"HTTP/1.1 200".to_vec(), true),
        Outcome::Disconnected,
        reason,
    );
    check(|_| {}, raw(Vec::new(), true), Outcome::Disconnected, reason);
}

#[test]
fn resets() {
    let handle = |mut stream: TcpStream| {
        // Closing with bytes unread makes the kernel send a reset.
        let _ = stream.read(&mut [0; 5]);
    };
    let scenario = single(serve(handle));
    for plan in on_each_engine(&plan(2)) {
        let (exchanges, _, result) = load(&plan, &scenario);
        let known = [Outcome::Disconnected, Outcome::Unanswered];
        assert!(
            exchanges.iter().all(|e| known.contains(&e.outcome)),
            "{} {:?}",
            plan.engine,
            result.failures
        );
    }
}

#[test]
fn silence_is_given_up() {
    let limit = |plan: &mut Plan| plan.answer_timeout = millis(30);
    let handle = |mut stream: TcpStream| while read_request(&mut stream).is_some() {};
    let reason = "no complete answer within the limit";
    let exchanges = check(limit, handle, Outcome::TimedOut, reason);
    for exchange in exchanges.iter().filter(|e| e.outcome == Outcome::TimedOut) {
        assert!(exchange.answered.since(exchange.sent) >= millis(30));
    }
}

#[test]
fn silence_to_the_end_is_unanswered() {
    let plan = Plan {
        drain: millis(50),
        ..plan(3)
    };
    let handle = |mut stream: TcpStream| while read_request(&mut stream).is_some() {};
    let scenario = single(serve(handle));
    for plan in on_each_engine(&plan) {
        let (exchanges, _, result) = load(&plan, &scenario);
        assert_eq!(exchanges.len(), 3);
        for exchange in &exchanges {
            let seen = (exchange.outcome, exchange.status);
            assert_eq!(seen, (Outcome::Unanswered, 0), "{}", plan.engine);
            assert!(exchange.answered >= result.window.end);
        }
    }
}

#[test]
fn answers_byte_by_byte() {
    let handle = |mut stream: TcpStream| {
        stream.set_nodelay(true).expect("nodelay");
        while read_request(&mut stream).is_some() {
            let chunked = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                            5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: 1\r\n\r\n";
            if chunked
                .iter()
                .any(|byte| stream.write_all(&[*byte]).is_err())
            {
                return;
            }
        }
    };
    let exchanges = check(|_| {}, handle, Outcome::Ok, "");
    assert!(
        exchanges
            .iter()
            .filter(|e| e.outcome == Outcome::Ok)
            .all(|e| e.body_bytes == 11)
    );
    assert!(exchanges.iter().any(|e| e.outcome == Outcome::Ok));
}

#[test]
fn connections_that_end_with_each_answer() {
    let answered = |bytes: Vec<u8>, close: bool, body: u64| {
        let exchanges = check(|_| {}, raw(bytes, close), Outcome::Ok, "");
        let ended = |e: &&Exchange| e.outcome == Outcome::Ok;
        let bodies: Vec<u64> = exchanges
            .iter()
            .filter(ended)
            .map(|e| e.body_bytes)
            .collect();
        assert!(bodies.len() > 4, "no connection was opened again");
        assert!(bodies.iter().all(|&bytes| bytes == body), "{bodies:?}");
    };
    let closing = answer("200 OK", "Connection: close\r\n", "bye");
    answered(closing, true, 3);
    let to_the_end = b"HTTP/1.1 200 OK\r\n\r\nuntil closed".to_vec();
    answered(to_the_end, true, 12);
    // More than was asked for: the answer counts, the connection is not used again.
    answered([ok("one"), ok("two")].concat(), false, 3);
}

#[test]
fn answers_larger_than_any_buffer() {
    let large = "x".repeat(3_000_000);
    let scenario = single(serve_answers(move |_| ok(&large)));
    for plan in on_each_engine(&plan(2)) {
        let (exchanges, _, result) = load(&plan, &scenario);
        let whole = |e: &Exchange| (e.outcome, e.body_bytes) == (Outcome::Ok, 3_000_000);
        let all = exchanges.len() > 1 && exchanges.iter().all(whole);
        assert!(all, "{} {:?}", plan.engine, result.failures);
    }
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("the port");
    drop(listener);
    for plan in on_each_engine(&plan(3)) {
        let (exchanges, texts, result) = load(&plan, &single(address));
        let refused = |e: &Exchange| {
            e.outcome == Outcome::ConnectFailed && texts.get(e.line) == Some("GET /path")
        };
        assert!(exchanges.iter().all(refused), "{exchanges:?}");
        let count = exchanges.len();
        assert!((3..=9).contains(&count), "{count} failures in 150 ms");
        assert!(result.failures[0].reason.starts_with("no connection: "));
        let open = Plan {
            pace: Pace::Constant { per_second: 200.0 },
            ..plan
        };
        let (exchanges, _, result) = load(&open, &single(address));
        assert_eq!(exchanges.len() as u64 + result.generator.unsent, 30);
    }
}

#[test]
fn a_server_that_goes_away_between_requests() {
    // Closes every connection after its second answer without saying so before.
    let handle = |mut stream: TcpStream| {
        for _ in 0..2 {
            if read_request(&mut stream).is_none() || stream.write_all(&ok("x")).is_err() {
                return;
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
    };
    let scenario = single(serve(handle));
    for plan in on_each_engine(&plan(1)) {
        let (exchanges, _, _) = load(&plan, &scenario);
        let good = exchanges
            .iter()
            .filter(|e| e.outcome == Outcome::Ok)
            .count();
        // Two of a connection: more than that need a new one.
        assert!(good > 2, "{}", plan.engine);
        let known = [Outcome::Ok, Outcome::Disconnected, Outcome::Unanswered];
        assert!(exchanges.iter().all(|e| known.contains(&e.outcome)));
    }
}

#[test]
fn a_stop_in_the_middle_of_silence_is_heeded() {
    let handle = |mut stream: TcpStream| while read_request(&mut stream).is_some() {};
    let plan = Plan {
        duration: millis(60_000),
        drain: millis(60_000),
        answer_timeout: millis(60_000),
        ..plan(2)
    };
    let scenario = single(serve(handle));
    for plan in on_each_engine(&plan) {
        let stop = AtomicBool::new(false);
        let (result, count) = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                let mut count = 0;
                let result = load::run(&plan, &scenario, &stop, &mut |batch| {
                    count += batch.exchanges.len()
                });
                (result, count)
            });
            stop.store(true, Ordering::Relaxed);
            running.join().expect("no panic")
        });
        assert!(result.expect("a result").stopped);
        assert!(count <= 2);
    }
}

#[test]
fn answers_that_come_slowly_are_given_up_in_time() {
    let limit = |plan: &mut Plan| plan.answer_timeout = millis(30);
    let handle = |mut stream: TcpStream| {
        while read_request(&mut stream).is_some() {
            // Whatever comes: the whole answer would take a second.
            let begun = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
            let mut slowly = begun.is_ok();
            while slowly {
                std::thread::sleep(Duration::from_millis(1));
                slowly = stream.write_all(b"x").is_ok();
            }
        }
    };
    let reason = "no complete answer within the limit";
    check(limit, handle, Outcome::TimedOut, reason);
}

#[test]
fn half_closed_connections() {
    // Ends its side after the head; the client must not wait for a body that cannot come.
    let handle = |mut stream: TcpStream| {
        if read_request(&mut stream).is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
            let _ = stream.shutdown(Shutdown::Write);
            // The client's end is awaited, so that nothing but the half close is seen.
            let _ = stream.read(&mut [0; 64]);
        }
    };
    let reason = "closed before the answer was complete";
    check(|_| {}, handle, Outcome::Disconnected, reason);
    // A whole answer and the end of its side at once: the answer counts, and a new connection is
    // made.
    let handle = |mut stream: TcpStream| {
        if read_request(&mut stream).is_some() {
            let _ = stream.write_all(&ok("bye"));
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read(&mut [0; 64]);
        }
    };
    let scenario = single(serve(handle));
    for plan in on_each_engine(&plan(1)) {
        let (exchanges, _, _) = load(&plan, &scenario);
        let known = [Outcome::Ok, Outcome::Disconnected, Outcome::Unanswered];
        assert!(exchanges.iter().all(|e| known.contains(&e.outcome)));
        assert!(
            exchanges
                .iter()
                .filter(|e| e.outcome == Outcome::Ok)
                .count()
                > 4
        );
    }
}

#[test]
fn requests_larger_than_any_buffer() {
    let echo = serve_answers(|request| ok(&request.len().to_string()));
    let single = scenario::Single {
        url: format!("http://{echo}/"),
        method: "POST".to_owned(),
        headers: Vec::new(),
        body: vec![b'x'; 2_000_000],
    };
    let scenario = scenario::Scenario::request(&single).expect("a request");
    for plan in on_each_engine(&plan(2)) {
        let (exchanges, _, result) = load(&plan, &scenario);
        let good = exchanges
            .iter()
            .filter(|e| e.outcome == Outcome::Ok)
            .count();
        assert!(good > 1, "{} {:?}", plan.engine, result.failures);
    }
}

#[test]
fn an_engine_that_is_not_there_is_refused_by_name() {
    assert_eq!(Engine::parse("io_uring"), Ok(Engine::IoUring));
    assert!(Engine::parse("kqueue").is_err_and(|why| why.contains("auto, epoll and io_uring")));
}
