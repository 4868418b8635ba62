//! Loads against well-behaved servers.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{answer, flow, load, millis, ok, plan, serve_answers, single};
use load::{Numbered, Pace, Plan, probe};
use recording::{Nanos, Outcome};
use scenario::{CapturePoints, ScoreRule, ScoreSpec};

#[test]
fn a_closed_load_of_one_url() {
    let address = serve_answers(|_| ok("hello"));
    let plan = Plan {
        threads: 2,
        warmup: millis(50),
        ..plan(5)
    };
    let (exchanges, texts, result) = load(&plan, &single(address));
    assert!(exchanges.len() > 10, "only {} exchanges", exchanges.len());
    let ids: HashSet<u64> = exchanges.iter().map(|exchange| exchange.id.0).collect();
    assert_eq!(ids.len(), exchanges.len(), "an id came twice");
    let connections: HashSet<u32> = exchanges.iter().map(|e| e.connection).collect();
    assert_eq!(connections.len(), 5, "the remainder of 5 by 2 was dropped");
    for exchange in &exchanges {
        assert_eq!((exchange.outcome, exchange.status), (Outcome::Ok, 200));
        assert_eq!(exchange.body_bytes, 5);
        assert_eq!(texts.get(exchange.line), Some("GET /path"));
        assert!(exchange.due <= exchange.sent && exchange.sent < exchange.answered);
        assert!(exchange.due < result.window.end);
    }
    assert!(
        exchanges.iter().any(|e| e.due < result.window.start),
        "no warm-up"
    );
    assert_eq!(result.window.length(), plan.duration);
    assert!(result.generator.cpu > Nanos::ZERO);
    assert_eq!((result.generator.threads, result.generator.unsent), (2, 0));
    assert!(result.failures.is_empty() && !result.stopped && result.score.is_none());
}

#[test]
fn the_request_carries_its_id() {
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let server_seen = std::sync::Arc::clone(&seen);
    let address = serve_answers(move |request| {
        server_seen.lock().unwrap().push(request.to_owned());
        ok("")
    });
    let (exchanges, _, _) = load(&plan(1), &single(address));
    let requests = seen.lock().unwrap();
    for (exchange, request) in exchanges.iter().zip(requests.iter()) {
        assert!(request.starts_with("GET /path?q=1 HTTP/1.1\r\n"));
        let header = format!("\r\nHakaru-Request: {:016x}\r\n", exchange.id.0);
        assert!(request.contains(&header), "{request}");
    }
}

#[test]
fn a_part_of_the_requests_carries_an_id_where_the_plan_says_so() {
    let seen = std::sync::Arc::new(AtomicU64::new(0));
    let server_seen = std::sync::Arc::clone(&seen);
    let address = serve_answers(move |request| {
        let carries = request.contains("\r\nHakaru-Request: ");
        server_seen.fetch_add(u64::from(carries), Ordering::Relaxed);
        ok("")
    });
    let plan = Plan {
        numbered: Numbered::Halved(1),
        ..plan(2)
    };
    let (exchanges, _, _) = load(&plan, &single(address));
    let ids = exchanges.iter().map(|exchange| exchange.id);
    let carried: Vec<_> = ids.filter(|id| !id.is_none()).collect();
    assert_eq!(carried.len() as u64, seen.load(Ordering::Relaxed));
    assert!(carried.iter().all(|id| id.is_thinned()));
    let share = carried.len() as f64 / exchanges.len() as f64;
    assert!(
        (0.3..0.7).contains(&share),
        "{share} of {}",
        exchanges.len()
    );
}

/// Responds as a server with users: login gives a cookie, posting needs one.
fn chat(request: &str) -> Vec<u8> {
    let line = request.lines().next().expect("a request line");
    let logged_in = request.contains("Cookie: session=abc");
    match line {
        "POST /login HTTP/1.1" if request.ends_with("name=a%20b&password=x%26y") => answer(
            "303 See Other",
            "Location: /channel/7\r\nSet-Cookie: session=abc; path=/\r\n",
            "",
        ),
        "GET /channel/7 HTTP/1.1" if logged_in => ok("<a href='/channel/7'> token=t0k3n </a>"),
        "POST /message HTTP/1.1" if request.ends_with("{\"text\": \"say \\\"t0k3n\\\"\"}") => {
            answer("204 No Content", "", "")
        }
        "GET /messages?after=0 HTTP/1.1" if logged_in => ok("[{\"id\": 1}, {\"id\": 2}]"),
        _ => answer("403 Forbidden", "", "no"),
    }
}

const CHAT: &str = r##"
POST {{base_url}}/login
[Form]
name: a b
password: x&y
HTTP 303
Location: /channel/7
[Captures]
where: header "Location"

GET {{where}}
HTTP 200
[Captures]
token: regex /token=(\w+)/
[Asserts]
body contains "channel"
bytes count > 10

POST /message
{"text": "say \"{{token}}\""}
HTTP 204

GET /messages?after=0
HTTP 200
[Captures]
messages: jsonpath "$" count
[Asserts]
jsonpath "$[1].id" == 2
"##;

fn chat_score() -> ScoreSpec {
    let rule = |pattern: &str, points| ScoreRule {
        pattern: pattern.to_owned(),
        status: None,
        points,
        per: 1,
    };
    ScoreSpec {
        rules: vec![rule("GET *", 1.0), rule("POST *", 3.0)],
        captures: Vec::new(),
    }
}

#[test]
fn a_flow_with_cookies_captures_and_checks() {
    let mut score = chat_score();
    score.captures.push(CapturePoints {
        name: "messages".to_owned(),
        points: 10.0,
    });
    let plan = Plan {
        duration: millis(400),
        ..plan(2)
    };
    let (exchanges, texts, result) = load(&plan, &flow(serve_answers(chat), CHAT, score));
    assert_eq!(result.failures, []);
    assert!(exchanges.len() > 8, "no full iteration");
    let lines: Vec<_> = exchanges
        .iter()
        .filter(|exchange| exchange.connection == 0)
        .take(5)
        .map(|exchange| (exchange.step, texts.get(exchange.line).unwrap()))
        .collect();
    let expected = [
        "POST /login",
        "GET /channel/7",
        "POST /message",
        "GET /messages",
        "POST /login",
    ];
    assert_eq!(
        lines,
        [0, 1, 2, 3, 0]
            .into_iter()
            .zip(expected)
            .collect::<Vec<_>>()
    );
    let score = result.score.unwrap();
    let counts: Vec<u64> = score.lines.iter().map(|line| line.count).collect();
    assert_eq!(counts[2] % 2, 0, "two messages in each list");
    let points = (counts[0] + 3 * counts[1] + 10 * counts[2]) as f64;
    assert_eq!(score.points, Some(points));
}

#[test]
fn a_failed_check_ends_the_iteration_and_voids_the_score() {
    let flow_text = "GET /a\nHTTP 200\n[Asserts]\njsonpath \"$.n\" == 1\n\nGET /never\nHTTP 200\n";
    let address = serve_answers(|_| answer("200 OK", "Set-Cookie: s=1\r\n", "{\"n\": 2}"));
    let (exchanges, texts, result) = load(&plan(1), &flow(address, flow_text, chat_score()));
    assert!(exchanges.iter().all(|e| e.outcome == Outcome::CheckFailed));
    assert!(
        exchanges
            .iter()
            .all(|e| texts.get(e.line) == Some("GET /a"))
    );
    let [failure] = result.failures.as_slice() else {
        panic!("{:?}", result.failures);
    };
    assert_eq!(failure.place, "test.hurl:1");
    assert_eq!(
        failure.reason,
        "line 4: jsonpath \"$.n\": expected == 1, came 2"
    );
    assert_eq!(failure.count, exchanges.len() as u64);
    assert!(failure.request.starts_with("GET /a HTTP/1.1\r\n"));
    assert!(
        failure
            .response
            .ends_with("Set-Cookie: [redacted]\r\n\r\n[8 bytes of body; --keep-bodies keeps them]")
    );
    assert_eq!(result.score.unwrap().points, None);
}

#[test]
fn a_request_that_cannot_be_made_is_a_failed_check_of_its_entry() {
    let text = "GET /a\nHTTP 200\n[Captures]\nnext: body\n\nGET {{next}}\nHTTP 200\n";
    let address = serve_answers(|_| ok("http://elsewhere/"));
    let scenario = flow(address, text, ScoreSpec::default());
    let (exchanges, texts, result) = load(&plan(1), &scenario);
    assert_eq!(
        (exchanges[1].outcome, exchanges[1].step),
        (Outcome::CheckFailed, 1)
    );
    assert!(exchanges[0].was_answered() && exchanges[0].was_sent());
    assert!(!exchanges[1].was_answered() && !exchanges[1].was_sent());
    assert_eq!(exchanges[1].status, 0);
    assert_eq!(texts.get(exchanges[1].line), Some("GET {{next}}"));
    assert_eq!(result.failures[0].place, "test.hurl:6");
    assert!(
        result.failures[0]
            .reason
            .starts_with("not sent: http://elsewhere/ points to another host")
    );
}

#[test]
fn a_server_error_is_told_apart_from_a_failed_check() {
    let address = serve_answers(|_| answer("503 Busy", "", ""));
    let (exchanges, _, result) = load(&plan(1), &flow(address, "GET /\nHTTP 200\n", chat_score()));
    assert!(
        exchanges
            .iter()
            .all(|e| e.outcome == Outcome::ServerError && e.status == 503)
    );
    assert_eq!(result.score.unwrap().points, Some(0.0));
}

#[test]
fn think_time_moves_the_due_time() {
    let text = "GET /a\n[Options]\ndelay: 20ms\nHTTP 200\n";
    let address = serve_answers(|_| ok(""));
    let (exchanges, _, _) = load(&plan(1), &flow(address, text, ScoreSpec::default()));
    assert!(exchanges.len() > 1);
    for pair in exchanges.windows(2) {
        assert_eq!(pair[1].due.since(pair[0].answered), millis(20));
        assert!(pair[1].sent >= pair[1].due);
    }
}

#[test]
fn what_is_due_in_the_last_instant_is_sent_where_a_connection_is_free() {
    let address = serve_answers(|_| ok(""));
    let plan = Plan {
        pace: Pace::Constant { per_second: 10.0 },
        threads: 1,
        // The third request is due a nanosecond before the end, when no timer ends in time.
        duration: Nanos(200_000_001),
        ..plan(4)
    };
    let (exchanges, _, result) = load(&plan, &single(address));
    assert_eq!((exchanges.len(), result.generator.unsent), (3, 0));
    let last = exchanges.iter().max_by_key(|one| one.due).expect("three");
    assert_eq!(result.window.end.since(last.due), Nanos(1));
    assert_eq!(last.outcome, Outcome::Ok);
}

#[test]
fn an_open_load_is_due_by_the_clock() {
    let address = serve_answers(|_| ok(""));
    let plan = Plan {
        pace: Pace::Constant { per_second: 500.0 },
        threads: 2,
        duration: millis(200),
        ..plan(4)
    };
    let (mut exchanges, _, result) = load(&plan, &single(address));
    exchanges.sort_by_key(|exchange| exchange.due);
    assert_eq!(exchanges.len() as u64 + result.generator.unsent, 100);
    for pair in exchanges.windows(2) {
        assert!(pair[0].due < pair[1].due, "a tick was taken twice");
    }
    for exchange in &exchanges {
        let due = exchange.due.since(result.window.start);
        assert_eq!(due.0 % 2_000_000, 0, "not due at a tick");
    }
}

#[test]
fn a_stall_shows_in_the_latency_from_due() {
    // The fifth request takes 100 ms; those due meanwhile must wait for the only connection, and
    // say so.
    let count = AtomicU64::new(0);
    let address = serve_answers(move |_| {
        if count.fetch_add(1, Ordering::Relaxed) == 4 {
            // Not synchronisation: the stall is what is measured.
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        ok("")
    });
    let plan = Plan {
        pace: Pace::Constant { per_second: 100.0 },
        duration: millis(300),
        ..plan(1)
    };
    let (mut exchanges, _, _) = load(&plan, &single(address));
    exchanges.sort_by_key(|exchange| exchange.due);
    let latency = |tick: usize| exchanges[tick].answered.since(exchanges[tick].due);
    let late = |tick: usize| exchanges[tick].sent.since(exchanges[tick].due);
    assert!(latency(4) >= millis(100));
    for waiting in 1..9 {
        let at_least = millis(100 - 10 * waiting as u64);
        assert!(latency(4 + waiting) >= at_least && late(4 + waiting) >= at_least);
    }
}

#[test]
fn stopping_keeps_what_was_measured() {
    let address = serve_answers(|_| ok(""));
    let stop = AtomicBool::new(false);
    let plan = Plan {
        duration: millis(60_000),
        ..plan(2)
    };
    let scenario = single(address);
    let begun = std::time::Instant::now();
    let mut seen = 0;
    let result = load::run(&plan, &scenario, &stop, &mut |batch| {
        seen += batch.exchanges.len();
        stop.store(true, Ordering::Relaxed);
    });
    let result = result.unwrap();
    assert!(result.stopped && seen > 0);
    assert!(result.window.length() < millis(30_000));
    assert!(begun.elapsed().as_secs() < 30);
}

#[test]
fn plans_that_cannot_be_run_are_refused() {
    let scenario = single("127.0.0.1:1".parse().unwrap());
    let check = |plan: Plan, expected: &str| {
        let error = load::run(&plan, &scenario, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(plan(0), "at least one connection");
    check(
        Plan {
            threads: 3,
            ..plan(2)
        },
        "at least one connection",
    );
    check(
        Plan {
            duration: Nanos::ZERO,
            ..plan(1)
        },
        "duration",
    );
    let pace = Pace::Constant {
        per_second: f64::NAN,
    };
    check(Plan { pace, ..plan(1) }, "rate");
}

#[test]
fn a_probe_tells_the_status() {
    let address = serve_answers(|_| answer("418 Teapot", "", "short and stout"));
    let second = std::time::Duration::from_secs(5);
    assert_eq!(probe(&format!("http://{address}/x"), second).unwrap(), 418);
    assert!(probe("http://127.0.0.1:1/", second).is_err());
    assert!(probe("https://127.0.0.1/", second).is_err());
}

#[test]
fn what_answers_have_in_common_is_told() {
    let headers = "Content-Type: image/png\r\nETag: \"1\"\r\n";
    let address = serve_answers(move |_| answer("200 OK", headers, "picture"));
    let plan = Plan {
        threads: 2,
        ..plan(6)
    };
    let scenario = flow(
        address,
        "GET {{base_url}}/picture\nHTTP 200\nPOST {{base_url}}/post\nHTTP 200\n",
        ScoreSpec::default(),
    );
    let (exchanges, texts, result) = load(&plan, &scenario);
    let of = |line: &str| {
        let found = result
            .answers
            .iter()
            .find(|facts| texts.get(facts.line) == Some(line));
        found.unwrap_or_else(|| panic!("nothing of {line} in {:?}", result.answers))
    };
    let picture = of("GET /picture");
    assert_eq!(picture.status, 200);
    assert_eq!(picture.with_etag, picture.seen);
    assert!(picture.seen > 1 && picture.seen <= exchanges.len() as u64);
    assert!(picture.repeated > 0, "{picture:?}");
    assert_eq!(picture.repeated_equal, picture.repeated);
    assert_eq!((picture.with_cache_control, picture.closed), (0, 0));
    let kind = result
        .texts
        .iter()
        .find(|(id, _)| *id == picture.content_type);
    assert_eq!(kind.map(|(_, text)| text.as_str()), Some("image/png"));
    assert_eq!(of("POST /post").repeated, 0);
}

/// Of three responses to each try, the last is well.
#[test]
fn tries_in_vain_are_answered_and_give_no_points() {
    let asked = AtomicU64::new(0);
    let address = serve_answers(move |_| match asked.fetch_add(1, Ordering::Relaxed) % 3 {
        2 => ok("done"),
        _ => ok("wait"),
    });
    let text = "GET /job\n[Options]\nretry: 2\nretry-interval: 1ms\nHTTP 200\n[Asserts]\nbody == \"done\"\n";
    let score = ScoreSpec {
        rules: vec![ScoreRule {
            pattern: "GET /job".to_owned(),
            status: None,
            points: 1.0,
            per: 1,
        }],
        captures: Vec::new(),
    };
    let (exchanges, _, result) = load(&plan(1), &flow(address, text, score));
    let answered = exchanges.iter().filter(|e| e.outcome == Outcome::Ok);
    let answered = answered.count() as u64;
    assert!(answered >= 6 && result.failures.is_empty(), "{answered}");
    let points = result.score.and_then(|score| score.points);
    assert_eq!(points, Some((answered / 3) as f64));
}

/// An answer of 503 is a server error each time, and a closed connection is one too, but the flow
/// goes on.
#[test]
fn tries_that_no_answer_came_to_are_counted_and_go_on() {
    let asked = AtomicU64::new(0);
    let address = crate::common::serve(move |mut stream| {
        use std::io::Write as _;
        while crate::common::read_request(&mut stream).is_some() {
            let reply = match asked.fetch_add(1, Ordering::Relaxed) % 3 {
                0 => answer("503 Busy", "", ""),
                1 => return,
                _ => ok("done"),
            };
            if stream.write_all(&reply).is_err() {
                return;
            }
        }
    });
    let text =
        "GET /job\n[Options]\nretry: 2\nretry-interval: 1ms\nHTTP 200\n\nGET /next\nHTTP *\n";
    let (exchanges, _, _) = load(&plan(1), &flow(address, text, ScoreSpec::default()));
    let ended: Vec<Outcome> = exchanges.iter().take(4).map(|e| e.outcome).collect();
    let expected = [
        Outcome::ServerError,
        Outcome::Disconnected,
        Outcome::Ok,
        Outcome::Ok,
    ];
    assert_eq!(ended, expected);
}
