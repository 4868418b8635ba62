//! HTTP/2 against servers whose frames are written down here, byte for byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{flow, load, load_until, millis, on_each_engine, plan, serve, single};
use crate::tls::{serve_over_tls, trusting};
use load::{Engine, Plan};
use recording::Exchange;
use recording::Outcome::{self, BadAnswer, CheckFailed, Disconnected, Ok as Fine, ServerError};
use scenario::{Scenario, ScoreSpec, Single};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW: u8 = 8;
const MORE: u8 = 9;

/// Flags: the stream's end, the fields' end, both, padding, a priority.
const END: u8 = 1;
const FIELDS: u8 = 4;
const ALL: u8 = 5;
const PAD: u8 = 8;
const RANK: u8 = 0x20;

/// `:status: 200`, and a literal of the same name.
const OK: &[u8] = &[0x88];

fn frame(kind: u8, flags: u8, stream: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let length = (payload.len() as u32).to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    let mut payload = name.to_be_bytes().to_vec();
    payload.extend(value.to_be_bytes());
    frame(SETTINGS, 0, 0, payload)
}

fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(
        GOAWAY,
        0,
        0,
        [last.to_be_bytes(), code.to_be_bytes()].concat(),
    )
}

/// A field as a literal.
fn field(name: &str, value: &str) -> Vec<u8> {
    let mut block = vec![0];
    for text in [name, value] {
        match text.len() {
            length @ ..127 => block.push(length as u8),
            length => {
                block.push(127);
                let mut left = length - 127;
                while left >= 128 {
                    block.push(left as u8 | 128);
                    left >>= 7;
                }
                block.push(left as u8);
            }
        }
        block.extend(text.as_bytes());
    }
    block
}

/// A head of status 200 with one more field.
fn with(name: &str, value: &str) -> Vec<u8> {
    [OK, &field(name, value)].concat()
}

fn head(id: u32, block: impl AsRef<[u8]>) -> Vec<u8> {
    frame(HEADERS, ALL, id, block)
}

fn open_head(id: u32) -> Vec<u8> {
    frame(HEADERS, FIELDS, id, OK)
}

/// What a server of ours does.
#[derive(Clone)]
struct Script {
    first: Vec<u8>,
    /// Returns the bytes to send for the request on a stream.
    answer: Arc<dyn Fn(u32) -> Vec<u8> + Send + Sync>,
    /// Whether the server closes after the response.
    closes: bool,
}

impl Script {
    fn new(answer: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> Script {
        Script {
            first: frame(SETTINGS, 0, 0, []),
            answer: Arc::new(answer),
            closes: false,
        }
    }

    fn serve(self) -> SocketAddr {
        serve(move |mut stream| {
            let _ = self.talk(&mut stream);
            let _ = stream.shutdown(Shutdown::Both);
        })
    }

    /// Responds to each complete request.
    fn talk(&self, stream: &mut (impl Read + Write)) -> std::io::Result<()> {
        stream.read_exact(&mut [0; 24])?;
        stream.write_all(&self.first)?;
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head)?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            stream.read_exact(&mut vec![0; length as usize])?;
            if head[3] > HEADERS || head[4] & END == 0 {
                continue;
            }
            stream.write_all(&(self.answer)(id))?;
            if self.closes {
                return Ok(());
            }
        }
    }
}

/// So many users on one connection.
fn shared(streams: u32) -> Plan {
    Plan {
        streams,
        duration: millis(40),
        engine: Engine::Epoll,
        ..plan(streams)
    }
}

/// Runs a load against the script: all ended requests have the given outcome and reason.
fn check(name: &str, script: Script, outcome: Outcome, reason: &str) {
    let scenario = single(script.serve());
    check_with(name, &shared(1), &scenario, outcome, reason);
}

fn check_with(name: &str, plan: &Plan, scenario: &Scenario, outcome: Outcome, reason: &str) {
    // However busy the machine is: a first end, and what ended beside it.
    let plan = Plan {
        duration: millis(60_000),
        ..plan.clone()
    };
    let has_ended = |one: &&Exchange| one.outcome != Outcome::Unanswered;
    let (exchanges, _, result) = load_until(&plan, scenario, |so_far| {
        so_far.iter().any(|one| has_ended(&one))
    });
    let ended = exchanges.iter().filter(has_ended);
    assert!(ended.clone().count() > 0, "{name}: {exchanges:?}");
    for exchange in ended {
        assert_eq!(exchange.outcome, outcome, "{name}: {:?}", result.failures);
        assert!(exchange.due <= exchange.sent && exchange.sent <= exchange.answered);
    }
    if outcome != Fine {
        assert_eq!(result.failures[0].reason, reason, "{name}");
    }
}

fn fine(name: &str, answer: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) {
    check(name, Script::new(answer), Fine, "");
}

fn bad(reason: &str, answer: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) {
    check(reason, Script::new(answer), BadAnswer, reason);
}

#[test]
fn what_a_server_may_do() {
    fine("no body", |id| head(id, OK));
    fine("a body", |id| {
        [open_head(id), frame(DATA, END, id, "hello")].concat()
    });
    fine("padding", |id| {
        let padded = frame(HEADERS, FIELDS | PAD, id, [2, 0x88, 0, 0]);
        [padded, frame(DATA, END | PAD, id, [1, b'a', 0])].concat()
    });
    fine("a priority", |id| {
        let ranked = frame(HEADERS, ALL | RANK, id, [0, 0, 0, 0, 9, 0x88]);
        [frame(PRIORITY, 0, id, [0; 5]), ranked].concat()
    });
    fine("an interim answer", |id| {
        let early = frame(HEADERS, FIELDS, id, field(":status", "103"));
        [early, head(id, OK)].concat()
    });
    fine("trailers", |id| {
        let trailer = head(id, field("x-sum", "1"));
        [open_head(id), frame(DATA, 0, id, "a"), trailer].concat()
    });
    fine("a head in pieces", |id| {
        let block = with("x-long", "yes");
        let pieces = [
            frame(HEADERS, END, id, &block[..1]),
            frame(MORE, 0, id, &block[1..4]),
        ];
        [pieces.concat(), frame(MORE, FIELDS, id, &block[4..])].concat()
    });
    fine("a frame nobody knows", |id| {
        [frame(0x42, 0xff, id, "?"), head(id, OK)].concat()
    });
    fine("a ping", |id| {
        [frame(PING, 0, 0, [7; 8]), head(id, OK)].concat()
    });
    fine("a late window for a closed stream", |id| {
        [head(id, OK), frame(WINDOW, 0, id, [0, 0, 0, 1])].concat()
    });
    fine("a table size of nothing", |id| head(id, [0x20, 0x88]));
    fine("a literal to be indexed", |id| {
        head(id, [0x48, 3, b'2', b'0', b'0'])
    });
    fine("settings nobody knows", |id| {
        [setting(0x99, 7), head(id, OK)].concat()
    });
    fine("a larger frame size", |id| {
        [setting(5, 1 << 20), head(id, OK)].concat()
    });
}

#[test]
fn answers_that_are_wrong() {
    bad("the answer has no :status", |id| head(id, field("a", "b")));
    bad("a :status that is not the first field", |id| {
        head(id, [0x88, 0x88])
    });
    bad(
        "the answer's status is not a number of three digits",
        |id| head(id, field(":status", "2x0")),
    );
    bad("the server switched to another protocol", |id| {
        head(id, field(":status", "101"))
    });
    bad("an interim answer that ends the stream", |id| {
        head(id, field(":status", "100"))
    });
    bad("a pseudo-header that no answer has", |id| {
        head(id, with(":path", "/"))
    });
    bad("a header without a name", |id| head(id, with("", "x")));
    bad("a header's name with a forbidden character", |id| {
        head(id, with("Upper", "x"))
    });
    bad("a header's value with a forbidden character", |id| {
        head(id, with("x", "a\r\nb: c"))
    });
    bad("a header that belongs to a connection of HTTP/1", |id| {
        head(id, with("connection", "close"))
    });
    bad("bad Content-Length", |id| {
        head(id, with("content-length", "-1"))
    });
    bad("two different Content-Length headers", |id| {
        let lengths = [with("content-length", "1"), field("content-length", "2")];
        head(id, lengths.concat())
    });
    bad("the body is shorter than its Content-Length", |id| {
        head(id, with("content-length", "5"))
    });
    bad("the body is longer than its Content-Length", |id| {
        let head = frame(HEADERS, FIELDS, id, with("content-length", "1"));
        [head, frame(DATA, END, id, "ab")].concat()
    });
    bad("data before the answer's head", |id| {
        frame(DATA, END, id, "ab")
    });
    bad("a second head that ends nothing", |id| {
        [open_head(id), frame(HEADERS, FIELDS, id, field("x", "1"))].concat()
    });
    bad("the answer has too many headers", |id| {
        let many = field("x", "1").repeat(200);
        head(id, [OK, &many].concat())
    });
    bad("the head is larger than the limit", |id| {
        let long = with("x", &"y".repeat(70_000));
        let pieces = long
            .chunks(16_000)
            .enumerate()
            .map(|(number, piece)| frame(if number == 0 { HEADERS } else { MORE }, 0, id, piece));
        pieces.collect::<Vec<_>>().concat()
    });
}

#[test]
fn frames_that_are_wrong() {
    bad("a frame of a stream on stream 0", |_| head(0, OK));
    bad("a frame of a stream on stream 0", |_| {
        frame(DATA, 0, 0, "a")
    });
    bad("a frame of a stream on stream 0", |_| {
        frame(RST, 0, 0, [0; 4])
    });
    bad("a frame of a stream on stream 0", |_| {
        frame(PRIORITY, 0, 0, [0; 5])
    });
    bad("a frame on a stream of the server's own", |_| head(2, OK));
    bad("a frame on a stream that was never opened", |_| {
        head(99, OK)
    });
    bad("a frame on a stream that was never opened", |_| {
        frame(WINDOW, 0, 99, [0, 0, 0, 1])
    });
    bad("a padding longer than its frame", |id| {
        frame(HEADERS, ALL | PAD, id, [9, 0x88])
    });
    bad("a padded frame without a length of its padding", |id| {
        [open_head(id), frame(DATA, PAD, id, [])].concat()
    });
    bad("a HEADERS frame without its priority", |id| {
        frame(HEADERS, ALL | RANK, id, [0, 0])
    });
    bad("a PRIORITY frame of a wrong size", |id| {
        frame(PRIORITY, 0, id, [0; 4])
    });
    bad("a RST_STREAM frame of a wrong size", |id| {
        frame(RST, 0, id, [0; 3])
    });
    bad("a PING frame of a wrong size", |_| {
        frame(PING, 0, 0, [0; 7])
    });
    bad("PING on a stream", |id| frame(PING, 0, id, [0; 8]));
    bad("a GOAWAY frame of a wrong size", |_| {
        frame(GOAWAY, 0, 0, [0; 7])
    });
    bad("GOAWAY on a stream", |id| frame(GOAWAY, 0, id, [0; 8]));
    bad("a WINDOW_UPDATE frame of a wrong size", |_| {
        frame(WINDOW, 0, 0, [0; 5])
    });
    bad("a WINDOW_UPDATE by nothing", |_| {
        frame(WINDOW, 0, 0, [0; 4])
    });
    bad("a WINDOW_UPDATE by nothing", |id| {
        frame(WINDOW, 0, id, [0; 4])
    });
    bad("a connection's window above its limit", |_| {
        frame(WINDOW, 0, 0, [0x7f, 255, 255, 255])
    });
    bad("a stream's window above its limit", |id| {
        frame(WINDOW, 0, id, [0x7f, 255, 255, 255])
    });
}

#[test]
fn frames_that_are_refused() {
    bad("a push, which we refused", |id| {
        frame(PUSH, FIELDS, id, [0, 0, 0, 2, 0x88])
    });
    bad("a CONTINUATION of nothing", |id| {
        frame(MORE, FIELDS, id, OK)
    });
    bad("a CONTINUATION on another stream", |id| {
        [frame(HEADERS, END, id, []), frame(MORE, FIELDS, id + 2, OK)].concat()
    });
    bad("a frame within a block of fields", |id| {
        [frame(HEADERS, END, id, []), frame(PING, 0, 0, [0; 8])].concat()
    });
    bad("a frame is larger than the limit", |id| {
        frame(DATA, 0, id, vec![0; 16_385])
    });
}

#[test]
fn settings_that_are_wrong() {
    bad("a SETTINGS frame of a wrong size", |_| {
        frame(SETTINGS, 0, 0, [0; 5])
    });
    bad("SETTINGS on a stream", |id| frame(SETTINGS, 0, id, []));
    bad("an acknowledgement of SETTINGS with settings", |_| {
        frame(SETTINGS, 1, 0, [0; 6])
    });
    bad("the server's SETTINGS allow pushes", |_| setting(2, 1));
    bad("an INITIAL_WINDOW_SIZE above its limit", |_| {
        setting(4, 1 << 31)
    });
    bad("a MAX_FRAME_SIZE outside its limits", |_| {
        setting(5, 16_383)
    });
    bad("a MAX_FRAME_SIZE outside its limits", |_| {
        setting(5, 1 << 24)
    });
}

#[test]
fn blocks_that_are_wrong() {
    bad("an index that stands for nothing", |id| head(id, [0x80]));
    bad("an index that stands for nothing", |id| head(id, [0xbe]));
    bad("a table size behind a field", |id| head(id, [0x88, 0x20]));
    bad("a table size above the limit", |id| {
        head(id, [0x3f, 0xe1, 0x1f, 0x88])
    });
    bad("a block that ends too early", |id| {
        head(id, [0x40, 10, b'x'])
    });
    bad("a number that is too large", |id| head(id, [0xff; 9]));
    bad("wrong Huffman code", |id| {
        head(id, [0x88, 0, 1, b'a', 0x83, 255, 255, 255])
    });
}

#[test]
fn floods_and_windows_that_are_passed() {
    let flood = "a flood of frames that bring no answer on";
    bad(flood, |_| frame(PING, 0, 0, [0; 8]).repeat(10_001));
    bad(flood, |_| frame(SETTINGS, 0, 0, []).repeat(10_001));
    bad(flood, |id| {
        [open_head(id), frame(DATA, 0, id, []).repeat(10_001)].concat()
    });
    bad("a flood of CONTINUATION frames", |id| {
        [
            frame(HEADERS, END, id, []),
            frame(MORE, 0, id, []).repeat(200),
        ]
        .concat()
    });
    let large = Plan {
        body_bytes_max: 1000,
        ..shared(1)
    };
    let endless = Script::new(|id| [open_head(id), frame(DATA, 0, id, [0; 1001])].concat());
    let why = "the body is larger than the limit";
    check_with(why, &large, &single(endless.serve()), BadAnswer, why);
}

#[test]
fn servers_that_go_or_are_none() {
    for (code, name) in [
        (0, "NO_ERROR"),
        (1, "PROTOCOL_ERROR"),
        (2, "INTERNAL_ERROR"),
        (7, "REFUSED_STREAM"),
        (8, "CANCEL"),
        (11, "ENHANCE_YOUR_CALM"),
        (13, "HTTP_1_1_REQUIRED"),
        (99, "an unknown code"),
    ] {
        let reset = Script::new(move |id| frame(RST, 0, id, u32::to_be_bytes(code)));
        let why = format!("the server reset the stream with {name}");
        check(name, reset, Disconnected, &why);
    }
    let refused = Script::new(|_| goaway(0, 11));
    let why = "the server ended the connection with ENHANCE_YOUR_CALM";
    check("goaway", refused, Disconnected, why);
    let why = "the server took no request on six connections";
    check(why, Script::new(|_| goaway(0, 0)), Disconnected, why);
    let grows = Script::new(|_| [goaway(1, 0), goaway(5, 0)].concat());
    let why = "a GOAWAY that takes more than the last one";
    check(why, grows, BadAnswer, why);
    for (name, bytes) in [("began", Vec::new()), ("was complete", open_head(1))] {
        let cut = Script {
            closes: true,
            ..Script::new(move |_| bytes.clone())
        };
        check(
            name,
            cut,
            Disconnected,
            &format!("closed before the answer {name}"),
        );
    }
    let first = |first: &[u8]| Script {
        first: first.to_vec(),
        ..Script::new(|_| Vec::new())
    };
    let why = "the server did not begin with SETTINGS";
    check(why, first(&frame(PING, 0, 0, [0; 8])), BadAnswer, why);
    let why =
        "the server answered in HTTP/1 and not in HTTP/2; leave --http2 out, or ask it by https";
    check(
        why,
        first(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        BadAnswer,
        why,
    );
    let status = |status| Script::new(move |id| head(id, field(":status", status)));
    check(
        "404",
        status("404"),
        CheckFailed,
        "expected a status below 400, came 404",
    );
    check(
        "500",
        status("500"),
        ServerError,
        "expected a status below 400, came 500",
    );
}

#[test]
fn frames_on_streams_that_are_closed() {
    for (why, kind) in [
        ("data on a stream that is closed", DATA),
        ("a head on a stream that is closed", HEADERS),
    ] {
        let script = Script::new(move |id| match id {
            1 => head(1, OK),
            _ => frame(kind, ALL, 1, OK),
        });
        let (exchanges, _, result) = load(&shared(1), &single(script.serve()));
        assert!(exchanges.iter().any(|one| one.outcome == Fine));
        let failure = result.failures.first().expect("a failure");
        assert_eq!((failure.outcome, failure.reason.as_str()), (BadAnswer, why));
    }
}

/// A server with few streams at once, and GOAWAY after some requests with others under way.
#[test]
fn nothing_is_lost_when_servers_go() {
    const EACH: u32 = 100;
    let answered = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&answered);
    let script = Script {
        first: setting(3, 7),
        ..Script::new(move |id| {
            let last = 2 * EACH - 1;
            if id > last {
                return Vec::new();
            }
            count.fetch_add(1, Ordering::Relaxed);
            let mut bytes = head(id, OK);
            if id == last {
                bytes.extend(goaway(last, 0));
            }
            bytes
        })
    };
    let scenario = single(script.serve());
    let many_connections = Plan {
        streams: 1,
        ..shared(40)
    };
    let plans = [shared(20), many_connections];
    for plan in plans.iter().flat_map(on_each_engine) {
        let plan = Plan {
            duration: millis(1500),
            ..plan
        };
        answered.store(0, Ordering::Relaxed);
        let (exchanges, _, result) = load(&plan, &scenario);
        let count = |outcome| {
            exchanges
                .iter()
                .filter(|one| one.outcome == outcome)
                .count()
        };
        assert_eq!(result.failures, [], "{}", plan.engine);
        assert!(
            count(Fine) > 3 * EACH as usize,
            "{}: {}",
            plan.engine,
            exchanges.len()
        );
        assert_eq!(
            count(Fine) as u64,
            answered.load(Ordering::Relaxed),
            "{}",
            plan.engine
        );
        assert_eq!(count(Fine) + count(Outcome::Unanswered), exchanges.len());
    }
}

/// A request's body waits for room, and goes out in pieces.
#[test]
fn bodies_wait_for_windows() {
    // 10 bytes at first, then as many as it says.
    let address = serve(move |mut stream: TcpStream| {
        let _ = stream.read_exact(&mut [0; 24]);
        let _ = stream.write_all(&setting(4, 10));
        let mut got = 0;
        loop {
            let mut head_bytes = [0; 9];
            if stream.read_exact(&mut head_bytes).is_err() {
                return;
            }
            let length = u32::from_be_bytes([0, head_bytes[0], head_bytes[1], head_bytes[2]]);
            let id = u32::from_be_bytes(head_bytes[5..9].try_into().expect("four"));
            let _ = stream.read_exact(&mut vec![0; length as usize]);
            if head_bytes[3] != DATA {
                continue;
            }
            got += length;
            let more = [
                frame(WINDOW, 0, id, length.to_be_bytes()),
                frame(WINDOW, 0, 0, length.to_be_bytes()),
            ];
            let _ = stream.write_all(&more.concat());
            if head_bytes[4] & END != 0 {
                let told = with("content-length", "5");
                let body = format!("{got:5}");
                let answer = [frame(HEADERS, FIELDS, id, told), frame(DATA, END, id, body)];
                let _ = stream.write_all(&answer.concat());
                got = 0;
            }
        }
    });
    let request = Single {
        method: "POST".to_owned(),
        body: vec![b'x'; 30_000],
        ..Single::get(&format!("http://{address}/"))
    };
    let scenario = Scenario::request(&request).expect("a request");
    for plan in on_each_engine(&shared(1)) {
        check_with("a body", &plan, &scenario, Fine, "");
    }
}

/// Requests of a connection share the limit: two responses of 4,000 bytes at 20,000 per second, of
/// which a tenth of a second passes at once.
#[test]
fn a_limit_of_the_rate_holds_for_a_connection() {
    let body = frame(DATA, END, 0, vec![b'x'; 4_000]);
    let answer = move |id: u32| {
        let mut data = body.clone();
        data[5..9].copy_from_slice(&id.to_be_bytes());
        [open_head(id), data].concat()
    };
    let text = "GET /\n[Options]\nlimit-rate: 20000\nHTTP 200\n";
    let scenario = flow(Script::new(answer).serve(), text, ScoreSpec::default());
    for plan in on_each_engine(&shared(2)) {
        let (exchanges, _, result) = load(&plan, &scenario);
        assert!(result.failures.is_empty(), "{:?}", result.failures);
        assert_eq!(exchanges.len(), 2, "more than the time allows");
        let last = exchanges
            .iter()
            .map(|one| one.answered.since(one.sent))
            .max();
        assert!(last >= Some(millis(290)), "{last:?}");
    }
}

#[test]
fn over_tls_the_server_has_to_choose_http2() {
    let all = [
        (&[&b"h2"[..], b"http/1.1"][..], None),
        (&[b"http/1.1"], Some("it chose http/1.1 by ALPN")),
        (&[], Some("it chose no protocol by ALPN")),
    ];
    for (spoken, why) in all {
        let script = Script::new(|id| head(id, OK));
        let address = serve_over_tls(spoken, move |mut stream| {
            let _ = script.talk(&mut stream);
        });
        let scenario = Scenario::single(&format!("https://{address}/")).expect("a URL");
        let plan = Plan {
            trust: trusting(),
            ..shared(5)
        };
        for plan in on_each_engine(&plan) {
            let why = why.map_or_else(String::new, |why| format!(
                "no connection: the server speaks no HTTP/2 ({why}); leave --http2 out, or switch HTTP/2 on in the server"
            ));
            let outcome = if why.is_empty() {
                Fine
            } else {
                Outcome::ConnectFailed
            };
            check_with("TLS", &plan, &scenario, outcome, &why);
        }
    }
}

#[test]
fn flows_go_over_streams() {
    let address = Script::new(|id| {
        let cookie = with("set-cookie", "seen=1");
        [
            frame(HEADERS, FIELDS, id, cookie),
            frame(DATA, END, id, "{\"token\": \"t1\"}"),
        ]
        .concat()
    });
    let text = "GET /a\nHTTP 200\n[Captures]\ntoken: jsonpath \"$.token\"\n\nGET /b/{{token}}\nHTTP 200\n[Asserts]\ncookie \"seen\" == \"1\"\nheader \"set-cookie\" exists\nversion == \"2\"\n";
    let scenario = flow(address.serve(), text, ScoreSpec::default());
    for plan in on_each_engine(&shared(4)) {
        check_with("a flow", &plan, &scenario, Fine, "");
    }
}

/// Entries with options of the connection have separate connections, shared as well.
#[test]
fn entries_go_their_own_ways() {
    let other = Script::new(|id| head(id, field(":status", "201"))).serve();
    let address = Script::new(|id| head(id, OK)).serve();
    let text = format!(
        "GET /a\nHTTP 200\n\nGET /b\n[Options]\nconnect-to: ::{other}\nHTTP 201\n\nGET /c\nHTTP 200\n"
    );
    let scenario = flow(address, &text, ScoreSpec::default());
    for plan in on_each_engine(&shared(4)) {
        let plan = Plan {
            duration: millis(60_000),
            ..plan
        };
        let (exchanges, _, result) = load_until(&plan, &scenario, |so_far| so_far.len() > 100);
        assert_eq!(result.failures, [], "{}", plan.engine);
        let count = |status| exchanges.iter().filter(|one| one.status == status).count();
        assert!(count(201) > 20 && count(200) > 40, "{}", plan.engine);
    }
}
