//! Values × predicates, values × filters, and chains of filters.

use super::{Case, answer, json};
use crate::hurl_parity::random::Random;

/// A member a kind of value.
const DOCUMENT: &str = r#"{"nothing":null,"yes":true,"no":false,"zero":0,"one":1,"neg":-7,"onef":1.0,
"half":0.5,"thousand":1000.0,"exp":1e3,"small":1e-7,"big":18446744073709551615,
"bigger":100000000000000000000,"longf":3.14159265358979323846,"text":"hello","empty":"","num":"42","float":"1.70",
"space":" a b ","uni":"é日本","date":"2023-01-23T18:25:43.511Z","day":"2023-01-23 18:25:43",
"ip":"127.0.0.1","ip6":"::1","uuid":"123e4567-e89b-12d3-a456-426614174000",
"uuid32":"123e4567e89b12d3a456426614174000","b64":"aGVsbG8=","b64short":"aGVsbG8","b64url":"_-8=",
"url":"https://x.org/a?b=c&d=%20e","html":"&lt;a&gt; &amp; &#65 foo &ampx &notit;","tags":"a&b<c>\"'",
"pct":"a%20b%2Fc","csv":"a,b,c","lines":"a\nb\n","list":[1,2,3],"texts":["a","b"],"mixed":[1,"a",null,true,1.5],
"elist":[],"single":[1],"nested":[[1,2],[3]],"object":{"a":1,"b":"x"},"eobject":{},"true":"true",
"items":[{"id":"x","name":"n1"},{"id":"y","name":"n2"}]}"#;

/// Members by kind, as `jsonpath "$.name"`, then other queries.
const MEMBERS: [&str; 46] = [
    "nothing", "yes", "no", "zero", "one", "neg", "onef", "half", "thousand", "exp", "small",
    "big", "bigger", "longf", "text", "empty", "num", "float", "space", "uni", "date", "day", "ip",
    "ip6", "uuid", "uuid32", "b64", "b64short", "b64url", "url", "html", "tags", "pct", "csv",
    "lines", "list", "texts", "mixed", "elist", "single", "nested", "object", "eobject", "true",
    "items", "missing",
];
const QUERIES: [&str; 26] = [
    "jsonpath \"$.list[*]\"",
    "jsonpath \"$.single[*]\"",
    "jsonpath \"$.elist[*]\"",
    "jsonpath \"$.missing[*]\"",
    "jsonpath \"$.items[?(@.id=='x')].name\"",
    "status",
    "version",
    "header \"X-One\"",
    "header \"X-Two\"",
    "header \"x-number\"",
    "header \"Missing\"",
    "cookie \"c\"",
    "cookie \"c[Path]\"",
    "cookie \"c[Secure]\"",
    "cookie \"c[Max-Age]\"",
    "cookie \"missing\"",
    "regex \"h(.)llo\"",
    "regex \"zzz(.)\"",
    "regex /\"(em)pty\"/",
    "variable \"abc\"",
    "variable \"two\"",
    "variable \"half\"",
    "variable \"quoted\"",
    "variable \"missing\"",
    "redirects",
    "jsonpath \"$.date\" toDate \"%+\"",
];
/// Queries of the whole body, with a short text as result.
const WHOLE: [&str; 5] = ["body", "bytes", "rawbytes", "sha256", "md5"];
const HEADERS: &str = "Content-Type: application/json\nX-One: one\nX-Two: a\nX-Two: b\nX-Number: 12\n\
    Set-Cookie: c=v; Path=/; Max-Age=60; Secure";

const PREDICATES: [&str; 74] = [
    "== 1",
    "== 1.0",
    "== 0",
    "== -7",
    "== 0.5",
    "== 1000",
    "== \"hello\"",
    "== \"\"",
    "== \"42\"",
    "== 42",
    "== true",
    "== false",
    "== null",
    "== `hello`",
    "== hex,68656c6c6f;",
    "== base64,aGVsbG8=;",
    "== {{abc}}",
    "== {{two}}",
    "== {{half}}",
    "== 1.7",
    "== {{yes}}",
    "== \"{{abc}}\"",
    "== 18446744073709551615",
    "== 100000000000000000000",
    "== file,hello.txt;",
    "!= 1",
    "!= \"hello\"",
    "!= null",
    "!= {{two}}",
    "> 0",
    "> 0.5",
    "> \"a\"",
    "> null",
    ">= 1",
    ">= \"hello\"",
    "< 2",
    "< \"z\"",
    "<= 1",
    "<= 1.0",
    "startsWith \"h\"",
    "startsWith \"\"",
    "startsWith hex,68;",
    "startsWith {{abc}}",
    "endsWith \"o\"",
    "endsWith hex,6f;",
    "contains \"l\"",
    "contains 1",
    "contains \"a\"",
    "contains null",
    "contains hex,6c6c;",
    "includes 1",
    "includes \"a\"",
    "includes null",
    "includes true",
    "matches \"h.*\"",
    "matches /^h/",
    "matches \"^\\\\d+$\"",
    "exists",
    "isBoolean",
    "isCollection",
    "isDate",
    "isEmpty",
    "isFloat",
    "isInteger",
    "isIpv4",
    "isIpv6",
    "isIsoDate",
    "isList",
    "isNumber",
    "isObject",
    "isString",
    "isUuid",
    "matches {{abc}}",
    "matches `h.`",
];

const FILTERS: [&str; 58] = [
    "base64Decode",
    "base64Encode",
    "base64UrlSafeDecode",
    "base64UrlSafeEncode",
    "charsetDecode \"utf-8\"",
    "charsetDecode \"latin1\"",
    "charsetDecode \"none\"",
    "decode \"utf-8\"",
    "count",
    "dateFormat \"%Y-%m\"",
    "format \"%A %d\"",
    "daysAfterNow",
    "daysBeforeNow",
    "first",
    "htmlEscape",
    "htmlUnescape",
    "jsonpath \"$.a\"",
    "jsonpath \"$[0]\"",
    "jsonpath \"$..id\"",
    "jsonpath \"$[*]\"",
    "last",
    "location",
    "nth 0",
    "nth 2",
    "nth -1",
    "nth 9",
    "nth -9",
    "regex \"l+\"",
    "regex \"(l)(o)\"",
    "regex /(\\d+)/",
    "regex {{abc}}",
    "replace \"l\" \"L\"",
    "replace \"\" \"-\"",
    "replaceRegex /l+/ \"L\"",
    "replaceRegex \"(.)l\" \"$1\"",
    "replaceRegex \"[\" \"\"",
    "split \",\"",
    "split \"\"",
    "split \"l\"",
    "toDate \"%+\"",
    "toDate \"%Y-%m-%d %H:%M:%S\"",
    "toDate \"%Y-%m-%d\"",
    "toFloat",
    "toHex",
    "toInt",
    "toString",
    "urlDecode",
    "urlEncode",
    "urlQueryParam \"b\"",
    "urlQueryParam \"d\"",
    "urlQueryParam \"x\"",
    "utf8Decode",
    "utf8Encode",
    "split \",\" nth 1",
    "first toString",
    "toString toInt",
    "toHex toString",
    "count toString",
];

/// Returns every value, as a query and the URL to request.
fn values() -> Vec<(String, String)> {
    let whole = answer(200, HEADERS, DOCUMENT);
    let member = |name: &&str| (format!("jsonpath \"$.{name}\""), whole.clone());
    let query = |query: &&str| ((*query).to_owned(), whole.clone());
    let short = answer(200, "Content-Type: text/plain", "hello");
    let body = |query: &&str| ((*query).to_owned(), short.clone());
    MEMBERS
        .iter()
        .map(member)
        .chain(QUERIES.iter().map(query))
        .chain(WHOLE.iter().map(body))
        .collect()
}

pub(super) fn predicates() -> Vec<Case> {
    let mut cases = Vec::new();
    for (query, url) in values() {
        for predicate in PREDICATES {
            for not in ["", "not "] {
                let text = format!("GET {url}\nHTTP 200\n[Asserts]\n{query} {not}{predicate}\n");
                cases.push(Case::new(format!("predicate {not}{predicate}"), text));
            }
        }
    }
    cases
}

/// What a value has become is sent on.
fn sent(query: &str, url: &str, filters: &str) -> String {
    format!(
        "GET {url}\nHTTP 200\n[Captures]\nv: {query} {filters}\n\nPOST §/echo\n`{{{{v}}}}`\nHTTP 200\n"
    )
}

pub(super) fn filters() -> Vec<Case> {
    let mut cases = Vec::new();
    for (query, url) in values() {
        for filter in FILTERS {
            let cause = format!("filter {filter}");
            cases.push(Case::new(cause.clone(), sent(&query, &url, filter)));
            for predicate in ["exists", "not exists", "isString", "isList"] {
                let text =
                    format!("GET {url}\nHTTP 200\n[Asserts]\n{query} {filter} {predicate}\n");
                cases.push(Case::new(cause.clone(), text));
            }
        }
        cases.push(Case::new("capture", sent(&query, &url, "")));
    }
    cases
}

/// Filters one behind the other.
pub(super) fn chains(random: &mut Random, count: usize) -> Vec<Case> {
    let values = values();
    let chain = |_| {
        let (query, url) = random.of(&values);
        let filters: Vec<&str> = (0..2 + random.below(2))
            .map(|_| *random.of(&FILTERS))
            .collect();
        let filters = filters.join(" ");
        let text = match random.below(2) {
            0 => sent(query, url, &filters),
            _ => {
                let (not, predicate) = (*random.of(&["", "not "]), random.of(&PREDICATES));
                format!("GET {url}\nHTTP 200\n[Asserts]\n{query} {filters} {not}{predicate}\n")
            }
        };
        Case::new("chain of filters", text)
    };
    let mut cases: Vec<Case> = (0..count).map(chain).collect();
    let texts = ["application/json", "text/plain"]
        .map(|kind| answer(200, &format!("Content-Type: {kind}"), "é"));
    cases.extend(
        texts
            .iter()
            .map(|url| Case::new("charset", sent("body", url, ""))),
    );
    cases.push(Case::new(
        "charset",
        sent("body", &json("no JSON"), "jsonpath \"$\""),
    ));
    cases
}
