//! Forms of JSONPath over a few documents.

use super::{Case, json};

const STORE: &str = r#"{"store":{"book":[{"title":"A","price":8,"isbn":"1"},{"title":"B","price":12.5},
{"title":"C","price":8}],"bicycle":{"color":"red","price":19.95}},"list":[0,1,2,3],"one":[7],"empty":[],
"a b":1,"a'b":2,"":3,"nested":{"list":[[1,2],[3,4]]},"nul":null,"items":[{"id":"x","on":true},{"id":"y","on":false}],
"words":["x","y"],"é":"e","a-b":4,"a.b":5,"$x":6,"0":"zero"}"#;

const PATHS: [&str; 92] = [
    "$",
    "$.store",
    "$.store.book",
    "$.store.book[0]",
    "$.store.book[0].title",
    "$.store.book[*].title",
    "$.store.book[*]",
    "$.store.book[-1].title",
    "$.store.book[-1:].title",
    "$.store.book[0,1].title",
    "$.store.book[0:2].title",
    "$.store.book[:1].title",
    "$.store.book[1:].title",
    "$.store.book[::2].title",
    "$.store.book[?(@.price < 10)].title",
    "$.store.book[?@.price < 10].title",
    "$.store.book[?(@.isbn)].title",
    "$.store.book[?(@.title == 'B')].price",
    "$.store.book[?(@.title=='B')].price",
    "$.store.book[?(@.title == \\\"B\\\")]",
    "$.store.book[?(@.price > 100)]",
    "$.store.book[?(@.price == 8 && @.isbn)].title",
    "$.store.book[?(@.price == 8 || @.price == 12.5)].title",
    "$.store.book[?(!@.isbn)].title",
    "$..price",
    "$..title",
    "$..missing",
    "$.store..price",
    "$..book[0].title",
    "$..book[*].title",
    "$..*",
    "$.store.*",
    "$.*",
    "$.list[*]",
    "$.list[0]",
    "$.list[9]",
    "$.list[-1]",
    "$.list[-9]",
    "$.list[1:3]",
    "$.list[9:]",
    "$.one[*]",
    "$.one[0]",
    "$.empty[*]",
    "$.empty",
    "$.missing",
    "$.missing[*]",
    "$.missing.x",
    "$['store']['bicycle']['color']",
    "$['a b']",
    "$.a b",
    "$['']",
    "$['store','list']",
    "$.nested.list[*][0]",
    "$.nested.list[*][*]",
    "$.nested.list[0][*]",
    "$.nul",
    "$.nul.x",
    "$.items[?(@.id=='x')].on",
    "$.items[?(@.id=='zzz')]",
    "$.items[?(@.id=='zzz')].on",
    "$.items[?(@.on==true)].id",
    "$.items[?(@.on)].id",
    "$.items[?(@.id!='x')].id",
    "$.words[?(@=='x')]",
    "$.é",
    "$.a-b",
    "$['a-b']",
    "$['a.b']",
    "$.$x",
    "$.0",
    "$['0']",
    "$.items[0]['id']",
    "$.items.length()",
    "$.list.length()",
    "$.store.book.length",
    "$.list[?(@>1)]",
    "$.list[?(@ > 1)]",
    "$.list[(@.length-1)]",
    "$.list[0,2]",
    "$.list[ 0 ]",
    "$.list[*",
    "$list",
    "list",
    "store.book",
    "$.",
    "$..",
    "$[",
    "$.items[?(@.id =~ /x/)].id",
    "$.items[?match(@.id, 'x')].id",
    "$.items[?length(@.id) == 1].id",
    "$.items[?count(@.*) == 2].id",
    "$.list[?@ == 1]",
];
const CHECKS: [&str; 9] = [
    "exists",
    "not exists",
    "count == 1",
    "count == 2",
    "isList",
    "isString",
    "isEmpty",
    "nth 0 exists",
    "== \"A\"",
];

pub(super) fn all() -> Vec<Case> {
    let url = json(STORE);
    let mut cases = Vec::new();
    for path in PATHS {
        let cause = format!("jsonpath {path}");
        for check in CHECKS {
            let text = format!("GET {url}\nHTTP 200\n[Asserts]\njsonpath \"{path}\" {check}\n");
            cases.push(Case::new(cause.clone(), text));
        }
        let text = format!(
            "GET {url}\nHTTP 200\n[Captures]\nv: jsonpath \"{path}\"\n\nPOST §/echo\n`{{{{v}}}}`\nHTTP 200\n"
        );
        cases.push(Case::new(cause, text));
    }
    cases
}
