//! Unsupported grammar is refused, with the place, before anything starts.

use std::path::Path;

use scenario::{CapturePoints, FlowSpec, FlowText, Scenario, Spec};

fn build(flow: &str, change: impl Fn(&mut Spec)) -> Result<Scenario, String> {
    let mut spec = Spec {
        base_url: "http://127.0.0.1:5000".to_owned(),
        flows: vec![FlowSpec {
            file: Some("flows/a.hurl".into()),
            weight: 1,
            feed: None,
            ..FlowSpec::default()
        }],
        ..Spec::default()
    };
    change(&mut spec);
    let mut read = |path: &Path| match path.to_str() {
        Some("flows/a.hurl") => Ok(flow.as_bytes().to_vec()),
        Some("flows/cat.png") => Ok(b"cat".to_vec()),
        Some("users.csv") => Ok(b"name,password\na,b\n".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    Scenario::build(&spec, &mut read).map_err(|error| error.to_string())
}

/// Checks a flow refused at `line:column`, with a message containing `expected`.
fn check(flow: &str, place: &str, expected: &str) {
    let error = build(flow, |_| {}).expect_err(flow);
    let start = format!("flows/a.hurl:{place}: ");
    assert!(error.starts_with(&start), "{error}\nfor\n{flow}");
    assert!(error.contains(expected), "{error}\nfor\n{flow}");
}

#[test]
fn the_message_shows_the_line_and_a_caret() {
    let error =
        build("GET /a\nHTTP 200\n[Asserts]\n\tstatus ~= 200\n", |_| {}).expect_err("refused");
    assert_eq!(
        error,
        "flows/a.hurl:4:9: expected a filter or a predicate, such as `==`, `contains`, `exists`\n\
         4 | \tstatus ~= 200\n\
         \u{20} | \t       ^"
    );
}

#[test]
fn grammar_that_is_not_run_is_refused() {
    check("get /a\n", "1:1", "expected a request");
    check("GET\n", "1:1", "expected a request");
    check("GET /a b\n", "1:8", "end of the line");
    check("HTTP 200\n", "1:1", "no request before it");
    check("CONNECT a:1\n", "1:1", "CONNECT");
    check(
        "GET /a\n[Options]\nproxy: a:1\n",
        "3:1",
        "`proxy` is not run",
    );
    check("GET /a\n[Options]\ndelay: soon\n", "3:8", "a time");
    check("GET /a\n[Options]\nrepeat: -1\n", "3:9", "a number");
    check(
        "GET /a\n[Options]\nrepeat: {{n}}\n",
        "3:1",
        "`n` has no value",
    );
    check("GET /a\n[Options]\nfaster: 1\n", "3:1", "not known");
    check("GET /a\n[Unknown]\n", "2:1", "`[Unknown]`");
    check("GET /a\n[Captures]\n", "2:1", "not run in this place");
    check("GET /a\nHTTP/3 200\n", "2:1", "HTTP/1.1");
    check("GET /a\nHTTP 20\n", "2:6", "status");
    check(
        "GET /a\nHTTP 200\n[Asserts]\nip == \"127.0.0.1\"\n",
        "4:1",
        "`ip` is not run",
    );
    check(
        "GET /a\nHTTP 200\n[Asserts]\nbody xpath \"//a[\" exists\n",
        "4:12",
        "not an XPath",
    );
    check("GET /a\nHTTP 200\n[Asserts]\nstatus\n", "4:7", "a space");
    check(
        "GET /a\nHTTP 200\n[Asserts]\nstatus == soon\n",
        "4:11",
        "a value",
    );
    check(
        "GET /a\nHTTP 200\n[Asserts]\nbody matches \"(\"\n",
        "4:14",
        "regular expression",
    );
    check(
        "GET /a\nHTTP 200\n[Asserts]\njsonpath \"a\" exists\n",
        "4:10",
        "JSONPath",
    );
    check(
        "GET /a\nHTTP 200\n[Captures]\nx y: status\n",
        "4:1",
        "expected `name: query`",
    );
    check("POST /a\n<a>\n", "2:1", "XML does not end");
    check("POST /a\n{\"a\": }\n", "2:7", "JSON value");
    check("POST /a\n{\"a\": 1\n", "3:1", "`}`");
    check("POST /a\n```yaml\n```\n", "2:4", "not run");
    check("POST /a\n```\nx\n", "2:1", "no closing");
    check("POST /a\nhex,abc;\n", "2:1", "encoded bytes");
    check(
        "POST /a\n[Form]\na: 1\n[Multipart]\nb: 2\n",
        "4:1",
        "one form",
    );
    check("POST /a\n[Form]\na: 1\n\nHTTP 200\nfile,x\n", "6:7", "`;`");
    check("POST /a\n[Form]\na: 1\n`text`\n", "4:1", "not both");
    check("GET /{{x\n", "1:6", "no matching");
    check("GET /a\nX: a\\q\n", "2:5", "unknown escape");
}

#[test]
fn a_body_in_chunks_is_refused() {
    let flow = "POST /a\ntransfer-encoding: chunked\n`text`\n";
    check(flow, "1:1", "leave `Transfer-Encoding` out");
    let option = "POST /a\n[Options]\nheader: Transfer-Encoding: chunked\n";
    check(option, "1:1", "leave `Transfer-Encoding` out");
}

#[test]
fn names_without_a_value_are_refused() {
    check("GET /{{id}}\n", "1:1", "`id` has no value");
    check("POST /a\n{\"a\": \"{{id}}\"}\n", "1:1", "`id` has no value");
    check(
        "GET /a\nHTTP 200\n[Asserts]\nstatus == {{id}}\n",
        "4:1",
        "`id` has no value",
    );
    check(
        "GET /a\nHTTP 200\n[Captures]\nuser: status\n",
        "4:1",
        "another name",
    );
    let captured = "GET /a\nHTTP 200\n[Captures]\nid: status\n\nGET /{{id}}/{{user}}/{{newUuid}}\n";
    assert!(build(captured, |_| {}).is_ok());
    let variable = |spec: &mut Spec| spec.variables.push(("id".to_owned(), "1".to_owned()));
    assert!(build("GET /{{id}}\n", variable).is_ok());
    let feed = |spec: &mut Spec| spec.flows[0].feed = Some("users.csv".into());
    assert!(build("GET /{{name}}\n", feed).is_ok());
}

#[test]
fn urls_that_lead_elsewhere_are_refused() {
    check("GET http://example.org/\n", "1:1", "points to another host");
    check(
        "GET http://127.0.0.1:50001/\n",
        "1:1",
        "points to another host",
    );
    check("GET a\n", "1:1", "points to another host");
    for url in [
        "/",
        "{{base_url}}",
        "{{base_url}}/x",
        "http://127.0.0.1:5000/x",
        "http://127.0.0.1:5000",
    ] {
        assert!(build(&format!("GET {url}\n"), |_| {}).is_ok(), "{url}");
    }
}

#[test]
fn files_of_tls_are_looked_for_where_there_is_tls() {
    for (option, expected) in [
        ("cacert: none.pem", Some("flows/a.hurl:3:1: none.pem: ")),
        ("cert: none.pem", Some("flows/a.hurl:3:1: none.pem: ")),
        ("key: cat.png", Some("`key` belongs to a certificate")),
        ("cacert: cat.png", None),
    ] {
        let flow = format!("GET /\n[Options]\n{option}\n");
        let refused = |url: &str| build(&flow, |spec| spec.base_url = url.to_owned()).err();
        assert_eq!(refused("http://127.0.0.1:5000"), None, "{option}");
        let over_tls = refused("https://127.0.0.1:5000");
        match expected {
            None => assert_eq!(over_tls, None, "{option}"),
            Some(part) => {
                let error = over_tls.expect(option);
                assert!(error.contains(part), "{option}: {error}");
            }
        }
    }
}

#[test]
fn a_description_that_makes_no_sense_is_refused() {
    let check = |change: &dyn Fn(&mut Spec), expected: &str| {
        let error = build("GET /\n", change).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    };
    check(&|spec| spec.flows.clear(), "at least one flow");
    check(&|spec| spec.flows[0].weight = 0, "weight");
    check(
        &|spec| spec.base_url = "localhost".to_owned(),
        "expected a URL",
    );
    check(
        &|spec| spec.base_url = "ftp://localhost".to_owned(),
        "expected a URL",
    );
    check(
        &|spec| spec.flows[0].file = Some("flows/b.hurl".into()),
        "cannot read flows/b.hurl",
    );
    check(
        &|spec| spec.flows[0].feed = Some("b.csv".into()),
        "cannot read b.csv",
    );
    check(
        &|spec| spec.variables.push(("user".to_owned(), String::new())),
        "`user`",
    );
    let points = || CapturePoints {
        name: "x".to_owned(),
        points: 1.0,
    };
    check(
        &|spec| spec.score.captures.push(points()),
        "no flow captures it",
    );
    let error = build("POST /\n[Multipart]\na: file,dog.png;\n", |_| {}).expect_err("no dog");
    assert!(error.starts_with("cannot read flows/dog.png"), "{error}");
    assert!(build("# only a comment\n", |_| {}).is_err());
}

/// The flows of the example app are accepted.
#[test]
fn the_example_apps_flows_are_read() {
    let flows = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/chat/flows");
    let mut count = 0;
    for file in std::fs::read_dir(flows)
        .expect("the chat's flows")
        .flatten()
    {
        let path = file.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "hurl")
        {
            let text = std::fs::read_to_string(&path).expect("a flow");
            let flow = FlowText::parse(&path.display().to_string(), &text);
            let flow = flow.unwrap_or_else(|error| panic!("{error}"));
            let again = FlowText::parse("printed", &flow.to_string()).expect("a printed flow");
            assert_eq!(again, flow, "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 0, "no flows");
}
