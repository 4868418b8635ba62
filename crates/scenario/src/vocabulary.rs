//! The words of the grammar: which are run, and which are refused with what advice. `docs/hurl.md`
//! lists the same words, and a test compares the two.

/// Kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordKind {
    /// `[Name]` of a request or an answer.
    Section,
    /// A line of `[Options]`.
    Option,
    /// The kind of a body.
    Body,
    /// What an assert or a capture looks at.
    Query,
    /// What makes another value of a value.
    Filter,
    /// What an assert demands.
    Predicate,
    /// A function in `{{…}}`.
    Function,
}

/// A word of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Kind of the word.
    pub kind: WordKind,
    /// The word as written.
    pub name: &'static str,
    /// Reason why the word is not run, or an alternative. `None`: the word is run.
    pub refused: Option<&'static str>,
}

/// All words of the grammar.
pub fn vocabulary() -> impl Iterator<Item = Word> {
    let run = RUN.iter().flat_map(|(kind, names)| {
        names.iter().map(|name| Word {
            kind: *kind,
            name,
            refused: None,
        })
    });
    let refused = REFUSED.iter().map(|(kind, name, why)| Word {
        kind: *kind,
        name,
        refused: Some(why),
    });
    run.chain(refused)
}

/// Returns why a word is not run; `None` for a supported or unknown word.
pub(crate) fn refusal(kind: WordKind, name: &str) -> Option<String> {
    let row = REFUSED
        .iter()
        .find(|(known, word, _)| *known == kind && *word == name);
    row.map(|(_, _, why)| format!("`{name}` is not run; {why}"))
}

const RUN: &[(WordKind, &[&str])] = &[
    (
        WordKind::Section,
        &[
            "Asserts",
            "BasicAuth",
            "Captures",
            "Cookies",
            "Form",
            "FormParams",
            "Multipart",
            "MultipartFormData",
            "Options",
            "Query",
            "QueryStringParams",
        ],
    ),
    (
        WordKind::Option,
        &[
            "aws-sigv4",
            "cacert",
            "cert",
            "compressed",
            "connect-to",
            "delay",
            "digest",
            "header",
            "http1.1",
            "http2",
            "insecure",
            "key",
            "limit-rate",
            "location",
            "location-trusted",
            "max-redirs",
            "netrc",
            "netrc-file",
            "netrc-optional",
            "path-as-is",
            "repeat",
            "resolve",
            "retry",
            "retry-interval",
            "skip",
            "user",
            "variable",
            "verbose",
            "very-verbose",
        ],
    ),
    (
        WordKind::Body,
        &[
            "JSON",
            "XML",
            "one line",
            "multiline",
            "multiline json",
            "multiline xml",
            "multiline graphql",
            "multiline base64",
            "multiline hex",
            "multiline raw",
            "base64",
            "hex",
            "file",
        ],
    ),
    (
        WordKind::Query,
        &[
            "body",
            "bytes",
            "cookie",
            "duration",
            "header",
            "jsonpath",
            "md5",
            "rawbytes",
            "redirects",
            "regex",
            "sha256",
            "status",
            "url",
            "variable",
            "version",
            "xpath",
        ],
    ),
    (
        WordKind::Filter,
        &[
            "base64Decode",
            "base64Encode",
            "base64UrlSafeDecode",
            "base64UrlSafeEncode",
            "charsetDecode",
            "count",
            "dateFormat",
            "daysAfterNow",
            "daysBeforeNow",
            "decode",
            "first",
            "format",
            "htmlEscape",
            "htmlUnescape",
            "jsonpath",
            "last",
            "location",
            "nth",
            "regex",
            "replace",
            "replaceRegex",
            "split",
            "toDate",
            "toFloat",
            "toHex",
            "toInt",
            "toString",
            "urlDecode",
            "urlEncode",
            "urlQueryParam",
            "utf8Decode",
            "utf8Encode",
            "xpath",
        ],
    ),
    (
        WordKind::Predicate,
        &[
            "==",
            "!=",
            ">",
            ">=",
            "<",
            "<=",
            "equals",
            "notEquals",
            "greaterThan",
            "greaterThanOrEquals",
            "lessThan",
            "lessThanOrEquals",
            "startsWith",
            "endsWith",
            "contains",
            "includes",
            "matches",
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
            "not",
        ],
    ),
    (WordKind::Function, &["newDate", "newUuid"]),
];

const FOR_ALL: &str = "it is set for all requests at once, by a flag of the command";
const NOT_SPOKEN: &str = "only HTTP/1.1 and HTTP/2 are spoken";
const OUTPUT: &str = "it is about what hurl prints; leave it out";
const NO_PROXIES: &str = "requests go straight to the server; --connect-to names another one";
const NO_SUCH_LOGIN: &str = "use [BasicAuth], or a header";

const REFUSED: &[(WordKind, &str, &str)] = &[
    (WordKind::Option, "connect-timeout", FOR_ALL),
    (WordKind::Option, "http1.0", NOT_SPOKEN),
    (WordKind::Option, "http3", NOT_SPOKEN),
    (
        WordKind::Option,
        "ipv4",
        "write the address into the URL, or use --connect-to",
    ),
    (
        WordKind::Option,
        "ipv6",
        "write the address into the URL, or use --connect-to",
    ),
    (WordKind::Option, "max-time", FOR_ALL),
    (WordKind::Option, "negotiate", NO_SUCH_LOGIN),
    (WordKind::Option, "no-proxy", NO_PROXIES),
    (WordKind::Option, "ntlm", NO_SUCH_LOGIN),
    (WordKind::Option, "output", OUTPUT),
    (
        WordKind::Option,
        "pinnedpubkey",
        "certificates are checked by --ca or the system's authorities",
    ),
    (WordKind::Option, "proxy", NO_PROXIES),
    (WordKind::Option, "unix-socket", FOR_ALL),
    (WordKind::Option, "verbosity", OUTPUT),
    (
        WordKind::Query,
        "certificate",
        "`hakaru doctor` and --ca look at certificates",
    ),
    (
        WordKind::Query,
        "ip",
        "a load goes to one address, which the command names",
    ),
    (
        WordKind::Function,
        "getEnv",
        "set a variable in hakaru.toml, or by --variable",
    ),
];
