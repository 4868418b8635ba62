//! Requests of a load, sent again afterwards.

use std::time::Duration;

use load::{Plan, Resend};
use scenario::ScoreSpec;

use crate::common::{answer, flow, load, millis, ok, plan, serve_answers};

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn requests_of_a_load_are_sent_again_with_and_without_sessions() {
    let address = serve_answers(|request| {
        let request = request.to_ascii_lowercase();
        match (request.contains("/login"), request.contains("cookie: ")) {
            (true, _) => answer("200 OK", "Set-Cookie: id=1; path=/\r\n", "welcome"),
            (false, true) => answer("200 OK", "X-Seen: Yes\r\n", "a page of users"),
            (false, false) => answer("302 Found", "Location: /login\r\n", ""),
        }
    });
    let text = "POST {{base_url}}/login\nHTTP 200\nGET {{base_url}}/page?a=1\nHTTP 200\n";
    let scenario = flow(address, text, ScoreSpec::default());
    let (_, texts, result) = load(&plan(2), &scenario);
    let [page] = result.repeatables.as_slice() else {
        panic!("{:?}", result.repeatables);
    };
    assert_eq!(texts.get(page.line()), Some("GET /page"));
    let resend = Resend::new(&plan(2), &scenario).expect("an address");
    let sessions = page.sessions();
    // Both connections have the same cookie.
    assert_eq!(sessions.len(), 1);
    let reply = resend.send(page, &sessions[0], LIMIT).expect("a reply");
    assert_eq!((reply.status, reply.body_bytes), (200, 15));
    assert!(reply.is_as_in_load);
    let header = ("x-seen".to_owned(), b"Yes".to_vec());
    assert!(reply.headers.contains(&header), "{reply:?}");
    let reply = resend.send(page, &page.anonymous(), LIMIT);
    let reply = reply.expect("a reply");
    assert_eq!((reply.status, reply.is_as_in_load), (302, false));
}

#[test]
fn a_server_that_says_nothing_any_more_costs_no_more_than_the_limit() {
    let address = serve_answers(|request| {
        if !request.contains("Hakaru-Request") {
            std::thread::sleep(LIMIT);
        }
        ok("a page")
    });
    let scenario = flow(
        address,
        "GET {{base_url}}/page\nHTTP 200\n",
        ScoreSpec::default(),
    );
    let plan = Plan {
        duration: millis(50),
        ..plan(1)
    };
    let (_, _, result) = load(&plan, &scenario);
    let page = &result.repeatables[0];
    let resend = Resend::new(&plan, &scenario).expect("an address");
    let limit = Duration::from_millis(100);
    let why = resend.send(page, &page.anonymous(), limit);
    let why = why.expect_err("no reply");
    assert!(why.contains("within the limit"), "{why}");
}
