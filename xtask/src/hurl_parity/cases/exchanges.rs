//! What is sent: methods, sections, bodies, options, redirects, templates.

use super::{Case, answer, json};

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// What stands below `POST §/echo`.
const REQUESTS: [&str; 99] = [
    "[Query]\na: 1\nb: x y",
    "[Query]\na[0]: 1\n$top: 5",
    "[Query]\na: {{spaced}}",
    "[Query]\na: é",
    "[Query]\na:",
    "[QueryStringParams]\na: 1",
    "[Query]\na: 1\n[Query]\nb: 2",
    "[Form]\na: 1\nb: x y&z",
    "[Form]\na: {{spaced}}\nb: é",
    "[FormParams]\na: 1\na: 2",
    "[Form]\na:",
    "[Form]\n",
    "[Query]\n",
    "[BasicAuth]\nuser: pass",
    "[BasicAuth]\nuser: {{abc}}",
    "[BasicAuth]\n",
    "[BasicAuth]\nuser:",
    "[Cookies]\na: 1\nb: x y",
    "[Cookies]\na: \"q\"",
    "[Cookies]\na: {{abc}}",
    "[Multipart]\na: 1",
    "[Multipart]\na: file,hello.txt;",
    "[Multipart]\na: file,hello.txt; text/plain",
    "[Multipart]\na: file,hello.txt; text/csv\nb: {{abc}}",
    "[Multipart]\na: file,data.json;",
    "[Multipart]\na: file,missing.txt;",
    "[MultipartFormData]\na: é",
    "{\"a\": 1}",
    "{\"a\": {{two}}}",
    "{\"a\": {{abc}}}",
    "{\"a\": \"{{abc}}\"}",
    "{\"a\": {{half}}}",
    "{\"a\": {{none}}}",
    "{\"a\": {{yes}}}",
    "{\"{{abc}}\": 1}",
    "[1, 2]",
    "[\n1\n]",
    "\"text\"",
    "true",
    "null",
    "12",
    "-1.5e3",
    "{\"a\": \"\\u00e9\"}",
    "{\"a\": \"\\uf64\"}",
    "{\"a\": \"\\ud800\"}",
    "{\"a\": \"\\ud83d\\ude00\"}",
    "{\"a\": \"\\x\"}",
    "{\"a\": 01}",
    "{\"a\": 1,}",
    "{\"a\" : [ ] , \"b\": { } }",
    "{}",
    "<a>x</a>",
    "<a b=\"1\"/>",
    "<a b=1/>",
    "<a>&</a>",
    "<?xml version=\"1.0\"?>\n<a>é</a>",
    "<a>{{abc}}</a>",
    "<a><b></a>",
    "`text`",
    "`a {{abc}} b`",
    "`a \\` b`",
    "`a\\nb`",
    "`\\u{e9}`",
    "`a \\{\\{b`",
    "``",
    "```\ntext\n```",
    "```\n{{abc}}\n```",
    "```\n\n```",
    "``````",
    "```text```",
    "```json\n{\"a\": {{abc}}}\n```",
    "```xml\n<a/>\n```",
    "```raw\n{{abc}}\n```",
    "```,novariable\n{{abc}}\n```",
    "```,escape\na\\nb\n```",
    "```base64\naGVs\nbG8=\n```",
    "```hex\n68 65\n6c\n```",
    "```hex\n686\n```",
    "```graphql\nquery { a }\n```",
    "```graphql\nquery Q($a: Int) { a }\n\nvariables { \"a\": 1 }\n```",
    "```graphql\nquery { a(b: \"{{abc}}\") }\n```",
    "```other\nx\n```",
    "base64,aGVsbG8=;",
    "base64,aGVs bG8=;",
    "base64,aG;",
    "hex,68656c;",
    "hex,6;",
    "hex,68 65;",
    "file,hello.txt;",
    "file,missing.txt;",
    "file,{{abc}}.txt;",
    "A: 1\nA: 2\nb:x",
    "A: {{abc}}",
    "A: {{missing}}",
    "Content-Type: text/x\n\n`a`",
    "Content-Type: application/xml\n`a`",
    "A: é",
    "A:",
    "A: a: b # c",
];

/// Options of `GET §/echo`.
const OPTIONS: [&str; 101] = [
    "header: A: 1",
    "header: A: {{abc}}",
    "header: {{abc}}: 1",
    "user: a:b",
    "user: {{abc}}:b",
    "user: a",
    "user: a:b:c",
    "variable: x=1",
    "variable: x={{abc}}",
    "variable: x=\"1\"",
    "variable: newUuid=1",
    "variable: x",
    "variable: x=true",
    "variable: x=1.0",
    "variable: x=null",
    "repeat: 0",
    "repeat: 2",
    "repeat: {{two}}",
    "repeat: -2",
    "skip: true",
    "skip: false",
    "skip: {{yes}}",
    "skip: 1",
    "skip: {{two}}",
    "delay: 1",
    "delay: 1ms",
    "delay: 1s",
    "delay: {{two}}",
    "delay: 1x",
    "delay: -1",
    "compressed: true",
    "location: true",
    "location: {{yes}}",
    "location: yes",
    "location-trusted: true",
    "max-redirs: 3",
    "max-redirs: {{two}}",
    "max-redirs: -1",
    "max-redirs: -2",
    "max-redirs: x",
    "http1.1: true",
    "http1.1: false",
    "verbose: true",
    "verbose: false",
    "very-verbose: true",
    "insecure: true",
    "retry: 1",
    "retry: 0",
    "retry-interval: 5",
    "connect-timeout: 3",
    "max-time: 3",
    "path-as-is: true",
    "ipv4: true",
    "http1.0: true",
    "unknown: 1",
    "Location: true",
    "output: /dev/null",
    "limit-rate: 100000",
    "limit-rate: 0",
    "limit-rate: x",
    "limit-rate: -1",
    "limit-rate: {{abc}}",
    "insecure: false",
    "insecure: {{yes}}",
    "insecure: {{abc}}",
    "insecure: yes",
    "cacert: hello.txt",
    "cacert: missing.pem",
    "cacert: {{path}}.pem",
    "cert: hello.txt",
    "cert: hello.txt:password",
    "cert: hello.txt\nkey: data.json",
    "cert: missing.pem",
    "key: hello.txt",
    "connect-to: other.test:80:127.0.0.1:1",
    "connect-to: ::127.0.0.1:1",
    "connect-to: 127.0.0.1::127.0.0.1:1",
    "connect-to: :::",
    "connect-to: other.test:80",
    "connect-to: {{abc}}:80:127.0.0.1:1",
    "connect-to: other.test:80:127.0.0.1:1\nconnect-to: ::127.0.0.1:1",
    "resolve: other.test:80:127.0.0.9",
    "resolve: {{abc}}:80:127.0.0.9",
    "resolve: other.test:80",
    "resolve: other.test:80:nowhere",
    "netrc: true",
    "netrc: false",
    "netrc-optional: true",
    "netrc-file: netrc.txt",
    "netrc-file: netrc.txt\nuser: c:d",
    "netrc-file: netrc.txt\nheader: Authorization: x",
    "netrc-file: missing.txt",
    "netrc-file: missing.txt\nnetrc-optional: true",
    "netrc-file: {{path}}.txt",
    "aws-sigv4: aws:amz:eu-west-1:sqs\nuser: id:secret",
    "aws-sigv4: aws:amz:eu-west-1:s3\nuser: id:secret",
    "aws-sigv4: osc\nuser: id:secret",
    "aws-sigv4: aws:amz:{{abc}}:sqs\nuser: {{abc}}:{{two}}",
    "aws-sigv4: aws:amz:eu-west-1:sqs",
    "aws-sigv4: aws:amz:eu-west-1:sqs\nnetrc-file: netrc.txt",
    "aws-sigv4: aws:amz:eu-west-1:sqs\nuser: id:secret\nheader: Authorization: own",
];

/// Templates in `§/echo?v=…` and in a body.
const TEMPLATES: [&str; 18] = [
    "{{abc}}",
    "{{ abc }}",
    "{{two}}",
    "{{half}}",
    "{{yes}}",
    "{{none}}",
    "{{quoted}}",
    "{{path}}/{{path}}",
    "{{missing}}",
    "{{abc count}}",
    "{{abc urlEncode}}",
    "{{abc regex \"b(.)\"}}",
    "{{}}",
    "{{abc",
    "{abc}",
    "{{abc}}}",
    "{{a-b}}",
    "{{abc unknown}}",
];

/// Demands in place of the status line and below, for a response `200` with `X: 1` and `text`.
const DEMANDS: [&str; 36] = [
    "HTTP 200",
    "HTTP 201",
    "HTTP *",
    "HTTP/1.1 200",
    "HTTP/1.0 200",
    "HTTP/2 200",
    "HTTP 2000",
    "HTTP 20",
    "http 200",
    "HTTP  200",
    "HTTP",
    "HTTP 200\nX: 1",
    "HTTP 200\nx: 1",
    "HTTP 200\nX: 2",
    "HTTP 200\nY: 1",
    "HTTP 200\nX: {{abc}}",
    "HTTP 200\n`text`",
    "HTTP 200\n`tex`",
    "HTTP 200\n```\ntext\n```",
    "HTTP 200\n```text```",
    "HTTP 200\nhex,74657874;",
    "HTTP 200\nbase64,dGV4dA==;",
    "HTTP 200\nfile,hello.txt;",
    "HTTP 200\n{\"a\": 1}",
    "HTTP 200\n[Asserts]",
    "HTTP 200\n[Captures]",
    "HTTP 200\n[Captures]\na: status\na: status",
    "HTTP 200\n[Captures]\n{{abc}}: status",
    "HTTP 200\n[Captures]\na: header \"None\"",
    "HTTP 200\n[Captures]\na: status redact",
    "HTTP 200\n[Asserts]\nstatus == 200\n[Captures]\na: status",
    "HTTP 200\n[Asserts]\nstatus == 200\n[Asserts]\nstatus == 200",
    "HTTP 200\n[Captures]\na: status\n[Asserts]\nvariable \"a\" == 200",
    "HTTP 200\n[Captures]\nnewUuid: status",
    "HTTP 200\n[Query]\na: 1",
    "",
];
/// JSON responses against JSON demands.
const BODIES: [(&str, &str); 8] = [
    ("{\"a\": 1}", "{\"a\":1}"),
    ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"),
    ("[1]", "[1.0]"),
    ("{\"a\":1}", "{\"a\":2}"),
    ("{\"a\":\"abc\"}", "{\"a\":\"{{abc}}\"}"),
    ("1", "1"),
    ("{\"a\": 1}", "`{\"a\": 1}`"),
    ("<a/>", "<a/>"),
];

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for request in REQUESTS {
        let cause = format!("request {}", request.replace('\n', "\\n"));
        for (method, end) in [
            ("POST", "\n"),
            ("PUT", "\nHTTP 200\n"),
            ("GET", "\n\nHTTP 200\n"),
        ] {
            cases.push(Case::new(
                cause.clone(),
                format!("{method} §/echo\n{request}{end}"),
            ));
        }
    }
    for option in OPTIONS {
        for method in ["GET", "POST"] {
            let text = format!(
                "{method} §/echo\n[Options]\n{option}\nHTTP 200\n\nGET §/after\nHTTP 200\n"
            );
            cases.push(Case::new(format!("option {option}"), text));
        }
    }
    for template in TEMPLATES {
        let forms = [
            format!("GET §/echo?v={template}\n"),
            format!("POST §/echo\n`{template}`\n"),
            format!("GET §/echo\nX: {template}\n"),
            format!("GET §/echo\n[Query]\nv: {template}\n"),
            format!("POST §/echo\n{{\"a\": {template}}}\n"),
            format!(
                "GET {}\nHTTP 200\n[Asserts]\nheader \"X\" == \"{template}\"\n",
                answer(200, "X: abc", "")
            ),
            format!(
                "GET {}\nHTTP 200\n[Asserts]\nheader \"X\" == {template}\n",
                answer(200, "X: abc", "")
            ),
        ];
        cases.extend(forms.map(|text| Case::new(format!("template {template}"), text)));
    }
    for demand in DEMANDS {
        let cause = format!("demand {}", demand.replace('\n', "\\n"));
        let url = answer(200, "X: 1", "text");
        cases.push(Case::new(cause.clone(), format!("GET {url}\n{demand}\n")));
        let url = answer(404, "X: 1\nX: {{abc}}", "text");
        cases.push(Case::new(
            cause,
            format!("GET {url}\n{demand}\n\nGET §/echo\n"),
        ));
    }
    for (body, demand) in BODIES {
        let text = format!("GET {}\nHTTP 200\n{demand}\n", json(body));
        cases.push(Case::new(format!("demand {demand} of {body}"), text));
    }
    cases.extend(redirects());
    cases.extend(retries());
    cases
}

/// Tries of `§/tries/N`, which answers well to the Nth request.
fn retries() -> Vec<Case> {
    const TRIES: [&str; 9] = [
        "retry: 0",
        "retry: 1",
        "retry: 2",
        "retry: 5",
        "retry: -1",
        "retry: {{two}}",
        "retry: {{abc}}",
        "retry: 3\nrepeat: 2",
        "retry: 3\nlocation: true",
    ];
    const DEMANDS: [&str; 4] = [
        "HTTP 200",
        "HTTP *\n[Asserts]\nbody contains \"GET\"",
        "HTTP *\n[Captures]\nx: header \"None\"\n[Asserts]\nstatus == 200",
        "HTTP *\n[Captures]\nx: status\n[Asserts]\nstatus == 200",
    ];
    let mut cases = Vec::new();
    for tries in TRIES {
        for demand in DEMANDS {
            for enough in [1, 2, 3] {
                // What never holds is tried for ever.
                if tries == "retry: -1" && demand.contains("None") {
                    continue;
                }
                let text = format!(
                    "GET §/tries/{enough}\n[Options]\nretry-interval: 1ms\n{tries}\n{demand}\n\nGET §/after\n"
                );
                cases.push(Case::new(format!("retry {tries:?}"), text));
            }
        }
    }
    cases
}

fn redirects() -> Vec<Case> {
    const STATUSES: [u16; 6] = [301, 302, 303, 307, 308, 304];
    const GOALS: [&str; 4] = ["§/echo", "echo?x", "?y", ""];
    let mut cases = Vec::new();
    for method in METHODS {
        for status in STATUSES {
            for goal in GOALS {
                let url = answer(status, &format!("Location: {goal}"), "");
                let body = if matches!(method, "POST" | "PUT" | "PATCH") {
                    "`text`\n"
                } else {
                    ""
                };
                for options in [
                    "location: true",
                    "location: true\nmax-redirs: 0",
                    "location: false",
                ] {
                    // Relative goals lead below the answer's own path, which ends the chain only
                    // there.
                    let text = format!(
                        "{method} {url}\n[Options]\n{options}\n{body}\nGET §/end\nHTTP 200\n"
                    );
                    cases.push(Case::new(
                        format!("redirect {method} {status} {options:?}"),
                        text,
                    ));
                }
            }
        }
    }
    let url = answer(302, "Location: §/echo", "");
    for check in [
        "redirects count == 1",
        "redirects nth 0 location endsWith \"/echo\"",
        "url endsWith \"/echo\"",
        "status == 200",
        "redirects first exists",
        "redirects isList",
        "redirects nth 0 isObject",
        "redirects nth 1 not exists",
    ] {
        let text = format!("GET {url}\n[Options]\nlocation: true\nHTTP 200\n[Asserts]\n{check}\n");
        cases.push(Case::new(format!("redirects {check}"), text));
    }
    cases
}
