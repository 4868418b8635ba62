//! What is said over WebSockets: rendered, judged, and refused before anything starts.

use std::path::Path;

use scenario::{
    Answer, Expectation, FlowSpec, HeaderSpan, MessageSpec, Over, Payload, Scenario, SocketSpec,
    Spec, User, Verdict, accept_of,
};

fn build(socket: SocketSpec) -> Result<Scenario, String> {
    let spec = Spec {
        base_url: "http://localhost:5000".to_owned(),
        flows: vec![FlowSpec {
            weight: 1,
            socket: Some(socket),
            ..FlowSpec::default()
        }],
        variables: vec![("room".to_owned(), "7".to_owned())],
        run_token: "r".to_owned(),
        ..Spec::default()
    };
    let mut read = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
    Scenario::build(&spec, &mut read).map_err(|error| error.to_string())
}

fn socket(rounds: u64, steps: Vec<MessageSpec>) -> SocketSpec {
    SocketSpec {
        connect: "/room/{{room}}?a=b".to_owned(),
        rounds,
        steps,
        ..SocketSpec::default()
    }
}

fn says(send: &str, expect: Vec<Expectation>) -> MessageSpec {
    MessageSpec {
        send: Some(Payload::Text(send.to_owned())),
        expect,
        ..MessageSpec::default()
    }
}

fn assert(line: &str) -> Vec<Expectation> {
    vec![Expectation::Assert(line.to_owned())]
}

/// Makes the user's next request; returns the transport, the line, and the bytes.
fn next(session: &scenario::Session<'_>, user: &mut User) -> (Over, String, Vec<u8>) {
    let mut out = Vec::new();
    let prepared = session.render(user, None, &mut out).expect("a request");
    let (over, line) = (prepared.over, prepared.line.to_owned());
    match over {
        Over::Http | Over::Upgrade => (over, line, out),
        Over::WebSocket | Over::Closing => (over, line, user.said().to_vec()),
    }
}

fn hear(session: &scenario::Session<'_>, user: &mut User, message: &str) -> Verdict {
    let answer = Answer {
        status: 0,
        minor_version: 1,
        head: &[],
        headers: &[],
        body: message.as_bytes(),
        duration_ns: 1,
    };
    session.judge(user, &answer)
}

/// Opens the requested WebSocket with a response of the server.
fn open(session: &scenario::Session<'_>, user: &mut User, request: &[u8]) -> Verdict {
    let request = String::from_utf8_lossy(request);
    let key = request
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let mut head = Vec::new();
    let mut headers = Vec::new();
    for (name, value) in [
        ("Upgrade", "websocket".to_owned()),
        ("Connection", "Upgrade".to_owned()),
        ("Sec-WebSocket-Accept", accept_of(key.expect("a key"))),
    ] {
        let start = head.len() as u32;
        head.extend_from_slice(name.as_bytes());
        let middle = head.len() as u32;
        head.extend_from_slice(value.as_bytes());
        headers.push(HeaderSpan {
            name: start..middle,
            value: middle..head.len() as u32,
        });
    }
    let answer = Answer {
        status: 101,
        minor_version: 1,
        head: &head,
        headers: &headers,
        body: &[],
        duration_ns: 1,
    };
    session.judge(user, &answer)
}

#[test]
fn a_user_says_its_messages_round_by_round() {
    let first = MessageSpec {
        name: Some("ask".to_owned()),
        captures: vec![("n".to_owned(), "jsonpath \"$.n\"".to_owned())],
        ..says(
            "{\"a\": \"\\n{{user}}\"}",
            assert("jsonpath \"$.id\" == {{room}}"),
        )
    };
    let second = says("{{n}}", vec![Expectation::Contains("{{n}}!".to_owned())]);
    let last = MessageSpec {
        close: true,
        ..MessageSpec::default()
    };
    let scenario = build(socket(2, vec![first, second, last])).expect("a scenario");
    let session = scenario.session(0);
    let mut user = session.user(3);
    let (over, line, request) = next(&session, &mut user);
    assert_eq!((over, line.as_str()), (Over::Upgrade, "GET /room/7"));
    assert_eq!(open(&session, &mut user, &request), Verdict::Passed);
    for _ in 0..2 {
        let (over, line, said) = next(&session, &mut user);
        assert_eq!((over, line.as_str()), (Over::WebSocket, "WS /room/7 ask"));
        assert_eq!(said, b"WS /room/7 ask\r\n\r\n{\"a\": \"\\n3\"}");
        assert!(matches!(
            hear(&session, &mut user, "hello"),
            Verdict::NotYet(_)
        ));
        assert!(matches!(
            hear(&session, &mut user, "{\"id\": 8}"),
            Verdict::NotYet(_)
        ));
        let right = "{\"id\": 7, \"n\": 5}";
        assert_eq!(hear(&session, &mut user, right), Verdict::Passed);
        let (_, line, said) = next(&session, &mut user);
        assert_eq!(line, "WS /room/7 message 2");
        assert!(said.ends_with(b"\r\n\r\n5"));
        assert_eq!(hear(&session, &mut user, "it is 5!"), Verdict::Passed);
    }
    let (over, line, _) = next(&session, &mut user);
    assert_eq!((over, line.as_str()), (Over::Closing, "WS /room/7 close"));
    assert_eq!(hear(&session, &mut user, ""), Verdict::Passed);
    assert!(user.is_between());
}

#[test]
fn what_is_captured_must_be_there() {
    let step = MessageSpec {
        captures: vec![("n".to_owned(), "jsonpath \"$.n\"".to_owned())],
        ..MessageSpec::default()
    };
    let scenario = build(socket(1, vec![step])).expect("a scenario");
    let session = scenario.session(0);
    let mut user = session.user(0);
    let (_, _, request) = next(&session, &mut user);
    assert_eq!(open(&session, &mut user, &request), Verdict::Passed);
    next(&session, &mut user);
    let reason = "nothing to capture as `n`".to_owned();
    assert_eq!(
        hear(&session, &mut user, "{}"),
        Verdict::CheckFailed(reason)
    );
    assert!(user.is_between());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let check = |socket: SocketSpec, part: &str| {
        let why = build(socket).expect_err(part);
        assert!(why.contains(part), "{why}");
    };
    let any = || vec![Expectation::Any];
    let step = MessageSpec::default;
    let closes = || MessageSpec {
        close: true,
        ..step()
    };
    check(socket(1, Vec::new()), "at least one [[flow.step]]");
    check(socket(0, vec![says("a", any())]), "`rounds` is zero");
    let nowhere = SocketSpec {
        connect: String::new(),
        ..socket(1, vec![says("a", any())])
    };
    check(nowhere, "`connect` is empty");
    let elsewhere = SocketSpec {
        connect: "ws://example.org/".to_owned(),
        ..socket(1, vec![says("a", any())])
    };
    check(elsewhere, "points to another host");
    check(socket(1, vec![step()]), "it does nothing");
    check(socket(1, vec![says("a", Vec::new())]), "nobody could tell");
    check(
        socket(2, vec![says("a", Vec::new()), closes()]),
        "nobody could tell",
    );
    check(
        socket(1, vec![closes(), says("a", any())]),
        "must be the last step",
    );
    let both = MessageSpec {
        expect: any(),
        ..closes()
    };
    check(socket(1, vec![both]), "a step of its own");
    let slow = MessageSpec {
        within_ms: Some(1),
        ..says("a", Vec::new())
    };
    check(socket(1, vec![slow, closes()]), "belong there");
    check(
        socket(1, vec![says("{{nobody}}", any())]),
        "`nobody` has no value",
    );
    check(
        socket(1, vec![says("{{room", any())]),
        "has no matching `}}`",
    );
    check(
        socket(1, vec![says("a", assert("status == 200"))]),
        "a message has no `status`",
    );
    check(
        socket(1, vec![says("a", assert("body ==="))]),
        "[[flow.step]] 1 of WS /room",
    );
    let pattern = vec![Expectation::Matches("(".to_owned())];
    check(
        socket(1, vec![says("a", pattern)]),
        "not a regular expression",
    );
    let nameless = MessageSpec {
        name: Some("a\nb".to_owned()),
        ..says("a", any())
    };
    check(socket(1, vec![nameless]), "a text of one line");
}
