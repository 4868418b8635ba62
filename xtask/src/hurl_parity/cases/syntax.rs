//! Spelling: forms written by hand, and sound flows damaged at random.

use super::{Case, answer, json};
use crate::hurl_parity::random::Random;

/// Asserts below an answer `{"a": 1, "b": "x"}`.
const ASSERTS: [&str; 54] = [
    "status==200",
    "status equals 200",
    "status greaterThan 100",
    "status == 0200",
    "status == 2e2",
    "status == 200.0",
    "status not==201",
    "status not == 201",
    "status not  == 201",
    "status  ==  200",
    "status\t==\t200",
    " status == 200",
    "status == 200 # c",
    "status == 200#c",
    "# c\nstatus == 200",
    "\nstatus == 200\n\n",
    "status == 200;",
    "status = 200",
    "status === 200",
    "status",
    "== 200",
    "Status == 200",
    "status == +200",
    "status == -200",
    "status == .5",
    "status == 200.",
    "status == 1_000",
    "jsonpath \"$.b\" == \"x\"",
    "jsonpath '$.b' == 'x'",
    "jsonpath `$.b` == `x`",
    "jsonpath $.b == x",
    "jsonpath\"$.b\" == \"x\"",
    "jsonpath \"$.b\"==\"x\"",
    "jsonpath \"$.b\" \"x\"",
    "jsonpath \"$.b\" == \"\\x\"",
    "jsonpath \"$.b\" == \"\\u{78}\"",
    "jsonpath \"$.b\" == \"x",
    "jsonpath \"$.b\" replace /x/ \"y\" == \"y\"",
    "jsonpath \"$.b\" replace \"x\" \"y\" == \"y\"",
    "jsonpath \"$.b\" matches /x/",
    "jsonpath \"$.b\" matches /x",
    "jsonpath \"$.b\" matches /\\//",
    "jsonpath \"$.b\" matches x",
    "jsonpath \"$.b\" startsWith 1",
    "jsonpath \"$.b\" contains",
    "jsonpath \"$.b\" not not == \"y\"",
    "jsonpath \"$.b\" exists exists",
    "jsonpath \"$.b\" count",
    "body contains \"x\" ",
    "status toString == \"200\"",
    "status nth == 1",
    "status nth \"0\" exists",
    "variable \"newUuid\" exists",
    "cookie \"a[X]\" exists",
];

/// Whole flows.
const FLOWS: [&str; 40] = [
    "",
    "\n\n",
    "# only a comment\n",
    "GET §/echo",
    "GET §/echo\n\n\nGET §/echo\n",
    "GET §/echo\nGET §/echo\n",
    "get §/echo\n",
    "GET\t§/echo\n",
    "GET  §/echo  \n",
    "GET §/echo # c\n",
    " GET §/echo\n",
    "GET §/echo\r\nHTTP 200\r\n",
    "GETX §/echo\n",
    "CUSTOM §/echo\n",
    "GET §/a b\n",
    "GET §/é\n",
    "GET §/a%20b\n",
    "GET §/a#frag\n",
    "GET §/a?b=c&d\n",
    "GET §/a?b=c d\n",
    "GET §/[x]\n",
    "GET §/a\\b\n",
    "GET §/../x\n",
    "GET §//x\n",
    "GET §/?a=1\n[Query]\nb: 2\n",
    "GET §/echo\nA : 1\n",
    "GET §/echo\nA:1\n",
    "GET §/echo\nA: 1 \n",
    "GET §/echo\n A: 1\n",
    "GET §/echo\n#c\nA: 1\n#d\n\nB: 2\n",
    "GET §/echo\n[query]\na: 1\n",
    "GET §/echo\n[Query]\na : 1\n",
    "GET §/echo\n[Query] # c\na: 1 # d\n",
    "GET §/echo\n[Nothing]\n",
    "GET §/echo\n[Query]\na: 1\nA: 1\n`x`\n",
    "POST §/echo\n[Form]\na: 1\n`x`\n",
    "POST §/echo\n[Form]\na: 1\n[Multipart]\nb: 2\n",
    "POST §/echo\n`x` \nHTTP 200\n",
    "GET §/echo\nHTTP 200\nGET §/echo\nHTTP 200\n",
    "GET §/echo\n[Query]\na: \\u{e9}\\n\\x\n",
];

pub(super) fn written() -> Vec<Case> {
    let url = json(r#"{"a": 1, "b": "x"}"#);
    let assert = |assert: &&str| {
        let text = format!("GET {url}\nHTTP 200\n[Asserts]\n{assert}\n");
        Case::new(format!("syntax {assert}"), text)
    };
    let flow = |flow: &&str| Case::new(format!("syntax {flow:?}"), *flow);
    ASSERTS
        .iter()
        .map(assert)
        .chain(FLOWS.iter().map(flow))
        .collect()
}

/// Flows with a letter taken away, doubled, or put in at a random place behind the first URL.
pub(super) fn damaged(random: &mut Random, count: usize) -> Vec<Case> {
    const LETTERS: [&str; 30] = [
        " ", "\n", "\t", "\"", "'", "`", "#", "\\", "/", ":", ";", ",", ".", "{", "}", "{{", "}}",
        "[", "]", "=", "<", "-", "0", "1", "e", "not ", "é", "$", "*", "&",
    ];
    let flows = sound();
    let mut cases = Vec::new();
    while cases.len() < count {
        let mut letters: Vec<String> = random.of(&flows).chars().map(String::from).collect();
        let first = letters
            .iter()
            .position(|letter| letter == "\n")
            .unwrap_or(0);
        let at = first + random.below(letters.len() - first);
        match random.below(3) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at].clone()),
            _ => letters.insert(at, (*random.of(&LETTERS)).to_owned()),
        }
        cases.push(Case::new("damaged flow", letters.concat()));
    }
    cases
}

fn sound() -> Vec<String> {
    let url = json(r#"{"a": 1, "b": "x", "c": [1, 2], "d": null}"#);
    let other = answer(200, "X: 1\nSet-Cookie: k=v; Path=/", "hello world");
    vec![
        format!("GET {url}\nHTTP 200\n[Asserts]\njsonpath \"$.a\" == 1\njsonpath \"$.b\" startsWith \"x\"\njsonpath \"$.c\" count == 2\n"),
        format!("GET {url}\nHTTP 200\n[Asserts]\njsonpath \"$.c[0]\" not == 2.5\njsonpath \"$.d\" == null\nstatus < 300\n"),
        format!("GET {other}\nHTTP 200\nX: 1\n[Captures]\nv: regex \"h(.*)o\" # c\nw: body split \" \" nth 1\n[Asserts]\nbody contains \"hello\"\ncookie \"k\" exists\n`hello world`\n"),
        format!("GET {other}\nHTTP 200\n[Asserts]\nbody matches /^hello\\s/\nbytes startsWith hex,6865;\nbody replace \"h\" \"j\" == \"jello world\"\n"),
        "POST §/echo\nA: 1\n[Query]\nq: {{abc}}\n[Options]\nrepeat: 1\n{\"a\": [1, true, null, \"{{abc}}\"], \"b\": {\"c\": -1.5}}\nHTTP 200\n".to_owned(),
        "POST §/echo\n[Form]\na: 1\nb: {{two}} x\n[Cookies]\nc: d\n\nHTTP 200\n[Captures]\nv: body\n\n# next\nGET §/x?a={{abc}}\nHTTP *\n".to_owned(),
        "POST §/echo\n```json\n{\"a\": \"{{abc}}\"}\n```\nHTTP 200\n\nPUT §/echo\n`a {{abc}} b`\nHTTP 200\n".to_owned(),
        "POST §/echo\n<a b=\"1\"><c/>text</a>\nHTTP 200\n\nPOST §/echo\nbase64,aGVsbG8=;\nHTTP 200\n".to_owned(),
    ]
}
