//! Whatever flow is printed is read again as the same flow; whatever text is read never panics.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::ast::{Assert, Capture, Entry, FlowText, KeyValue, Part, Place, Response};
use crate::body::{Body, GraphQl, JsonPiece, JsonText, Language};
use crate::cursor::Cursor;
use crate::filter::{Filter, Plain, Textual};
use crate::options::{Given, OptionLine, Options, Setting};
use crate::pattern::{Path, Pattern};
use crate::predicate::{Comparison, Kind, Operand, Predicate, Test};
use crate::query::Query;
use crate::template::{Expr, Piece, Source, Template, print_quoted};
use crate::value::Value;

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-zA-Z0-9_]{0,6}".prop_filter("not a function", |name| {
        !["newUuid", "newDate", "getEnv"].contains(&name.as_str())
    })
}

/// Text rich in characters with an escape in some place.
fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex(
        "([a-zA-Z0-9 ./=&%-]|[#:;`\"\\\\{}<\\[\\]\t\n\r\u{7}]|[é漢😀]){0,12}",
    )
    .expect("a regular expression")
}

fn path() -> impl Strategy<Value = Path> {
    let text = prop_oneof![
        Just("$"),
        Just("$.a[0].b"),
        Just("$..x"),
        Just("$['a\"b', 'c']"),
    ];
    let fixed =
        text.prop_map(|text| Path::parse(&mut Cursor::new(&print_quoted(text))).expect("a path"));
    prop_oneof![4 => fixed, 1 => name().prop_map(|name| Path::Written(named(name)))]
}

/// A template of one expression.
fn named(name: String) -> Template {
    let expr = Expr {
        source: Source::Variable(name),
        filters: Vec::new(),
    };
    Template {
        pieces: vec![Piece::Expr(expr)],
    }
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let text = prop_oneof![
        Just("a+"),
        Just("^/x\\d\"#$"),
        Just("(?i)[\\w ]*"),
        Just("\\{\\{"),
    ];
    prop_oneof![
        4 => text.prop_map(|text| Pattern::new(text).expect("a pattern")),
        1 => name().prop_map(|name| Pattern::Written(named(name))),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    prop_oneof![
        Just(Filter::Plain(Plain::Count)),
        Just(Filter::Plain(Plain::ToInt)),
        Just(Filter::Plain(Plain::Base64UrlSafeDecode)),
        any::<i16>().prop_map(|index| Filter::Nth(index.into())),
        path().prop_map(Filter::JsonPath),
        pattern().prop_map(Filter::Regex),
        text_template().prop_map(|text| Filter::Textual(Textual::Split, text)),
        text_template().prop_map(|text| Filter::Textual(Textual::DateFormat, text)),
        (text_template(), text_template()).prop_map(|(from, to)| Filter::Replace(from, to)),
        (pattern(), text_template()).prop_map(|(pattern, to)| Filter::ReplaceRegex(pattern, to)),
    ]
}

fn text_template() -> impl Strategy<Value = Template> {
    prop_oneof![
        4 => text().prop_map(|text| Template::text(&text)),
        1 => name().prop_map(named),
    ]
}

fn filters() -> impl Strategy<Value = Vec<Filter>> {
    vec(filter(), 0..3)
}

fn expr() -> impl Strategy<Value = Expr> {
    let source = prop_oneof![
        4 => name().prop_map(Source::Variable),
        1 => Just(Source::NewUuid),
        1 => Just(Source::NewDate),
    ];
    (source, vec(filter(), 0..2)).prop_map(|(source, filters)| Expr { source, filters })
}

/// A template of texts from `texts`, in normal form.
fn template_of(texts: impl Strategy<Value = String>) -> impl Strategy<Value = Template> {
    let piece = prop_oneof![texts.prop_map(Piece::Text), expr().prop_map(Piece::Expr),];
    vec(piece, 0..4).prop_map(|pieces| {
        let mut template = Template::default();
        for piece in pieces {
            match piece {
                Piece::Text(text) => template.push_text(&text),
                expr => template.pieces.push(expr),
            }
        }
        template
    })
}

fn template() -> impl Strategy<Value = Template> {
    template_of(text())
}

fn pair() -> impl Strategy<Value = KeyValue> {
    let key = template().prop_filter("a key", |key| !key.pieces.is_empty());
    (key, template()).prop_map(|(key, value)| KeyValue {
        place: Place::default(),
        key,
        value,
    })
}

fn part() -> impl Strategy<Value = Part> {
    let file = text().prop_filter("a file", |name| !name.is_empty());
    prop_oneof![
        // A value that begins like a file would be one.
        pair().prop_filter("a text", |pair| {
            !matches!(pair.value.pieces.first(), Some(Piece::Text(text)) if text.starts_with("file,"))
        }).prop_map(Part::Text),
        (pair(), file, option::of("[a-z]{1,5}/[a-z]{1,5}")).prop_map(|(pair, file, content_type)| {
            Part::File { place: Place::default(), key: pair.key, file, content_type }
        }),
    ]
}

fn json() -> impl Strategy<Value = JsonText> {
    let leaf = prop_oneof![
        expr().prop_map(|expr| vec![JsonPiece::Value(expr)]),
        Just(vec![JsonPiece::Text("-1.5e3".to_owned())]),
        Just(vec![JsonPiece::Text("null".to_owned())]),
        (text(), expr()).prop_map(|(text, expr)| {
            let quoted = serde_json::Value::from(text.replace('{', "")).to_string();
            vec![
                JsonPiece::Text(quoted[..quoted.len() - 1].to_owned()),
                JsonPiece::InString(expr),
                JsonPiece::Text("\"".to_owned()),
            ]
        }),
    ];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        let wrap = |open: &'static str, close: &'static str| {
            move |items: Vec<Vec<JsonPiece>>| {
                let mut pieces = vec![JsonPiece::Text(open.to_owned())];
                for (position, item) in items.into_iter().enumerate() {
                    if position > 0 {
                        pieces.push(JsonPiece::Text(", ".to_owned()));
                    }
                    if open == "{ " {
                        pieces.push(JsonPiece::Text("\"k\" : ".to_owned()));
                    }
                    pieces.extend(item);
                }
                pieces.push(JsonPiece::Text(close.to_owned()));
                pieces
            }
        };
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(wrap("[", "]")),
            vec(inner, 0..3).prop_map(wrap("{ ", "}")),
        ]
    });
    nested.prop_map(joined)
}

/// Pieces of JSON in normal form: no text stands next to another.
fn joined(pieces: Vec<JsonPiece>) -> JsonText {
    let mut json = JsonText::default();
    for piece in pieces {
        match (json.pieces.last_mut(), piece) {
            (Some(JsonPiece::Text(last)), JsonPiece::Text(text)) => last.push_str(&text),
            (_, piece) => json.pieces.push(piece),
        }
    }
    json
}

fn body() -> impl Strategy<Value = Body> {
    let language = prop_oneof![
        Just(Language::Plain),
        Just(Language::Json),
        Just(Language::Xml)
    ];
    let xml = prop_oneof![
        Just("<a/>"),
        Just("<?xml version=\"1.0\"?>\n<a b='>'>\n<!-- <c> --><d>{{x}}</d></a>")
    ];
    // White space at the end of a query means nothing and is not kept.
    let query = template().prop_filter("a query", |query| match query.pieces.last() {
        Some(Piece::Text(text)) => !text.ends_with(char::is_whitespace),
        _ => true,
    });
    prop_oneof![
        json().prop_map(Body::Json),
        xml.prop_map(|text| Body::Xml(text.to_owned())),
        (language, template()).prop_map(|(language, text)| Body::Multiline(language, text)),
        (query, option::of(json_object()))
            .prop_map(|(query, variables)| Body::GraphQl(GraphQl { query, variables })),
        template().prop_map(Body::Oneline),
        vec(any::<u8>(), 0..9).prop_map(Body::Bytes),
        text()
            .prop_filter("a file", |name| !name.is_empty())
            .prop_map(Body::File),
    ]
}

fn json_object() -> impl Strategy<Value = JsonText> {
    json().prop_map(|json| {
        let mut pieces = vec![JsonPiece::Text("{\"k\": ".to_owned())];
        pieces.extend(json.pieces);
        pieces.push(JsonPiece::Text("}".to_owned()));
        joined(pieces)
    })
}

fn setting() -> impl Strategy<Value = Setting> {
    let expr = || {
        name().prop_map(|name| Expr {
            source: Source::Variable(name),
            filters: Vec::new(),
        })
    };
    prop_oneof![
        any::<bool>().prop_map(|on| Setting::Switch("compressed", Given::Fixed(on))),
        (0_u64..3_600_000).prop_map(|delay| Setting::Time("delay", Given::Fixed(delay))),
        expr().prop_map(|expr| Setting::Time("retry-interval", Given::Expr(expr))),
        pair().prop_map(Setting::Header),
        any::<bool>().prop_map(|on| Setting::Switch("location", Given::Fixed(on))),
        option::of(0_u64..9).prop_map(|most| Setting::Count("max-redirs", Given::Fixed(most))),
        expr().prop_map(|expr| Setting::Count("retry", Given::Expr(expr))),
        (1_u64..9).prop_map(|count| Setting::Number("repeat", Given::Fixed(count))),
        expr().prop_map(|expr| Setting::Switch("skip", Given::Expr(expr))),
        template().prop_map(|text| Setting::Text("user", text)),
        template().prop_map(|text| Setting::Text("connect-to", text)),
        (0_u64..9).prop_map(|rate| Setting::Number("limit-rate", Given::Fixed(rate))),
        (name(), template()).prop_map(|(name, text)| Setting::Variable(name, Operand::Text(text))),
        (name(), any::<i64>()).prop_map(|(name, number)| {
            Setting::Variable(name, Operand::Value(Value::Integer(number)))
        }),
    ]
}

fn query() -> impl Strategy<Value = Query> {
    prop_oneof![
        Just(Query::Status),
        Just(Query::Body),
        Just(Query::Sha256),
        Just(Query::Duration),
        Just(Query::Redirects),
        text_template().prop_map(Query::Header),
        name().prop_map(|name| Query::Cookie(Template::text(&name))),
        text_template().prop_map(Query::Variable),
        path().prop_map(Query::JsonPath),
        pattern().prop_map(Query::Regex),
    ]
}

fn predicate() -> impl Strategy<Value = Predicate> {
    let operand = prop_oneof![
        any::<i64>().prop_map(|number| Operand::Value(Value::Integer(number))),
        (-1e9..1e9).prop_map(|number| Operand::Value(Value::Float(number))),
        any::<bool>().prop_map(|value| Operand::Value(Value::Bool(value))),
        Just(Operand::Value(Value::Null)),
        vec(any::<u8>(), 0..5).prop_map(|bytes| Operand::Value(Value::Bytes(bytes))),
        template().prop_map(Operand::Text),
        expr().prop_map(Operand::Expr),
        text()
            .prop_filter("a file", |name| !name.is_empty())
            .prop_map(Operand::File),
    ];
    let comparison = prop_oneof![
        Just(Comparison::Equal),
        Just(Comparison::GreaterOrEqual),
        Just(Comparison::Less),
        Just(Comparison::StartsWith),
        Just(Comparison::Contains),
    ];
    let test = prop_oneof![
        (comparison, operand)
            .prop_filter("such a comparison", |(comparison, operand)| comparison
                .takes(operand))
            .prop_map(|(comparison, operand)| Test::Compare(comparison, operand)),
        pattern().prop_map(Test::Matches),
        Just(Test::Exists),
        Just(Test::Is(Kind::Empty)),
        Just(Test::Is(Kind::IsoDate)),
    ];
    (any::<bool>(), test).prop_map(|(negated, test)| Predicate { negated, test })
}

fn response() -> impl Strategy<Value = Response> {
    let capture =
        (name(), query(), filters(), any::<bool>()).prop_map(|(name, query, filters, redact)| {
            Capture {
                place: Place::default(),
                name,
                query,
                filters,
                redact,
            }
        });
    let assert = (query(), filters(), predicate()).prop_map(|(query, filters, predicate)| Assert {
        place: Place::default(),
        query,
        filters,
        predicate,
    });
    (
        option::of(0_u8..2),
        option::of(100_u16..1000),
        vec(pair(), 0..2),
        vec(capture, 0..3),
        vec(assert, 0..3),
        option::of(body()),
    )
        .prop_map(
            |(minor_version, status, headers, captures, asserts, body)| Response {
                place: Place::default(),
                minor_version,
                status,
                headers,
                captures,
                asserts,
                body,
            },
        )
}

fn entry() -> impl Strategy<Value = Entry> {
    let url = template_of("[a-zA-Z0-9/:?&=.%*,@-]{1,12}").prop_filter("a URL", |url| {
        match url.pieces.first() {
            Some(Piece::Text(text)) => !text.starts_with(':'),
            first => first.is_some(),
        }
    });
    let line = setting().prop_map(|setting| OptionLine {
        place: Place::default(),
        setting,
    });
    let options = vec(line, 0..4).prop_map(|lines| Options { lines });
    (
        (
            prop_oneof![Just("GET"), Just("POST"), Just("DELETE")],
            url,
            options,
        ),
        (
            vec(pair(), 0..3),
            vec(pair(), 0..2),
            option::of(pair()),
            vec(pair(), 0..2),
        ),
        prop_oneof![
            vec(pair(), 1..3).prop_map(|form| (form, Vec::new(), None)),
            vec(part(), 1..3).prop_map(|parts| (Vec::new(), parts, None)),
            option::of(body()).prop_map(|body| (Vec::new(), Vec::new(), body)),
        ],
        option::of(response()),
    )
        .prop_map(
            |((method, url, options), (headers, query, basic_auth, cookies), content, response)| {
                let (form, multipart, body) = content;
                Entry {
                    place: Place::default(),
                    method: method.to_owned(),
                    url,
                    headers,
                    query,
                    form,
                    multipart,
                    cookies,
                    basic_auth,
                    options,
                    body,
                    response,
                }
            },
        )
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(entries in vec(entry(), 1..3)) {
        let flow = FlowText { entries };
        let text = flow.to_string();
        let read = FlowText::parse("a.hurl", &text).map_err(|error| {
            TestCaseError::fail(format!("{error}\nin\n{text}"))
        })?;
        prop_assert_eq!(&read, &flow, "printed as\n{}", text);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn reading_never_panics(text: String) {
        let _ = FlowText::parse("a.hurl", &text);
    }

    #[test]
    fn reading_cut_flows_never_panics(entries in vec(entry(), 1..3), cut: prop::sample::Index) {
        let text = FlowText { entries }.to_string();
        let mut end = cut.index(text.len() + 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if let Err(error) = FlowText::parse("a.hurl", &text[..end]) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
