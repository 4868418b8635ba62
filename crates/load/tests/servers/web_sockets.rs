//! Messages over WebSockets, with well-behaved and misbehaving servers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::common::{answer, load, millis, ok, on_each_engine, plan, read_request, serve};
use crate::tls::{serve_over_tls, trusting};
use load::{Plan, check_once};
use recording::Outcome;
use scenario::{
    Expectation, FlowSpec, MessageSpec, Payload, Scenario, SocketSpec, Spec, accept_of,
};

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;

/// Returns a server's frame; `first` is the opcode with the bit for the last frame of a message.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let head = match payload.len() {
        short @ 0..=125 => vec![first, short as u8],
        long => {
            let [high, low] = (long as u16).to_be_bytes();
            vec![first, 126, high, low]
        }
    };
    [&head, payload].concat()
}

/// The kind and the payload of a client's next frame, which must be masked.
fn read_frame(stream: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    assert_eq!(head[1] & 0x80, 0x80, "a client masks what it says");
    let mut length = usize::from(head[1] & 0x7f);
    if length == 126 {
        let mut bytes = [0; 2];
        stream.read_exact(&mut bytes)?;
        length = usize::from(u16::from_be_bytes(bytes));
    }
    let mut mask = [0; 4];
    stream.read_exact(&mut mask)?;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload)?;
    for (byte, key) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
    Ok((head[0], payload))
}

/// Returns the response opening the WebSocket of a request.
pub fn opening(request: &str) -> String {
    let key = request
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let accept = accept_of(key.expect("a key"));
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n\
         sec-websocket-accept: {accept}\r\n\r\n"
    )
}

/// Opens a WebSocket and says `first` with the same write.
fn open(stream: &mut (impl Read + Write), first: &[u8]) -> Option<String> {
    let request = read_request(stream)?;
    let all = [opening(&request).as_bytes(), first].concat();
    stream.write_all(&all).ok()?;
    stream.flush().ok()?;
    Some(request)
}

/// Sends every message back, with `re: ` before the text, and closes when the client does.
fn echo(mut stream: impl Read + Write) {
    if open(&mut stream, b"").is_none() {
        return;
    }
    while let Ok((kind, payload)) = read_frame(&mut stream) {
        let said = match kind {
            CLOSE => frame(CLOSE, &payload),
            _ => frame(kind, &[b"re: ", payload.as_slice()].concat()),
        };
        if stream
            .write_all(&said)
            .and_then(|()| stream.flush())
            .is_err()
            || kind == CLOSE
        {
            return;
        }
    }
}

fn equals(text: &str) -> Vec<Expectation> {
    vec![Expectation::Equals(text.to_owned())]
}

fn says(send: &str, expect: &str) -> MessageSpec {
    MessageSpec {
        send: Some(Payload::Text(send.to_owned())),
        expect: equals(expect),
        ..MessageSpec::default()
    }
}

fn hears(expect: &str) -> MessageSpec {
    MessageSpec {
        expect: equals(expect),
        ..MessageSpec::default()
    }
}

fn closes() -> MessageSpec {
    MessageSpec {
        close: true,
        ..MessageSpec::default()
    }
}

/// Returns a flow with the WebSocket `/room` opened after the requests of `hurl`.
fn flow(url: &str, hurl: &'static str, rounds: u64, steps: Vec<MessageSpec>) -> Scenario {
    let spec = Spec {
        base_url: url.to_owned(),
        flows: vec![FlowSpec {
            file: (!hurl.is_empty()).then(|| "a.hurl".into()),
            weight: 1,
            socket: Some(SocketSpec {
                connect: "/room".to_owned(),
                headers: vec![("Origin".to_owned(), "{{base_url}}".to_owned())],
                rounds,
                steps,
            }),
            ..FlowSpec::default()
        }],
        run_token: "run".to_owned(),
        ..Spec::default()
    };
    let mut read = |_: &Path| Ok(hurl.as_bytes().to_vec());
    Scenario::build(&spec, &mut read).unwrap_or_else(|error| panic!("{error}"))
}

fn at(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// Runs a load on each engine; all answered requests must be ok. Calls `look` with the lines, by
/// exchange.
fn well(plan: &Plan, scenario: &Scenario, look: impl Fn(&[(String, u16)])) {
    for plan in on_each_engine(plan) {
        let (exchanges, texts, result) = load(&plan, scenario);
        let mut lines = Vec::new();
        for exchange in &exchanges {
            let expected = [Outcome::Ok, Outcome::Unanswered];
            assert!(
                expected.contains(&exchange.outcome),
                "{} {exchange:?} {:?}",
                plan.engine,
                result.failures
            );
            assert!(exchange.due <= exchange.sent && exchange.sent <= exchange.answered);
            if exchange.outcome == Outcome::Ok {
                let line = texts.get(exchange.line).expect("a named line");
                lines.push((line.to_owned(), exchange.status));
            }
        }
        look(&lines);
    }
}

fn count(lines: &[(String, u16)], line: &str, status: u16) -> usize {
    let same = |(known, came): &&(String, u16)| known == line && *came == status;
    lines.iter().filter(same).count()
}

#[test]
fn messages_are_exchanged_in_rounds() {
    let named = MessageSpec {
        name: Some("greet".to_owned()),
        ..says("{\"n\": {{iteration}}}", "re: {\"n\": {{iteration}}}")
    };
    let long = "x".repeat(3_000);
    let steps = vec![named, says(&long, &format!("re: {long}")), closes()];
    let scenario = flow(&at(serve(echo)), "", 3, steps);
    well(&plan(3), &scenario, |lines| {
        let opened = count(lines, "GET /room", 101);
        let closed = count(lines, "WS /room close", 0);
        let greeted = count(lines, "WS /room greet", 0);
        assert!(closed > 3 && opened >= closed && opened <= closed + 3);
        assert!(
            greeted >= 3 * closed && greeted <= 3 * opened,
            "{greeted} for {closed}"
        );
        assert!(count(lines, "WS /room message 2", 0) >= 3 * closed);
    });
}

#[test]
fn an_open_load_has_messages_due_at_their_time() {
    let plan = Plan {
        pace: load::Pace::Constant { per_second: 400.0 },
        ..plan(20)
    };
    let scenario = flow(&at(serve(echo)), "", 2, vec![says("a", "re: a"), closes()]);
    well(&plan, &scenario, |lines| {
        assert!(lines.len() >= 50, "{} of 60", lines.len());
    });
}

#[test]
fn what_the_users_requests_set_goes_along() {
    let server = |mut stream: TcpStream| {
        while let Some(request) = read_request(&mut stream) {
            if request.starts_with("POST /login") {
                let login = answer("204 No Content", "Set-Cookie: s=7\r\n", "");
                let login = String::from_utf8_lossy(&login).replace("Content-Length: 0\r\n", "");
                if stream.write_all(login.as_bytes()).is_err() {
                    return;
                }
                continue;
            }
            assert!(request.contains("Cookie: s=7\r\n") && request.contains("Origin: http://127"));
            let hello = frame(TEXT, b"{\"token\": 12}");
            let opened = [opening(&request).as_bytes(), &hello].concat();
            let _ = stream.write_all(&opened);
            while let Ok((_, payload)) = read_frame(&mut stream) {
                // Between the two halves of the answer, and before it, comes what nobody waits for.
                let said = [
                    frame(TEXT, b"somebody came"),
                    frame(0x01, b"token "),
                    frame(0x89, b"ping"),
                    frame(0x80, &payload),
                ];
                let pong = stream
                    .write_all(&said.concat())
                    .and_then(|()| read_frame(&mut stream));
                match pong {
                    Ok((kind, pong)) => assert_eq!((kind, pong.as_slice()), (0x8a, &b"ping"[..])),
                    Err(_) => return,
                }
            }
        }
    };
    let greeted = MessageSpec {
        captures: vec![("token".to_owned(), "jsonpath \"$.token\"".to_owned())],
        ..MessageSpec::default()
    };
    let steps = vec![greeted, says("{{token}}", "token 12")];
    let scenario = flow(&at(serve(server)), "POST /login\nHTTP 204\n", 1, steps);
    well(&plan(2), &scenario, |lines| {
        let told = count(lines, "WS /room message 2", 0);
        assert!(told > 3 && count(lines, "POST /login", 204) >= told);
    });
}

#[test]
fn steps_that_only_send_go_along_with_the_next() {
    let server = |mut stream: TcpStream| {
        let Some(_) = open(&mut stream, b"") else {
            return;
        };
        let mut all = Vec::new();
        while let Ok((_, payload)) = read_frame(&mut stream) {
            all.extend(payload);
            if all.ends_with(b".") && stream.write_all(&frame(TEXT, &all)).is_err() {
                return;
            }
        }
    };
    let only = |text: &str| MessageSpec {
        send: Some(Payload::Text(text.to_owned())),
        ..MessageSpec::default()
    };
    let steps = vec![only("a"), only("b"), says("c.", "abc.")];
    well(&plan(2), &flow(&at(serve(server)), "", 1, steps), |lines| {
        assert!(count(lines, "WS /room message 3", 0) > 3);
    });
}

#[test]
fn messages_that_came_early_are_taken_in_order() {
    let hello = [
        frame(TEXT, b"one"),
        frame(TEXT, b"two"),
        frame(TEXT, b"three"),
    ]
    .concat();
    let server = move |mut stream: TcpStream| {
        if open(&mut stream, &hello).is_some() {
            let _ = read_frame(&mut stream);
        }
    };
    let steps = vec![hears("one"), hears("three")];
    well(&plan(2), &flow(&at(serve(server)), "", 1, steps), |lines| {
        assert!(count(lines, "WS /room message 2", 0) > 3);
    });
}

#[test]
fn over_tls() {
    let address = serve_over_tls(&[], echo);
    let plan = Plan {
        trust: trusting(),
        via: Some(load::Via::parse(&address.to_string()).expect("an address")),
        ..plan(2)
    };
    let long = "y".repeat(40_000);
    let steps = vec![
        says("a", "re: a"),
        says(&long, &format!("re: {long}")),
        closes(),
    ];
    let scenario = flow("https://app.test", "", 2, steps);
    well(&plan, &scenario, |lines| {
        assert!(count(lines, "WS /room close", 0) >= 1, "{}", lines.len());
    });
}

/// Runs a load on each engine with ok requests except some, which must have the given outcome.
fn ends(
    change: impl Fn(&mut Plan),
    server: impl Fn(TcpStream) + Send + Sync + 'static,
    step: MessageSpec,
    outcome: Outcome,
    reason: &str,
) {
    let mut plan = plan(2);
    change(&mut plan);
    let scenario = flow(&at(serve(server)), "", 1, vec![step]);
    for plan in on_each_engine(&plan) {
        let (exchanges, _, result) = load(&plan, &scenario);
        let known = [Outcome::Ok, outcome, Outcome::Unanswered];
        for exchange in &exchanges {
            let told = &result.failures;
            assert!(known.contains(&exchange.outcome), "{exchange:?} {told:?}");
        }
        let failure = result.failures.first().expect("an example");
        let told = (failure.outcome, failure.reason.as_str());
        assert_eq!(told, (outcome, reason), "{}", plan.engine);
    }
}

/// Opens a WebSocket, and sends `said` after the first message.
fn answers(said: Vec<u8>, then_closes: bool) -> impl Fn(TcpStream) + Send + Sync {
    move |mut stream| {
        if open(&mut stream, b"").is_some()
            && read_frame(&mut stream).is_ok()
            && stream.write_all(&said).is_ok()
            && !then_closes
        {
            // Until the client goes.
            while read_frame(&mut stream).is_ok() {}
        }
    }
}

#[test]
fn openings_that_are_none() {
    let opens = |answer: &'static str| {
        move |mut stream: TcpStream| {
            while let Some(request) = read_request(&mut stream) {
                let accept = opening(&request);
                let accept = accept.lines().find(|line| line.starts_with("sec-"));
                let answer = answer.replace("ACCEPT", accept.unwrap_or_default());
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        }
    };
    let bad = |answer: &'static str, reason: &str| {
        ends(
            |_| {},
            opens(answer),
            hears("x"),
            Outcome::BadAnswer,
            reason,
        );
    };
    bad(
        "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
        "Sec-WebSocket-Accept does not fit the key that was sent",
    );
    bad(
        "HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: upgrade\r\nACCEPT\r\n\r\n",
        "the server switched to another protocol than WebSocket",
    );
    bad(
        "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nACCEPT\r\n\
         Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
        "the server uses an extension that was not offered",
    );
    let refused = |mut stream: TcpStream| {
        while read_request(&mut stream).is_some() && stream.write_all(&ok("no")).is_ok() {}
    };
    let reason = "expected status 101, came 200";
    ends(|_| {}, refused, hears("x"), Outcome::CheckFailed, reason);
}

#[test]
fn frames_that_are_none() {
    let bad = |said: Vec<u8>, reason: &str| {
        let limit = |plan: &mut Plan| plan.body_bytes_max = 1_000;
        let server = answers(said, false);
        ends(limit, server, says("a", "b"), Outcome::BadAnswer, reason);
    };
    bad(vec![TEXT, 0x80, 0, 0, 0, 0], "the server masks its frames");
    bad(
        vec![0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0],
        "the message is larger than the limit",
    );
    bad(frame(TEXT, b"\xff"), "a text message is not UTF-8");
    bad(
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        "a frame uses an extension that was not agreed on",
    );
}

#[test]
fn ends_that_are_told_apart() {
    let check = |server: Box<dyn Fn(TcpStream) + Send + Sync>, step, outcome, reason: &str| {
        ends(|_| {}, server, step, outcome, reason);
    };
    let half = vec![TEXT, 10, b'h', b'a'];
    let ended = "the WebSocket ended without a close frame";
    let gone = Outcome::Disconnected;
    check(Box::new(answers(half, true)), says("a", "b"), gone, ended);
    check(Box::new(answers(Vec::new(), true)), closes(), gone, ended);
    let goodbye = frame(CLOSE, b"\x03\xe9restart");
    let told = "the server closed the WebSocket: 1001 restart";
    check(
        Box::new(answers(goodbye, false)),
        says("a", "b"),
        gone,
        told,
    );
}

#[test]
fn silence_and_other_words_are_told_apart() {
    let soon = |step: MessageSpec| MessageSpec {
        within_ms: Some(30),
        ..step
    };
    let silent = answers(Vec::new(), false);
    let reason = "no complete answer within the limit";
    ends(
        |_| {},
        silent,
        soon(says("a", "b")),
        Outcome::TimedOut,
        reason,
    );
    let other = answers([frame(TEXT, b"x"), frame(TEXT, b"y")].concat(), false);
    let reason = "no message as expected within the limit: 2 came, and of the last: body: expected == \"b\", came \"y\"";
    ends(
        |_| {},
        other,
        soon(says("a", "b")),
        Outcome::CheckFailed,
        reason,
    );
}

/// A goodbye of the server during a think time is found out by the next message.
#[test]
fn a_goodbye_between_messages_is_found_out() {
    let server = answers(
        [frame(TEXT, b"b"), frame(CLOSE, b"\x03\xe8")].concat(),
        false,
    );
    let thinks = MessageSpec {
        think: Some(scenario::ThinkTime::Constant { ms: 20 }),
        ..says("c", "d")
    };
    let scenario = flow(&at(serve(server)), "", 1, vec![says("a", "b"), thinks]);
    for plan in on_each_engine(&plan(2)) {
        let (_, _, result) = load(&plan, &scenario);
        let failure = result.failures.first().expect("an example");
        let told = (failure.outcome, failure.reason.as_str());
        let reason = "the server closed the WebSocket: 1000";
        assert_eq!(told, (Outcome::Disconnected, reason), "{}", plan.engine);
    }
}

/// A user leaving without a step for the goodbye still sends one.
#[test]
fn a_flow_without_an_end_says_goodbye() {
    for plan in on_each_engine(&plan(1)) {
        let (sender, goodbyes) = channel();
        let address = serve(move |mut stream: TcpStream| {
            let _ = open(&mut stream, &frame(TEXT, b"hello"));
            if let Ok(said) = read_frame(&mut stream) {
                let _ = sender.send(said);
            }
        });
        load(&plan, &flow(&at(address), "", 1, vec![hears("hello")]));
        let said = goodbyes.recv_timeout(Duration::from_secs(10));
        assert_eq!(said, Ok((CLOSE, vec![0x03, 0xe8])), "{}", plan.engine);
    }
}

#[test]
fn a_pass_takes_no_earlier_message_for_the_answer() {
    let server = |mut stream: TcpStream| {
        let early = [frame(TEXT, b"{\"n\": 1}"), frame(0x89, b"ping")].concat();
        if open(&mut stream, &early).is_none() {
            return;
        }
        while let Ok((kind, _)) = read_frame(&mut stream) {
            if kind == TEXT {
                let _ = stream.write_all(&frame(TEXT, b"{\"n\": 2}"));
            }
        }
    };
    let any = MessageSpec {
        send: Some(Payload::Text("a".to_owned())),
        captures: vec![("n".to_owned(), "jsonpath \"$.n\"".to_owned())],
        ..MessageSpec::default()
    };
    let scenario = flow(&at(serve(server)), "", 1, vec![any]);
    let mut last = None;
    check_once(&plan(1), &scenario, &mut |checked| last = Some(checked)).expect("an address");
    let last = last.expect("a step");
    assert_eq!(
        (last.outcome, last.response.as_str()),
        (Outcome::Ok, "{\"n\": 2}")
    );
}

#[test]
fn a_pass_shows_each_message() {
    let steps = vec![says("a", "re: a"), says("b", "re: c"), closes()];
    let mut seen = Vec::new();
    let scenario = flow(&at(serve(echo)), "", 1, steps);
    let soon = Plan {
        answer_timeout: millis(100),
        ..plan(1)
    };
    // A message of an earlier step is none that came now.
    let silent = answers(frame(TEXT, b"b"), false);
    let steps = vec![says("a", "b"), says("c", "d")];
    let mut last = None;
    let twice = flow(&at(serve(silent)), "", 1, steps);
    check_once(&soon, &twice, &mut |checked| last = Some(checked)).expect("an address");
    let last = last.expect("a step");
    assert_eq!(
        (last.outcome, last.response.as_str()),
        (Outcome::TimedOut, "")
    );
    check_once(&soon, &scenario, &mut |checked| seen.push(checked)).expect("an address");
    let told: Vec<_> = (seen.iter())
        .map(|one| {
            (
                one.line.as_str(),
                one.outcome,
                one.request.as_str(),
                one.response.as_str(),
            )
        })
        .collect();
    assert_eq!(told[0].0, "GET /room");
    assert_eq!(
        told[1..],
        [
            ("WS /room message 1", Outcome::Ok, "a", "re: a"),
            ("WS /room message 2", Outcome::CheckFailed, "b", "re: b"),
        ]
    );
    assert!(seen[2].faults[0].contains("expected == \"re: c\", came \"re: b\""));
}
