//! Expressions on small documents; each row is what libxml2 says.

use proptest::prelude::*;

use crate::{Document, Expression, Found};

fn find(document: Result<Document, String>, path: &str) -> Result<Found, String> {
    Expression::parse(path)?.evaluate(&document?)
}

fn html(text: &str, path: &str, expected: &str) {
    check(find(Document::html(text), path), (text, path), expected);
}

fn xml(text: &str, path: &str, expected: &str) {
    check(find(Document::xml(text), path), (text, path), expected);
}

fn check(found: Result<Found, String>, what: (&str, &str), expected: &str) {
    let shown = match found {
        Ok(Found::Nodes(count)) => format!("{count} nodes"),
        Ok(Found::Number(number)) => crate::number::write(number),
        Ok(Found::Text(text)) => text,
        Ok(Found::Bool(value)) => value.to_string(),
        Err(why) => format!("error: {why}"),
    };
    assert_eq!(shown, expected, "{what:?}");
}

const PAGE: &str = "<!DOCTYPE html>\n<html lang=en><head><title> A  page </title></head>\n<body>\
    <h1 class='big red'>Hello</h1><ul id=menu><li>one<li>two<li class=last>three</ul>\
    <table><tr><td>1<td>2<tr><td>3<td>4</table><a href=\"/a?b=1&amp;c=2\">go</a><br><p>x<p>y\
    <script>if (a < b) { document.write('<p>') }</script></body></html>\n";

#[test]
fn a_page_is_asked() {
    for (path, expected) in [
        ("//h1", "1 nodes"),
        ("string(//title)", " A  page "),
        ("normalize-space(//title)", "A page"),
        ("count(//li)", "3"),
        ("//li[2]", "1 nodes"),
        ("string(//li[last()])", "three"),
        ("string(//ul[@id='menu']/li[@class=\"last\"])", "three"),
        ("string((//td)[3])", "3"),
        ("count(//table/tr)", "2"),
        ("count(//tbody)", "0"),
        ("string(//a/@href)", "/a?b=1&c=2"),
        ("string(//h1/@class)", "big red"),
        ("//h1[contains(@class, 'red')]", "1 nodes"),
        (
            "//h1[contains(concat(' ', @class, ' '), ' re ')]",
            "0 nodes",
        ),
        ("boolean(//h2)", "false"),
        ("count(//p)", "2"),
        ("string(/html/@lang)", "en"),
        ("string(//li[text()='two']/preceding-sibling::li)", "one"),
        ("name(//*[@id]/..)", "body"),
        ("count(//li | //td)", "7"),
        ("sum(//td)", "10"),
        ("count(//td) > 3 and not(//h2)", "true"),
        ("string-length(string(//h1))", "5"),
        ("//nothing/@at", "0 nodes"),
        ("count(//script/*)", "0"),
        ("string(id('menu')/li)", "one"),
        ("string(//li[position() = 2])", "two"),
        ("string(//li[2]/following-sibling::*[1])", "three"),
        ("count(//td[. mod 2 = 0])", "2"),
        ("count(//ancestor::body)", "1"),
        ("-1 + 2 * 3", "5"),
        ("10 div 4", "2.5"),
        ("1 div 0", "Infinity"),
        ("string(0.1 + 0.2)", "0.3"),
        ("string(1e10)", "1e+10"),
        ("substring('12345', 1.5, 2.6)", "234"),
        ("translate('bar', 'abc', 'AB')", "BAr"),
        ("substring-before('1999/04/01', '/')", "1999"),
        ("substring-after('1999/04/01', '19')", "99/04/01"),
        ("round(-2.5)", "-2"),
        ("//*[name() = 'h1']", "1 nodes"),
        ("//h1 = 'Hello'", "true"),
        ("//td = 3", "true"),
        ("//td != 3", "true"),
        ("//li/text()", "3 nodes"),
        ("/", "1 nodes"),
        ("//@*", "5 nodes"),
    ] {
        html(PAGE, path, expected);
    }
}

#[test]
fn markup_that_is_not_written_is_there() {
    for (text, path, expected) in [
        ("hello", "name(/*/*/*)", "p"),
        ("hello", "string(/html/body/p)", "hello"),
        ("<b>x</b>", "string(/html/body/b)", "x"),
        ("<title>t</title><p>x", "string(/html/head/title)", "t"),
        ("<title>t</title><p>x", "string(/html/body/p)", "x"),
        ("<p>a<div>b</div>c", "count(/html/body/*)", "2"),
        ("<div><p>a</div>b</p>", "string(/html/body)", "ab"),
        (
            "<ul><li>a<ul><li>b</ul><li>c</ul>",
            "count(/html/body/ul/li)",
            "2",
        ),
        ("<P CLASS=A>x</P>", "string(//p/@class)", "A"),
        ("<input disabled>", "count(//input/@disabled)", "1"),
        (
            "<p>&nbsp;&copy;&unknown;&#65;&#x42;& &amp",
            "string(//p)",
            "\u{a0}©&unknown;AB& &amp",
        ),
        ("<p a=1 a=2>", "string(//p/@a)", "1"),
        ("<!-- c --><p>x<!-- d --></p>", "count(//comment())", "2"),
        ("a < b", "string(//p)", "a < b"),
        ("<svg:rect/>", "count(//*[name()='svg:rect'])", "1"),
        (
            "<html><body></body></html><p>late",
            "name(/html/html/p)",
            "p",
        ),
        ("<!DOCTYPE html><html></html><p>late", "count(/html)", "2"),
        ("</b> <p>x</p> \n", "count(//text())", "2"),
        (
            "<input disabled hidden>",
            "concat(//@disabled, //@hidden)",
            "disabled",
        ),
    ] {
        html(text, path, expected);
    }
    html("", "//a", "error: there is no element in it");
    html("  \n", "//a", "error: there is no element in it");
}

#[test]
fn xml_has_namespaces() {
    let soap = "<?xml version='1.0'?>\n<!DOCTYPE s [<!ELEMENT a ANY>]>\
        <s:Envelope xmlns:s='urn:s' xmlns='urn:d'><s:Body id='1'><Item n='2'>caf&#233;</Item><Item/>\
        <x:y xmlns:x='urn:x' x:z='3'><![CDATA[<a>&]]></x:y></s:Body></s:Envelope>";
    for (path, expected) in [
        ("count(//s:Body)", "1"),
        ("count(//Item)", "0"),
        ("count(//_:Item)", "2"),
        ("string(//_:Item[@n = 2])", "café"),
        ("string(//x:y/@x:z)", "3"),
        ("string(//x:y)", "<a>&"),
        ("local-name(/*)", "Envelope"),
        ("name(/*)", "s:Envelope"),
        ("namespace-uri(//*[local-name()='Item'])", "urn:d"),
        (
            "//t:a",
            "error: the prefix `t` is not declared in the document",
        ),
        ("//*[@id]", "1 nodes"),
        ("count(//s:*)", "2"),
    ] {
        xml(soap, path, expected);
    }
    xml("<a><b>1</a>", "string(/a/b)", "1");
    xml("<a>1 & 2</a>", "string(/a)", "1  2");
    xml("<a/><b/>", "count(/*)", "1");
    xml("<a>x<![CDATA[y]]>z</a>", "count(//text())", "3");
    xml("<a b='1' b='2'/>", "count(//@*)", "2");
    xml("no markup", "//a", "error: there is no element in it");
    xml(
        "{\"a\": \"<b>\"}",
        "//b",
        "error: there is no element in it",
    );
    xml(
        "<a xml:lang='en-GB'><b/></a>",
        "count(//b[lang('en')])",
        "1",
    );
    xml("<a b='1\n2'/>", "string(/a/@b)", "1 2");
}

#[test]
fn wrong_expressions_are_refused_with_the_reason() {
    for (path, why) in [
        ("", "expected a step, such as a name at the end"),
        ("//", "expected a step, such as a name at the end"),
        ("^^^", "unexpected `^`"),
        ("//a[", "expected a step, such as a name at the end"),
        ("//a]", "unexpected `]`"),
        ("strong(//a)", "there is no function `strong`"),
        ("count()", "`count` takes 1, not 0 arguments"),
        ("concat('a')", "`concat` takes 2 or more, not 1 arguments"),
        ("//a b", "expected an operator in place of `b`"),
        ("'open", "the text has no closing ': 'open"),
        ("up::a", "there is no axis `up`"),
        ("namespace::*", "the axis `namespace` is not followed here"),
        (
            "$a",
            "variables of XPath are not known here; write {{name}}",
        ),
        ("count('a')", "a function of nodes is given something else"),
        ("'a'/b", "a step goes on from something that is no node"),
    ] {
        html(PAGE, path, &format!("error: {why}"));
    }
    let deep = format!("{}1{}", "(".repeat(70), ")".repeat(70));
    html(
        PAGE,
        &deep,
        "error: the expression is nested more than 64 deep",
    );
}

proptest! {
    #[test]
    fn nothing_panics(text in "[<>/a-c!?&;#='\" \\-\\[\\]é]{0,60}", path in "[/@a-c\\[\\]().*|= '0-9:]{0,20}") {
        for document in [Document::html(&text), Document::xml(&text)] {
            let _ = find(document, &path);
        }
    }

    #[test]
    fn every_node_is_in_the_document_once(text in "(<(p|li|ul|table|tr|td|div|b)>|x|</(p|ul|table|div|b)>){0,30}") {
        let all = find(Document::html(&text), "count(//node())");
        let one_by_one = find(Document::html(&text), "count(/descendant::node()/self::node())");
        prop_assert_eq!(all, one_by_one);
    }
}
