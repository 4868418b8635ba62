//! What libxml2 knows of HTML's elements: which have no content, which are ended by the begin of
//! another, which an end tag may reach through.

/// Elements without content.
const EMPTY: [&str; 13] = [
    "area", "base", "basefont", "br", "col", "frame", "hr", "img", "input", "isindex", "link",
    "meta", "param",
];

/// Elements allowed to hold text: white space inside or behind such an element is kept as such.
const WITH_TEXT: [&str; 53] = [
    "a",
    "abbr",
    "acronym",
    "address",
    "applet",
    "b",
    "bdo",
    "big",
    "blockquote",
    "body",
    "button",
    "caption",
    "center",
    "cite",
    "code",
    "dd",
    "del",
    "dfn",
    "div",
    "dt",
    "em",
    "font",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "i",
    "iframe",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "noframes",
    "noscript",
    "object",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strike",
    "strong",
    "td",
    "th",
    "tt",
    "u",
    "var",
];

/// Groups of open elements, each with the begins of elements by which the group's elements end.
const ENDED_BY: [(&[&str], &[&str]); 30] = [
    (&["a"], &["a", "fieldset", "table", "td", "th"]),
    (&["address"], &["dd", "dl", "dt", "form", "li", "ul"]),
    (&["b", "i"], &["center", "p", "td", "th"]),
    (&["big", "s", "small", "strike", "tt"], &["p"]),
    (
        &["caption", "col", "colgroup"],
        &["colgroup", "tbody", "tfoot", "thead", "tr"],
    ),
    (&["caption", "col"], &["col"]),
    (&["dd"], &["dt"]),
    (&["dir", "menu"], &["dd", "dl", "dt", "form", "ul"]),
    (&["dl"], &["form", "li"]),
    (&["dt"], &["dd", "dl"]),
    (&["font"], &["center", "td", "th"]),
    (&["form"], &["form"]),
    (
        &["h1", "h2", "h3", "h4", "h5", "h6"],
        &["fieldset", "form", "li", "p", "table"],
    ),
    (
        &["head"],
        &[
            "a",
            "abbr",
            "acronym",
            "address",
            "b",
            "bdo",
            "big",
            "blockquote",
            "body",
            "br",
            "center",
            "cite",
            "code",
            "dd",
            "dfn",
            "dir",
            "div",
            "dl",
            "dt",
            "em",
            "fieldset",
            "font",
            "form",
            "frameset",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "i",
            "iframe",
            "img",
            "kbd",
            "li",
            "listing",
            "map",
            "menu",
            "ol",
            "p",
            "pre",
            "q",
            "s",
            "samp",
            "small",
            "span",
            "strike",
            "strong",
            "sub",
            "sup",
            "table",
            "tt",
            "u",
            "ul",
            "var",
            "xmp",
        ],
    ),
    (&["hr"], &["form"]),
    (&["legend"], &["fieldset"]),
    (&["li"], &["li"]),
    (&["link", "style", "title"], &["body", "frameset"]),
    (
        &["listing", "pre", "xmp"],
        &["dd", "dl", "dt", "fieldset", "form", "li", "table", "ul"],
    ),
    (&["ol"], &["form", "ul"]),
    (&["option"], &["optgroup", "option"]),
    (
        &["p"],
        &[
            "address",
            "blockquote",
            "body",
            "caption",
            "center",
            "col",
            "colgroup",
            "dd",
            "dir",
            "div",
            "dl",
            "dt",
            "fieldset",
            "form",
            "frameset",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "head",
            "hr",
            "li",
            "listing",
            "menu",
            "ol",
            "p",
            "pre",
            "table",
            "tbody",
            "td",
            "tfoot",
            "th",
            "title",
            "tr",
            "ul",
            "xmp",
        ],
    ),
    (&["script"], &["noscript"]),
    (&["span"], &["td", "th"]),
    (&["tbody", "tr", "td", "th", "thead"], &["tbody", "tfoot"]),
    (&["tfoot"], &["tbody"]),
    (&["td", "th"], &["td", "th", "tr"]),
    (&["tr"], &["tr"]),
    (&["u"], &["p", "td", "th"]),
    (&["ul"], &["address", "form", "menu", "ol", "pre"]),
];

/// Attributes whose name alone means the name as value.
const BOOLEAN: [&str; 13] = [
    "checked", "compact", "declare", "defer", "disabled", "ismap", "multiple", "nohref",
    "noresize", "noshade", "nowrap", "readonly", "selected",
];

/// Returns whether an attribute needs no value.
pub(crate) fn is_boolean(attribute: &str) -> bool {
    BOOLEAN.contains(&attribute)
}

/// Returns whether an element has no content.
pub(crate) fn is_empty(name: &str) -> bool {
    EMPTY.contains(&name)
}

/// Returns whether an element may hold text.
pub(crate) fn holds_text(name: &str) -> bool {
    WITH_TEXT.contains(&name)
}

/// Returns whether an open element ends where another begins.
pub(crate) fn is_ended_by(open: &str, begin: &str) -> bool {
    let groups = ENDED_BY.iter();
    let mut of_open = groups.filter(|(opens, _)| opens.contains(&open));
    of_open.any(|(_, begins)| begins.contains(&begin))
}

/// Returns how strong an element is: an end tag reaches through elements not stronger than the
/// tag's own.
pub(crate) fn strength(name: &str) -> u8 {
    match name {
        "div" => 1,
        "td" | "th" => 2,
        "tr" => 3,
        "thead" | "tbody" | "tfoot" => 4,
        "table" => 5,
        "head" | "body" => 6,
        "html" => 7,
        _ => 0,
    }
}

/// Returns whether an element belongs into the head.
pub(crate) fn is_of_head(name: &str) -> bool {
    ["script", "style", "meta", "link", "title", "base"].contains(&name)
}
