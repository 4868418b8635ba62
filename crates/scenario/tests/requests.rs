//! Requests as sent, and the judgement of responses.

use std::path::Path;

use scenario::{Answer, FlowSpec, HeaderSpan, Scenario, Session, Spec, ThinkTime, User, Verdict};

fn scenario(flows: &[(&str, u32)]) -> Scenario {
    changed(flows, |_| {})
}

/// The same with all flows changed.
fn changed(flows: &[(&str, u32)], change: impl Fn(&mut FlowSpec)) -> Scenario {
    let file = |number: usize| format!("flows/{number}.hurl");
    let mut spec = Spec {
        base_url: "http://localhost:5000/app".to_owned(),
        flows: (0..flows.len())
            .map(|number| FlowSpec {
                file: Some(file(number).into()),
                weight: flows[number].1,
                feed: Some("users.csv".into()),
                ..FlowSpec::default()
            })
            .collect(),
        variables: vec![("id".to_owned(), "7".to_owned())],
        run_token: "r1".to_owned(),
        ..Spec::default()
    };
    spec.flows.iter_mut().for_each(change);
    let mut read = |path: &Path| match path.to_str() {
        Some("flows/cat.png") => Ok(b"\x89PNG".to_vec()),
        Some("users.csv") => Ok(b"name,password\na,x y\nb,\"q\"\"\"\n".to_vec()),
        _ => {
            let found = (0..flows.len()).find(|number| path == Path::new(&file(*number)));
            let text = found.map(|number| flows[number].0.as_bytes().to_vec());
            text.ok_or_else(|| std::io::ErrorKind::NotFound.into())
        }
    };
    Scenario::build(&spec, &mut read).unwrap_or_else(|error| panic!("{error}"))
}

/// The first request of a flow, as sent by the first user.
fn check(flow: &str, expected: &str) {
    let scenario = scenario(&[(flow, 1)]);
    let session = scenario.session(0);
    let mut out = Vec::new();
    let mut user = session.user(0);
    session
        .render(&mut user, Some(0xabc), &mut out)
        .expect(flow);
    let sent = String::from_utf8_lossy(&out).replace("\r\n", "\n");
    let sent = sent
        .replace("Host: localhost:5000\n", "")
        .replace(
            concat!("User-Agent: hakaru/", env!("CARGO_PKG_VERSION"), "\n"),
            "",
        )
        .replace("Accept: */*\nHakaru", "Hakaru")
        .replace("Accept: */*\n", "")
        .replace("Hakaru-Request: 0000000000000abc\n", "#\n");
    assert_eq!(sent, expected, "for\n{flow}");
}

#[test]
fn requests_are_rendered() {
    check("GET /x\n", "GET /app/x HTTP/1.1\n#\n\n");
    check("GET {{base_url}}{{id}}\n", "GET /app7 HTTP/1.1\n#\n\n");
    check("GET {{base_url}}?a=b\n", "GET /app?a=b HTTP/1.1\n#\n\n");
    check("GET http://localhost:5000/y\n", "GET /y HTTP/1.1\n#\n\n");
    // As `redirect_to post_path(anchor: "top")` in Rails would give it.
    check(
        "GET {{next}}\n[Options]\nvariable: next=http://LOCALHOST:5000/y\\#top\n[Query]\nq: 1\n",
        "GET /y?q=1 HTTP/1.1\n#\n\n",
    );
    check(
        "GET /{{id}}/{{name}}?u={{user}}&r={{run}}&i={{iteration}}\nX: {{password}} #c\n[Query]\nq: a&b\n",
        "GET /app/7/a?u=0&r=r1&i=0&q=a%26b HTTP/1.1\nX: x y\n#\n\n",
    );
    check(
        "POST /l\n[Form]\nname: {{name}}\npass: {{password}}\n[Cookies]\nc: {{id}}\nd: 2\n",
        "POST /app/l HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 17\n#\n\
         Cookie: c=7; d=2\n\nname=a&pass=x%20y",
    );
    check(
        "PUT /j\n{\"n\": {{id}}, \"s\": \"{{base_url urlEncode}}\", \"l\": [1, true]}\n",
        "PUT /app/j HTTP/1.1\nContent-Type: application/json\nContent-Length: 62\n#\n\n\
         {\"n\": 7, \"s\": \"http%3A//localhost%3A5000/app\", \"l\": [1, true]}",
    );
    check(
        "POST /t\nContent-Type: text/x\n```\nline {{id}}\nlast\n```\n",
        "POST /app/t HTTP/1.1\nContent-Type: text/x\nContent-Length: 12\n#\n\nline 7\nlast\n",
    );
    // Filters may leave bytes: of `//8=` two that are no text.
    check(
        "POST /b\n[Options]\nvariable: packed=//8=\n`a{{packed base64Decode}}b`\n",
        "POST /app/b HTTP/1.1\nContent-Length: 4\n#\n\na\u{fffd}\u{fffd}b",
    );
    check(
        "POST /b\nbase64,aGk=;\n",
        "POST /app/b HTTP/1.1\nContent-Length: 2\n#\n\nhi",
    );
    check(
        "POST /b\n",
        "POST /app/b HTTP/1.1\nContent-Length: 0\n#\n\n",
    );
    check(
        "GET /\n[BasicAuth]\nbob: s\n",
        "GET /app/ HTTP/1.1\nAuthorization: Basic Ym9iOnM=\n#\n\n",
    );
}

#[test]
fn a_multipart_form_carries_files() {
    let b = "----hakaru-8f1c2b6e4d7a4a53";
    let body = format!(
        "--{b}\nContent-Disposition: form-data; name=\"display_name\"\n\na\n--{b}\n\
         Content-Disposition: form-data; name=\"avatar\"; filename=\"cat.png\"\n\
         Content-Type: image/png\n\n\u{fffd}PNG\n--{b}--\n"
    );
    // The replacement character stands for one byte.
    let length = body.replace('\n', "\r\n").replace('\u{fffd}', "?").len();
    check(
        "POST /p\n[Multipart]\ndisplay_name: {{name}}\navatar: file,cat.png;\n",
        &format!(
            "POST /app/p HTTP/1.1\nContent-Type: multipart/form-data; boundary={b}\n\
             Content-Length: {length}\n#\n\n{body}"
        ),
    );
}

#[test]
fn captured_urls_lead_to_the_same_host() {
    let check = |location: &str, expected: Result<&str, &str>| {
        let flow = "POST /a\nHTTP 303\n[Captures]\nnext: header \"Location\"\n\nGET {{next}}\n";
        let scenario = scenario(&[(flow, 1)]);
        let session = scenario.session(0);
        let mut user = session.user(0);
        session
            .render(&mut user, Some(1), &mut Vec::new())
            .expect("a request");
        let head = format!("Location: {location}\n");
        assert_eq!(judge(&session, &mut user, 303, &head, ""), Verdict::Passed);
        let rendered = session.render(&mut user, Some(2), &mut Vec::new());
        let line = rendered
            .as_ref()
            .map(|prepared| prepared.line)
            .map_err(String::as_str);
        assert_eq!(line, expected, "{location}");
    };
    check("/app/x?y=1", Ok("GET /app/x"));
    check("http://localhost:5000/app/x", Ok("GET /app/x"));
    check(
        "http://example.org/",
        Err("http://example.org/ points to another host than http://localhost:5000/app"),
    );
}

#[test]
fn a_value_cannot_smuggle_a_header() {
    let scenario = scenario(&[("GET /\nX: {{password replace \" \" \"\\n\"}}\n", 1)]);
    let session = scenario.session(0);
    let mut user = session.user(0);
    let rendered = session.render(&mut user, Some(1), &mut Vec::new());
    assert!(rendered.expect_err("refused").contains("cannot be sent"));
}

fn judge(session: &Session<'_>, user: &mut User, status: u16, head: &str, body: &str) -> Verdict {
    let mut headers = Vec::new();
    let mut start = 0;
    for line in head.split_inclusive('\n') {
        let (name, value) = line.trim_end().split_once(": ").expect("a header");
        let at = start + name.len() + 2;
        headers.push(HeaderSpan {
            name: start as u32..(start + name.len()) as u32,
            value: at as u32..(at + value.len()) as u32,
        });
        start += line.len();
    }
    let answer = Answer {
        status,
        minor_version: 1,
        head: head.as_bytes(),
        headers: &headers,
        body: body.as_bytes(),
        duration_ns: 5_000_000,
    };
    session.judge(user, &answer)
}

/// The verdict on an answer with a header and a body, for the demands behind `HTTP`.
fn verdict(demands: &str, status: u16, body: &str) -> Verdict {
    let scenario = scenario(&[(&format!("GET /\nHTTP {demands}\n"), 1)]);
    let session = scenario.session(0);
    let mut user = session.user(0);
    session
        .render(&mut user, Some(1), &mut Vec::new())
        .expect("a request");
    let head =
        "Content-Type: text/html\nSet-Cookie: s=1; Path=/; HttpOnly; Max-Age=60\nX: 1\nX: 2\n";
    judge(&session, &mut user, status, head, body)
}

#[test]
fn answers_are_judged() {
    for (demands, body) in [
        ("*", ""),
        ("200\nContent-Type: text/html\nX: 2", ""),
        (
            "200\n[Asserts]\nstatus == 200\nheader \"x\" count == 2\nheader \"Y\" not exists",
            "",
        ),
        (
            "200\n[Asserts]\ncookie \"s\" == \"1\"\ncookie \"s[HttpOnly]\" exists\ncookie \"s[Max-Age]\" == 60",
            "",
        ),
        ("200\n[Asserts]\nduration <= 5\nversion == \"1.1\"", ""),
        (
            "200\n[Asserts]\nmd5 == hex,900150983cd24fb0d6963f7d28e17f72;",
            "abc",
        ),
        (
            "200\n[Asserts]\nsha256 == base64,ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=;",
            "abc",
        ),
        (
            "200\n[Asserts]\njsonpath \"$.a[*].b\" count == 2\njsonpath \"$.c\" not exists",
            "{\"a\":[{\"b\":1},{\"b\":2}]}",
        ),
        (
            "200\n[Captures]\nv: regex \"(\\\\d+)\" toInt\n[Asserts]\nvariable \"v\" == 12\nbody == \"a{{v}}\"",
            "a12",
        ),
        (
            "200\n{ \"b\": [1, 2], \"a\": {{id}} }",
            "{\"a\":7,\"b\":[1,2]}",
        ),
        ("200\n`abc`", "abc"),
    ] {
        assert_eq!(verdict(demands, 200, body), Verdict::Passed, "{demands}");
    }
}

#[test]
fn what_fails_says_why() {
    let failed = |demands: &str, body: &str, expected: &str| {
        assert_eq!(
            verdict(demands, 200, body),
            Verdict::CheckFailed(expected.to_owned())
        );
    };
    failed("204", "", "expected status 204, came 200");
    failed("200\nX: 3", "", "expected header X: 3, came \"1\"");
    failed(
        "200\n`abc`",
        "abd",
        "expected the body \"abc\", came \"abd\"",
    );
    failed(
        "200\n[Asserts]\njsonpath \"$.a\" == 1",
        "<html>",
        "line 4: jsonpath \"$.a\": the body is not JSON: expected value at line 1 column 1; it begins with \"<html>\"",
    );
    failed(
        "200\n[Captures]\nx: header \"Y\"",
        "",
        "line 4: nothing to capture as `x`",
    );
    let server_error = |status: &str| verdict(status, 503, "");
    assert!(matches!(server_error("200"), Verdict::ServerError(_)));
    assert_eq!(server_error("503"), Verdict::Passed);
    assert_eq!(server_error("*"), Verdict::Passed);
}

#[test]
fn flows_take_turns_by_weight_and_rows_by_iteration() {
    let flow = |name: &str| format!("GET /{name}/{{{{name}}}}\n");
    let (a, b) = (flow("one"), flow("two"));
    let scenario = scenario(&[(&a, 3), (&b, 1)]);
    let session = scenario.session(0);
    let mut users = [session.user(0), session.user(1)];
    let mut lines = Vec::new();
    for turn in 0..8 {
        let user = &mut users[turn % 2];
        let prepared = session
            .render(user, Some(1), &mut Vec::new())
            .expect("a request");
        lines.push(prepared.line.to_owned());
        if turn % 2 == 1 {
            for user in &mut users {
                session.give_up(user);
            }
        }
    }
    let ones = lines
        .iter()
        .filter(|line| line.starts_with("GET /app/one/"))
        .count();
    assert_eq!(ones, 6, "{lines:?}");
    for pair in lines.chunks(2) {
        let rows: Vec<&str> = pair
            .iter()
            .filter_map(|line| line.rsplit('/').next())
            .collect();
        assert!(
            rows.contains(&"a") && rows.contains(&"b"),
            "a row in two hands: {lines:?}"
        );
    }
}

#[test]
fn repeated_entries_and_delays() {
    let scenario = scenario(&[("GET /a\n[Options]\nrepeat: 2\ndelay: 1s\n\nGET /b\n", 1)]);
    let session = scenario.session(0);
    let mut user = session.user(0);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let delay = session.delay_ns(&mut user);
        let prepared = session
            .render(&mut user, Some(1), &mut Vec::new())
            .expect("a request");
        seen.push((prepared.line.to_owned(), prepared.step, delay));
        assert_eq!(judge(&session, &mut user, 200, "", ""), Verdict::Passed);
    }
    let a = || ("GET /app/a".to_owned(), 0, 1_000_000_000);
    assert_eq!(seen, [a(), a(), ("GET /app/b".to_owned(), 1, 0), a()]);
}

#[test]
fn users_think_before_requests_that_have_no_delay_of_their_own() {
    let flow = "GET /a\n\nGET /b\n[Options]\ndelay: 5ms\n";
    let scenario = changed(&[(flow, 1)], |flow| {
        flow.think = Some(ThinkTime::Constant { ms: 300 });
    });
    let session = scenario.session(0);
    let mut user = session.user(0);
    for expected_ms in [300, 5, 300] {
        assert_eq!(session.delay_ns(&mut user), expected_ms * 1_000_000);
        let rendered = session.render(&mut user, None, &mut Vec::new());
        rendered.expect("a request");
        judge(&session, &mut user, 200, "", "");
    }
}

/// Returns the head of the user's next request, and the verdict on the response.
fn exchange(session: &Session<'_>, user: &mut User, answer: (u16, &str, &str)) -> String {
    let mut out = Vec::new();
    session.render(user, None, &mut out).expect("a request");
    let (status, head, body) = answer;
    assert_eq!(judge(session, user, status, head, body), Verdict::Passed);
    String::from_utf8(out).expect("text")
}

#[test]
fn a_user_with_a_cache_asks_as_a_browser_does() {
    let flow = "GET /page\nHTTP 200\n\nGET /logo\nHTTP 200\n[Captures]\nlogo: body\n\n\
                GET /style?{{logo}}\nHTTP 200\n[Asserts]\nbody == \"css\"\n\nGET /news\nHTTP 200\n";
    let scenario = changed(&[(flow, 1)], |flow| flow.cache = true);
    let session = scenario.session(0);
    let mut user = session.user(0);
    let asked = |request: &str, line: &str, condition: Option<&str>| {
        assert!(
            request.starts_with(&format!("GET /app{line} HTTP")),
            "{request}"
        );
        let found = request.lines().find(|line| line.starts_with("If-"));
        assert_eq!(found, condition, "{request}");
    };
    let page = (200, "ETag: \"p\"\nCache-Control: max-age=60\n", "page");
    let logo = (200, "Cache-Control: public, max-age=60\n", "v1");
    let style = (200, "Last-Modified: Thu, 20 Nov 2025 09:00:00 GMT\n", "css");
    let news = (200, "Cache-Control: no-store\nETag: \"n\"\n", "news");
    asked(&exchange(&session, &mut user, page), "/page", None);
    asked(&exchange(&session, &mut user, logo), "/logo", None);
    asked(&exchange(&session, &mut user, style), "/style?v1", None);
    asked(&exchange(&session, &mut user, news), "/news", None);
    // The page is always asked for, the logo is fresh and still captured, "not modified" stands for
    // the style.
    let unchanged = (304, "", "");
    let page = exchange(&session, &mut user, unchanged);
    asked(&page, "/page", Some("If-None-Match: \"p\""));
    let style = exchange(&session, &mut user, unchanged);
    let since = "If-Modified-Since: Thu, 20 Nov 2025 09:00:00 GMT";
    asked(&style, "/style?v1", Some(since));
    asked(&exchange(&session, &mut user, news), "/news", None);
    // Another user has kept nothing.
    let mut other = session.user(1);
    asked(&exchange(&session, &mut other, logo), "/page", None);
}

#[test]
fn what_a_request_changed_is_asked_for_again() {
    let flow = "GET /cart\nHTTP 200\n\nGET /logo\nHTTP 200\n\nPOST /cart\n[Form]\na: 1\nHTTP *\n\n\
                GET /cart\nHTTP 200\n[Asserts]\nbody == \"full\"\n\nGET /logo\nHTTP 200\n\nGET /end\nHTTP 200\n";
    let scenario = changed(&[(flow, 1)], |flow| flow.cache = true);
    let session = scenario.session(0);
    let mut user = session.user(0);
    let fresh = "Cache-Control: max-age=60\nETag: \"e\"\n";
    let mut lines = Vec::new();
    for (status, body) in [
        (200, "empty"),
        (200, "logo"),
        (303, ""),
        (200, "full"),
        (200, ""),
    ] {
        let request = exchange(&session, &mut user, (status, fresh, body));
        assert!(!request.contains("If-None-Match"), "{request}");
        let line = request.lines().next().unwrap_or_default();
        lines.push(line.trim_end_matches(" HTTP/1.1").to_owned());
    }
    // The logo is still fresh.
    let expected = [
        "GET /app/cart",
        "GET /app/logo",
        "POST /app/cart",
        "GET /app/cart",
        "GET /app/end",
    ];
    assert_eq!(lines, expected);
}

/// A captured path behind the base URL is unchanged, and one without a slash gets one.
#[test]
fn a_path_in_a_variable_follows_the_base_url_as_it_is() {
    let sent = |place: &str| {
        let spec = Spec {
            base_url: "http://localhost:5000".to_owned(),
            flows: vec![FlowSpec {
                file: Some("flow.hurl".into()),
                weight: 1,
                ..FlowSpec::default()
            }],
            variables: vec![("place".to_owned(), place.to_owned())],
            ..Spec::default()
        };
        let mut read = |_: &Path| Ok(b"GET {{base_url}}{{place}}\n".to_vec());
        let scenario = Scenario::build(&spec, &mut read).expect("a scenario");
        let session = scenario.session(0);
        let (mut user, mut out) = (session.user(0), Vec::new());
        session
            .render(&mut user, None, &mut out)
            .expect("a request");
        let text = String::from_utf8_lossy(&out).into_owned();
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(sent("/posts/41"), "GET /posts/41 HTTP/1.1");
    assert_eq!(sent("posts"), "GET /posts HTTP/1.1");
}
