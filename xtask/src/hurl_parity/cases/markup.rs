//! XPath: documents × expressions, and tags at random, whose whole tree is asked for.

use super::{Case, answer_bytes};
use crate::hurl_parity::random::Random;

/// Number of nodes of a random document asked for by name and depth.
const NODES: usize = 14;

const PAGES: [&str; 26] = [
    "<!DOCTYPE html>\n<html lang=en>\n<head>\n<title> A  page </title>\n<meta charset=utf-8>\n</head>\n<body class=\"a b\">\n<h1 id=top>Hello</h1>\n<ul>\n<li>one</li>\n<li class=x>two</li>\n</ul>\n<p>1 &lt; 2 &amp; 3</p>\n</body>\n</html>\n",
    "<html><body><table><tr><td>1<td>2<tr><td>3</table></body></html>",
    "<table><thead><tr><th>a</thead><tbody><tr><td>1</tbody></table>",
    "hello",
    "hello <b>world</b>",
    "<p>a<p>b<div>c</div>d",
    "<title>t</title><p>x",
    "<ul><li>a<ul><li>b</ul><li>c</ul>",
    "<form action=\"/a?b=1&amp;c=2\"><input name=token value=\"t1\" disabled><select><option>1<option selected>2</select></form>",
    "<script>if (a < b) { x('<p>') }</script><style>p > a {}</style><p>y",
    "<div><span>a</div>b</span>",
    "<a href=/x>1<a href=/y>2</a>",
    "<P CLASS=Big>x</P><BR/>y",
    "<p>&nbsp;&copy;&unknown;&#65;&#x42;& &amp &eacute;t&eacute;</p>",
    "<!-- a --><p>x<!-- b --></p><!-- c -->",
    "<dl><dt>a<dd>b<dt>c<dd>d</dl>",
    "<svg><rect width=1 /><g><circle/></g></svg>",
    "<html><head><title>x</title></head><body></body></html><p>late",
    "<p>été 日本 \u{1f600}</p>",
    "<body><body class=again><p>x</body></body>",
    "<head></head><head></head><p>x</p>",
    "a < b <c> d",
    "<p a=1 a=2 B='3' c d=\"e\nf\">x</p>",
    "<h1>a<h2>b</h1>c",
    "",
    "  \n",
];

const DOCUMENTS: [&str; 18] = [
    "<?xml version=\"1.0\"?>\n<food>\n  <fruit type=\"a\" price=\"1.1\">x</fruit>\n  <fruit type=\"b\"/>\n  <p>1</p>\n</food>\n",
    "<a xmlns=\"urn:a\" xmlns:b=\"urn:b\"><b:c d=\"1\" b:e=\"2\">t</b:c><f/></a>",
    "<s:Envelope xmlns:s=\"urn:s\"><s:Body><m:x xmlns:m=\"urn:m\">1</m:x></s:Body></s:Envelope>",
    "<a><![CDATA[<b>&]]></a>",
    "<a>x<![CDATA[y]]>z</a>",
    "<a>&lt;&#233;&amp;</a>",
    "<a><b>1</a>",
    "<a><b></c></a>",
    "<a>1 & 2</a>",
    "<a/><b/>",
    "<a><?pi some data?><!-- c --></a>",
    "<!DOCTYPE a [<!ELEMENT a ANY>]><a>x</a>",
    "text",
    "{\"a\": 1}",
    "<a b=\"1\" b=\"2\"/>",
    "<html><body><p>x<br/>y</p></body></html>",
    "<a xml:lang=\"en\"><b/></a>",
    "",
];

/// What is asked; the text of each answer is sent on.
const EXPRESSIONS: [&str; 64] = [
    "string(//title)",
    "normalize-space(//title)",
    "string(/)",
    "normalize-space(/)",
    "name(/*)",
    "name(/*/*[1])",
    "name(/*/*[2])",
    "count(//*)",
    "count(//node())",
    "count(//text())",
    "count(//comment())",
    "count(//@*)",
    "count(//p)",
    "count(//li)",
    "count(//td)",
    "count(/html/body/*)",
    "count(/html/body/node())",
    "count(//table/tr)",
    "count(//ul/li)",
    "string(//li[2])",
    "string(//li[last()])",
    "string((//td)[2])",
    "string(//@class)",
    "string(//a/@href)",
    "string(//form/@action)",
    "string(//input/@value)",
    "string(//input/@disabled)",
    "string(//p)",
    "string(//p[2])",
    "string(//p/text())",
    "string(//body)",
    "string(//script)",
    "name(//*[@class]/..)",
    "name(//*[last()])",
    "concat(name(//p/ancestor::*[1]), '-', name(//p/following::*[1]), '-', name(//p/preceding::*[1]))",
    "count(//li/preceding-sibling::li)",
    "count(//li/following-sibling::node())",
    "count(//*[contains(@class, 'a')])",
    "count(//*[text()])",
    "count(//p | //li | //td)",
    "sum(//td)",
    "number(//td)",
    "string(number(//p))",
    "string(1 div 3)",
    "string(10000000000 + 1)",
    "string(0.000001)",
    "string(-0.5)",
    "round(2.5) + floor(-1.5) + ceiling(1.2)",
    "substring('12345', 0, 3)",
    "translate(name(/*), 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')",
    "string(//a)",
    "string(//fruit/@price)",
    "string(//fruit[@type='b'])",
    "count(//b:c) + count(//_:f)",
    "string(//*[local-name()='c']/@*[2])",
    "namespace-uri(//*[local-name()='f'])",
    "name(//*[starts-with(name(), 's:')])",
    "string(//m:x)",
    "string(//s:Body)",
    "boolean(//a)",
    "count(//a) > 0 and not(//zzz)",
    "string(lang('en'))",
    "id('top')",
    "name(id('top'))",
];

/// Checks of nodes as such.
const CHECKS: [&str; 14] = [
    "xpath \"//p\" exists",
    "xpath \"//p\" not exists",
    "xpath \"//p\" count == 1",
    "xpath \"//p\" isCollection",
    "xpath \"//p\" isObject",
    "xpath \"//p\" isList",
    "xpath \"//p\" isEmpty",
    "xpath \"//p\" == 1",
    "xpath \"count(//p)\" == 1",
    "xpath \"count(//p)\" isInteger",
    "xpath \"boolean(//p)\" == true",
    "xpath \"//p[\" exists",
    "xpath \"//p\" toString exists",
    "body xpath \"string(//p)\" exists",
];

/// Tags of random documents.
const TAGS: [&str; 40] = [
    "<p>", "</p>", "<div>", "</div>", "<ul>", "<li>", "</ul>", "</li>", "<table>", "<tr>", "<td>",
    "</table>", "</td>", "<b>", "</b>", "<a>", "</a>", "<span>", "</span>", "<h1>", "</h1>",
    "<form>", "</form>", "<head>", "<title>", "</title>", "</head>", "<body>", "</body>", "<html>",
    "<br>", "<dl>", "<dt>", "<dd>", "x", " ", "\n", "y ", "<select>", "<option>",
];

pub(super) fn all(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    let kinds = [
        ("text/html", &PAGES[..]),
        ("application/xml", &DOCUMENTS[..]),
    ];
    for (kind, texts) in kinds {
        for text in texts {
            for expression in EXPRESSIONS {
                cases.push(asked(
                    kind,
                    text,
                    expression,
                    format!("xpath of {kind} {expression}"),
                ));
            }
            for check in CHECKS {
                let url = url(kind, text);
                let text = format!("GET {url}\nHTTP 200\n[Asserts]\n{check}\n");
                cases.push(Case::new(format!("check {check}"), text));
            }
        }
    }
    let mut cases = random.some(cases, 1_400);
    let whole = whole_tree();
    for _ in 0..400 {
        let count = 2 + random.below(12);
        let page: String = (0..count).map(|_| *random.of(&TAGS)).collect();
        cases.push(asked(
            "text/html",
            &page,
            &whole,
            format!("tree of {page:?}"),
        ));
    }
    cases
}

fn url(kind: &str, text: &str) -> String {
    answer_bytes(
        200,
        &format!("Content-Type: {kind}; charset=utf-8"),
        text.as_bytes(),
    )
}

fn asked(kind: &str, text: &str, expression: &str, cause: String) -> Case {
    let url = url(kind, text);
    let flow = format!(
        "GET {url}\nHTTP 200\n[Captures]\nv: xpath \"{expression}\"\n\nPOST §/echo\n`[{{{{v}}}}]`\nHTTP 200\n"
    );
    Case::new(cause, flow)
}

/// An expression with the names and depths of the first nodes, and all text.
fn whole_tree() -> String {
    let node =
        |number: usize| format!("name((//*)[{number}]), count((//*)[{number}]/ancestor::*), ' '");
    let nodes: Vec<String> = (1..=NODES).map(node).collect();
    let texts =
        "count(//text()), name((//text())[1]/..), name((//text())[2]/..), name((//text())[3]/..)";
    format!("concat({}, {texts}, normalize-space(/))", nodes.join(", "))
}
